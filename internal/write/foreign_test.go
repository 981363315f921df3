package write_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/golden"
	"github.com/tarndb/tarn/internal/golden/plainreader"
	"github.com/tarndb/tarn/internal/seed"
)

// TestForeignTables deletes every third row of each table that other engines have written, by one way or the other: of every kind
// of file, spec, delete and evolution that is there the other rows stay as they are.
func TestForeignTables(t *testing.T) {
	source, err := filepath.Abs("../../testdata/golden/warehouse")
	if err != nil {
		t.Fatal(err)
	}
	h, random := newHouse(t), seed.Rand(t)
	h.must(os.RemoveAll(h.folder))
	h.must(os.CopyFS(h.folder, os.DirFS(source)))
	namespaces, err := h.lake.ListNamespaces(t.Context())
	h.must(err)
	changed := 0
	for _, ns := range namespaces {
		tables, err := h.lake.ListTables(t.Context(), ns)
		h.must(err)
		for _, id := range tables {
			if h.thin(t, id, random.IntN(2) == 0) {
				changed++
			}
		}
	}
	if changed < 100 {
		t.Errorf("only %d tables were changed", changed)
	}
}

// thin deletes every third row of a table, and says whether that was possible.
func (h *house) thin(t *testing.T, id catalog.Ident, copies bool) bool {
	t.Helper()
	name := id.String()
	table, err := h.lake.LoadTable(t.Context(), id, catalog.Version{})
	if err != nil || table.Snapshot == nil {
		return false
	}
	copies = copies || table.FormatVersion < 2
	list := "*"
	if table.FormatVersion >= 3 {
		list = "*, _row_id, _last_updated_sequence_number"
	}
	ask := func(where string) ([]string, error) {
		a := golden.Ask(t.Context(), h.session, fmt.Sprintf("SELECT %s FROM %s WHERE %s", list, name, where))
		return texts(a.Rows), a.Err
	}
	want, err := ask("_pos % 3 <> 1")
	if err != nil {
		return false // what can't be read can't be changed
	}
	_, plainErr := h.plainRows(t, id)
	_, err = h.applyAt(id, change{copies: copies, where: "_pos % 3 = 1"})
	switch {
	case errs.KindOf(err) == errs.Unsupported, copies && errs.KindOf(err) == errs.Corrupt && id[0] == "broken":
		return false
	case err != nil:
		t.Errorf("%s: %v", name, err)
		return false
	}
	got, err := ask("true")
	if err != nil {
		t.Errorf("%s can't be read any more: %v", name, err)
		return true
	}
	if table.FormatVersion >= 3 && copies { // rows without an ID have one by now
		got, want = withoutLineage(got), withoutLineage(want)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d rows are left, wanted %d:\n%s", name, len(got), len(want), strings.Join(got[:min(len(got), 5)], "\n"))
	}
	if plainErr != nil {
		return true
	}
	if plain, err := h.plainRows(t, id); err != nil || len(plain) != len(want) {
		t.Errorf("%s: the plain reader finds %d rows, wanted %d: %v", name, len(plain), len(want), err)
	}
	return true
}

func (h *house) plainRows(t *testing.T, id catalog.Ident) ([]golden.Row, error) {
	t.Helper()
	plain, err := plainreader.Open(h.folder, strings.Join(id, "/"))
	if err != nil {
		return nil, err
	}
	return plain.Rows(t.Context())
}

// withoutLineage cuts the last two values off.
func withoutLineage(rows []string) []string {
	out := slices.Clone(rows)
	for i, r := range out {
		for range 2 {
			if at := strings.LastIndex(r, ", "); at >= 0 {
				r = r[:at]
			}
		}
		out[i] = r
	}
	slices.Sort(out)
	return out
}
