package write

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/faultfs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/lake"
)

// bytesIn returns the files below a folder, with their bytes.
func bytesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		out[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestMakeOfFailsWhole lets each call of files fail in turn while a table is made of a folder, in place and apart. Afterwards there is the table with all
// rows or none, the folder's files are what they were, and nothing else is left.
func TestMakeOfFailsWhole(t *testing.T) {
	l := newLab(t)
	pristine := t.TempDir()
	for i, where := range []string{"a=1/b=x", "a=2/b=x", "a=2/b=__HIVE_DEFAULT_PARTITION__"} {
		folder := filepath.Join(pristine, where)
		l.must(os.MkdirAll(folder, 0o700))
		// That b is in some files has their rows read.
		l.must(l.conn.Exec(t.Context(), fmt.Sprintf("COPY (SELECT range AS k%s FROM range(10)) TO '%s/f.parquet' (FORMAT parquet)", [...]string{", 'x' AS b", "", ""}[i], folder)))
	}
	id := catalog.Ident{"db", "made"}
	for _, kind := range []string{"hadoop", "sql"} {
		for _, isInPlace := range []bool{true, false} {
			for _, after := range []bool{false, true} {
				for k := 1; ; k++ {
					dir := t.TempDir()
					warehouse := filepath.Join(dir, "warehouse")
					open := func(files fileio.Files) *lake.Catalog {
						c, err := lake.Open(t.Context(), lake.Config{
							Name: "lake", Type: kind, Warehouse: warehouse, URI: "sqlite:///" + dir + "/catalog.db", Files: files, CreateIfMissing: true,
						})
						l.must(err)
						return c
					}
					files := faultfs.New(fileio.Disk{})
					c := open(files)
					l.must(c.CreateNamespace(t.Context(), id[:1]))
					f := Folder{Path: filepath.Join(dir, "elsewhere")}
					at := f.Path
					if isInPlace {
						f.Path, at = "", filepath.Join(warehouse, "db", "made")
					}
					l.must(os.CopyFS(at, os.DirFS(pristine)))
					before := bytesIn(t, dir)
					files.Fail(k, after)
					_, err := MakeOf(t.Context(), l.conn, c, id, f)
					fired := files.Fired()
					files.Fail(0, false)
					l.must(c.Close())
					name := fmt.Sprintf("%s, in place: %v, call %d (%s, after: %v)", kind, isInPlace, k, fired, after)

					c = open(fileio.Disk{})
					table, missing := c.LoadTable(t.Context(), id, catalog.Version{})
					if lake.IsNoTable(missing) != (err != nil) && errs.KindOf(err) != errs.CommitUnknown {
						t.Errorf("%s: %v, and the table: %v", name, err, missing)
					}
					if missing == nil {
						layout, err := c.Survey(t.Context(), table, catalog.Filter{})
						l.must(err)
						if layout.Counts.Rows != 30 || layout.Counts.Files != 3 {
							t.Errorf("%s: the table has %d rows in %d files", name, layout.Counts.Rows, layout.Counts.Files)
						}
					}
					l.must(c.Close())
					now := bytesIn(t, dir)
					maps.DeleteFunc(now, func(path, _ string) bool { return strings.Contains(path, "catalog.db") })
					for path, text := range before {
						if !strings.Contains(path, "catalog.db") && now[path] != text {
							t.Errorf("%s: %s isn't what it was", name, path)
						}
						delete(now, path)
					}
					isCleared := err != nil && errs.KindOf(err) != errs.CommitUnknown && !strings.HasPrefix(fired, "remove")
					if isCleared && len(now) > 0 {
						t.Errorf("%s: %v, and left are %v", name, err, maps.Keys(now))
					}
					if _, unread := os.ReadDir(filepath.Join(warehouse, "db", "made", "metadata")); isCleared && unread == nil {
						t.Errorf("%s: %v, and the folder of metadata is left", name, err)
					}
					if fired == "" {
						if k < 10 || err != nil {
							t.Errorf("%s: only %d calls are made, %v", name, k-1, err)
						}
						break
					}
				}
			}
		}
	}
}

// TestMakeOfFixed makes a table of files that DuckDB doesn't write.
func TestMakeOfFixed(t *testing.T) {
	l := newLab(t)
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "f.parquet"))
	l.must(err)
	root := schema.MustGroup(schema.NewGroupNode("root", parquet.Repetitions.Required, schema.FieldList{
		schema.NewFixedLenByteArrayNode("fix", parquet.Repetitions.Optional, 3, -1),
	}, -1))
	w := pqfile.NewParquetWriter(f, root)
	rows, err := w.AppendRowGroupChecked()
	l.must(err)
	column, err := rows.NextColumn()
	l.must(err)
	_, err = column.(*pqfile.FixedLenByteArrayColumnChunkWriter).WriteBatch([]parquet.FixedLenByteArray{[]byte("abc")}, []int16{1, 0}, nil)
	l.must(err)
	l.must(errors.Join(column.Close(), rows.Close(), w.Close()))

	id := catalog.Ident{"t", "fixed"}
	files, err := MakeOf(t.Context(), l.conn, l.catalog, id, Folder{Path: dir})
	l.must(err)
	table, err := l.catalog.LoadTable(t.Context(), id, catalog.Version{})
	l.must(err)
	if got := fmt.Sprint(files, table.Schema.Fields[0].Type); got != "1 fixed[3]" {
		t.Errorf("there are %s", got)
	}
}
