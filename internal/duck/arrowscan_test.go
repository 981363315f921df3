package duck

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
)

// arrowWays are the forms in which the same rows may lie in a file.
var arrowWays = []struct {
	name     string
	isStream bool
	options  []ipc.Option
}{
	{"plain.arrow", false, nil},
	{"lz4.arrow", false, []ipc.Option{ipc.WithLZ4()}},
	{"zstd.arrow", false, []ipc.Option{ipc.WithZstd()}},
	{"deltas.arrow", false, []ipc.Option{ipc.WithDictionaryDeltas(true)}},
	{"plain.arrows", true, nil},
	{"lz4.arrows", true, []ipc.Option{ipc.WithLZ4()}},
	{"zstd.arrows", true, []ipc.Option{ipc.WithZstd()}},
	{"deltas.arrows", true, []ipc.Option{ipc.WithDictionaryDeltas(true)}},
}

// writeArrow writes batches to a file and returns its path.
func writeArrow(t testing.TB, path string, isStream bool, schema *arrow.Schema, batches []arrow.RecordBatch, options ...ipc.Option) string {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	options = append(options, ipc.WithSchema(schema))
	var w interface {
		Write(arrow.RecordBatch) error
		Close() error
	} = ipc.NewWriter(file, options...)
	if !isStream {
		if w, err = ipc.NewFileWriter(file, options...); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// fromJSON returns an array of a type.
func fromJSON(t testing.TB, typ arrow.DataType, text string) arrow.Array {
	t.Helper()
	arr, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", typ, err)
	}
	return arr
}

// batchOf returns a batch of the columns a, b and so on.
func batchOf(columns ...arrow.Array) arrow.RecordBatch {
	var fields []arrow.Field
	for i, c := range columns {
		fields = append(fields, arrow.Field{Name: string(rune('a' + i)), Type: c.DataType(), Nullable: true})
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, int64(columns[0].Len()))
}

// arrowSQL returns the FROM clause that reads files.
func arrowSQL(paths ...string) string {
	quoted := make([]string, len(paths))
	for i, p := range paths {
		quoted[i] = quote.Text(p)
	}
	return arrowName + "([" + strings.Join(quoted, ", ") + "])"
}

func nullable(t arrow.DataType) arrow.Field { return arrow.Field{Name: "x", Type: t, Nullable: true} }

var (
	int32s = arrow.PrimitiveTypes.Int32
	utf8s  = arrow.BinaryTypes.String
)

// arrowTypes are values of each type, and what DuckDB has of them: its type, and its texts.
var arrowTypes = []struct {
	typ  arrow.DataType
	json string
	want string
	rows []string
}{
	{arrow.Null, `[null, null]`, `"NULL"`, []string{"NULL", "NULL"}},
	{arrow.FixedWidthTypes.Boolean, `[true, null, false]`, "BOOLEAN", []string{"true", "NULL", "false"}},
	{arrow.PrimitiveTypes.Int8, `[-128, null, 127]`, "TINYINT", []string{"-128", "NULL", "127"}},
	{arrow.PrimitiveTypes.Int16, `[-32768, null]`, "SMALLINT", []string{"-32768", "NULL"}},
	{int32s, `[-2147483648, 1]`, "INTEGER", []string{"-2147483648", "1"}},
	{arrow.PrimitiveTypes.Int64, `[-9223372036854775808, null]`, "BIGINT", []string{"-9223372036854775808", "NULL"}},
	{arrow.PrimitiveTypes.Uint8, `[255]`, "UTINYINT", []string{"255"}},
	{arrow.PrimitiveTypes.Uint16, `[65535]`, "USMALLINT", []string{"65535"}},
	{arrow.PrimitiveTypes.Uint32, `[4294967295]`, "UINTEGER", []string{"4294967295"}},
	{arrow.PrimitiveTypes.Uint64, `[18446744073709551615, null]`, "UBIGINT", []string{"18446744073709551615", "NULL"}},
	{arrow.FixedWidthTypes.Float16, `[0.5, null]`, "FLOAT", []string{"0.5", "NULL"}},
	{arrow.PrimitiveTypes.Float32, `["NaN", "-Inf", 1e-45, -0.0]`, "FLOAT", []string{"nan", "-inf", "1e-45", "-0.0"}},
	{arrow.PrimitiveTypes.Float64, `["NaN", "+Inf", 5e-324, -0.0]`, "DOUBLE", []string{"nan", "inf", "5e-324", "-0.0"}},
	{utf8s, `["", null, "twelve bytes", "more than twelve bytes: ä\u0000"]`, "VARCHAR", []string{"", "NULL", "twelve bytes", "more than twelve bytes: ä\x00"}},
	{arrow.BinaryTypes.LargeString, `["a", null]`, "VARCHAR", []string{"a", "NULL"}},
	{arrow.BinaryTypes.StringView, `["a", null, "more than twelve bytes"]`, "VARCHAR", []string{"a", "NULL", "more than twelve bytes"}},
	{arrow.BinaryTypes.Binary, `["AP8=", null]`, "BLOB", []string{`\x00\xFF`, "NULL"}},
	{arrow.BinaryTypes.LargeBinary, `["AP8=", null]`, "BLOB", []string{`\x00\xFF`, "NULL"}},
	{arrow.BinaryTypes.BinaryView, `["AP8=", null]`, "BLOB", []string{`\x00\xFF`, "NULL"}},
	{&arrow.FixedSizeBinaryType{ByteWidth: 2}, `["AP8=", null]`, "BLOB", []string{`\x00\xFF`, "NULL"}},
	{&arrow.FixedSizeBinaryType{ByteWidth: 0}, `["", null]`, "BLOB", []string{"", "NULL"}},
	{&arrow.Decimal32Type{Precision: 3, Scale: 2}, `["-9.99", null]`, "DECIMAL(3,2)", []string{"-9.99", "NULL"}},
	{&arrow.Decimal64Type{Precision: 9, Scale: 0}, `["999999999", null]`, "DECIMAL(9,0)", []string{"999999999", "NULL"}},
	{&arrow.Decimal128Type{Precision: 18, Scale: 1}, `["-1.5"]`, "DECIMAL(18,1)", []string{"-1.5"}},
	{&arrow.Decimal128Type{Precision: 2, Scale: 4}, `["0.0012"]`, "DECIMAL(4,4)", []string{".0012"}},
	{&arrow.Decimal128Type{Precision: 38, Scale: 2}, `["-999999999999999999999999999999999999.99"]`, "DECIMAL(38,2)", []string{"-999999999999999999999999999999999999.99"}},
	{&arrow.Decimal256Type{Precision: 38, Scale: 2}, `["-999999999999999999999999999999999999.99", null]`, "DECIMAL(38,2)", []string{"-999999999999999999999999999999999999.99", "NULL"}},
	{arrow.FixedWidthTypes.Date32, `["1969-12-31", null]`, "DATE", []string{"1969-12-31", "NULL"}},
	{arrow.FixedWidthTypes.Date64, `["9999-12-31", null]`, "DATE", []string{"9999-12-31", "NULL"}},
	{arrow.FixedWidthTypes.Time32s, `["23:59:59", null]`, "TIME", []string{"23:59:59", "NULL"}},
	{arrow.FixedWidthTypes.Time32ms, `["23:59:59.999"]`, "TIME", []string{"23:59:59.999"}},
	{arrow.FixedWidthTypes.Time64us, `["23:59:59.999999"]`, "TIME", []string{"23:59:59.999999"}},
	{arrow.FixedWidthTypes.Time64ns, `["23:59:59.999999999"]`, "TIME_NS", []string{"23:59:59.999999999"}},
	{&arrow.TimestampType{Unit: arrow.Second}, `["1960-01-01 00:00:01", null]`, "TIMESTAMP_S", []string{"1960-01-01 00:00:01", "NULL"}},
	{&arrow.TimestampType{Unit: arrow.Millisecond}, `["1960-01-01 00:00:00.001"]`, "TIMESTAMP_MS", []string{"1960-01-01 00:00:00.001"}},
	{&arrow.TimestampType{Unit: arrow.Microsecond}, `["1960-01-01 00:00:00.000001"]`, "TIMESTAMP", []string{"1960-01-01 00:00:00.000001"}},
	{&arrow.TimestampType{Unit: arrow.Nanosecond}, `["1960-01-01 00:00:00.000000001"]`, "TIMESTAMP_NS", []string{"1960-01-01 00:00:00.000000001"}},
	{&arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}, `[1]`, "TIMESTAMP WITH TIME ZONE", []string{"1970-01-01 00:00:01+00"}},
	{&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "+02:00"}, `[-1]`, "TIMESTAMP WITH TIME ZONE", []string{"1969-12-31 23:59:59.999+00"}},
	{&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "Europe/Berlin"}, `[1, null]`, "TIMESTAMP WITH TIME ZONE", []string{"1970-01-01 00:00:00.000001+00", "NULL"}},
	{&arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}, `[-1000]`, "TIMESTAMP WITH TIME ZONE", []string{"1969-12-31 23:59:59.999999+00"}},
	{arrow.FixedWidthTypes.Duration_s, `["90s", null]`, "INTERVAL", []string{"00:01:30", "NULL"}},
	{arrow.FixedWidthTypes.Duration_ns, `["-1000ns"]`, "INTERVAL", []string{"-00:00:00.000001"}},
	{arrow.FixedWidthTypes.MonthInterval, `[{"months": 14}, null]`, "INTERVAL", []string{"1 year 2 months", "NULL"}},
	{arrow.FixedWidthTypes.DayTimeInterval, `[{"days": 40, "milliseconds": -1}]`, "INTERVAL", []string{"40 days -00:00:00.001"}},
	{arrow.FixedWidthTypes.MonthDayNanoInterval, `[{"months": 1, "days": 2, "nanoseconds": 3000}]`, "INTERVAL", []string{"1 month 2 days 00:00:00.000003"}},
	{arrow.ListOf(int32s), `[[1, null], null, [], [2]]`, "INTEGER[]", []string{"[1, NULL]", "NULL", "[]", "[2]"}},
	{arrow.LargeListOf(utf8s), `[["more than twelve bytes"], null, []]`, "VARCHAR[]", []string{"[more than twelve bytes]", "NULL", "[]"}},
	{arrow.ListViewOf(int32s), `[[1, null], null, [], [2]]`, "INTEGER[]", []string{"[1, NULL]", "NULL", "[]", "[2]"}},
	{arrow.LargeListViewOf(int32s), `[[1, null], null, [], [2]]`, "INTEGER[]", []string{"[1, NULL]", "NULL", "[]", "[2]"}},
	{arrow.FixedSizeListOf(2, int32s), `[[1, null], null, [3, 4]]`, "INTEGER[2]", []string{"[1, NULL]", "NULL", "[3, 4]"}},
	{arrow.FixedSizeListOf(1, arrow.ListOf(int32s)), `[[[1]], null, [[]]]`, "INTEGER[][1]", []string{"[[1]]", "NULL", "[[]]"}},
	{arrow.StructOf(nullable(int32s), arrow.Field{Name: "Y z", Type: arrow.ListOf(utf8s), Nullable: true}), `[{"x": 1, "Y z": ["a"]}, null, {"x": null, "Y z": null}]`,
		`STRUCT(x INTEGER, "Y z" VARCHAR[])`, []string{"{'x': 1, 'Y z': [a]}", "NULL", "{'x': NULL, 'Y z': NULL}"}},
	{arrow.MapOf(utf8s, arrow.ListOf(int32s)), `[[{"key": "k", "value": [1]}, {"key": "l", "value": null}], null, []]`, "MAP(VARCHAR, INTEGER[])", []string{"{k=[1], l=NULL}", "NULL", "{}"}},
	{arrow.ListOf(arrow.Null), `[[null, null], null]`, `"NULL"[]`, []string{"[NULL, NULL]", "NULL"}},
	{arrow.ListOf(arrow.StructOf(nullable(arrow.MapOf(int32s, utf8s)))), `[[{"x": [{"key": 1, "value": "a"}]}, null], [], null, [{"x": null}]]`,
		"STRUCT(x MAP(INTEGER, VARCHAR))[]", []string{"[{'x': {1=a}}, NULL]", "[]", "NULL", "[{'x': NULL}]"}},
	{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: utf8s}, `["b", null, "a", "b"]`, "VARCHAR", []string{"b", "NULL", "a", "b"}},
	{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int64, ValueType: arrow.FixedWidthTypes.Date32}, `["1970-01-01", null]`, "DATE", []string{"1970-01-01", "NULL"}},
	{arrow.ListOf(&arrow.DictionaryType{IndexType: int32s, ValueType: utf8s}), `[["b", null], null, ["a", "b"]]`, "VARCHAR[]", []string{"[b, NULL]", "NULL", "[a, b]"}},
	{arrow.RunEndEncodedOf(int32s, utf8s), `["a", "a", null, "b"]`, "VARCHAR", []string{"a", "a", "NULL", "b"}},
	{extensions.NewUUIDType(), `["f79c3e09-677c-4bbd-a479-3f349cb785e7", null]`, "UUID", []string{"f79c3e09-677c-4bbd-a479-3f349cb785e7", "NULL"}},
	{extensions.NewBool8Type(), `[true, null, false]`, "BOOLEAN", []string{"true", "NULL", "false"}},
	{arrow.ListOf(extensions.NewUUIDType()), `[["f79c3e09-677c-4bbd-a479-3f349cb785e7"], null]`, "UUID[]", []string{"[f79c3e09-677c-4bbd-a479-3f349cb785e7]", "NULL"}},
}

