package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/bench"
)

// measurer runs workloads over the tables of a bed.
type measurer struct {
	bed          *bed
	tarn, duckdb string // the programs
	threads      int
	runs         int
}

// unchecked is the path as Tarn plans it, without the key check.
const unchecked = "unchecked"

// result is what a workload took at one size, by path.
type result struct {
	bench.Measured
	workload workload
	plan     []string // the lines of EXPLAIN that say how it ran
}

// measure runs a workload by all paths in turn, so that what else the machine does falls on all. The first round, which
// isn't counted, warms the page cache and compares the rows.
func (m *measurer) measure(ctx context.Context, w workload) (*result, error) {
	r := &result{workload: w, Measured: bench.Measured{Name: w.name, CPUBar: w.cpuBar, Runs: map[string][]bench.Outcome{}}}
	var err error
	if r.plan, err = m.explain(ctx, w); err != nil {
		return nil, err
	}
	paths := []string{bench.ByPlan, bench.ByWhole, bench.ByDuckDB}
	if w.checked {
		paths = append(paths, unchecked)
	}
	var answer string
	for i := range m.runs + 1 {
		for _, path := range paths {
			out, err := m.run(ctx, w, path)
			if err != nil {
				return nil, err
			}
			if answer == "" {
				answer = out.Output
			}
			if out.Output != answer {
				return nil, fmt.Errorf("the paths %s and %s gave different rows:\n%s\nand\n%s", bench.ByPlan, path, answer, out.Output)
			}
			if i > 0 {
				r.Runs[path] = append(r.Runs[path], out)
			}
		}
	}
	return r, nil
}

func (m *measurer) run(ctx context.Context, w workload, path string) (bench.Outcome, error) {
	if path == bench.ByDuckDB {
		query := over(w.query(m.bed.size), func(table string) string { return m.bed.files[table] })
		return bench.Run(ctx, query, m.duckdb, "--threads", fmt.Sprint(m.threads))
	}
	set := ""
	switch path {
	case bench.ByWhole:
		set = "SET tarn.spj = 'off'; "
	case unchecked:
		set = "SET tarn.verify_layout = off; "
	}
	args := append([]string{"sql", "--quiet", "--format", "csv", "--threads", fmt.Sprint(m.threads)}, m.bed.flags()...)
	return bench.Run(ctx, set+m.sql(w), m.tarn, args...)
}

// sql returns a workload's query as Tarn takes it.
func (m *measurer) sql(w workload) string {
	return over(w.query(m.bed.size), func(table string) string { return namespace + "." + table })
}

// explain returns the lines of a workload's plan that name a strategy.
func (m *measurer) explain(ctx context.Context, w workload) ([]string, error) {
	cfg := m.bed.config()
	cfg.Threads = m.threads
	e, err := tarn.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	text, err := e.Session().Explain(ctx, m.sql(w), tarn.ExplainOptions{})
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, "strategy=") {
			out = append(out, strings.TrimSuffix(line, "\n"))
		}
	}
	return out, nil
}

// measureAll measures workloads one after the other.
func (m *measurer) measureAll(ctx context.Context, list []workload) ([]*result, error) {
	var out []*result
	for _, w := range list {
		fmt.Fprintf(os.Stderr, "measuring %s over %d orders ... ", w.name, m.bed.size.orders)
		r, err := m.measure(ctx, w)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		a, c := r.Median(bench.ByPlan, bench.CPU), r.Median(bench.ByDuckDB, bench.CPU)
		fmt.Fprintf(os.Stderr, "%.2f of DuckDB's %.2f s of CPU: %.2f\n", a, c, a/c)
		out = append(out, r)
	}
	return out, nil
}
