package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/tarndb/tarn/internal/bench"
	"github.com/tarndb/tarn/internal/demo"
)

// query groups by the key over a join on it; the order makes both plans' answers comparable.
const query = demo.Query

// The bars: the storage-partitioned plan's medians over the whole-query plan's.
const (
	memoryBar = 0.5
	cpuBar    = 1.0
)

func main() {
	rows := flag.Int64("rows", 5_000_000, "rows of sales.orders")
	runs := flag.Int("runs", 7, "runs of each plan")
	dir := flag.String("dir", "", "make the lake here and keep it (default: a temporary folder)")
	flag.Parse()
	bench.Exit(run(context.Background(), *rows, *runs, *dir))
}

func run(ctx context.Context, rows int64, runs int, dir string) (missed bool, err error) {
	temp, err := os.MkdirTemp("", "tarn-bench-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(temp)
	if dir == "" {
		dir = filepath.Join(temp, "lake")
	}
	program, err := bench.Program(ctx, temp)
	if err != nil {
		return false, err
	}
	o := demo.Options{Rows: rows, Dir: dir, Threads: runtime.GOMAXPROCS(0), Program: program}
	flags, err := demo.Make(ctx, os.Stderr, o)
	if err != nil {
		return false, err
	}
	joined, whole, err := interleave(ctx, o, flags, runs)
	if err != nil {
		return false, err
	}
	return print(o, joined, whole), nil
}

// interleave runs both plans in turn, so that what else the machine does falls on both. The first pair warms the page
// cache and isn't counted.
func interleave(ctx context.Context, o demo.Options, flags []string, runs int) (joined, whole []demo.Outcome, err error) {
	for i := range runs + 1 {
		a, err := demo.Measure(ctx, o, flags, "require", query)
		if err != nil {
			return nil, nil, err
		}
		b, err := demo.Measure(ctx, o, flags, "off", query)
		if err != nil {
			return nil, nil, err
		}
		if a.Answer != b.Answer {
			return nil, nil, fmt.Errorf("the plans gave different rows:\n%s\nand\n%s", a.Answer, b.Answer)
		}
		if i > 0 {
			joined, whole = append(joined, a), append(whole, b)
		}
	}
	return joined, whole, nil
}

func print(o demo.Options, joined, whole []demo.Outcome) (missed bool) {
	fmt.Printf("\nrows: %d orders, %d customers; buckets: %d; threads: %d; memory limit: default; runs: %d each, interleaved; medians\n\n",
		o.Rows, demo.Customers(o.Rows), demo.Buckets, o.Threads, len(joined))
	fmt.Printf("%-28s %14s %14s %8s %10s\n", "", "by group", "whole query", "ratio", "bar")
	row := func(name string, bar float64, unit string, get func(demo.Outcome) float64) {
		a, b := bench.Median(joined, get), bench.Median(whole, get)
		verdict := ""
		if bar > 0 {
			verdict = fmt.Sprintf("<= %.2f", bar)
			if a/b > bar {
				verdict, missed = verdict+" MISSED", true
			}
		}
		fmt.Printf("%-28s %10.2f %-3s %10.2f %-3s %8.2f %10s\n", name, a, unit, b, unit, a/b, verdict)
	}
	row("peak memory (VmHWM)", memoryBar, "MiB", func(r demo.Outcome) float64 { return float64(r.PeakBytes) / (1 << 20) })
	row("CPU (user and system)", cpuBar, "s", func(r demo.Outcome) float64 { return r.CPUSeconds })
	row("wall", 0, "s", func(r demo.Outcome) float64 { return r.WallSeconds })
	fmt.Println("\nEvery run: CPU s, peak MiB")
	for i := range joined {
		fmt.Printf("  by group %6.2f %8.0f    whole %6.2f %8.0f\n", joined[i].CPUSeconds, float64(joined[i].PeakBytes)/(1<<20),
			whole[i].CPUSeconds, float64(whole[i].PeakBytes)/(1<<20))
	}
	return missed
}
