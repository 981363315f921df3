package write_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/golden"
	"github.com/tarndb/tarn/internal/golden/plainreader"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/write"
)

// house is a warehouse that statements, jobs and the plain reader share.
type house struct {
	t       testing.TB
	folder  string
	session *tarn.Session
	lake    *lake.Catalog
}

func newHouse(t testing.TB) *house {
	t.Helper()
	h := &house{t: t, folder: t.TempDir()}
	relocate := []tarn.Relocation{{From: "/warehouse", To: h.folder}}
	engine, err := tarn.Open(t.Context(), tarn.Config{
		Catalogs: []tarn.CatalogConfig{{Name: "lake", Type: "hadoop", Warehouse: "/warehouse"}}, Relocate: relocate, TempDir: t.TempDir(),
	})
	h.must(err)
	h.session = engine.Session()
	h.lake, err = lake.Open(t.Context(), lake.Config{
		Name: "lake", Type: "hadoop", Warehouse: "/warehouse", Relocate: []lake.Relocation{{From: "/warehouse", To: h.folder}},
	})
	h.must(err)
	t.Cleanup(func() {
		h.must(h.lake.Close())
		h.must(engine.Close())
	})
	h.run("CREATE NAMESPACE n")
	return h
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) run(text string) golden.Answer {
	h.t.Helper()
	a := golden.Ask(h.t.Context(), h.session, text)
	if a.Err != nil {
		h.t.Fatalf("%s: %v", text, a.Err)
	}
	return a
}

func (h *house) load(name string) *catalog.Table {
	h.t.Helper()
	t, err := h.lake.LoadTable(h.t.Context(), catalog.Ident{"n", name}, catalog.Version{})
	h.must(err)
	return t
}

func (h *house) survey(t *catalog.Table) *catalog.TableLayout {
	h.t.Helper()
	layout, err := h.lake.Survey(h.t.Context(), t, catalog.Filter{})
	h.must(err)
	return layout
}

// edits returns the rows of a table that a condition is true of.
func (h *house) edits(name, where string) *write.Edits {
	h.t.Helper()
	e := &write.Edits{}
	for _, r := range h.run("SELECT _file, _pos FROM n." + name + " WHERE " + where).Rows {
		if _, ok := e.Add(r[0].(string), r[1].(*big.Rat).Num().Int64()); !ok {
			h.t.Fatalf("a row comes twice: %v", r)
		}
	}
	return e
}

// start begins a job that changes rows of a table.
func (h *house) start(t *catalog.Table) *write.Job {
	h.t.Helper()
	target, err := write.NewTarget(t)
	h.must(err)
	j, err := write.Start(h.t.Context(), h.lake, target, write.Options{TempDir: h.t.TempDir()})
	h.must(err)
	return j
}

// deleteByMerge deletes rows by delete files.
func (h *house) deleteByMerge(name, where string) write.DeletesWritten {
	h.t.Helper()
	t := h.load(name)
	j := h.start(t)
	defer j.Close()
	made, err := j.WriteDeletes(h.t.Context(), h.edits(name, where), h.survey(t))
	h.must(err)
	_, err = h.lake.Commit(h.t.Context(), t, commit.Change{Kind: commit.RowDelta, AddDeletes: made.Added, RemoveDeletes: made.Removed})
	h.must(err)
	return made
}

// rows returns a table's rows as texts, in the order of the texts, and fails unless the plain reader finds the same ones. Of
// tables of format version 3 they have their lineage.
func (h *house) rows(name string) []string {
	h.t.Helper()
	plain, err := plainreader.Open(h.folder, "n/"+name)
	h.must(err)
	list := "*"
	if h.load(name).FormatVersion >= 3 {
		plain, list = plain.Lineage(), "*, _row_id, _last_updated_sequence_number"
	}
	want, err := plain.Rows(h.t.Context())
	h.must(err)
	got, expected := texts(h.run("SELECT "+list+" FROM n."+name).Rows), texts(want)
	if !slices.Equal(got, expected) {
		h.t.Errorf("Tarn reads of %s\n%s\nand the plain reader\n%s", name, strings.Join(got, "\n"), strings.Join(expected, "\n"))
	}
	return got
}

func texts(rows []golden.Row) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = golden.Text(r)
	}
	slices.Sort(out)
	return out
}

// numbers returns the first column of a table's rows, ascending.
func (h *house) numbers(name string) (out []int64) {
	h.t.Helper()
	h.rows(name)
	for _, r := range h.run("SELECT k FROM n." + name + " ORDER BY k").Rows {
		out = append(out, r[0].(*big.Rat).Num().Int64())
	}
	return out
}

func properties(version int, more ...string) string {
	return fmt.Sprintf("TBLPROPERTIES (%s)", strings.Join(append([]string{fmt.Sprintf("'format-version' = '%d'", version)}, more...), ", "))
}