func TestArrowTypes(t *testing.T) {
	_, c := session(t, Options{})
	dir := t.TempDir()
	for i, typ := range arrowTypes {
		arr := fromJSON(t, typ.typ, typ.json)
		if arr.Len() != len(typ.rows) {
			t.Fatalf("%s: %d values, want %d", typ.typ, arr.Len(), len(typ.rows))
		}
		batch := batchOf(arr)
		for _, way := range arrowWays {
			batches, want := []arrow.RecordBatch{batch}, slices.Clone(typ.rows)
			if _, isView := typ.typ.(arrow.VarLenListLikeType); !isView || typ.typ.ID() == arrow.LIST || typ.typ.ID() == arrow.LARGE_LIST {
				// What is cut off a batch doesn't lie in the file, or out of the way. Of views the library can't write it.
				batches = append(batches, batch.NewSlice(1, int64(arr.Len())), batch.NewSlice(0, 0), batch.NewSlice(0, 1))
				want = append(append(want, typ.rows[1:]...), typ.rows[0])
			}
			path := writeArrow(t, filepath.Join(dir, fmt.Sprintf("%d-%s", i, way.name)), way.isStream, batch.Schema(), batches, way.options...)
			for i := range want {
				want[i] = typ.want + "|" + want[i]
			}
			got, err := rowsOf(t.Context(), c, "SELECT typeof(a), coalesce(a::VARCHAR, 'NULL') FROM "+arrowSQL(path))
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s, %s: %v\n got %q\nwant %q", typ.typ, way.name, err, got, want)
			}
		}
	}
}

