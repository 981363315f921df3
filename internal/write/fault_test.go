package write

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/exec"
	"github.com/tarndb/tarn/internal/faultfs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/task"
)

// faultCase is a change of a table of the rows 0 to 9 in four buckets.
type faultCase struct {
	name    string
	version int
	before  string                                                                  // the rows that there are; their files have deletes where some are missing
	want    string                                                                  // the rows that come out
	change  func(l *lab, j *Job, table *catalog.Table, e *Edits, rows string) error // e has the row 3
}

const (
	firstRows = "0 1 2 3 4 5 6 7 8 9"
	moreRows  = "100 101 102 103 104 105 106 107 108 109"
	oddRows   = "1 3 5 7 9"
)

func faultCases() []faultCase {
	cases := []faultCase{
		{"append", 2, firstRows, firstRows + " " + moreRows, commitAs(Nothing)},
		{"replace everything", 2, firstRows, moreRows, commitAs(Everything)},
		{"append by packs", 2, firstRows, firstRows + " " + moreRows, func(l *lab, j *Job, _ *catalog.Table, _ *Edits, rows string) error {
			_, err := j.Commit(context.Background(), func() error { return l.placed(j, rows) })
			return err
		}},
	}
	const resumed = "1 5 7 9 50 " + moreRows
	for _, version := range []int{2, 3} { // files of position deletes, and deletion vectors
		cases = append(cases, faultCase{fmt.Sprintf("delete, version %d", version), version, oddRows, "1 5 7 9", deleteRow},
			faultCase{fmt.Sprintf("merge, version %d", version), version, oddRows, "1 5 7 9 " + moreRows, changeRow(false)},
			faultCase{fmt.Sprintf("merge, version %d, after a conflict", version), version, oddRows + " 50", resumed, changeResumed(false, false)})
	}
	return append(cases, faultCase{"copy", 3, oddRows, "1 5 7 9 " + moreRows, changeRow(true)},
		faultCase{"merge, taken back after a conflict", 2, oddRows + " 50", resumed, changeResumed(false, true)},
		faultCase{"copy, taken back after a conflict", 3, oddRows + " 50", resumed, changeResumed(true, true)})
}

// changeResumed is changeRow where another writer comes first. All that was written is taken back and written again, or nothing.
func changeResumed(copies, back bool) func(*lab, *Job, *catalog.Table, *Edits, string) error {
	return func(l *lab, j *Job, table *catalog.Table, e *Edits, rows string) (err error) {
		defer func() { // what there is after a failure was only to be kept for another try
			if err != nil && errs.KindOf(err) != errs.CommitUnknown {
				err = errors.Join(err, j.Discard(context.Background()))
			}
		}()
		l.another(table.Ident)
		survey := func(t *catalog.Table, err error) (*catalog.TableLayout, error) {
			if err != nil {
				return nil, err
			}
			return l.catalog.Survey(context.Background(), t, catalog.Filter{})
		}
		layout, err := survey(table, nil)
		if err != nil {
			return err
		}
		_, err = j.Change(context.Background(), RowChange{Copies: copies, Resumes: true}, e, layout, func() error { return l.add(j, rows) })
		if errs.KindOf(err) != errs.Conflict || err == nil {
			return err
		}
		newer, err := l.catalog.LoadTable(context.Background(), table.Ident, catalog.Version{})
		if layout, err = survey(newer, err); err != nil {
			return err
		}
		target, err := NewTarget(newer)
		l.must(err)
		target, err = target.Changing()
		l.must(err)
		if !j.CanResume(target) {
			l.t.Error("the job can't go on")
		}
		partitions, files := map[string]bool{}, map[string]bool{}
		if back {
			for _, f := range j.files {
				partitions[j.partition(f.Partition)] = true
			}
			for path := range e.files {
				files[path] = true
			}
		}
		if err := j.Resume(context.Background(), target, partitions, files); err != nil {
			return err
		}
		_, err = j.Change(context.Background(), RowChange{Copies: copies}, e, layout, func() error {
			if !back {
				return nil
			}
			return l.add(j, rows)
		})
		return err
	}
}

// another adds the row 50 as somebody else.
func (l *lab) another(id catalog.Ident) {
	l.t.Helper()
	c := l.open(l.reopened, fileio.Disk{})
	defer func() { l.must(c.Close()) }()
	table, err := c.LoadTable(context.Background(), id, catalog.Version{})
	l.must(err)
	_, err = Append(context.Background(), l.conn, c, table, "SELECT 50")
	l.must(err)
}

func commitAs(replace Replace) func(*lab, *Job, *catalog.Table, *Edits, string) error {
	return func(l *lab, j *Job, _ *catalog.Table, _ *Edits, rows string) error {
		_, err := j.CommitAs(context.Background(), Change{Replace: replace}, func() error { return l.add(j, rows) })
		return err
	}
}

