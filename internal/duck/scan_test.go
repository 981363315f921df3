package duck

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/transform"
)

func nested(kind catalog.NestedKind, fields ...catalog.Field) catalog.Type {
	return catalog.Type{Nested: kind, Fields: fields}
}

// Columns are found by ID: renamed, widened, swapped, missing with and without a default.
func TestScanReadsByFieldID(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	old := writeFile(t, c, "old.parquet", `SELECT i::INTEGER AS a, 'x' || i AS b, (i / 2)::FLOAT AS f, i::DECIMAL(5,2) AS d FROM range(2) t(i)`,
		primitive(1, "a", transform.Type{Kind: transform.Int}), primitive(2, "b", stringType),
		primitive(3, "f", transform.Type{Kind: transform.Float}), primitive(4, "d", transform.Type{Kind: transform.Decimal, Precision: 5, Scale: 2}))
	recent := writeFile(t, c, "new.parquet", `SELECT 'b of new' AS a, 10000000000 AS b, DATE '2024-02-29' AS e`,
		primitive(2, "a", stringType), primitive(1, "b", longType), primitive(5, "e", transform.Type{Kind: transform.Date}))
	date := primitive(5, "e", transform.Type{Kind: transform.Date})
	date.HasDefault, date.InitialDefault = true, int32(19782)
	text := mustScan(t, Scan{Files: []ScanFile{old, recent}, Columns: []ScanColumn{
		{primitive(2, "a", stringType), "a"}, {primitive(1, "b", longType), "A b"},
		{primitive(3, "f", transform.Type{Kind: transform.Double}), "f"},
		{primitive(4, "d", transform.Type{Kind: transform.Decimal, Precision: 20, Scale: 2}), "d"},
		{date, "e"}, {primitive(6, "none", stringType), `q"uoted`}, {primitive(1, "b", longType), "again"},
	}})
	wantRows(t, c, "FROM ("+text+`) ORDER BY "A b"`,
		"x0|0|0|0|2024-02-29|(null)|0", "x1|1|0.5|1|2024-02-29|(null)|1", "b of new|10000000000|(null)|(null)|2024-02-29|(null)|10000000000")
	columns, err := c.Describe(t.Context(), text)
	want := `[{a VARCHAR} {A b BIGINT} {f DOUBLE} {d DECIMAL(20,2)} {e DATE} {q"uoted VARCHAR} {again BIGINT}]`
	if err != nil || fmt.Sprint(columns) != want {
		t.Errorf("%v, %v", columns, err)
	}
}

// Defaults of each type arrive as they are.
func TestScanDefaults(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	file := writeFile(t, c, "x.parquet", "SELECT 1::BIGINT AS a", primitive(1, "a", longType))
	random := newSource(t)
	for _, typ := range append(keyTypes, transform.Type{Kind: transform.Double}) {
		f := primitive(7, "new", typ)
		f.HasDefault = true
		if typ.Kind == transform.Double {
			f.InitialDefault = -1.5e300
		} else {
			f.InitialDefault = random.value(typ)
		}
		text := mustScan(t, Scan{Files: []ScanFile{file}, Columns: []ScanColumn{{f, "v"}}})
		wantRows(t, c, fmt.Sprintf("SELECT v = %s FROM (%s)", literal(t, typ, f.InitialDefault), text), "true")
	}
	f := catalog.Field{ID: 8, Name: "l", HasDefault: true, Type: nested(catalog.List, primitive(9, "element", longType))}
	_, err := ScanSQL(Scan{Files: []ScanFile{file}, Columns: []ScanColumn{{f, "l"}}})
	wantError(t, err, errs.Unsupported, "l")
}

// A path is the one file of that name, whatever signs it has.
func TestScanTakesPathsLiterally(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	key := primitive(1, "a", longType)
	for i, name := range []string{
		"q?.parquet", "q1.parquet", "q*.parquet", "q[1].parquet", "q[[]1].parquet", "it's.parquet", "żółw 日本 😀.parquet",
		"a=b.parquet", `back\slash.parquet`, `"quoted".parquet`, "100%.parquet", "{a,b}.parquet", "q[!1].parquet", "a;b--c.parquet",
	} {
		file := writeFile(t, c, name, fmt.Sprintf("SELECT %d::BIGINT AS a", i), key)
		wantRows(t, c, mustScan(t, Scan{Files: []ScanFile{file}, Columns: []ScanColumn{{key, "a"}}}), fmt.Sprint(i))
	}
}