func TestArrowUnions(t *testing.T) {
	_, c := session(t, Options{})
	numbers, texts, ids := fromJSON(t, int32s, `[1, null, 3]`), fromJSON(t, utf8s, `["a", "b", "c"]`), fromJSON(t, arrow.PrimitiveTypes.Int8, `[5, 7, 5]`)
	codes := []arrow.UnionTypeCode{7, 5}
	sparse, err := array.NewSparseUnionFromArraysWithFieldCodes(ids, []arrow.Array{numbers, texts}, []string{"n", "t"}, codes)
	if err != nil {
		t.Fatal(err)
	}
	dense, err := array.NewDenseUnionFromArraysWithFieldCodes(ids, fromJSON(t, int32s, `[2, 1, 0]`), []arrow.Array{numbers, texts}, []string{"n", "t"}, codes)
	if err != nil {
		t.Fatal(err)
	}
	batch := batchOf(sparse, dense)
	path := writeArrow(t, filepath.Join(t.TempDir(), "u.arrow"), false, batch.Schema(), []arrow.RecordBatch{batch, batch.NewSlice(1, 3)})
	wantRows(t, c, "SELECT typeof(a), a::VARCHAR, union_tag(b), b::VARCHAR, b.t FROM "+arrowSQL(path),
		"UNION(n INTEGER, t VARCHAR)|a|t|c|c", "UNION(n INTEGER, t VARCHAR)|NULL|n|NULL|(null)", "UNION(n INTEGER, t VARCHAR)|c|t|a|a",
		"UNION(n INTEGER, t VARCHAR)|NULL|n|NULL|(null)", "UNION(n INTEGER, t VARCHAR)|c|t|a|a")
}

