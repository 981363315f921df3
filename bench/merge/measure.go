package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarndb/tarn/internal/bench"
)

// measurer runs workloads over the tables of a bed.
type measurer struct {
	bed          *bed
	tarn, duckdb string // the programs
	threads      int
	runs         int
	temp         string
}

// result is what a workload took at one size, by path.
type result struct {
	bench.Measured // DuckDB's path is its rewrite of the files with matches, one by one, or its scan of the key column
	workload       workload
	before         map[string]int64 // the table's data files, with their bytes
	matched        map[string]int64 // those that have rows to change
	rewritten      map[string]int64 // those that are gone afterwards
	touched        int              // partitions that rows come to or go from
	made           int              // data files
}

// measureAll measures workloads one after the other.
func (m *measurer) measureAll(ctx context.Context, list []workload) ([]*result, error) {
	var out []*result
	for _, w := range list {
		fmt.Fprintf(os.Stderr, "measuring %s over %d rows ... ", w.name, m.bed.size.rows)
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

// measure runs a workload by all paths in turn, so that what else the machine does falls on all. The first round, which isn't
// counted, warms the page cache and compares the rows.
func (m *measurer) measure(ctx context.Context, w workload) (*result, error) {
	r := &result{workload: w, Measured: bench.Measured{Name: w.name, CPUBar: w.cpuBar, Runs: map[string][]bench.Outcome{}}}
	want, err := m.look(ctx, r)
	if err != nil {
		return nil, err
	}
	for i := range m.runs + 1 {
		for _, path := range []string{bench.ByPlan, bench.ByWhole, bench.ByDuckDB} {
			out, err := m.run(ctx, r, path)
			if err == nil && i == 0 && path != bench.ByDuckDB {
				err = m.compare(ctx, r, path, want)
			}
			if err = errors.Join(err, m.bed.restore(w.table)); err != nil {
				return nil, err
			}
			if i > 0 {
				r.Runs[path] = append(r.Runs[path], out)
			}
		}
	}
	return r, nil
}

// look finds out which files have rows to change, and returns what the rows must be afterwards.
func (m *measurer) look(ctx context.Context, r *result) (want string, err error) {
	w := r.workload
	all, err := m.bed.files(ctx, w.table)
	r.before = all
	if err != nil {
		return "", err
	}
	source, err := m.bed.files(ctx, w.source)
	if err != nil {
		return "", err
	}
	r.touched = len(source) // its rows lie in the same partitions, each in one file
	found, err := m.bed.query(ctx, fmt.Sprintf("SELECT DISTINCT t._file FROM bench.%s t JOIN bench.%s s ON t.order_id = s.order_id", w.table, w.source))
	if err != nil {
		return "", err
	}
	r.matched = map[string]int64{}
	for _, row := range found {
		r.matched[row[0]] = all[row[0]]
	}
	out, err := bench.Run(ctx, w.want(parquet(all), parquet(source)), m.duckdb, "--threads", fmt.Sprint(m.threads))
	return out.Output, err
}

func (m *measurer) run(ctx context.Context, r *result, path string) (bench.Outcome, error) {
	if path == bench.ByDuckDB {
		return m.floor(ctx, r)
	}
	set := fmt.Sprintf("SET tarn.row_change_mode = '%s'; ", r.workload.mode())
	if path == bench.ByWhole {
		set += "SET tarn.spj = 'off'; "
	}
	args := append([]string{"sql", "--quiet", "--threads", fmt.Sprint(m.threads)}, m.bed.flags()...)
	return bench.Run(ctx, set+r.workload.statement(), m.tarn, args...)
}

// floor runs what no way can do without.
func (m *measurer) floor(ctx context.Context, r *result) (out bench.Outcome, err error) {
	query := "SELECT sum(order_id) FROM " + parquet(r.matched)
	if r.workload.copies {
		folder := filepath.Join(m.temp, "copy")
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return out, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
		var copies []string
		for path := range r.matched {
			copies = append(copies, fmt.Sprintf("COPY (FROM %s) TO '%s/%d.parquet' (FORMAT parquet, COMPRESSION zstd)",
				parquet(map[string]int64{path: 0}), folder, len(copies)))
		}
		query = strings.Join(copies, ";\n")
	}
	return bench.Run(ctx, query, m.duckdb, "--threads", fmt.Sprint(m.threads))
}

// compare checks the rows of the table, and notes which files went and came.
func (m *measurer) compare(ctx context.Context, r *result, path, want string) error {
	args := append([]string{"sql", "--quiet", "--format", "csv"}, m.bed.flags()...)
	got, err := bench.Run(ctx, check("bench."+r.workload.table), m.tarn, args...)
	if err != nil {
		return err
	}
	if got.Output != want {
		return fmt.Errorf("the path %s gave the rows\n%s\nand not\n%s", path, got.Output, want)
	}
	if path != bench.ByPlan {
		return nil
	}
	after, err := m.bed.files(ctx, r.workload.table)
	if err != nil {
		return err
	}
	r.rewritten = maps.Clone(r.before)
	maps.DeleteFunc(r.rewritten, func(file string, _ int64) bool { _, kept := after[file]; return kept })
	r.made = len(after) - (len(r.before) - len(r.rewritten))
	return nil
}
