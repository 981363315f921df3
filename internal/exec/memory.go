package exec

import (
	"context"
	"errors"
	"time"

	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/meter"
)

const (
	// watchEvery is how often memory is looked at: two threads touch about 10 MiB in that time.
	watchEvery = 5 * time.Millisecond
	// shortAt is the part of the limit from which on freed memory is given back at once.
	shortAt = 0.7
	// dropEvery is how often the program's own code is let go when memory is short: what runs is back within a millisecond.
	dropEvery = 50 * time.Millisecond
	// endAt is the part of the limit at which a run ends, when giving back doesn't help: what DuckDB holds outside of its
	// own count would soon break the limit.
	endAt = 0.97
)

// errMemory ends a run that would break the limit.
var errMemory = errors.New("the process is at its memory limit")

// WatchMemory keeps the process within a limit, in bytes, until stop: it gives memory that isn't used back to the system while
// there is little left, and ends ctx when that isn't enough. stop gives the error of what ran its right name. A limit of 0 is none.
func WatchMemory(ctx context.Context, limit int64) (_ context.Context, stop func(error) error) {
	if limit == 0 {
		return ctx, func(err error) error { return err }
	}
	ctx, cancel := context.WithCancelCause(ctx)
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		watch(float64(limit), end, func() { cancel(errMemory) })
	}()
	return ctx, func(err error) error {
		close(end)
		<-ended
		if err != nil && errors.Is(context.Cause(ctx), errMemory) {
			err = errs.New(errs.Resource, "run", "query", "the process came to its memory limit of %d MiB", limit>>20).
				WithHint("raise --memory, or lower tarn.pack_bytes or the number of threads")
		}
		cancel(nil)
		return err
	}
}

// watch looks at the process's memory until end, and calls atLimit when it can't be kept below the limit.
func watch(limit float64, end <-chan struct{}, atLimit func()) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var dropped time.Time
	for {
		select {
		case <-end:
			return
		case <-tick.C:
		}
		if float64(meter.Memory()) < shortAt*limit {
			continue
		}
		duck.ReleaseMemory()
		if time.Since(dropped) > dropEvery {
			dropCode()
			dropped = time.Now()
		}
		if float64(meter.Memory()) > endAt*limit {
			atLimit()
		}
	}
}
