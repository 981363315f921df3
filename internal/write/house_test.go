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
	"github.com/tarndb/tarn/internal/duck"
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
	return h.editsOf("n."+name, where)
}

func (h *house) editsOf(table, where string) *write.Edits {
	h.t.Helper()
	e := &write.Edits{}
	for _, r := range h.run("SELECT _file, _pos FROM " + table + " WHERE " + where).Rows {
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

// change is a change of a table's rows.
type change struct {
	name    string
	copies  bool   // copy on write, else merge on read
	where   string // which rows go
	rows    string // a query of the rows that come; in format version 3 its last column is the ID that each keeps. "" for none
	options write.Options
}

// apply makes a change, and returns the job.
func (h *house) apply(c change) write.RowsChanged {
	h.t.Helper()
	done, err := h.applyTo(h.load(c.name), c)
	h.must(err)
	return done
}

// applyAt is apply to any table, which may be one that can't be changed.
func (h *house) applyAt(id catalog.Ident, c change) (write.RowsChanged, error) {
	h.t.Helper()
	t, err := h.lake.LoadTable(h.t.Context(), id, catalog.Version{})
	h.must(err)
	return h.applyTo(t, c)
}

func (h *house) applyTo(t *catalog.Table, c change) (write.RowsChanged, error) {
	h.t.Helper()
	target, err := write.NewTarget(t)
	if err == nil {
		target, err = target.Changing()
	}
	if err != nil {
		return write.RowsChanged{}, err
	}
	c.options.TempDir = h.t.TempDir()
	j, err := write.Start(h.t.Context(), h.lake, target, c.options)
	h.must(err)
	defer j.Close()
	e, layout := h.editsOf(t.Ident.String(), c.where), h.survey(t)
	return j.Change(h.t.Context(), write.RowChange{Copies: c.copies}, e, layout, func() error {
		if c.rows == "" {
			return nil
		}
		return h.add(j, target, c.rows)
	})
}

// add adds the rows of a query to a job.
func (h *house) add(j *write.Job, target *write.Target, query string) error {
	h.t.Helper()
	db, err := duck.Open(h.t.Context(), duck.Options{Threads: 1})
	h.must(err)
	defer func() { h.must(db.Close()) }()
	conn, err := db.Connect()
	h.must(err)
	defer conn.Close()
	columns, err := conn.Describe(h.t.Context(), query)
	h.must(err)
	text, err := target.RowsSQL(query, columns, nil)
	h.must(err)
	w := j.Writer()
	defer w.Close()
	if err := conn.Stream(h.t.Context(), text, w.Add); err != nil {
		return err
	}
	return w.Flush()
}

type lakeFile = lake.NewDataFile

var copyOptions = duck.CopyOptions{Trusted: true}

// duckOpen returns a connection to an instance of its own.
func duckOpen(t *testing.T) (*duck.Conn, error) {
	t.Helper()
	db, err := duck.Open(t.Context(), duck.Options{Threads: 1})
	if err != nil {
		return nil, err
	}
	conn, err := db.Connect()
	t.Cleanup(func() {
		conn.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return conn, err
}
