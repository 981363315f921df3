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
	size   size
	grow   int64
	runs   int
	dir    string
	only   string
	small  bool
	python int64
}

func main() {
	var o options
	flag.Int64Var(&o.size.rows, "rows", 20_000_000, "rows of the table")
	flag.Int64Var(&o.size.seed, "seed", 1, "of the rows")
	flag.Int64Var(&o.grow, "grow", 4, "measure again at this many times the rows; 1: don't")
	flag.IntVar(&o.runs, "runs", 3, "runs of each path")
	flag.StringVar(&o.dir, "dir", "", "make the tables here and keep them, or use those that are here (default: a temporary folder)")
	flag.StringVar(&o.only, "only", "", "the workloads whose names have one of these words, parted by commas (default: all)")
	flag.BoolVar(&o.small, "small", false, "half a million rows, one run, one size: for a look whether all runs and agrees")
	flag.Int64Var(&o.python, "pyiceberg", 0, "also measure the upsert of 1 % by PyIceberg, which python3 must have, into a table of so many rows")
	flag.Parse()
	if o.small {
		o.size.rows, o.runs, o.grow = 500_000, 1, 1
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
	m := measurer{threads: runtime.GOMAXPROCS(0), runs: o.runs, temp: temp}
	if m.tarn, err = bench.Program(ctx, temp, "cmd/tarn"); err != nil {
		return false, err
	}
	if m.duckdb, err = bench.Program(ctx, temp, "bench/duckdb"); err != nil {
		return false, err
	}
	sizes := []size{o.size}
	if o.grow > 1 {
		sizes = append(sizes, size{o.size.rows * o.grow, o.size.seed})
	}
	var before []*result
	for _, s := range sizes {
		results, err := m.on(ctx, o.dir, s, list)
		if err != nil {
			return false, err
		}
		r := &report{size: s, Report: bench.Report{Rows: s.rows, MemoryBar: memoryBar, GrowthBar: growthBar, Before: bench.All(before)}}
		r.print(results, m.threads, m.runs)
		before, missed = results, missed || r.Missed
	}
	if o.python == 0 {
		return missed, nil
	}
	return missed, m.python(ctx, o.dir, size{o.python, o.size.seed})
}

// on measures workloads at one size.
func (m *measurer) on(ctx context.Context, dir string, s size, list []workload) ([]*result, error) {
	bed, err := newBed(ctx, dir, s)
	if err != nil {
		return nil, err
	}
	defer bed.close()
	m.bed = bed
	return m.measureAll(ctx, list)
}