// TestArrowDictionaries: those of a stream may be replaced and grow from batch to batch.
func TestArrowDictionaries(t *testing.T) {
	_, c := session(t, Options{})
	typ := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: utf8s}
	grown := []arrow.RecordBatch{
		batchOf(fromJSON(t, typ, `["a", "b"]`)), batchOf(fromJSON(t, typ, `["a", "b", "c", "b"]`)), batchOf(fromJSON(t, typ, `["a", null, "b", "c", "d"]`)),
	}
	replaced := []arrow.RecordBatch{batchOf(fromJSON(t, typ, `["a", "b"]`)), batchOf(fromJSON(t, typ, `["x", "a"]`)), batchOf(fromJSON(t, typ, `["b"]`))}
	dir := t.TempDir()
	for _, path := range []string{
		writeArrow(t, filepath.Join(dir, "grown"), true, grown[0].Schema(), grown, ipc.WithDictionaryDeltas(true)),
		filepath.Join("testdata", "deltas.arrow"), // the same by PyArrow, in the file format, which the library can't write so
	} {
		wantRows(t, c, "SELECT string_agg(coalesce(a, '-'), '') FROM "+arrowSQL(path), "ababcba-bcd")
	}
	path := writeArrow(t, filepath.Join(dir, "replaced"), true, replaced[0].Schema(), replaced)
	wantRows(t, c, "SELECT string_agg(a, '') FROM "+arrowSQL(path), "abxab")
}