// deleteRow deletes the row of the edits.
func deleteRow(l *lab, j *Job, table *catalog.Table, e *Edits, _ string) error {
	layout, err := l.catalog.Survey(context.Background(), table, catalog.Filter{})
	if err != nil {
		return err
	}
	_, err = j.Change(context.Background(), RowChange{}, e, layout, func() error { return nil })
	return err
}

// changeRow deletes the row of the edits and adds the others.
func changeRow(copies bool) func(*lab, *Job, *catalog.Table, *Edits, string) error {
	return func(l *lab, j *Job, table *catalog.Table, e *Edits, rows string) error {
		layout, err := l.catalog.Survey(context.Background(), table, catalog.Filter{})
		if err != nil {
			return err
		}
		_, err = j.Change(context.Background(), RowChange{Copies: copies}, e, layout, func() error { return l.add(j, rows) })
		return err
	}
}

// add adds the rows of a SELECT to a job.
func (l *lab) add(j *Job, rows string) error {
	w := j.Writer()
	defer w.Close()
	if err := l.conn.Stream(context.Background(), rows, w.Add); err != nil {
		return err
	}
	return w.Flush()
}

// edits returns the rows of the files of a table whose first column, k, satisfies a condition.
func (l *lab) edits(table *catalog.Table, where string) *Edits {
	l.t.Helper()
	position, _ := catalog.MetadataColumn(table, catalog.PosID)
	e := &Edits{}
	for _, f := range l.files(table) {
		text, err := duck.ScanSQL(duck.Scan{
			Columns: []duck.ScanColumn{{Field: table.Schema.Fields[0], As: "k"}, {Field: position, As: "p"}},
			Files:   []duck.ScanFile{{Ref: catalog.FileRef{Path: f.Ref.Path, Local: strings.TrimPrefix(f.Ref.Path, "file://")}}},
		})
		l.must(err)
		all, err := texts(context.Background(), l.conn, fmt.Sprintf("SELECT CAST(p AS VARCHAR) FROM (%s) WHERE %s", text, where))
		l.must(err)
		for _, row := range all {
			at, err := strconv.ParseInt(*row[0], 10, 64)
			l.must(err)
			e.Add(f.Ref.Path, at)
		}
	}
	return e
}

// TestEachCallFails lets each call of files fail in turn, before or after it has done its work. Afterwards the table has the old
// rows or the new ones, no file of it is missing, and unless the outcome is unknown no file is left that it doesn't have.
func TestEachCallFails(t *testing.T) {
	var fired sync.Map // the operations that failed
	t.Run("cases", func(t *testing.T) {
		for _, c := range faultCases() {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				c.failEach(t, &fired)
			})
		}
	})
	for _, op := range []string{"open", "create", "stream", "write", "list"} {
		if _, ok := fired.Load(op); !ok {
			t.Errorf("no call to %s has failed", op)
		}
	}
}

// failEach lets each call of a case fail, and adds what they were to do to fired.
func (c faultCase) failEach(t *testing.T, fired *sync.Map) {
	l := newLab(t)
	l.must(l.catalog.Close())
	warehouse, pristine := t.TempDir(), t.TempDir()
	l.catalog = l.open(warehouse, fileio.Disk{})
	l.must(l.catalog.CreateNamespace(t.Context(), catalog.Ident{"t"}))
	table := l.prepare(c)
	l.must(l.catalog.Close())
	l.must(os.CopyFS(pristine, os.DirFS(warehouse)))
	for _, after := range []bool{false, true} {
		for k := 1; ; k++ {
			if k > 500 {
				t.Fatal("there is no end of calls")
			}
			l.must(os.RemoveAll(warehouse))
			l.must(os.CopyFS(warehouse, os.DirFS(pristine)))
			op := l.callFails(t, c, warehouse, table.Ident, k, after)
			fired.Store(op, true)
			if op == "" {
				if k < 5 {
					t.Fatalf("%s: only %d calls are made", c.name, k-1)
				}
				break
			}
		}
	}
}

// prepare makes the table of a case.
func (l *lab) prepare(c faultCase) *catalog.Table {
	l.t.Helper()
	table := l.tableOf([]catalog.Field{column(1, "k", "long")}, []string{"bucket[4] k"}, nil, c.version)
	table = l.append(table, "SELECT range FROM range(10)", Options{})
	if c.before == firstRows {
		return table
	}
	j := l.job(table)
	defer j.Close()
	layout, err := l.catalog.Survey(context.Background(), table, catalog.Filter{})
	l.must(err)
	_, err = j.Change(context.Background(), RowChange{}, l.edits(table, "k % 2 = 0"), layout, func() error { return nil })
	l.must(err)
	return l.load(table)
}

