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
	// endAt is the part of the limit at which a run ends, when giving back doesn't help: what DuckDB holds outside of its
	// own count would soon break the limit.
	endAt = 0.97
)

// errMemory ends a run that would break the limit.
var errMemory = errors.New("the process is at its memory limit")

// watchMemory keeps the process within its limit: it gives memory that DuckDB has freed back to the system while there is
// little left, and ends the run when that isn't enough. stop ends the watch and gives the run's error its right name.
func (r *run) watchMemory(ctx context.Context) (_ context.Context, stop func(error) error) {
	limit := float64(r.opts.MemoryBytes)
	if limit == 0 {
		return ctx, func(err error) error { return err }
	}
	ctx, cancel := context.WithCancelCause(ctx)
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
				if isShort(limit) {
					cancel(errMemory)
				}
			}
		}
	}()
	return ctx, func(err error) error {
		close(end)
		<-ended
		if err != nil && errors.Is(context.Cause(ctx), errMemory) {
			err = errs.New(errs.Resource, "run", "query", "the process came to its memory limit of %d MiB", r.opts.MemoryBytes>>20).
				WithHint("raise --memory, or lower tarn.pack_bytes or the number of threads")
		}
		cancel(nil)
		return err
	}
}

// isShort gives memory back when little is left, and says whether that didn't help.
func isShort(limit float64) bool {
	if float64(meter.Memory()) < shortAt*limit {
		return false
	}
	duck.ReleaseMemory()
	return float64(meter.Memory()) > endAt*limit
}
