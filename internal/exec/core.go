package exec

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/task"
)

// coreRun is one core's execution: rows are routed, packs run side by side, then those that run by themselves.
type coreRun struct {
	*run
	at       int
	core     *task.Core
	share    budget
	sink     func(*duck.Chunk) error // of several goroutines; closes the chunks
	crew     []*worker               // those of the steps in which several run
	exchange *exchange               // nil when no rows are routed
	rows     atomic.Int64            // that went to the sink
	short    atomic.Int64            // as worker.short
}

func (c *coreRun) all(ctx context.Context) (err error) {
	defer c.deletes.releaseEverywhere(c.core)
	defer func() {
		if closed := c.close(); closed != nil && (err == nil || isStop(err)) {
			err = closed
		}
	}()
	together, alone := c.split()
	if err := c.hire(ctx, max(len(together), len(c.units[c.at]))); err != nil {
		return err
	}
	if len(c.units[c.at]) > 0 {
		if err := c.step(RouteStep, c.at, func() error { return c.route(ctx) }); err != nil {
			return err
		}
	}
	if len(together) > 0 {
		if err := c.step(PackStep, c.at, func() error { return c.packs(ctx, together) }); err != nil {
			return err
		}
	}
	c.dismiss()
	if len(alone) == 0 {
		return nil
	}
	return c.step(AloneStep, c.at, func() error { return c.alone(ctx, alone) })
}

// close ends the workers, then removes the routed rows, which they may read.
func (c *coreRun) close() error {
	c.dismiss()
	if c.exchange == nil {
		return nil
	}
	return c.exchange.close()
}

// split returns the packs that run side by side and those that run alone.
func (c *coreRun) split() (together, alone []int) {
	for i := range c.core.Packs {
		if c.core.Packs[i].Alone {
			alone = append(alone, i)
		} else {
			together = append(together, i)
		}
	}
	return together, alone
}

// hire opens as many workers as there is work for.
func (c *coreRun) hire(ctx context.Context, jobs int) error {
	c.crew = make([]*worker, min(c.share.workers, jobs))
	group, ctx := errgroup.WithContext(ctx)
	for i := range c.crew {
		Work(group, func() (err error) {
			c.crew[i], err = c.openWorker(ctx, 1, c.share.worker)
			return err
		})
	}
	return group.Wait()
}

// dismiss closes the workers.
func (c *coreRun) dismiss() {
	for _, w := range c.crew {
		if w != nil {
			w.close()
		}
	}
	c.crew = nil
}

// each lets the workers do the same, until all are done.
func each(ctx context.Context, crew []*worker, do func(context.Context, *worker) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, w := range crew {
		Work(group, func() error { return do(ctx, w) })
	}
	return group.Wait()
}

// holdBytes is how many bytes of routed rows a worker holds until it writes them. More make larger writes, but no longer lie in
// the CPU's cache when they are sorted by bin: of 1 to 32 MiB this measured least, for 16 to 500 bins of narrow rows.
const holdBytes = 4 << 20

// route routes the rows of the tables that have routed files.
func (c *coreRun) route(ctx context.Context) (err error) {
	if c.exchange, err = openExchange(c.crew[0].conn, c.core, c.at, c.opts.TempDir); err != nil {
		return err
	}
	var next atomic.Int64
	err = each(ctx, c.crew, func(ctx context.Context, w *worker) error {
		if err := w.limit(ctx, w.memory-holdBytes); err != nil {
			return err
		}
		if err := w.route(ctx, c.exchange, c.units[c.at], &next); err != nil {
			return err
		}
		return w.limit(ctx, w.memory)
	})
	if err == nil {
		err = c.exchange.settle()
	}
	c.stream.addRoutes(c.exchange.routes())
	return err
}

// limit sets the memory of the worker's instance, if it has a limit at all.
func (w *worker) limit(ctx context.Context, bytes int64) error {
	if w.memory == 0 {
		return nil
	}
	return w.conn.Exec(ctx, fmt.Sprintf("SET memory_limit = '%dB'", bytes))
}

// packs runs packs side by side, in their order: the largest first.
func (c *coreRun) packs(ctx context.Context, packs []int) error {
	var next atomic.Int64
	return each(ctx, c.crew[:min(len(c.crew), len(packs))], func(ctx context.Context, w *worker) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(packs) {
				return nil
			}
			if err := c.pack(ctx, w, packs[i]); err != nil {
				return err
			}
		}
	})
}

// alone runs packs one after another, each with all threads and the memory of all workers.
func (c *coreRun) alone(ctx context.Context, packs []int) error {
	w, err := c.openWorker(ctx, c.opts.workers(), c.share.alone)
	if err != nil {
		return err
	}
	defer w.close()
	for _, i := range packs {
		if err := c.pack(ctx, w, i); err != nil {
			return err
		}
	}
	return nil
}

// pack runs one pack and passes its chunks on.
func (c *coreRun) pack(ctx context.Context, w *worker, pack int) error {
	start, p := time.Now(), &c.core.Packs[pack]
	stats := PackStats{Core: c.at, Pack: pack, Slice: p.Slice, Part: p.Part, Alone: p.Alone}
	err := c.gather(ctx, w, p, &stats)
	stats.Seconds = time.Since(start).Seconds()
	c.stream.addPack(stats)
	if err != nil {
		return err
	}
	if c.opts.Progress != nil {
		c.opts.Progress(int(c.done.Add(1)), c.total)
	}
	return c.exchange.done(p)
}

// gather runs a pack and passes its rows, which it counts, on.
func (c *coreRun) gather(ctx context.Context, w *worker, p *task.Pack, stats *PackStats) (err error) {
	if keep := c.keeper(p); keep != nil {
		stats.Parts, err = w.run(ctx, p, c.exchange, func(text string, args ...any) (err error) {
			stats.Rows, err = keep(ctx, w.conn, w.memory, text, args...)
			return err
		}, nil)
		return err
	}
	run := func(put func(*duck.Chunk) error) (err error) {
		stats.Parts, err = w.run(ctx, p, c.exchange, func(text string, args ...any) error {
			return w.conn.Stream(ctx, text, func(ch *duck.Chunk) error {
				n := int64(ch.Rows())
				stats.Rows += n
				if err := put(ch); err != nil {
					return err
				}
				if limit := c.core.Limit; limit >= 0 && c.rows.Add(n) >= limit {
					return errStop
				}
				return nil
			}, args...)
		}, &stats.Rows)
		return err
	}
	if c.final == nil {
		return c.give(p, run, c.sink)
	}
	return run(c.sink)
}

// keeper returns what keeps a pack's rows by itself; nil when they go elsewhere.
func (c *coreRun) keeper(p *task.Pack) Keeper {
	if c.final != nil || c.core.Limit >= 0 {
		return nil
	}
	return c.opts.keeper(p)
}
