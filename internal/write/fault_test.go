package write

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/faultfs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/lake"
)

// TestEachCallFails lets each call of files fail in turn, before or after it has done its work. Afterwards the table has the old
// rows or the new ones, no file of it is missing, and unless the outcome is unknown no data file is left that it doesn't have.
func TestEachCallFails(t *testing.T) {
	l := newLab(t)
	l.must(l.catalog.Close())
	for _, replace := range []Replace{Nothing, Everything} {
		for _, after := range []bool{false, true} {
			for k := 1; ; k++ {
				if k > 500 {
					t.Fatal("there is no end of calls")
				}
				if !l.callFails(t, k, after, replace) {
					if k < 5 {
						t.Fatalf("only %d calls are made", k-1)
					}
					break
				}
			}
		}
	}
}

// callFails says whether there was a k-th call.
func (l *lab) callFails(t *testing.T, k int, after bool, replace Replace) bool {
	t.Helper()
	warehouse := t.TempDir()
	files := faultfs.New(fileio.Disk{})
	open := func(files fileio.Files) *lake.Catalog {
		c, err := lake.Open(t.Context(), lake.Config{Name: "lake", Type: "hadoop", Warehouse: warehouse, Files: files, CreateIfMissing: true})
		l.must(err)
		return c
	}
	l.catalog = open(files)
	l.must(l.catalog.CreateNamespace(t.Context(), catalog.Ident{"t"}))
	table := l.append(l.table([]string{"k long"}, []string{"bucket[4] k"}, nil), "SELECT range FROM range(10)", Options{})
	target, err := NewTarget(table)
	l.must(err)
	rows, err := target.rowsOf(t.Context(), l.conn, "SELECT range + 100 FROM range(10)")
	l.must(err)
	j, err := Start(t.Context(), l.catalog, target, Options{Workers: 1})
	l.must(err)
	files.Fail(k, after)
	_, err = j.CommitAs(context.Background(), Change{Replace: replace}, func() error {
		w := j.Writer()
		defer w.Close()
		if err := l.conn.Stream(t.Context(), rows, w.Add); err != nil {
			return err
		}
		return w.Flush()
	})
	fired, kind := files.Fired() != "", errs.KindOf(err)
	files.Fail(0, false)
	j.Close()

	fresh := open(fileio.Disk{})
	defer func() { l.must(fresh.Close()) }()
	l.must(l.catalog.Close())
	l.catalog = fresh
	table = l.load(table)
	had := map[string]bool{}
	for _, f := range l.files(table) {
		had[filepath.Base(f.Ref.Path)] = true
	}
	got := l.one("SELECT string_agg(k, ' ' ORDER BY k) FROM (" + l.rows(table) + ")")
	const before, new = "0 1 2 3 4 5 6 7 8 9", "100 101 102 103 104 105 106 107 108 109"
	want := before + " " + new
	if replace == Everything {
		want = new
	}
	if got != want && (err == nil || got != before) {
		t.Errorf("call %d (%s): the rows are %s, %v", k, files.Fired(), got, err)
	}
	if err != nil && kind != errs.CommitUnknown && got != before {
		t.Errorf("call %d (%s) failed with %v, and the rows are there", k, files.Fired(), err)
	}
	l.must(filepath.WalkDir(filepath.Join(warehouse, "t"), func(path string, d os.DirEntry, err error) error {
		isOld := replace == Everything && got == want // files that the overwrite took out
		if strings.HasSuffix(path, ".parquet") && !had[filepath.Base(path)] && kind != errs.CommitUnknown && !isOld {
			t.Errorf("call %d (%s): left is %s after %v", k, files.Fired(), path, err)
		}
		if entries, unread := os.ReadDir(path); unread == nil && len(entries) == 0 && kind != errs.CommitUnknown && !strings.HasPrefix(files.Fired(), "remove") {
			t.Errorf("call %d (%s): left is the empty folder %s", k, files.Fired(), path)
		}
		return err
	}))
	return fired
}
