package write

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/transform"
)

// lab has a lake and a DuckDB instance.
type lab struct {
	t       testing.TB
	folder  string
	catalog *lake.Catalog
	db      *duck.DB
	conn    *duck.Conn
	made    int
	// reopened is the warehouse of a test that opens its catalog again.
	reopened string
}

func newLab(t testing.TB) *lab {
	t.Helper()
	l := &lab{t: t, folder: t.TempDir()}
	var err error
	l.catalog, err = lake.Open(t.Context(), lake.Config{
		Name: "lake", Type: "sql", URI: l.uri(), Warehouse: l.warehouse(), CreateIfMissing: true,
	})
	l.must(err)
	l.must(l.catalog.CreateNamespace(t.Context(), catalog.Ident{"t"}))
	l.db, err = duck.Open(t.Context(), duck.Options{Threads: 1})
	l.must(err)
	l.conn, err = l.db.Connect()
	l.must(err)
	t.Cleanup(func() {
		l.conn.Close()
		l.must(l.db.Close())
		l.must(l.catalog.Close())
	})
	return l
}

func (l *lab) uri() string       { return "sqlite:///" + l.folder + "/catalog.db" }
func (l *lab) warehouse() string { return "file://" + l.folder + "/warehouse" }

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// column makes a column of a primitive type.
func column(id int, name, typ string) catalog.Field {
	t, err := transform.ParseType(typ)
	if err != nil {
		panic(err)
	}
	return catalog.Field{ID: catalog.FieldID(id), Name: name, Type: catalog.Type{Primitive: t}}
}

// table makes a table. Columns are "name type"; a spec's field is "bucket[4] name".
func (l *lab) table(columns, spec []string, props map[string]string) *catalog.Table {
	l.t.Helper()
	var fields []catalog.Field
	for i, c := range columns {
		name, typ, _ := strings.Cut(c, " ")
		fields = append(fields, column(i+1, name, typ))
	}
	return l.tableOf(fields, spec, props, 2)
}

func (l *lab) tableOf(fields []catalog.Field, spec []string, props map[string]string, version int) *catalog.Table {
	l.t.Helper()
	def := lake.NewTable{
		Ident: catalog.Ident{"t", fmt.Sprintf("t%d", l.made)}, Schema: &catalog.Schema{Fields: fields}, Properties: props, FormatVersion: version,
	}
	l.made++
	for i, text := range spec {
		fn, name, _ := strings.Cut(text, " ")
		parsed, err := transform.Parse(fn)
		l.must(err)
		f := catalog.PartitionField{Name: fmt.Sprintf("p%d", i), Transform: parsed}
		for _, c := range fields {
			if c.Name == name {
				f.Sources = []catalog.FieldID{c.ID}
			}
		}
		def.Spec = append(def.Spec, f)
	}
	t, err := l.catalog.CreateTable(context.Background(), def)
	l.must(err)
	return t
}

func (l *lab) load(t *catalog.Table) *catalog.Table {
	l.t.Helper()
	out, err := l.catalog.LoadTable(context.Background(), t.Ident, catalog.Version{})
	l.must(err)
	return out
}

// append writes the rows of a query, and returns the table with them.
func (l *lab) append(t *catalog.Table, query string, opts Options) *catalog.Table {
	l.t.Helper()
	_, err := AppendWith(context.Background(), l.conn, l.catalog, t, query, opts)
	l.must(err)
	return l.load(t)
}

// files returns the data files of a table.
func (l *lab) files(t *catalog.Table) []catalog.DataFile {
	l.t.Helper()
	layout, err := l.catalog.Survey(context.Background(), t, catalog.Filter{})
	l.must(err)
	var out []catalog.DataFile
	l.must(layout.Files(context.Background(), func(f catalog.DataFile) error {
		out = append(out, f)
		return nil
	}))
	return out
}

// rows returns the SELECT of a table's rows under the columns' names.
func (l *lab) rows(t *catalog.Table) string {
	l.t.Helper()
	scan := duck.Scan{}
	for _, f := range t.Schema.Fields {
		scan.Columns = append(scan.Columns, duck.ScanColumn{Field: f, As: f.Name})
	}
	for _, f := range l.files(t) {
		if f.Ref.Local == "" {
			f.Ref.Local = strings.TrimPrefix(f.Ref.Path, "file://")
		}
		scan.Files = append(scan.Files, duck.ScanFile{Ref: f.Ref})
	}
	text, err := duck.ScanSQL(scan)
	l.must(err)
	return text
}

// one returns the only value of a query as text.
func (l *lab) one(query string) string {
	l.t.Helper()
	all, err := texts(context.Background(), l.conn, "SELECT CAST(x AS VARCHAR) FROM ("+query+") AS r(x)")
	l.must(err)
	if len(all) != 1 {
		l.t.Fatalf("%s gives %d rows", query, len(all))
	}
	if all[0][0] == nil {
		return "NULL"
	}
	return *all[0][0]
}

// same fails unless a table has the rows of a query, as often.
func (l *lab) same(t *catalog.Table, query string) {
	l.t.Helper()
	got := "SELECT COLUMNS(*)::VARCHAR FROM (" + l.rows(t) + ")"
	want := "SELECT COLUMNS(*)::VARCHAR FROM (" + query + ")"
	if n := l.one("SELECT count(*) FROM ((" + got + ") EXCEPT ALL (" + want + "))"); n != "0" {
		l.t.Errorf("%s has %s rows that it shouldn't have", t.Ident, n)
	}
	if n := l.one("SELECT count(*) FROM ((" + want + ") EXCEPT ALL (" + got + "))"); n != "0" {
		l.t.Errorf("%s lacks %s rows", t.Ident, n)
	}
}
