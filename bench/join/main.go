package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"

	"github.com/tarndb/tarn/internal/bench"
)

// options are the command line's.
type options struct {
	size  size
	grow  int64
	runs  int
	dir   string
	only  string
	small bool
}

func main() {
	var o options
	flag.Int64Var(&o.size.orders, "rows", 20_000_000, "orders; there are three customers to twenty of them")
	flag.Int64Var(&o.size.seed, "seed", 1, "of the rows")
	flag.Int64Var(&o.grow, "grow", 4, "measure again at this many times the data; 1: don't")
	flag.IntVar(&o.runs, "runs", 5, "runs of each path")
	flag.StringVar(&o.dir, "dir", "", "make the tables here and keep them, or use those that are here (default: a temporary folder)")
	flag.StringVar(&o.only, "only", "", "the workloads whose names have one of these words, parted by commas (default: all)")
	flag.BoolVar(&o.small, "small", false, "half a million orders, three runs, one size: for a look whether all runs and agrees")
	flag.Parse()
	if o.small {
		o.size.orders, o.runs, o.grow = 500_000, 3, 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // so that the temporary folder goes
	defer stop()
	bench.Exit(run(ctx, o))
}

func run(ctx context.Context, o options) (missed bool, err error) {
	list := bench.Named(workloads, o.only, func(w workload) string { return w.name })
	if len(list) == 0 {
		return false, fmt.Errorf("no workload's name has any of %q", o.only)
	}
	temp, err := os.MkdirTemp("", "tarn-bench-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(temp)
	if o.dir == "" {
		o.dir = filepath.Join(temp, "lake")
	}
	m := measurer{threads: runtime.GOMAXPROCS(0), runs: o.runs}
	if m.tarn, err = bench.Program(ctx, temp, "cmd/tarn"); err != nil {
		return false, err
	}
	if m.duckdb, err = bench.Program(ctx, temp, "bench/duckdb"); err != nil {
		return false, err
	}
	sizes := []size{o.size}
	if o.grow > 1 {
		sizes = append(sizes, size{o.size.orders * o.grow, o.size.seed})
	}
	var before []*result
	for _, s := range sizes {
		if m.bed, err = newBed(ctx, o.dir, s); err != nil {
			return false, err
		}
		results, err := m.measureOn(ctx, list)
		if err != nil {
			return false, err
		}
		r := &report{size: s, Report: bench.Report{Rows: s.orders, MemoryBar: memoryBar, GrowthBar: growthBar, Before: bench.All(before)}}
		r.print(results, m.threads, m.runs)
		before, missed = results, missed || r.Missed
	}
	return missed, nil
}

// measureOn makes the tables that the workloads read and measures them.
func (m *measurer) measureOn(ctx context.Context, list []workload) ([]*result, error) {
	defer m.bed.catalog.Close()
	names := map[string]bool{}
	for _, w := range list {
		for _, t := range tablesOf(w.query(m.bed.size)) {
			names[t] = true
		}
	}
	if err := m.bed.fill(ctx, names); err != nil {
		return nil, err
	}
	return m.measureAll(ctx, list)
}
