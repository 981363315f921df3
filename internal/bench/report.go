package bench

import "fmt"

// CPU is a run's figure of that, in seconds.
func CPU(o Outcome) float64 { return o.CPUSeconds }

// Wall is how long a run took, in seconds.
func Wall(o Outcome) float64 { return o.WallSeconds }

// Peak is the most memory that a run had, in MiB.
func Peak(o Outcome) float64 { return o.MiB() }

// The paths that reports compare: as Tarn plans it, Tarn's whole-query plan, and what DuckDB does instead. A benchmark may have more.
const (
	ByPlan   = "tarn"
	ByWhole  = "whole"
	ByDuckDB = "duckdb"
)

// Measured is what a workload took at one size.
type Measured struct {
	Name   string
	CPUBar float64              // for Tarn's CPU over DuckDB's; 0: none
	Runs   map[string][]Outcome // by path
}

// Figures returns m: results of a benchmark embed it.
func (m *Measured) Figures() *Measured { return m }

// All returns what results have measured.
func All[R interface{ Figures() *Measured }](results []R) (out []*Measured) {
	for _, r := range results {
		out = append(out, r.Figures())
	}
	return out
}

// Median returns the median of a figure over a path's runs.
func (m *Measured) Median(path string, figure func(Outcome) float64) float64 {
	return Median(m.Runs[path], figure)
}

// JudgedFrom is the number of rows from which on bars of CPU are judged: with fewer, starting a process is most of it.
const JudgedFrom = 10_000_000

// Report prints what was measured at one size and judges it.
type Report struct {
	Rows                 int64       // the size
	MemoryBar, GrowthBar float64     // MiB at the first size; and of memory, when there is four times the data
	Before               []*Measured // the same workloads at the size before, or nil
	Missed               bool
}

// OfCPU writes a bar of CPU beside its figure and counts it when it is missed.
func (r *Report) OfCPU(bar, figure float64) string {
	if r.Rows < JudgedFrom {
		return fmt.Sprintf("<= %.2f, not judged at this size", bar)
	}
	return r.verdict(bar, figure)
}

func (r *Report) verdict(bar, figure float64) string {
	text, missed := AtMost(bar, figure)
	r.Missed = r.Missed || missed
	return text
}

// PrintCPU judges Tarn's CPU over DuckDB's.
func (r *Report) PrintCPU(list []*Measured) {
	fmt.Printf("%-26s %8s %8s %8s %14s %s\n", "CPU s", ByPlan, ByWhole, ByDuckDB, "tarn / duckdb", "bar")
	for _, x := range list {
		a, b, c := x.Median(ByPlan, CPU), x.Median(ByWhole, CPU), x.Median(ByDuckDB, CPU)
		verdict := ""
		if x.CPUBar > 0 {
			verdict = r.OfCPU(x.CPUBar, a/c)
		}
		fmt.Printf("%-26s %8.2f %8.2f %8.2f %14.2f %s\n", x.Name, a, b, c, a/c, verdict)
	}
}

// PrintMemory judges the peaks at the first size by themselves, and at the next by how they grew.
func (r *Report) PrintMemory(list []*Measured) {
	last := "bar"
	if r.Before != nil {
		last = "over the size before, bar"
	}
	fmt.Printf("\n%-26s %8s %8s %8s %s\n", "peak memory, MiB (VmHWM)", ByPlan, ByWhole, ByDuckDB, last)
	for i, x := range list {
		a := x.Median(ByPlan, Peak)
		var verdict string
		if r.Before == nil {
			verdict = r.verdict(r.MemoryBar, a)
		} else {
			growth := a / r.Before[i].Median(ByPlan, Peak)
			verdict = fmt.Sprintf("%.2f %s", growth, r.verdict(r.GrowthBar, growth))
		}
		fmt.Printf("%-26s %8.0f %8.0f %8.0f %s\n", x.Name, a, x.Median(ByWhole, Peak), x.Median(ByDuckDB, Peak), verdict)
	}
}

// PrintWall prints wall times, which have no bar.
func PrintWall(list []*Measured) {
	fmt.Printf("\n%-26s %8s %8s %8s %14s\n", "wall s", ByPlan, ByWhole, ByDuckDB, "tarn / duckdb")
	for _, x := range list {
		a, c := x.Median(ByPlan, Wall), x.Median(ByDuckDB, Wall)
		fmt.Printf("%-26s %8.2f %8.2f %8.2f %14.2f\n", x.Name, a, x.Median(ByWhole, Wall), c, a/c)
	}
}

// PrintRuns prints every run of those of the paths that have any.
func PrintRuns(list []*Measured, paths ...string) {
	fmt.Print("\nEvery run: CPU s / peak MiB\n")
	for _, x := range list {
		for _, path := range paths {
			if len(x.Runs[path]) == 0 {
				continue
			}
			fmt.Printf("%-26s %-9s", x.Name, path)
			for _, o := range x.Runs[path] {
				fmt.Printf("  %.2f / %.0f", o.CPUSeconds, o.MiB())
			}
			fmt.Println()
		}
	}
}