// TestArrowValuesThatAreRefused: no value is changed on its way.
func TestArrowValuesThatAreRefused(t *testing.T) {
	_, c := session(t, Options{})
	utc := func(unit arrow.TimeUnit) arrow.DataType { return &arrow.TimestampType{Unit: unit, TimeZone: "UTC"} }
	raw := func(typ arrow.DataType, values ...int64) arrow.Array {
		n := len(values) * 8 / typ.(arrow.FixedWidthDataType).Bytes()
		return array.MakeFromData(array.NewData(typ, n, []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(values))}, nil, 0, 0))
	}
	raw32 := func(typ arrow.DataType, values ...int32) arrow.Array {
		return array.MakeFromData(array.NewData(typ, len(values), []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(values))}, nil, 0, 0))
	}
	texts := array.NewStringBuilder(memory.DefaultAllocator)
	texts.AppendValues([]string{"ok", "\xff"}, nil)
	tag := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: utf8s}
	for i, refused := range []struct {
		arr  arrow.Array
		kind errs.Kind
		part string
	}{
		{texts.NewArray(), errs.Corrupt, `column "a", row 2: a text isn't UTF-8: "\xff"`},
		{raw(utc(arrow.Nanosecond), 1000, 1001), errs.Unsupported, `column "a", row 2: 1001 nanoseconds`},
		{raw(arrow.FixedWidthTypes.Duration_ns, -1), errs.Unsupported, `-1 nanoseconds`},
		{raw(utc(arrow.Second), 1<<60), errs.Unsupported, "1152921504606846976 is more"},
		{raw(utc(arrow.Millisecond), -1<<62), errs.Unsupported, "-4611686018427387904 is more"},
		{fromJSON(t, arrow.FixedWidthTypes.MonthDayNanoInterval, `[{"months": 1, "days": 2, "nanoseconds": 3}]`), errs.Unsupported, "3 nanoseconds"},
		{raw(arrow.FixedWidthTypes.Date64, 0, 1), errs.Unsupported, "row 2: a date of 1 milliseconds"},
		{raw(arrow.FixedWidthTypes.Date64, 86400000<<32), errs.Unsupported, "no date 4294967296 days"},
		{raw32(arrow.FixedWidthTypes.Date32, -2147483648), errs.Unsupported, "no date -2147483648 days"},
		{raw32(arrow.FixedWidthTypes.Time32s, 86401), errs.Corrupt, "isn't within a day"},
		{raw(arrow.FixedWidthTypes.Time64ns, -1), errs.Corrupt, "isn't within a day"},
		{raw(&arrow.Decimal64Type{Precision: 3, Scale: 1}, 1000), errs.Corrupt, "more than the 3 digits"},
		{raw(&arrow.Decimal128Type{Precision: 38}, -1, 1<<63-1), errs.Corrupt, "more than the 38 digits"},
		{fromJSON(t, &arrow.Decimal256Type{Precision: 39, Scale: 2}, `["1"]`), errs.Unsupported, `column "a": decimal256(39, 2) isn't a decimal of up to 38 digits`},
		{fromJSON(t, &arrow.Decimal128Type{Precision: 3, Scale: -2}, `["100"]`), errs.Unsupported, `decimal(3, -2) isn't a decimal`},
		{array.NewStructData(array.NewData(arrow.StructOf(), 1, []*memory.Buffer{nil}, nil, 0, 0)), errs.Unsupported, "a struct without fields"},
		{fromJSON(t, arrow.StructOf(nullable(int32s), arrow.Field{Name: "X", Type: int32s}), `[{"x": 1, "X": 2}]`), errs.Unsupported, `"X" isn't one`},
		{array.NewDictionaryArray(tag, fromJSON(t, arrow.PrimitiveTypes.Int8, `[0, 5]`), fromJSON(t, utf8s, `["a"]`)), errs.Corrupt, "row 2: an index is 5"},
	} {
		batch := batchOf(refused.arr)
		path := writeArrow(t, filepath.Join(t.TempDir(), fmt.Sprintf("%d.arrow", i)), false, batch.Schema(), []arrow.RecordBatch{batch})
		_, err := rowsOf(t.Context(), c, "SELECT * FROM "+arrowSQL(path))
		wantError(t, err, refused.kind, refused.part)
		wantError(t, err, refused.kind, "read Arrow file "+path+": column \"a\"")
	}
}

