package lake

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/datafile"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// footerTest is a table with one file.
type footerTest struct {
	c     *Catalog
	table *catalog.Table
	file  catalog.DataFile
}

func newFooterTest(t *testing.T) *footerTest {
	t.Helper()
	c := newLake(t, "sql", t.TempDir())
	table := createTest(t, c, NewTable{Ident: catalog.Ident{"db", "t"}, Schema: testSchema()})
	rows := testRows(rand.New(rand.NewPCG(1, 1)), 10)
	return &footerTest{c, table, writeFiles(t, c, table, rows)[0].DataFile}
}

// check checks the file against the table as edit changes it, with nothing remembered.
func (f *footerTest) check(t *testing.T, edit func(*catalog.Table, *catalog.DataFile)) error {
	t.Helper()
	f.c.footers = datafile.Footers{}
	table, data := *f.table, f.file
	copied := *table.Schema
	copied.Fields = append([]catalog.Field(nil), copied.Fields...)
	table.Schema = &copied
	edit(&table, &data)
	var columns []catalog.FieldID
	for _, c := range table.Schema.Fields {
		columns = append(columns, c.ID)
	}
	layout := &catalog.TableLayout{Table: &table, Files: func(_ context.Context, yield func(catalog.DataFile) error) error { return yield(data) }}
	_, err := f.c.Prepare(t.Context(), &table, columns, layout, t.TempDir())
	return err
}

func TestFooterChecks(t *testing.T) {
	f := newFooterTest(t)
	long := primitive(transform.Long)
	for _, c := range []struct {
		name string
		edit func(*catalog.Table, *catalog.DataFile)
		kind errs.Kind
		text string
	}{
		{"as it is", func(*catalog.Table, *catalog.DataFile) {}, 0, ""},
		{"renamed", func(t *catalog.Table, _ *catalog.DataFile) { t.Schema.Fields[0].Name = "other" }, 0, ""},
		{"other rows", func(_ *catalog.Table, d *catalog.DataFile) { d.Rows = 9 }, errs.Corrupt, "10 rows, but its manifest entry says 9"},
		{"other type", func(t *catalog.Table, _ *catalog.DataFile) { t.Schema.Fields[1].Type = long }, errs.Corrupt, `column name`},
		{"nested", func(t *catalog.Table, _ *catalog.DataFile) {
			t.Schema.Fields[0].Type = catalog.Type{Nested: catalog.Struct, Fields: []catalog.Field{{ID: 20, Name: "a", Type: long}}}
		}, errs.Corrupt, "primitive column where the table's type is struct<a: long>"},
		{"added", func(t *catalog.Table, _ *catalog.DataFile) {
			t.Schema.Fields = append(t.Schema.Fields, catalog.Field{ID: 9, Name: "new", Type: long})
		}, 0, ""},
		{"added with a default", func(t *catalog.Table, _ *catalog.DataFile) {
			t.FormatVersion = 3
			t.Schema.Fields = append(t.Schema.Fields, catalog.Field{ID: 9, Name: "new", Type: long, HasDefault: true, InitialDefault: int64(1)})
		}, 0, ""},
		{"added with a default in version 2", func(t *catalog.Table, _ *catalog.DataFile) {
			t.Schema.Fields = append(t.Schema.Fields, catalog.Field{ID: 9, Name: "new", Type: long, HasDefault: true, InitialDefault: int64(1)})
		}, errs.Corrupt, "column new: it has an initial default in a table of format version 2"},
		{"added with a list as its default", func(t *catalog.Table, _ *catalog.DataFile) {
			t.FormatVersion = 3
			list := catalog.Type{Nested: catalog.List, Fields: []catalog.Field{{ID: 10, Name: "element", Type: long}}}
			t.Schema.Fields = append(t.Schema.Fields, catalog.Field{ID: 9, Name: "new", Type: list, HasDefault: true})
		}, errs.Unsupported, "an initial default of a list<long>"},
		{"gone", func(_ *catalog.Table, d *catalog.DataFile) { d.Ref.Path += "x" }, errs.NotFound, ".parquetx"},
		{"variant", func(t *catalog.Table, _ *catalog.DataFile) {
			t.Schema.Fields[0].Type = primitive(transform.Variant)
		}, errs.Unsupported, "variant"},
	} {
		err := f.check(t, c.edit)
		if c.text == "" && err != nil || c.text != "" && (errs.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.text)) {
			t.Errorf("%s: %v (%v), want %v about %q", c.name, err, errs.KindOf(err), c.kind, c.text)
		}
		if err != nil && c.name != "variant" && !strings.Contains(err.Error(), f.file.Ref.Path) {
			t.Errorf("%s: %v doesn't name the file", c.name, err)
		}
	}
}

func TestDamagedFooters(t *testing.T) {
	f := newFooterTest(t)
	whole, err := os.ReadFile(f.file.Ref.Local)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty": nil, "tiny": []byte("PAR1PAR1"), "cut": whole[:len(whole)-10], "halved": whole[:len(whole)/2],
		"endless footer": append(append([]byte{}, whole[:len(whole)-8]...), "\xff\xff\xff\x7fPAR1"...),
		"zero footer":    append(append([]byte{}, whole[:len(whole)-8]...), "\x00\x00\x00\x00PAR1"...),
	} {
		writeTest(t, f.file.Ref.Local, string(data))
		if err := f.check(t, func(*catalog.Table, *catalog.DataFile) {}); errs.KindOf(err) != errs.Corrupt || !strings.Contains(err.Error(), f.file.Ref.Path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	writeTest(t, f.file.Ref.Local, string(whole[:len(whole)-1])+"E")
	if err := f.check(t, func(*catalog.Table, *catalog.DataFile) {}); errs.KindOf(err) != errs.Unsupported {
		t.Errorf("encrypted: %v", err)
	}
}

// TestGoldenEqualityColumns finds columns that were renamed, promoted and dropped since they were compared.
func TestGoldenEqualityColumns(t *testing.T) {
	for table, want := range map[string]string{
		"dels.eq_renamed": "map[3:long 4:string]",
		"dels.eq_global":  "map[1:long 3:int]",
		"dels.pos_file":   "map[]",
	} {
		ns, name := table[:4], table[5:]
		_, layout, err := readGolden(t, goldenTable{goldenHadoop(t), catalog.Ident{ns, name}})
		if err != nil {
			t.Errorf("%s: %v", table, err)
			continue
		}
		got := map[catalog.FieldID]string{}
		for id, c := range layout.Equality {
			got[id] = c.Root.Type.String()
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: got %v, want %s", table, got, want)
		}
	}
}
