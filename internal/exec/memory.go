package exec

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/meter"
)

const (
	// watchEvery is how often memory is looked at near the limit, and watchSeldom far from it.
	watchEvery, watchSeldom = 5 * time.Millisecond, 100 * time.Millisecond
	// touched is how many bytes a thread touches in a millisecond, about.
	touched = 1 << 20
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
	tick := time.NewTimer(nextLook(float64(meter.Memory()), limit))
	defer tick.Stop()
	var dropped time.Time
	for {
		select {
		case <-end:
			return
		case <-tick.C:
		}
		held := float64(meter.Memory())
		tick.Reset(nextLook(held, limit))
		if held < shortAt*limit {
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

// nextLook returns after what time memory is looked at again: long before all cores together could have touched what is left until
// memory is short.
func nextLook(held, limit float64) time.Duration {
	const careful = 4
	rate := touched * float64(max(2, runtime.NumCPU())) * careful // per millisecond
	left := (shortAt*limit - held) / rate
	return min(watchSeldom, max(watchEvery, time.Duration(left*float64(time.Millisecond))))
}