// TestArrowLists: other files of a list are read by the names of the first one's columns.
func TestArrowLists(t *testing.T) {
	_, c := session(t, Options{Threads: 2})
	dir := t.TempDir()
	write := func(name string, isStream bool, fields []arrow.Field, columns ...arrow.Array) string {
		schema := arrow.NewSchema(fields, nil)
		return writeArrow(t, filepath.Join(dir, name), isStream, schema, []arrow.RecordBatch{array.NewRecordBatch(schema, columns, int64(columns[0].Len()))})
	}
	field := func(name string, typ arrow.DataType) arrow.Field {
		return arrow.Field{Name: name, Type: typ, Nullable: true}
	}
	one := write("1 '%s%.arrow", false, []arrow.Field{field("k", int32s), field("s", utf8s)}, fromJSON(t, int32s, `[1, 2]`), fromJSON(t, utf8s, `["a", "b"]`))
	two := write("2.arrows", true, []arrow.Field{field("more", int32s), field("S", arrow.BinaryTypes.LargeString), field("K", int32s)},
		fromJSON(t, int32s, `[7]`), fromJSON(t, arrow.BinaryTypes.LargeString, `["c"]`), fromJSON(t, int32s, `[3]`))
	other := write("3.arrow", false, []arrow.Field{field("k", arrow.PrimitiveTypes.Int64), field("s", utf8s)}, fromJSON(t, arrow.PrimitiveTypes.Int64, `[1]`), fromJSON(t, utf8s, `["a"]`))
	twice := write("4.arrow", false, []arrow.Field{field("k", int32s), field("K", int32s), field("k", int32s)}, fromJSON(t, int32s, `[1]`), fromJSON(t, int32s, `[2]`), fromJSON(t, int32s, `[3]`))
	wantRows(t, c, "SELECT * FROM "+arrowSQL(one, two)+" ORDER BY k", "1|a", "2|b", "3|c")
	wantRows(t, c, "SELECT count(*), count(*) FILTER (s > 'a') FROM "+arrowSQL(one, two, one), "5|3")
	wantRows(t, c, "SELECT count(*) FROM "+arrowSQL(one, one), "4")
	wantRows(t, c, "SELECT a.s || b.s FROM "+arrowSQL(one)+" a JOIN "+arrowSQL(one, two)+" b ON a.k = b.k ORDER BY 1", "aa", "bb")
	wantRows(t, c, `SELECT k, "K_1", k_2 FROM `+arrowSQL(twice), "1|2|3")
	_, err := rowsOf(t.Context(), c, "SELECT s FROM "+arrowSQL(one, other))
	wantError(t, err, errs.Invalid, other+`: column "k" is BIGINT, and is INTEGER in 1 '%s%.arrow`)
	_, err = rowsOf(t.Context(), c, "SELECT s FROM "+arrowSQL(one, twice))
	wantError(t, err, errs.Invalid, `column "s" isn't there`)

	source, err := c.ArrowSource(t.Context(), []string{dir + "/[12]*.arrow*"})
	if err != nil {
		t.Fatal(err)
	}
	wantRows(t, c, "SELECT sum(k) FROM "+source, "6")
	_, err = c.ArrowSource(t.Context(), []string{one, dir + "/nope*.arrow"})
	wantError(t, err, errs.NotFound, "nope*.arrow: there is no such file")
	_, err = rowsOf(t.Context(), c, "SELECT * FROM tarn_arrow([])")
	wantError(t, err, errs.Invalid, "")
}

// TestArrowLongLists: a chunk's lists go behind each other, and a batch becomes many chunks.
func TestArrowLongLists(t *testing.T) {
	_, c := session(t, Options{Threads: 2})
	b := array.NewListBuilder(memory.DefaultAllocator, utf8s)
	sum := 0
	for i := range 3 * vectorRows {
		b.Append(true)
		for k := range i % 7 {
			b.ValueBuilder().(*array.StringBuilder).Append(fmt.Sprintf("%0*d", 20, i+k))
			sum += i + k
		}
	}
	batch := batchOf(b.NewArray())
	path := writeArrow(t, filepath.Join(t.TempDir(), "l.arrow"), false, batch.Schema(), []arrow.RecordBatch{batch, batch})
	wantRows(t, c, "SELECT count(*), sum(x::BIGINT)::BIGINT FROM (SELECT unnest(a) AS x FROM "+arrowSQL(path)+")",
		fmt.Sprintf("%d|%d", 2*countOfLists(3*vectorRows), 2*sum))
	wantRows(t, c, "SELECT count(*) FROM "+arrowSQL(path), fmt.Sprint(6*vectorRows))
}

func countOfLists(n int) (count int) {
	for i := range n {
		count += i % 7
	}
	return count
}