func (l *lab) job(table *catalog.Table) *Job {
	l.t.Helper()
	target, err := NewTarget(table)
	l.must(err)
	target, err = target.Changing()
	l.must(err)
	j, err := Start(context.Background(), l.catalog, target, Options{Workers: 1})
	l.must(err)
	return j
}

func (l *lab) open(warehouse string, files fileio.Files) *lake.Catalog {
	l.t.Helper()
	c, err := lake.Open(context.Background(), lake.Config{Name: "lake", Type: "hadoop", Warehouse: warehouse, Files: files, CreateIfMissing: true})
	l.must(err)
	return c
}

// callFails returns what the k-th call was to do, such as "create"; "" where there is none.
func (l *lab) callFails(t *testing.T, c faultCase, warehouse string, id catalog.Ident, k int, after bool) string {
	t.Helper()
	files := faultfs.New(fileio.Disk{})
	l.catalog, l.reopened = l.open(warehouse, files), warehouse
	table, err := l.catalog.LoadTable(t.Context(), id, catalog.Version{})
	l.must(err)
	j := l.job(table)
	query := "SELECT range + 100 FROM range(10)"
	if j.target.HasLineage() {
		query = "SELECT range + 100, NULL::BIGINT FROM range(10)"
	}
	rows, err := j.target.rowsOf(t.Context(), l.conn, query)
	l.must(err)
	old, e := dataFilesIn(t, warehouse), l.edits(table, "k = 3")
	files.Fail(k, after)
	err = c.change(l, j, table, e, rows)
	fired, kind := files.Fired(), errs.KindOf(err)
	op, _, _ := strings.Cut(fired, " ")
	files.Fail(0, false)
	j.Close()

	l.must(l.catalog.Close())
	l.catalog = l.open(warehouse, fileio.Disk{})
	defer func() { l.must(l.catalog.Close()) }()
	table = l.load(table)
	got := l.numbers(table)
	if got != c.want && (err == nil || got != c.before) {
		t.Errorf("%s, call %d (%s): the rows are %s, %v", c.name, k, fired, got, err)
	}
	if err != nil && kind != errs.CommitUnknown && got != c.before {
		t.Errorf("%s, call %d (%s) failed with %v, and the rows are there", c.name, k, fired, err)
	}
	if kind == errs.CommitUnknown {
		return op
	}
	if op != "remove" {
		l.must(filepath.WalkDir(filepath.Join(warehouse, "t"), func(path string, _ os.DirEntry, walked error) error {
			if entries, unread := os.ReadDir(path); unread == nil && len(entries) == 0 {
				t.Errorf("%s, call %d (%s): left is the empty folder %s after %v", c.name, k, fired, path, err)
			}
			return walked
		}))
	}
	has := l.paths(table)
	for path := range dataFilesIn(t, warehouse) {
		if !has[filepath.Base(path)] && !old[path] {
			t.Errorf("%s, call %d (%s): left is %s after %v", c.name, k, fired, path, err)
		}
	}
	return op
}

// dataFilesIn returns the data and delete files in a warehouse.
func dataFilesIn(t *testing.T, warehouse string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(warehouse, "t"), func(path string, d os.DirEntry, err error) error {
		if strings.HasSuffix(path, ".parquet") || strings.HasSuffix(path, ".puffin") {
			out[path] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// paths returns the names of all files of a table.
func (l *lab) paths(table *catalog.Table) map[string]bool {
	l.t.Helper()
	out := map[string]bool{}
	for _, f := range l.files(table) {
		out[filepath.Base(f.Ref.Path)] = true
	}
	layout, err := l.catalog.Survey(context.Background(), table, catalog.Filter{})
	l.must(err)
	for _, d := range layout.Deletes {
		out[filepath.Base(d.Ref.Path)] = true
	}
	return out
}

// numbers returns the rows of a table's first column that aren't deleted, as one text.
func (l *lab) numbers(table *catalog.Table) string {
	l.t.Helper()
	layout, err := l.catalog.Survey(context.Background(), table, catalog.Filter{})
	l.must(err)
	ids := []catalog.FieldID{table.Schema.Fields[0].ID}
	layout, err = l.catalog.Prepare(context.Background(), table, ids, layout, l.t.TempDir())
	l.must(err)
	in, files, err := task.FilesOf(context.Background(), ids, layout)
	l.must(err)
	in.Names = []string{"k"}
	nothing := &Edits{}
	open, err := exec.NewFileReader(in, [][]task.File{files}, nothing.Of).Open(context.Background(), l.conn, files)
	l.must(err)
	defer open.Close()
	scan, release, err := open.Scan(l.db, 0, len(files))
	l.must(err)
	defer release()
	text, err := duck.ScanSQL(scan)
	l.must(err)
	return l.one("SELECT string_agg(k, ' ' ORDER BY k) FROM (" + text + ")")
}
