package main

import (
	"fmt"

	"github.com/tarndb/tarn/internal/bench"
)

func cpu(o bench.Outcome) float64  { return o.CPUSeconds }
func wall(o bench.Outcome) float64 { return o.WallSeconds }
func peak(o bench.Outcome) float64 { return o.MiB() }

// report prints what was measured at one size and judges it.
type report struct {
	size   size
	before []*result // of the same workloads at the size before, or nil
	missed bool
}

// verdict writes a bar beside its figure and counts it when it is missed.
func (r *report) verdict(bar, figure float64, judged bool) string {
	text, missed := bench.AtMost(bar, figure)
	if !judged {
		return fmt.Sprintf("<= %.2f, not judged at this size", bar)
	}
	r.missed = r.missed || missed
	return text
}

func (r *report) print(results []*result, threads, runs int) {
	fmt.Printf("\n%d rows in 64 buckets; threads: %d; memory limit: default; runs: %d each, interleaved; medians of whole processes\n",
		r.size.rows, threads, runs)
	r.printCPU(results)
	r.printMemory(results)
	r.printFiles(results)
	printWall(results)
	printRuns(results)
}

func (r *report) printCPU(results []*result) {
	fmt.Print("\nduckdb is the plain rewrite of the files with matches (copy), or the scan of their key column (merge)\n")
	fmt.Printf("%-26s %8s %8s %8s %14s %s\n", "CPU s", "tarn", "whole", "duckdb", "tarn / duckdb", "bar")
	for _, x := range results {
		a, b, c := x.median(byPlan, cpu), x.median(byWhole, cpu), x.median(byFloor, cpu)
		verdict := ""
		if x.workload.cpuBar > 0 {
			verdict = r.verdict(x.workload.cpuBar, a/c, r.size.rows >= judgedFrom)
		}
		fmt.Printf("%-26s %8.2f %8.2f %8.2f %14.2f %s\n", x.workload.name, a, b, c, a/c, verdict)
	}
}

// printMemory judges the peaks at the first size by themselves, and at the next by how they grew.
func (r *report) printMemory(results []*result) {
	last := "bar"
	if r.before != nil {
		last = "over the size before, bar"
	}
	fmt.Printf("\n%-26s %8s %8s %8s %s\n", "peak memory, MiB (VmHWM)", "tarn", "whole", "duckdb", last)
	for i, x := range results {
		a := x.median(byPlan, peak)
		var verdict string
		if r.before == nil {
			verdict = r.verdict(memoryBar, a, true)
		} else {
			growth := a / r.before[i].median(byPlan, peak)
			verdict = fmt.Sprintf("%.2f %s", growth, r.verdict(growthBar, growth, true))
		}
		fmt.Printf("%-26s %8.0f %8.0f %8.0f %s\n", x.workload.name, a, x.median(byWhole, peak), x.median(byFloor, peak), verdict)
	}
}

// printFiles judges that only files with matches are rewritten, and that a partition gets one new file at most: they are far
// smaller than the target size.
func (r *report) printFiles(results []*result) {
	fmt.Printf("\n%-26s %16s %16s %10s %10s\n", "files", "MiB rewritten", "MiB with matches", "new files", "partitions")
	for _, x := range results {
		rewritten, matched := bytesOf(x.rewritten), bytesOf(x.matched)
		wanted := matched
		if !x.workload.copies {
			wanted = 0
		}
		verdict := ""
		if rewritten != wanted || x.made > x.touched {
			r.missed, verdict = true, "MISSED"
		}
		fmt.Printf("%-26s %16.2f %16.2f %10d %10d %s\n", x.workload.name, float64(rewritten)/(1<<20), float64(matched)/(1<<20), x.made, x.touched, verdict)
	}
}

func bytesOf(files map[string]int64) (sum int64) {
	for _, bytes := range files {
		sum += bytes
	}
	return sum
}

func printWall(results []*result) {
	fmt.Printf("\n%-26s %8s %8s %8s %14s\n", "wall s", "tarn", "whole", "duckdb", "tarn / duckdb")
	for _, x := range results {
		a, c := x.median(byPlan, wall), x.median(byFloor, wall)
		fmt.Printf("%-26s %8.2f %8.2f %8.2f %14.2f\n", x.workload.name, a, x.median(byWhole, wall), c, a/c)
	}
}

func printRuns(results []*result) {
	fmt.Print("\nEvery run: CPU s / peak MiB\n")
	for _, x := range results {
		for _, path := range []string{byPlan, byWhole, byFloor} {
			fmt.Printf("%-26s %-7s", x.workload.name, path)
			for _, o := range x.runs[path] {
				fmt.Printf("  %.2f / %.0f", o.CPUSeconds, o.MiB())
			}
			fmt.Println()
		}
	}
}
