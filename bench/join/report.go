package main

import (
	"fmt"

	"github.com/tarndb/tarn/internal/bench"
)

// report prints what was measured at one size and judges it.
type report struct {
	bench.Report
	size size
}

func (r *report) print(results []*result, threads, runs int) {
	fmt.Printf("\n%d orders, %d customers; threads: %d; memory limit: default; runs: %d each, interleaved; medians of whole processes\n",
		r.size.orders, r.size.customers(), threads, runs)
	r.printPlans(results)
	list := bench.All(results)
	fmt.Println()
	r.PrintCPU(list)
	r.PrintMemory(list)
	bench.PrintWall(list)
	r.printChecks(results)
	bench.PrintRuns(list, bench.ByPlan, bench.ByWhole, bench.ByDuckDB, unchecked)
}

func (r *report) printPlans(results []*result) {
	fmt.Print("\nWhat each ran with (EXPLAIN)\n")
	for _, x := range results {
		fmt.Println(x.Name)
		for _, line := range x.plan {
			fmt.Println("  " + line)
		}
	}
}

// printChecks tells what checking that each row lies in its group costs.
func (r *report) printChecks(results []*result) {
	fmt.Printf("\n%-26s %8s %8s %14s %s\n", "the key check, CPU s", "on", "off", "part", "bar")
	for _, x := range results {
		if !x.workload.checked {
			continue
		}
		on, off := x.Median(bench.ByPlan, bench.CPU), x.Median(unchecked, bench.CPU)
		part := (on - off) / on
		fmt.Printf("%-26s %8.2f %8.2f %14.2f %s\n", x.Name, on, off, part, r.OfCPU(checkBar, part))
	}
}
