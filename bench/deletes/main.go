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

// cpuBar is for position deletes and deletion vectors: the scan's CPU over that of the same scan without deletes.
const cpuBar = 1.3

// variant is a table and how its rows are deleted.
type variant struct {
	table   string
	version int                                       // of the format: from 3 on nobody adds position delete files
	delete  func(*bed, context.Context, string) error // nil: not at all
	bar     float64                                   // 0: none
}

var variants = []variant{
	{"plain", 3, nil, 0},
	{"positions", 2, (*bed).byPosition, cpuBar},
	{"vectors", 3, (*bed).byVector, cpuBar},
	{"keys", 3, (*bed).byKey, 0},
}

func main() {
	rows := flag.Int64("rows", 10_000_000, "rows of each table")
	runs := flag.Int("runs", 7, "runs of each scan")
	flag.Parse()
	bench.Exit(run(context.Background(), *rows, *runs))
}

func run(ctx context.Context, rows int64, runs int) (missed bool, err error) {
	temp, err := os.MkdirTemp("", "tarn-bench-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(temp)
	program, err := bench.Program(ctx, temp, "cmd/tarn")
	if err != nil {
		return false, err
	}
	b, err := newBed(ctx, filepath.Join(temp, "lake"), rows)
	if err != nil {
		return false, err
	}
	defer b.close()
	for _, v := range variants {
		fmt.Fprintf(os.Stderr, "making bench.%s (%d rows) ...\n", v.table, rows)
		if err := b.fill(ctx, v); err != nil {
			return false, err
		}
	}
	results, err := interleave(ctx, demo.Options{Threads: runtime.GOMAXPROCS(0), Program: program}, b.flags(), rows, runs)
	if err != nil {
		return false, err
	}
	return print(results, rows, runs), nil
}

// query reads three columns of every row that is left.
const query = "SELECT count(*) AS rows, sum(id) AS ids, sum(v) AS vs, max(note) AS note FROM bench.%s"

// interleave runs the scans in turn. The first round warms the page cache and isn't counted. A wrong count of rows ends it.
func interleave(ctx context.Context, o demo.Options, flags []string, rows int64, runs int) (map[string][]demo.Outcome, error) {
	out := map[string][]demo.Outcome{}
	for i := range runs + 1 {
		for _, v := range variants {
			got, err := demo.Measure(ctx, o, flags, "auto", fmt.Sprintf(query, v.table))
			if err != nil {
				return nil, err
			}
			if err := checkAnswer(v, got.Answer, rows); err != nil {
				return nil, err
			}
			if i > 0 {
				out[v.table] = append(out[v.table], got)
			}
		}
	}
	return out, nil
}

func print(results map[string][]demo.Outcome, rows int64, runs int) (missed bool) {
	fmt.Printf("\nrows: %d in %d files, 3 columns read; threads: %d; runs: %d each, interleaved; medians\n\n", rows, dataFiles, runtime.GOMAXPROCS(0), runs)
	fmt.Printf("%-12s %12s %8s %10s %12s %14s\n", "deleted by", "CPU s", "ratio", "bar", "wall s", "peak MiB")
	cpu := func(r demo.Outcome) float64 { return r.CPUSeconds }
	plain := bench.Median(results["plain"], cpu)
	for _, v := range variants {
		list := results[v.table]
		ratio, verdict := bench.Median(list, cpu)/plain, ""
		if v.bar > 0 {
			var isMissed bool
			verdict, isMissed = bench.AtMost(v.bar, ratio)
			missed = missed || isMissed
		}
		fmt.Printf("%-12s %12.2f %8.2f %10s %12.2f %14.0f\n", v.table, bench.Median(list, cpu), ratio, verdict,
			bench.Median(list, func(r demo.Outcome) float64 { return r.WallSeconds }),
			bench.Median(list, func(r demo.Outcome) float64 { return float64(r.PeakBytes) / (1 << 20) }))
	}
	fmt.Println("\nEvery run: CPU s")
	for i := range results["plain"] {
		for _, v := range variants {
			fmt.Printf("  %s %.2f", v.table, results[v.table][i].CPUSeconds)
		}
		fmt.Println()
	}
	return missed
}
