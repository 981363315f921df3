package lake

import (
	"context"
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

func TestStoredTypes(t *testing.T) {
	types := parquet.Types
	micros, millis, nanos := schema.TimeUnitMicros, schema.TimeUnitMillis, schema.TimeUnitNanos
	for _, c := range []struct {
		stored storedType
		table  string
		want   fitness
	}{
		{storedType{physical: types.Boolean}, "boolean", fits},
		{storedType{physical: types.Int32}, "int", fits},
		{storedType{physical: types.Int32}, "long", fits},
		{storedType{physical: types.Int64}, "int", unfit},
		{storedType{physical: types.Int32, logical: schema.NewIntLogicalType(16, true)}, "int", fits},
		{storedType{physical: types.Int32, logical: schema.NewIntLogicalType(32, false)}, "long", unfit},
		{storedType{physical: types.Int32, logical: schema.DateLogicalType{}}, "int", unfit},
		{storedType{physical: types.Float}, "double", fits},
		{storedType{physical: types.Double}, "float", unfit},
		{storedType{physical: types.Int32, logical: schema.NewDecimalLogicalType(9, 2)}, "decimal(18,2)", fits},
		{storedType{physical: types.FixedLenByteArray, length: 16, logical: schema.NewDecimalLogicalType(38, 2)}, "decimal(38,2)", fits},
		{storedType{physical: types.Int64, logical: schema.NewDecimalLogicalType(18, 2)}, "decimal(9,2)", unfit},
		{storedType{physical: types.Int32, logical: schema.NewDecimalLogicalType(9, 3)}, "decimal(9,2)", unfit},
		{storedType{physical: types.Int32}, "decimal(9,2)", unfit},
		{storedType{physical: types.Int32, logical: schema.DateLogicalType{}}, "date", fits},
		{storedType{physical: types.Int32, logical: schema.DateLogicalType{}}, "timestamp", fits},
		{storedType{physical: types.Int32, logical: schema.DateLogicalType{}}, "timestamptz", unfit},
		{storedType{physical: types.Int32}, "date", unfit},
		{storedType{physical: types.Int64, logical: schema.NewTimeLogicalType(false, micros)}, "time", fits},
		{storedType{physical: types.Int64, logical: schema.NewTimeLogicalType(false, nanos)}, "time", unread},
		{storedType{physical: types.Int64, logical: schema.NewTimestampLogicalType(false, micros)}, "timestamp", fits},
		{storedType{physical: types.Int64, logical: schema.NewTimestampLogicalType(false, millis)}, "timestamp", fits},
		{storedType{physical: types.Int64, logical: schema.NewTimestampLogicalType(true, micros)}, "timestamp", unread},
		{storedType{physical: types.Int64, logical: schema.NewTimestampLogicalType(true, micros)}, "timestamptz", fits},
		{storedType{physical: types.Int64, logical: schema.NewTimestampLogicalType(false, nanos)}, "timestamp", unread},
		{storedType{physical: types.Int64, logical: schema.NewTimestampLogicalType(false, nanos)}, "timestamp_ns", fits},
		{storedType{physical: types.Int96}, "timestamp", fits},
		{storedType{physical: types.Int96}, "timestamptz", fits},
		{storedType{physical: types.Int96}, "timestamp_ns", unread},
		{storedType{physical: types.Int96}, "timestamptz_ns", unread},
		{storedType{physical: types.Int96}, "long", unfit},
		{storedType{physical: types.Int64}, "timestamp", unfit},
		{storedType{physical: types.ByteArray, logical: schema.StringLogicalType{}}, "string", fits},
		{storedType{physical: types.ByteArray}, "string", unread},
		{storedType{physical: types.ByteArray}, "binary", fits},
		{storedType{physical: types.ByteArray, logical: schema.StringLogicalType{}}, "binary", unread},
		{storedType{physical: types.FixedLenByteArray, length: 4}, "fixed[4]", fits},
		{storedType{physical: types.FixedLenByteArray, length: 5}, "fixed[4]", unfit},
		{storedType{physical: types.FixedLenByteArray, length: 16, logical: schema.UUIDLogicalType{}}, "uuid", fits},
		{storedType{physical: types.FixedLenByteArray, length: 16}, "uuid", unread},
		{storedType{physical: types.Int32}, "string", unfit},
	} {
		typ, err := transform.ParseType(c.table)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.stored.fit(typ); got != c.want {
			t.Errorf("%s read as %s: %v, want %v", c.stored, c.table, got, c.want)
		}
	}
}

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
	f.c.footers = footerCache{}
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

func TestInitialDefaults(t *testing.T) {
	metadata := `{"schemas": [{"schema-id": 3, "fields": [
		{"id": 1, "name": "l", "type": "long", "initial-default": 9007199254740993},
		{"id": 2, "name": "b", "type": "binary", "initial-default": "00ff"},
		{"id": 3, "name": "n", "type": "string", "initial-default": null},
		{"id": 4, "name": "s", "type": {"type": "struct", "fields": [{"id": 5, "name": "in", "type": "string", "initial-default": "x\"y"}]}},
		{"id": 6, "name": "list", "type": {"type": "list", "element-id": 7, "element": {"type": "struct", "fields":
			[{"id": 8, "name": "in", "type": "decimal(9,2)", "initial-default": "1.50"}]}}}]}]}`
	got, err := initialDefaults([]byte(metadata), 3)
	if err != nil || len(got) != 4 {
		t.Fatalf("%v, %v", got, err)
	}
	for id, want := range map[int]struct {
		typ   string
		value any
	}{1: {"long", int64(9007199254740993)}, 2: {"binary", []byte{0, 255}}, 5: {"string", `x"y`}, 8: {"decimal(9,2)", big.NewInt(150)}} {
		typ, err := transform.ParseType(want.typ)
		if err != nil {
			t.Fatal(err)
		}
		v, err := got[id].value(catalog.Type{Primitive: typ})
		if a, b := transform.AppendKey(nil, typ, v), transform.AppendKey(nil, typ, want.value); err != nil || string(a) != string(b) {
			t.Errorf("the default of %d is %v, %v; want %v", id, v, err, want.value)
		}
	}
	for text, want := range map[string]bool{"9007199254740993": false, "9007199254740992": true, `"9007199254740993"`: true, "0.1": true, "9223372036854775807": false} {
		if got := (fieldDefault{json.RawMessage(text)}).survivesFloat(); got != want {
			t.Errorf("%s survives: %v", text, got)
		}
	}
}

// TestDefaultsOfEachType reads defaults as the spec's JSON single-value serialization spells them.
func TestDefaultsOfEachType(t *testing.T) {
	for _, c := range []struct{ typ, raw, want string }{ // "" is an error
		{"boolean", "true", "true"}, {"int", "-34", "-34"}, {"long", "9223372036854775807", "9223372036854775807"}, {"int", "2147483648", ""},
		{"float", "1.5", "1.5"}, {"double", "-1e300", "-1e+300"}, {"decimal(9,2)", `"14.20"`, "14.20"}, {"decimal(9,2)", `"1E+2"`, "100.00"},
		{"decimal(38,10)", `"1E-10"`, "0.0000000001"}, {"decimal(9,2)", `"-1.5e0"`, "-1.50"}, {"decimal(9,2)", `"1.234"`, ""}, {"decimal(9,2)", `"1E+8"`, ""},
		{"decimal(9,2)", `"1E+999999999"`, ""}, {"decimal(9,2)", `"E2"`, ""}, {"date", `"2017-11-16"`, "2017-11-16"}, {"time", `"22:31:08.123456"`, "22:31:08.123456"},
		{"timestamp", `"2017-11-16T22:31:08.123456"`, "2017-11-16 22:31:08.123456"}, {"timestamp", `"2017-11-16T22:31:08+00:00"`, ""},
		{"timestamptz", `"1969-12-31T23:59:59.999999+00:00"`, "1969-12-31 23:59:59.999999+00"},
		{"timestamp_ns", `"2017-11-16T22:31:08.123456789"`, "2017-11-16 22:31:08.123456789"},
		{"timestamptz_ns", `"2017-11-16T22:31:08.123456789+00:00"`, "2017-11-16 22:31:08.123456789+00"}, {"string", `"a\"\u00fc"`, `a"ü`}, {"string", `""`, ""},
		{"uuid", `"f79c3e09-677c-4bbd-a479-3f349cb785e7"`, "f79c3e09-677c-4bbd-a479-3f349cb785e7"}, {"fixed[4]", `"000102ff"`, "000102ff"}, {"fixed[4]", `"0001"`, ""},
		{"binary", `"000102ff"`, "000102ff"}, {"binary", `"0"`, ""},
	} {
		typ, err := transform.ParseType(c.typ)
		if err != nil {
			t.Fatal(err)
		}
		v, err := fieldDefault{json.RawMessage(c.raw)}.value(catalog.Type{Primitive: typ})
		isEmpty := c.raw == `""`
		if (err == nil) != (c.want != "" || isEmpty) || err == nil && transform.FormatValue(typ, v) != c.want {
			t.Errorf("%s as a %s: got %v, %v, want %s", c.raw, c.typ, v, err, c.want)
		}
	}
	s := catalog.Type{Nested: catalog.Struct}
	for raw, ok := range map[string]bool{"{}": true, "{ }": true, `{"4": 1}`: false, "1": false} {
		if v, err := (fieldDefault{json.RawMessage(raw)}).value(s); (err == nil) != ok || v != nil {
			t.Errorf("%s as a struct: %v, %v", raw, v, err)
		}
	}
}
