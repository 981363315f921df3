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
	fmt.Printf("\n%d orders, %d customers; threads: %d; memory limit: default; runs: %d each, interleaved; medians of whole processes\n",
		r.size.orders, r.size.customers(), threads, runs)
	r.printPlans(results)
	r.printCPU(results)
	r.printMemory(results)
	r.printWall(results)
	r.printChecks(results)
	printRuns(results)
}

func (r *report) printPlans(results []*result) {
	fmt.Print("\nWhat each ran with (EXPLAIN)\n")
	for _, x := range results {
		fmt.Println(x.workload.name)
		for _, line := range x.plan {
			fmt.Println("  " + line)
		}
	}
}

func (r *report) printCPU(results []*result) {
	fmt.Printf("\n%-26s %8s %8s %8s %14s %s\n", "CPU s", "tarn", "whole", "duckdb", "tarn / duckdb", "bar")
	for _, x := range results {
		a, b, c := x.median(byPlan, cpu), x.median(byWhole, cpu), x.median(byDuckDB, cpu)
		verdict := ""
		if x.workload.cpuBar > 0 {
			verdict = r.verdict(x.workload.cpuBar, a/c, r.size.orders >= judgedFrom)
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
		fmt.Printf("%-26s %8.0f %8.0f %8.0f %s\n", x.workload.name, a, x.median(byWhole, peak), x.median(byDuckDB, peak), verdict)
	}
}

func (r *report) printWall(results []*result) {
	fmt.Printf("\n%-26s %8s %8s %8s %14s\n", "wall s", "tarn", "whole", "duckdb", "tarn / duckdb")
	for _, x := range results {
		a, c := x.median(byPlan, wall), x.median(byDuckDB, wall)
		fmt.Printf("%-26s %8.2f %8.2f %8.2f %14.2f\n", x.workload.name, a, x.median(byWhole, wall), c, a/c)
	}
}

// printChecks tells what checking that each row lies in its group costs.
func (r *report) printChecks(results []*result) {
	fmt.Printf("\n%-26s %8s %8s %14s %s\n", "the key check, CPU s", "on", "off", "part", "bar")
	for _, x := range results {
		if !x.workload.checked {
			continue
		}
		on, off := x.median(byPlan, cpu), x.median(unchecked, cpu)
		part := (on - off) / on
		fmt.Printf("%-26s %8.2f %8.2f %14.2f %s\n", x.workload.name, on, off, part, r.verdict(checkBar, part, r.size.orders >= judgedFrom))
	}
}

func printRuns(results []*result) {
	fmt.Print("\nEvery run: CPU s / peak MiB\n")
	for _, x := range results {
		for _, path := range []string{byPlan, byWhole, byDuckDB, unchecked} {
			if len(x.runs[path]) == 0 {
				continue
			}
			fmt.Printf("%-26s %-9s", x.workload.name, path)
			for _, o := range x.runs[path] {
				fmt.Printf("  %.2f / %.0f", o.CPUSeconds, o.MiB())
			}
			fmt.Println()
		}
	}
}
