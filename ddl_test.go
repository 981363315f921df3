package tarn_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/errs"
)

// emptyLake opens an engine over a new catalog of a kind, which is called lake.
func emptyLake(t *testing.T, kind, dir string) *tarn.Engine {
	t.Helper()
	engine, err := tarn.Open(t.Context(), tarn.Config{Catalogs: []tarn.CatalogConfig{{
		Name: "lake", Type: kind, URI: "sqlite:///" + filepath.Join(dir, "catalog.db"), Warehouse: filepath.Join(dir, "warehouse"), CreateIfMissing: true,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	return engine
}

// texts runs a statement and returns its rows as text.
func texts(ctx context.Context, s *tarn.Session, stmt string) (lines []string, err error) {
	rows, err := s.Query(ctx, stmt)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for {
		batch, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
		for i := range int(batch.NumRows()) {
			var cells []string
			for _, c := range batch.Columns() {
				cells = append(cells, c.ValueStr(i))
			}
			lines = append(lines, strings.TrimRight(strings.Join(cells, " | "), " "))
		}
		batch.Release()
	}
}

// sizes are those of files that name the test's folder.
var sizes = regexp.MustCompile(`[0-9.]+ (B|KiB)`)

// TestDefinitions runs the statements of testdata/ddl: those of both.txt on a catalog of each kind, the others on that of
// the file's name. Each line is a statement.
func TestDefinitions(t *testing.T) {
	for _, run := range [][2]string{{"sql", "both"}, {"hadoop", "both"}, {"sql", "sql"}, {"hadoop", "hadoop"}} {
		t.Run(run[0]+" "+run[1], func(t *testing.T) {
			dir := t.TempDir()
			s := emptyLake(t, run[0], dir).Session()
			datadriven.RunTest(t, filepath.Join("testdata/ddl", run[1]+".txt"), func(t *testing.T, d *datadriven.TestData) string {
				var out strings.Builder
				for _, stmt := range strings.Split(d.Input, "\n") {
					lines, err := texts(t.Context(), s, strings.ReplaceAll(stmt, "DIR", dir))
					if err != nil {
						fmt.Fprintf(&out, "%s: %v\n", errs.KindOf(err), err)
						if hint := errs.HintOf(err); hint != "" {
							fmt.Fprintf(&out, "  hint: %s\n", hint)
						}
					}
					for _, line := range lines {
						out.WriteString(line + "\n")
					}
				}
				return sizes.ReplaceAllString(strings.ReplaceAll(out.String(), dir, "DIR"), "SIZE")
			})
		})
	}
}
