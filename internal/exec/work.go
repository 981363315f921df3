package exec

import (
	"runtime"
	"runtime/debug"

	"golang.org/x/sync/errgroup"

	"github.com/tarndb/tarn/internal/errs"
)

// Work adds one of several that use DuckDB side by side to a group. All of its calls are made by one thread of the system, and a
// panic of it is an error.
//
// One thread keeps memory small. DuckDB's allocator gives each thread one of a few arenas, and what is freed to an arena stays
// there, for a second and more, for those who allocate from it. Go lets any of its threads go on where a long call returned, so
// that what a worker freed would come to lie in several arenas, while it takes new memory in another: packs were seen to hold as
// much again as they used. It costs no CPU: fewer pages are touched for the first time.
func Work(group *errgroup.Group, do func() error) {
	group.Go(func() error {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		return safely(do)
	})
}

// safely runs do and turns a panic, which is a bug of ours, into an error: nothing in a goroutine may take the process down.
func safely(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errs.New(errs.Internal, "run", "query", "%v\n%s", p, debug.Stack()).
				WithHint("this is a bug in tarn; please report it with the statement")
		}
	}()
	return do()
}
