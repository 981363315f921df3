package exec

import (
	"runtime"
)

// Options are the limits of one run. The zero value of each field is its default.
type Options struct {
	Workers      int    // packs that run at once, and threads of the final step; 0: one per core
	MemoryBytes  int64  // for the whole process; 0: no limit but DuckDB's own
	TempDir      string // where data is spilled; "": the system's
	SkipKeyCheck bool   // trust files to be where their keys say
	// Progress, when set, is called after each pack, from several goroutines.
	Progress func(done, total int)
}

func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// budget is how the memory limit is shared out, in bytes. Zero means no limit.
type budget struct{ worker, final int64 }

const (
	// processBytes is what the program holds before it reads a row: code, runtime and the instances' own structures.
	processBytes = 64 << 20
	// overhead is the part of an instance's share that its memory_limit leaves free: DuckDB's limit counts its buffers,
	// not its allocator's slack and its readers' small structures. Without it peaks went over the limit by a tenth.
	overhead = 0.2
	// leastBytes is what an instance needs to run at all.
	leastBytes = 16 << 20
)

// share divides the limit between workers and the final step. Go's heap gets an eighth, which the session sets as its
// soft limit.
func (o Options) share(workers int, withFinal bool) budget {
	if o.MemoryBytes == 0 {
		return budget{}
	}
	free := float64(o.MemoryBytes-processBytes-GoHeapBytes(o.MemoryBytes)) * (1 - overhead)
	var b budget
	switch {
	case workers == 0:
		b.final = int64(free)
	case withFinal:
		b.final = int64(free / 3)
		b.worker = int64(free * 2 / 3 / float64(workers))
	default:
		b.worker = int64(free / float64(workers))
	}
	b.worker, b.final = max(b.worker, leastBytes), max(b.final, leastBytes)
	return b
}

// GoHeapBytes is the part of a memory limit that Go's heap may take, in bytes.
func GoHeapBytes(limit int64) int64 { return limit / 8 }
