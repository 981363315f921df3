package exec

import (
	"runtime"

	"github.com/tarndb/tarn/internal/duck"
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

// Sink takes a run's rows. Writer is called by several goroutines.
type Sink interface {
	// Writer returns where one goroutine puts its chunks.
	Writer() SinkWriter
}

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
	b := budget{workers: min(o.workers(), jobs)}
	if o.MemoryBytes == 0 {
		return b
	}
	free := float64(o.MemoryBytes-processBytes-GoHeapBytes(o.MemoryBytes)) * (1 - overhead)
	b.final = max(int64(free), leastBytes)
	if jobs == 0 {
		return b
	}
	forWorkers := free
	if withFinal {
		b.final = max(int64(free/4), leastBytes)
		forWorkers = free * 3 / 4
	}
	b.workers = min(b.workers, max(1, int(forWorkers/workerBytes)))
	b.alone = max(int64(forWorkers), leastBytes)
	b.worker = max(int64(forWorkers/float64(b.workers)), leastBytes)
	return b
}

// Share returns how many workers, of those that are wanted, may run within a memory limit of the process and how much memory
// each DuckDB instance of them gets, in bytes; 0 is no limit.
func Share(limit int64, workers int) (fewer int, bytes int64) {
	b := Options{Workers: workers, MemoryBytes: limit}.share(workers, false)
	return b.workers, b.worker
}

// GoHeapBytes is the part of a memory limit that Go's heap may take, in bytes.
func GoHeapBytes(limit int64) int64 { return limit / 8 }
