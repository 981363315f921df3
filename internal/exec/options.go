package exec

import (
	"context"
	"runtime"

	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/task"
)

// Options are the limits of one run. The zero value of each field is its default.
type Options struct {
	Workers      int    // packs that run at once, and threads of the final step; 0: one per core
	MemoryBytes  int64  // for the whole process; 0: no limit but DuckDB's own
	TempDir      string // where data is spilled; "": the system's
	SkipKeyCheck bool   // trust files to be where their keys say
	Measure      bool   // look at memory and temporary files while steps run, for Stats
	// Sink takes the rows in place of the stream, which then gives none; nil: none does.
	Sink Sink
	// Progress, when set, is called after each pack, from several goroutines.
	Progress func(done, total int)
}

// Sink takes a run's rows. Its methods are called by several goroutines.
type Sink interface {
	// Writer returns where one goroutine puts the chunks of a pack, or those of the final step, for which the pack is nil.
	Writer(*task.Pack) SinkWriter
	// Keeper returns what runs a query and keeps its rows by itself, or nil when they are to be given to a Writer: that of a pack,
	// or of the final step, for which the pack is nil.
	Keeper(*task.Pack) Keeper
	// HeldBytes is how many bytes of DuckDB's and Go's memory a Writer may hold.
	HeldBytes() int64
}

// Keeper runs a query, which gives all rows of a pack or of the final step, keeps them, and returns how many they were. The connection's instance may
// take so many bytes of memory; 0 is no limit.
type Keeper func(ctx context.Context, conn *duck.Conn, memory int64, query string, args ...any) (rows int64, err error)

// SinkWriter takes chunks of one goroutine.
type SinkWriter interface {
	// Add takes a chunk, which becomes the writer's, also when there is an error.
	Add(*duck.Chunk) error
	// Flush lets go of all chunks, having kept their rows: what made them is closed next.
	Flush() error
	// Close lets go of all chunks. It is called once, also after an error.
	Close()
}

func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// budget is how the memory limit is shared out, in bytes. Zero means no limit.
type budget struct {
	workers              int
	worker, alone, final int64 // of one worker, of all of them in one, and of the final step
}

const (
	// processBytes is what the program holds before it reads a row: pages of its code that were touched, 90 MiB of it
	// measured, and the runtime.
	processBytes = 96 << 20
	// overhead is the part of an instance's share that its memory_limit leaves free: DuckDB's limit counts its buffers,
	// not its allocator's slack and its readers' small structures.
	overhead = 0.1
	// workerBytes is what a worker should have at least; with less, fewer workers do better than starved ones.
	workerBytes = 48 << 20
	// leastBytes is what an instance needs to run at all.
	leastBytes = 16 << 20
)

// share divides the limit between workers and the final step, and lowers the number of workers when they would starve.
// Go's heap gets an eighth, which the session sets as its soft limit. While packs run the final step holds a quarter.
func (o Options) share(jobs int, withFinal bool) budget {
	var held int64
	if o.Sink != nil {
		held = o.Sink.HeldBytes()
	}
	return o.shareBut(jobs, withFinal, held)
}

// shareBut is share when each worker, or else the final step, holds so many bytes that its instance doesn't count.
func (o Options) shareBut(jobs int, withFinal bool, held int64) budget {
	b := budget{workers: min(o.workers(), jobs)}
	if o.MemoryBytes == 0 {
		return b
	}
	free := float64(o.MemoryBytes-processBytes-GoHeapBytes(o.MemoryBytes)) * (1 - overhead)
	b.final = max(int64(free)-held, leastBytes)
	if jobs == 0 {
		return b
	}
	forWorkers := free
	if withFinal {
		b.final = max(int64(free/4), leastBytes)
		forWorkers = free * 3 / 4
	}
	b.workers = min(b.workers, max(1, int(forWorkers/float64(workerBytes+held))))
	b.alone = max(int64(forWorkers)-held, leastBytes)
	b.worker = max(int64(forWorkers/float64(b.workers))-held, leastBytes)
	return b
}

// Share returns how many workers, of those that are wanted, may run within a memory limit of the process and how much memory
// each DuckDB instance of them gets, in bytes, when each holds so many bytes besides; 0 is no limit.
func Share(limit int64, workers int, held int64) (fewer int, bytes int64) {
	b := Options{Workers: workers, MemoryBytes: limit}.shareBut(workers, false, held)
	return b.workers, b.worker
}

// GoHeapBytes is the part of a memory limit that Go's heap may take, in bytes.
func GoHeapBytes(limit int64) int64 { return limit / 8 }

// keeper returns the sink's Keeper of a pack, or of the final step if it is nil.
func (o Options) keeper(p *task.Pack) Keeper {
	if o.Sink == nil {
		return nil
	}
	return o.Sink.Keeper(p)
}
