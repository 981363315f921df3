package write

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/task"
	"github.com/tarndb/tarn/transform"
)

// placed writes the rows of a query like RowsSQL into a table by bucket[4] of its first column, as packs of one bucket each.
func (l *lab) placed(j *Job, rows string) error {
	for bucket := range int32(4) {
		enc, err := catalog.EncodeValue(transform.Type{Kind: transform.Int}, bucket)
		l.must(err)
		keep := j.Keeper(&task.Pack{Tuple: [][]byte{enc}})
		if _, err := keep(context.Background(), l.conn, 0, fmt.Sprintf("SELECT * FROM (%s) WHERE p0 = ?", rows), bucket); err != nil {
			return err
		}
	}
	return nil
}

// TestPlacedRows writes rows as packs of one tuple each, sorted and not, of NULL too, and refuses a row of another tuple: then
// nothing is left.
func TestPlacedRows(t *testing.T) {
	l := newLab(t)
	base := l.table([]string{"k long", "s string"}, []string{"bucket[4] k"}, nil)
	for _, order := range [][]catalog.SortField{nil, {{Source: 2, Descending: true}}} {
		table := *l.load(base)
		table.Order = catalog.SortOrder{ID: len(order), Fields: order}
		target, err := NewTarget(&table)
		l.must(err)
		rows, err := target.rowsOf(t.Context(), l.conn, "SELECT range, 's' || range FROM range(1000)")
		l.must(err)
		j, err := Start(t.Context(), l.catalog, target, Options{Workers: 1, MemoryBytes: 512 << 20})
		l.must(err)
		l.must(l.placed(j, rows))
		files, err := j.Finish(t.Context())
		l.must(err)
		for _, f := range files {
			if want := len(order); (f.File.SortOrderID != nil) != (want > 0) || want > 0 && *f.File.SortOrderID != want {
				t.Errorf("the sort order is %v", f.File.SortOrderID)
			}
		}
		if len(files) != 4 || j.Rows() != 1000 {
			t.Errorf("there are %d files of %d rows", len(files), j.Rows())
		}
		zero, null := [][]byte{{0, 0, 0, 0}}, [][]byte{nil}
		for _, c := range []struct {
			tuple   [][]byte
			where   string
			isWrong bool // else no row satisfies it
		}{{zero, "p0 < 2", true}, {null, "p0 = 0", true}, {null, "p0 IS NULL", false}, {zero, "false", false}} {
			query := "SELECT * FROM (" + rows + ") WHERE " + c.where
			n, err := j.Keeper(&task.Pack{Tuple: c.tuple})(t.Context(), l.conn, 0, query)
			if c.isWrong != (err != nil) || c.isWrong && !strings.Contains(err.Error(), "another partition") || n != 0 {
				t.Errorf("%v, %s: %d rows, %v", c.tuple, c.where, n, err)
			}
		}
		if j.Files() != 4 {
			t.Errorf("there are %d files", j.Files())
		}
		l.must(j.Discard(t.Context()))
		j.Close()
	}
	target, err := NewTarget(base)
	l.must(err)
	j, err := Start(t.Context(), l.catalog, target, Options{})
	l.must(err)
	defer j.Close()
	if j.Keeper(&task.Pack{}) != nil || j.Keeper(&task.Pack{Tuple: [][]byte{nil}, Bytes: 1 << 40}) != nil {
		t.Error("a pack of several tuples, or of more than a file, is kept")
	}
}
