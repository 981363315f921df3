package tarn_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/errs"
)

// arrowFile writes rows, given as JSON, to a file whose name says the format, two batches of them.
func arrowFile(t *testing.T, path string, fields []arrow.Field, rows string) {
	t.Helper()
	schema := arrow.NewSchema(fields, nil)
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	var w interface {
		Write(arrow.RecordBatch) error
		Close() error
	} = ipc.NewWriter(file, ipc.WithSchema(schema), ipc.WithLZ4())
	if !strings.HasSuffix(path, ".arrows") {
		if w, err = ipc.NewFileWriter(file, ipc.WithSchema(schema), ipc.WithZstd()); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range []arrow.RecordBatch{batch.NewSlice(0, 1), batch.NewSlice(1, batch.NumRows())} {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func arrowField(name string, typ arrow.DataType) arrow.Field {
	return arrow.Field{Name: name, Type: typ, Nullable: true}
}

// TestInsertFromArrow: each type of Iceberg's, from Arrow's that are nearest.
func TestInsertFromArrow(t *testing.T) {
	i := newInserting(t)
	timestamp := func(unit arrow.TimeUnit, zone string) arrow.DataType {
		return &arrow.TimestampType{Unit: unit, TimeZone: zone}
	}
	text := arrow.BinaryTypes.String
	types := []struct {
		iceberg string
		arrow   arrow.DataType
		json    string // of the first row; the second has NULLs
		want    string
	}{
		{"boolean", arrow.FixedWidthTypes.Boolean, `true`, "true"},
		{"int", arrow.PrimitiveTypes.Int16, `-32768`, "-32768"},
		{"bigint", arrow.PrimitiveTypes.Uint64, `9223372036854775807`, "9223372036854775807"},
		{"float", arrow.FixedWidthTypes.Float16, `0.5`, "0.5"},
		{"double", arrow.PrimitiveTypes.Float64, `"NaN"`, "nan"},
		{"decimal(38, 2)", &arrow.Decimal256Type{Precision: 38, Scale: 2}, `"-999999999999999999999999999999999999.99"`, "-999999999999999999999999999999999999.99"},
		{"date", arrow.FixedWidthTypes.Date64, `"1969-12-31"`, "1969-12-31"},
		{"time", arrow.FixedWidthTypes.Time32ms, `"23:59:59.999"`, "23:59:59.999"},
		{"timestamp_ntz", timestamp(arrow.Millisecond, ""), `"1960-01-01 00:00:00.001"`, "1960-01-01 00:00:00.001"},
		{"timestamp", timestamp(arrow.Nanosecond, "Asia/Tokyo"), `-1000`, "1969-12-31 23:59:59.999999+00"},
		{"timestamp_ns", timestamp(arrow.Nanosecond, ""), `"1960-01-01 00:00:00.000000001"`, "1960-01-01 00:00:00.000000001"},
		{"string", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: text}, `"ä"`, "ä"},
		{"uuid", extensions.NewUUIDType(), `"f79c3e09-677c-4bbd-a479-3f349cb785e7"`, "f79c3e09-677c-4bbd-a479-3f349cb785e7"},
		{"fixed(2)", &arrow.FixedSizeBinaryType{ByteWidth: 2}, `"AP8="`, `\\x00\\xFF`},
		{"binary", arrow.BinaryTypes.LargeBinary, `"AP8="`, `\\x00\\xFF`},
		{"array<int>", arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32), `[1, null]`, "[1, NULL]"},
		{"map<string, array<bigint>>", arrow.MapOf(text, arrow.ListOf(arrow.PrimitiveTypes.Int64)), `[{"key": "k", "value": [1, null]}]`, "{k=[1, NULL]}"},
		{"struct<x: double, y: struct<z: string>>", arrow.StructOf(arrowField("x", arrow.PrimitiveTypes.Float64), arrowField("y", arrow.StructOf(arrowField("z", text)))),
			`{"x": -0.0, "y": {"z": "long enough not to lie in place"}}`, "{'x': -0.0, 'y': {'z': long enough not to lie in place}}"},
		{"string", arrow.Null, `null`, "NULL"},
	}
	var columns, names, rows, nulls, wanted []string
	var fields []arrow.Field
	for n, typ := range types {
		name := "c" + string(rune('a'+n))
		columns, names = append(columns, name+" "+typ.iceberg), append(names, "coalesce("+name+"::VARCHAR, 'NULL')")
		fields = append(fields, arrowField(name, typ.arrow))
		rows, nulls = append(rows, `"`+name+`": `+typ.json), append(nulls, `"`+name+`": null`)
		wanted = append(wanted, typ.want)
	}
	i.run("CREATE TABLE n.t (" + strings.Join(columns, ", ") + ") TBLPROPERTIES ('format-version' = '3')")
	dir := t.TempDir()
	for _, name := range []string{"x.arrow", "x.arrows", "x.feather", "x.IPC"} {
		path := filepath.Join(dir, name)
		arrowFile(t, path, fields, "[{"+strings.Join(rows, ", ")+"}, {"+strings.Join(nulls, ", ")+"}]")
		i.want("SELECT count(*) FROM '"+path+"' WHERE ca", "1")
		if filepath.Ext(name)[:4] != ".arr" {
			continue // the other names for the same
		}
		if got := i.run("INSERT OVERWRITE n.t FROM '" + path + "'"); !strings.Contains(got, "{rows-inserted 2}") {
			t.Errorf("%s: %s", name, got)
		}
		i.want("SELECT concat_ws('; ', "+strings.Join(names, ", ")+") FROM n.t ORDER BY ca NULLS LAST",
			`"`+strings.Join(wanted, "; ")+`"`+"\n"+`"NULL`+strings.Repeat("; NULL", len(types)-1)+`"`)
	}
}

// TestArrowStandsWhereTablesDo: in each place of a statement where a table may be.
func TestArrowStandsWhereTablesDo(t *testing.T) {
	i := newInserting(t)
	dir := t.TempDir()
	fields := []arrow.Field{arrowField("k", arrow.PrimitiveTypes.Int64), arrowField("d", arrow.PrimitiveTypes.Float64), arrowField("note", arrow.BinaryTypes.StringView)}
	arrowFile(t, dir+"/1.arrow", fields, `[{"k": 1, "d": "NaN", "note": "one"}, {"k": 2, "d": -0.0, "note": null}, {"k": 3, "d": 1.5, "note": "three"}]`)
	arrowFile(t, dir+"/2.arrows", fields, `[{"k": 4, "d": "NaN", "note": "four"}, {"k": 5, "d": null, "note": "five"}]`)
	one := "'" + dir + "/1.arrow'"
	i.want("SELECT sum(k) FROM read_arrow('"+dir+"/*.arrow*')", "15")
	i.want("SELECT sum(k) FROM read_arrow(['"+dir+"/1.arrow', '"+dir+"/2.*']) WHERE d > 5", "5")
	i.want("SELECT x.a, x.b FROM "+one+" AS x(a, b) WHERE b = 0.0", "2 -0f")
	i.want(`SELECT "1".k FROM `+one+` WHERE "1".note = 'three'`, "3")
	i.want("SELECT count(*) FROM "+one+" a JOIN "+one+" b USING (k) WHERE EXISTS (FROM "+one+" c WHERE c.k = a.k + 1)", "2")
	i.want("WITH w AS (FROM "+one+") SELECT max(d), (SELECT count(*) FROM "+one+") FROM w", "NaNf 3")
	i.run("CREATE TABLE n.made PARTITIONED BY (bucket(4, k)) AS SELECT k, note FROM read_arrow('" + dir + "/*.arrow*')")
	i.want("SELECT count(*), sum(k), count(note) FROM n.made", "5 15 4")
	i.run("INSERT INTO n.a (k, note) SELECT k, note FROM " + one)
	if got := i.run("MERGE INTO n.a USING read_arrow('" + dir + "/*.arrow*') s ON a.k = s.k WHEN MATCHED AND s.d = 1.5 THEN DELETE WHEN MATCHED THEN UPDATE SET v = 7 WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, 8)"); !strings.Contains(got, "{rows-inserted 2} {rows-updated 2} {rows-deleted 1}") {
		t.Errorf("MERGE counts %s", got)
	}
	i.run("UPDATE n.a SET note = 'x' WHERE k IN (SELECT k FROM " + one + " WHERE d > 5)")
	i.run("DELETE FROM n.a WHERE k NOT IN (SELECT k FROM read_arrow('" + dir + "/*'))")
	i.want("SELECT k, v, note FROM n.a ORDER BY k", `1 7 "x"`+"\n2 7 NULL\n4 8 NULL\n5 8 NULL")
	plan, err := i.Explain(t.Context(), "SELECT * FROM "+one+" f JOIN n.a ON a.k = f.k", tarn.ExplainOptions{})
	if err != nil || !strings.Contains(plan, "1.arrow is a file and has no layout") {
		t.Errorf("%v: %s", err, plan)
	}
	for stmt, want := range map[string]struct {
		kind errs.Kind
		part string
	}{
		"FROM '" + dir + "/9.arrow'":                              {errs.NotFound, "9.arrow: there is no such file"},
		"FROM read_arrow('" + dir + "/1.arrow', 'x')":             {errs.Invalid, "as constants"},
		"FROM read_arrow('" + dir + "/1.arrow', filename = true)": {errs.Invalid, "as constants"},
		"FROM read_arrow(lower('X'))":                             {errs.Invalid, "as constants"},
		"FROM read_arrow([])":                                     {errs.Invalid, "as constants"},
		"FROM " + one + " FOR VERSION AS OF 1":                    {errs.Invalid, "has no versions"},
		"SELECT nope FROM " + one:                                 {errs.NotFound, "nope"},
	} {
		rows, err := i.Query(t.Context(), stmt)
		if err == nil {
			rows.Close()
		}
		if errs.KindOf(err) != want.kind || !strings.Contains(err.Error(), want.part) {
			t.Errorf("%s: %v (%v), wanted %v with %q", stmt, err, errs.KindOf(err), want.kind, want.part)
		}
	}
}

// TestArrowIsInsertedWholeOrNotAtAll: what a table can't hold, and what a file lacks, is found before anything is committed.
func TestArrowIsInsertedWholeOrNotAtAll(t *testing.T) {
	i := newInserting(t)
	dir := t.TempDir()
	far := []arrow.Field{arrowField("k", arrow.PrimitiveTypes.Int64), arrowField("t", &arrow.TimestampType{Unit: arrow.Microsecond})}
	for name, value := range map[string]int64{"inf": math.MaxInt64, "far": 1 << 62} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(far, nil))
		b.Field(0).(*array.Int64Builder).Append(1)
		b.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(value))
		file, err := os.Create(filepath.Join(dir, name+".arrows"))
		if err != nil {
			t.Fatal(err)
		}
		w := ipc.NewWriter(file, ipc.WithSchema(b.Schema()))
		if err := w.Write(b.NewRecordBatch()); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	arrowFile(t, dir+"/interval.arrow", []arrow.Field{arrowField("k", arrow.PrimitiveTypes.Int64), arrowField("t", arrow.FixedWidthTypes.Duration_us)}, `[{"k": 1, "t": "1us"}]`)
	arrowFile(t, dir+"/whole.arrow", far, `[{"k": 1, "t": 0}, {"k": 2, "t": 0}]`)
	whole, err := os.ReadFile(dir + "/whole.arrow")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/cut.arrow", whole[:len(whole)-100], 0o600); err != nil {
		t.Fatal(err)
	}
	i.run("CREATE TABLE n.t (k bigint, t timestamp_ntz)")
	for name, want := range map[string]errs.Kind{"inf.arrows": errs.Invalid, "interval.arrow": errs.Invalid, "cut.arrow": errs.Corrupt} {
		_, err := i.Exec(t.Context(), "INSERT INTO n.t FROM '"+dir+"/"+name+"'")
		if errs.KindOf(err) != want {
			t.Errorf("%s: %v (%v)", name, err, errs.KindOf(err))
		}
	}
	i.run("INSERT INTO n.t FROM '" + dir + "/far.arrows'")
	i.want("SELECT count(*), max(epoch_us(t)) FROM n.t", "1 4611686018427387904")
}
