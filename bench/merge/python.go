package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/tarndb/tarn/internal/bench"
)

//go:embed upsert.py
var upsertPy string

// python measures the upsert of 1 % by PyIceberg beside Tarn's, once each: it takes minutes.
func (m *measurer) python(ctx context.Context, dir string, s size) (err error) {
	bed, err := newBed(ctx, dir, s)
	if err != nil {
		return err
	}
	defer bed.close()
	m.bed = bed
	r := &result{workload: workloads[0]}
	out, err := m.run(ctx, r, bench.ByPlan)
	if err = errors.Join(err, bed.restore(r.workload.table)); err != nil {
		return err
	}
	folder := filepath.Join(m.temp, "pyiceberg")
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	for _, table := range []string{r.workload.table, r.workload.source} {
		files, err := bed.files(ctx, table)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("COPY (FROM %s) TO '%s/%s.parquet'", parquet(files), folder, table)
		if _, err := bench.Run(ctx, text, m.duckdb); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, "python3", "-c", upsertPy, folder, r.workload.table, r.workload.source)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("run PyIceberg: %w", err)
	}
	var theirs struct{ CPU, Wall, MiB float64 }
	if err := json.Unmarshal(text, &theirs); err != nil {
		return err
	}
	fmt.Printf("\nupsert of 1 %% into %d rows: Tarn %.2f s of CPU, %.2f s, %.0f MiB; PyIceberg %.2f s of CPU, %.2f s, %.0f MiB\n",
		s.rows, out.CPUSeconds, out.WallSeconds, out.MiB(), theirs.CPU, theirs.Wall, theirs.MiB)
	return nil
}