// Names in the path don't become columns, and columns may have the names of DuckDB's virtual ones.
func TestScanNamesDontClash(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	dir := "file_index=7"
	names := []string{"file_index", "filename", "file_row_number", "f1", "f2", "tarn row"}
	var fields []catalog.Field
	var values []string
	s := Scan{}
	for i, name := range names {
		f := primitive(catalog.FieldID(i+1), name, longType)
		fields = append(fields, f)
		values = append(values, fmt.Sprintf("%d::BIGINT AS %s", 10+i, quote.Name(name)))
		s.Columns = append(s.Columns, ScanColumn{f, name})
	}
	s.Files = []ScanFile{writeFile(t, c, dir+".parquet", "SELECT "+strings.Join(values, ", "), fields...)}
	wantRows(t, c, mustScan(t, s), "10|11|12|13|14|15")
	id := registerCheck(t, db, KeyCheck{Column: "file_index", Type: longType, Files: []string{"f"}, Expected: []transform.Value{int64(10)}})
	s.Checks = []ScanCheck{{1, id}}
	s.Filter = `"f1" = 13 AND "f2" = 14 AND "file_index" = 10`
	wantRows(t, c, mustScan(t, s), "10|11|12|13|14|15")
}

// The filter is below the check and reaches the file; a condition above the check doesn't pass it.
func TestScanFilterGoesBelowChecks(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	key := primitive(1, "k", longType)
	file := writeFile(t, c, "k.parquet", "SELECT i AS k FROM range(100) t(i)", key)
	id := registerCheck(t, db, KeyCheck{Column: "k", Type: longType, Transform: transform.Transform{Op: transform.Truncate, N: 10},
		Files: []string{"k"}, Expected: []transform.Value{int64(20)}})
	s := Scan{Files: []ScanFile{file}, Columns: []ScanColumn{{key, "k"}}, Checks: []ScanCheck{{1, id}}, Filter: "k = 25 OR k = 26"}
	wantRows(t, c, mustScan(t, s), "25", "26")
	if plan := mustRows(t, c, "EXPLAIN "+mustScan(t, s))[0]; !strings.Contains(plan, "Filters") {
		t.Errorf("the filter doesn't reach the scan:\n%s", plan)
	}
	s.Filter = ""
	_, err := rowsOf(t.Context(), c, "SELECT * FROM ("+mustScan(t, s)+") WHERE k = 25")
	wantError(t, err, errs.Corrupt, "k = 0, whose truncate[10] of k is 0, but by the file's partition tuple it is 20")
}

// Several checks of one column, and of several, all hold.
func TestScanWithSeveralChecks(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	key, text := primitive(1, "k", longType), primitive(2, "s", stringType)
	good := writeFile(t, c, "good.parquet", "SELECT 25::BIGINT AS k, 'abc' AS s", key, text)
	other := writeFile(t, c, "other.parquet", "SELECT NULL::BIGINT AS k, 'abd' AS s", key, text)
	check := func(column string, typ transform.Type, tr transform.Transform, expected ...transform.Value) int64 {
		return registerCheck(t, db, KeyCheck{Column: column, Type: typ, Transform: tr, Files: []string{"good", "other"}, Expected: expected})
	}
	s := Scan{
		Files: []ScanFile{good, other}, Columns: []ScanColumn{{key, "k"}, {text, "s"}},
		Checks: []ScanCheck{
			{1, check("k", longType, transform.Transform{Op: transform.Truncate, N: 10}, int64(20), nil)},
			{1, check("k", longType, transform.Transform{}, int64(25), nil)},
			{2, check("s", stringType, transform.Transform{Op: transform.Truncate, N: 2}, "ab", "ab")},
		},
	}
	wantRows(t, c, "FROM ("+mustScan(t, s)+") ORDER BY s", "25|abc", "(null)|abd")
	s.Checks = append(s.Checks, ScanCheck{2, check("s", stringType, transform.Transform{Op: transform.Truncate, N: 3}, "abc", "abe")})
	_, err := rowsOf(t.Context(), c, mustScan(t, s))
	wantError(t, err, errs.Corrupt, "verify layout other: a row has s = abd, whose truncate[3] of s is abd, but by the file's partition tuple it is abe")
	s.Columns = s.Columns[:1]
	_, err = ScanSQL(s)
	wantError(t, err, errs.Internal, "isn't read")
}

