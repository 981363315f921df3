package main

import (
	"fmt"

	"github.com/tarndb/tarn/internal/bench"
)

// report prints what was measured and judges it.
type report struct {
	judged bool
	missed bool
}

// path is a way to do it, and its runs.
type path struct {
	name string
	runs []bench.Outcome
}

func (r *report) title(text string) { fmt.Printf("\n%s\n", text) }

func (r *report) paths(list []path) {
	fmt.Printf("%-36s %8s %8s %10s  %s\n", "", "CPU s", "wall s", "peak MiB", "every run: CPU s / peak MiB")
	for _, p := range list {
		fmt.Printf("%-36s %8.2f %8.2f %10.0f ", p.name, bench.Median(p.runs, bench.CPU), bench.Median(p.runs, bench.Wall), bench.Median(p.runs, bench.Peak))
		for _, o := range p.runs {
			fmt.Printf("  %.2f / %.0f", o.CPUSeconds, o.MiB())
		}
		fmt.Println()
	}
}

// bar prints a figure that is judged at full size only.
func (r *report) bar(what string, figure, bar float64) {
	if !r.judged {
		fmt.Printf("%-36s %8.2f <= %.2f, not judged at this size\n", what, figure, bar)
		return
	}
	r.always(what, figure, bar)
}

// always prints a figure that is judged at any size.
func (r *report) always(what string, figure, bar float64) {
	verdict, missed := bench.AtMost(bar, figure)
	r.missed = r.missed || missed
	fmt.Printf("%-36s %8.2f %s\n", what, figure, verdict)
}
