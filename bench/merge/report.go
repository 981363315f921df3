package main

import (
	"fmt"
	"maps"

	"github.com/tarndb/tarn/internal/bench"
)

// report prints what was measured at one size and judges it.
type report struct {
	bench.Report
	size size
}

func (r *report) print(results []*result, threads, runs int) {
	fmt.Printf("\n%d rows in 64 buckets; threads: %d; memory limit: default; runs: %d each, interleaved; medians of whole processes\n",
		r.size.rows, threads, runs)
	list := bench.All(results)
	fmt.Print("\nduckdb is the plain rewrite of the files with matches (copy), or the scan of their key column (merge)\n")
	r.PrintCPU(list)
	r.PrintMemory(list)
	r.printFiles(results)
	bench.PrintWall(list)
	bench.PrintRuns(list, bench.ByPlan, bench.ByWhole, bench.ByDuckDB)
}

// printFiles judges that only files with matches are rewritten, and that a partition gets one new file at most: they are far
// smaller than the target size.
func (r *report) printFiles(results []*result) {
	fmt.Printf("\n%-26s %16s %16s %10s %10s\n", "files", "MiB rewritten", "MiB with matches", "new files", "partitions")
	for _, x := range results {
		rewritten, matched := bytesOf(x.rewritten), bytesOf(x.matched)
		var wanted map[string]int64
		if x.workload.copies {
			wanted = x.matched
		}
		verdict := ""
		if !maps.Equal(x.rewritten, wanted) || x.made > x.touched {
			r.Missed, verdict = true, "MISSED"
		}
		fmt.Printf("%-26s %16.2f %16.2f %10d %10d %s\n", x.Name, float64(rewritten)/(1<<20), float64(matched)/(1<<20), x.made, x.touched, verdict)
	}
}

func bytesOf(files map[string]int64) (sum int64) {
	for _, bytes := range files {
		sum += bytes
	}
	return sum
}