func TestScanWithoutFilesOrColumns(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	key := primitive(1, "k", transform.Type{Kind: transform.Decimal, Precision: 9, Scale: 2})
	empty := mustScan(t, Scan{Columns: []ScanColumn{{key, "k"}}})
	wantRows(t, c, empty)
	if columns, err := c.Describe(t.Context(), empty); err != nil || columns[0] != (Column{"k", "DECIMAL(9,2)"}) {
		t.Errorf("%v, %v", columns, err)
	}
	wantRows(t, c, "SELECT count(*) FROM ("+mustScan(t, Scan{})+")", "0")
	a := writeFile(t, c, "a.parquet", "SELECT i AS a FROM range(5000) t(i)", primitive(1, "a", longType))
	b := writeFile(t, c, "b.parquet", "SELECT 'x' AS b", primitive(2, "b", stringType))
	wantRows(t, c, "SELECT count(*) FROM ("+mustScan(t, Scan{Files: []ScanFile{a, b}})+")", "5001")
	_, err := ScanSQL(Scan{Files: []ScanFile{{Ref: catalog.FileRef{Path: "s3://x"}}}})
	wantError(t, err, errs.Internal, "s3://x")
}

func TestTypeSQL(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	deep := nested(catalog.Struct,
		catalog.Field{Name: "select", Type: nested(catalog.List, primitive(0, "element", transform.Type{Kind: transform.TimestampTZ}))},
		catalog.Field{Name: `a"b C`, Type: nested(catalog.Map, primitive(0, "key", stringType),
			primitive(0, "value", transform.Type{Kind: transform.Decimal, Precision: 38, Scale: 38}))},
		primitive(0, "u", transform.Type{Kind: transform.Unknown}))
	for _, test := range []struct {
		t    catalog.Type
		want string
	}{
		{deep, `STRUCT("select" TIMESTAMP WITH TIME ZONE[], "a""b C" MAP(VARCHAR, DECIMAL(38,38)), u INTEGER)`},
		{primitive(0, "", transform.Type{Kind: transform.Fixed, Length: 3}).Type, "BLOB"},
		{primitive(0, "", transform.Type{Kind: transform.TimestampNS}).Type, "TIMESTAMP_NS"},
	} {
		text, err := TypeSQL(test.t)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := c.Describe(t.Context(), "SELECT CAST(NULL AS "+text+") AS x")
		if err != nil || columns[0].Type != test.want {
			t.Errorf("%s: %v, %v", text, columns, err)
		}
	}
	for _, kind := range []transform.Kind{transform.Variant, transform.Geometry, transform.Geography, transform.TimestampTZNS} {
		bad := primitive(3, "deep", transform.Type{Kind: kind})
		list := catalog.Field{ID: 1, Name: "outer", Type: nested(catalog.List, catalog.Field{Name: "element", Type: nested(catalog.Struct, bad)})}
		_, err := ScanSQL(Scan{Columns: []ScanColumn{{list, "x"}}})
		wantError(t, err, errs.Unsupported, "outer.element.deep")
	}
}

