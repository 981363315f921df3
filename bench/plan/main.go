package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/bench"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/transform"
)

// The bars: Tarn's medians over iceberg-go's.
const (
	timeBar   = 1.0
	memoryBar = 0.2
)

func main() {
	files := flag.Int("files", 20_000, "data files of the table")
	manifests := flag.Int("manifests", 20, "manifests of the table")
	runs := flag.Int("runs", 9, "runs of each planner")
	flag.Parse()
	bench.Exit(run(context.Background(), *files, *manifests, *runs))
}

func run(ctx context.Context, files, manifests, runs int) (missed bool, err error) {
	dir, err := os.MkdirTemp("", "tarn-bench-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("\n%d files in %d manifests, bucket(%d, id), statistics of 3 columns; threads: %d; runs: %d each, interleaved; medians\n\n",
		files, manifests, buckets, runtime.GOMAXPROCS(0), runs)
	fmt.Printf("%-22s %-16s %12s %12s %8s %10s\n", "", "", "tarn", "iceberg-go", "ratio", "bar")
	for _, clustered := range []bool{false, true} {
		path := filepath.Join(dir, fmt.Sprint("clustered-", clustered))
		if err := makeTable(path, files, manifests, clustered); err != nil {
			return false, err
		}
		for _, point := range []bool{false, true} {
			own, theirs, err := interleave(ctx, path, point, runs)
			if err != nil {
				return false, err
			}
			missed = print(name(clustered, point), files, own, theirs) || missed
		}
	}
	return missed, nil
}

func name(clustered, point bool) string {
	name := "full"
	if point {
		name = "id = 34"
	}
	if clustered {
		name += ", clustered"
	}
	return name
}

// outcome is one run of a planner.
type outcome struct {
	took  time.Duration
	bytes uint64 // allocated
	files int
}

// interleave runs both planners in turn, each on a table that it has just opened. The first pair isn't counted.
func interleave(ctx context.Context, path string, point bool, runs int) (own, theirs []outcome, err error) {
	for i := range runs + 1 {
		a, err := ownPlan(ctx, path, point)
		if err != nil {
			return nil, nil, err
		}
		b, err := theirPlan(ctx, path, point)
		if err != nil {
			return nil, nil, err
		}
		if a.files != b.files {
			return nil, nil, fmt.Errorf("tarn leaves %d files and iceberg-go %d", a.files, b.files)
		}
		if i > 0 {
			own, theirs = append(own, a), append(theirs, b)
		}
	}
	return own, theirs, nil
}

// measure runs plan, which returns how many files it leaves.
func measure(plan func() (int, error)) (outcome, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := time.Now()
	files, err := plan()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return outcome{took: took, bytes: after.TotalAlloc - before.TotalAlloc, files: files}, err
}

func ownPlan(ctx context.Context, path string, point bool) (outcome, error) {
	t, c, err := lake.OpenPath(ctx, path, nil)
	if err != nil {
		return outcome{}, err
	}
	defer c.Close()
	var filter catalog.Filter
	if point {
		filter = catalog.Filter{Op: catalog.Test, Field: 1, Type: transform.Type{Kind: transform.Long},
			Pred: transform.Predicate{Op: transform.EQ, Values: []transform.Value{int64(34)}}}
	}
	return measure(func() (int, error) {
		layout, err := c.Survey(ctx, t, filter)
		if err != nil {
			return 0, err
		}
		files := 0
		return files, layout.Files(ctx, func(catalog.DataFile) error { files++; return nil })
	})
}

func print(name string, files int, own, theirs []outcome) (missed bool) {
	row := func(unit string, bar float64, get func(outcome) float64) {
		a, b := bench.Median(own, get), bench.Median(theirs, get)
		verdict := fmt.Sprintf("< %.2f", bar)
		if a/b >= bar {
			verdict, missed = verdict+" MISSED", true
		}
		fmt.Printf("%-22s %-16s %12.2f %12.2f %8.2f %10s\n", name, unit, a, b, a/b, verdict)
	}
	row("us per file", timeBar, func(o outcome) float64 { return float64(o.took.Nanoseconds()) / 1e3 / float64(files) })
	row("bytes per file", memoryBar, func(o outcome) float64 { return float64(o.bytes) / float64(files) })
	return missed
}
