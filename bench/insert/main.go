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
	rows, tuples int64
	runs         int
	dir          string
}

func main() {
	var o options
	small := false
	flag.Int64Var(&o.rows, "rows", 20_000_000, "orders; there are three customers to twenty of them")
	flag.Int64Var(&o.tuples, "tuples", 10_000, "partitions of the table of many")
	flag.IntVar(&o.runs, "runs", 5, "runs of each path")
	flag.StringVar(&o.dir, "dir", "", "make what is read here and keep it, or use what is here (default: a temporary folder)")
	flag.BoolVar(&small, "small", false, "half a million orders, a thousand partitions, one run: for a look whether all runs and agrees")
	flag.Parse()
	if small {
		o.rows, o.tuples, o.runs = 500_000, 1000, 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // so that the temporary folder goes
	defer stop()
	bench.Exit(run(ctx, o))
}

func run(ctx context.Context, o options) (missed bool, err error) {
	temp, err := os.MkdirTemp("", "tarn-bench-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(temp)
	if o.dir == "" {
		o.dir = temp
	}
	b := &bed{options: o, threads: runtime.GOMAXPROCS(0)}
	if b.dir, err = filepath.Abs(filepath.Join(o.dir, fmt.Sprintf("insert-%d", o.rows))); err != nil {
		return false, err
	}
	if b.tarn, err = bench.Program(ctx, temp, "cmd/tarn"); err != nil {
		return false, err
	}
	if b.duckdb, err = bench.Program(ctx, temp, "bench/duckdb"); err != nil {
		return false, err
	}
	if err := b.fill(ctx); err != nil {
		return false, err
	}
	fmt.Printf("%d orders, %d customers; threads: %d; runs: %d each, interleaved; medians of whole processes\n", o.rows, b.customers(), b.threads, o.runs)
	r := &report{judged: o.rows >= bench.JudgedFrom}
	for _, measure := range []func(context.Context, *report) error{b.fromParquet, b.fromJoin, b.manyTuples} {
		if err := measure(ctx, r); err != nil {
			return false, err
		}
	}
	return r.missed, nil
}