// What CopyParquet writes, a scan reads: all types, IDs at every depth.
func TestCopyParquet(t *testing.T) {
	_, c := session(t, Options{Threads: 2})
	random := newSource(t)
	var fields []catalog.Field
	var values []string
	for i, typ := range append(keyTypes, transform.Type{Kind: transform.Float}, transform.Type{Kind: transform.Double}) {
		f := primitive(catalog.FieldID(100+i), fmt.Sprintf(`c"%d`, i), typ)
		value := "1.5::DOUBLE::FLOAT"
		if typ.Kind == transform.Double {
			value = "'nan'::DOUBLE"
		} else if typ.Kind != transform.Float {
			value = literal(t, typ, random.value(typ))
		}
		fields = append(fields, f)
		values = append(values, value+" AS "+quote.Name(f.Name))
	}
	fields = append(fields, catalog.Field{ID: 200, Name: "n", Type: nested(catalog.Struct,
		catalog.Field{ID: 201, Name: "l x", Type: nested(catalog.List, primitive(202, "element", longType))},
		catalog.Field{ID: 203, Name: "m", Type: nested(catalog.Map, primitive(204, "key", stringType),
			catalog.Field{ID: 205, Name: "value", Type: nested(catalog.Struct, primitive(206, "deep", longType))})})})
	values = append(values, `{'l x': [1::BIGINT, NULL], 'm': MAP {'k': {'deep': 5::BIGINT}}} AS n`)
	query := "SELECT " + strings.Join(values, ", ") + " FROM range(3)"
	path := t.TempDir() + "/it's.parquet"
	files, err := c.CopyParquet(t.Context(), query, fields, path, CopyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 || files[0].Path != path || files[0].Rows != 3 || files[0].Bytes < 500 {
		t.Errorf("%+v", files)
	}
	s := Scan{Files: []ScanFile{{Ref: catalog.FileRef{Local: path}}}}
	for _, f := range fields {
		s.Columns = append(s.Columns, ScanColumn{f, f.Name})
	}
	wantRows(t, c, fmt.Sprintf("SELECT count(*) FROM ((%s) EXCEPT ALL (%s))", mustScan(t, s), query), "0")
	wantRows(t, c, `SELECT list(field_id ORDER BY field_id) FROM parquet_schema('`+strings.ReplaceAll(path, "'", "''")+`') WHERE field_id >= 200`,
		"[200,201,202,203,204,205,206]")
	wantRows(t, c, `SELECT DISTINCT compression FROM parquet_metadata('`+strings.ReplaceAll(path, "'", "''")+`')`, "ZSTD")
}

func TestCopyParquetRefusals(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	path := t.TempDir() + "/x.parquet"
	key := primitive(1, "a", longType)
	for _, test := range []struct {
		sql  string
		kind errs.Kind
		part string
	}{
		{"SELECT sum(i) AS a FROM range(3) t(i)", errs.Invalid, "HUGEINT"},
		{"SELECT 1 AS a", errs.Invalid, "INTEGER, type BIGINT"},
		{"SELECT 1::BIGINT AS b", errs.Invalid, `gives "b"`},
		{"SELECT 1::BIGINT AS a, 2 AS b", errs.Invalid, "2 columns, 1"},
		{"SELECT nope AS a", errs.NotFound, "nope"},
		{"SELECT error('half way') AS a", errs.Invalid, ""},
		{"SELECT CASE WHEN i > 200000 THEN error('half way') ELSE i END::BIGINT AS a FROM range(300000) t(i)", errs.Invalid, "half way"},
	} {
		_, err := c.CopyParquet(t.Context(), test.sql, []catalog.Field{key}, path, CopyOptions{})
		wantError(t, err, test.kind, test.part)
		if rows := mustRows(t, c, "SELECT * FROM glob("+quote.Text(path)+")"); len(rows) > 0 {
			t.Errorf("%s: a part of a file is left", test.sql)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := c.CopyParquet(ctx, "SELECT i AS a FROM range(100000000000) t(i)", []catalog.Field{key}, path, CopyOptions{})
	wantError(t, err, errs.Resource, "deadline")
	files, err := c.CopyParquet(t.Context(), "SELECT i::BIGINT AS a FROM range(20000) t(i) ORDER BY i DESC", []catalog.Field{key}, path,
		CopyOptions{Compression: "snappy", RowGroupRows: 2048, Ordered: true})
	if err != nil || files[0].Rows != 20000 {
		t.Fatal(files, err)
	}
	_, err = c.CopyParquet(t.Context(), "SELECT 1::BIGINT AS a", []catalog.Field{key}, path, CopyOptions{})
	wantError(t, err, errs.Exists, path)
	wantRows(t, c, "SELECT count(*) FROM (SELECT a, file_row_number AS n FROM read_parquet("+quote.Text(path)+")) WHERE a <> 19999 - n", "0")
	wantRows(t, c, "SELECT count(DISTINCT row_group_id) FROM parquet_metadata("+quote.Text(path)+")", "10")
}

// A decimal's literal in tests must be what DuckDB reads, or the tests above prove nothing.
func TestLiteralReadsBack(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	typ := transform.Type{Kind: transform.Decimal, Precision: 38, Scale: 10}
	v, _ := new(big.Int).SetString("-12345678901234567890123456789012345678", 10)
	wantRows(t, c, "SELECT "+literal(t, typ, v)+"::VARCHAR", "-1234567890123456789012345678.9012345678")
}
