package property

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/tarndb/tarn/internal/errs"
)

// nanFile writes a file as other libraries do, with bounds that leave NaN out: d DOUBLE, f FLOAT, s STRUCT(x DOUBLE),
// l DOUBLE[] and k INTEGER.
func nanFile(l *lab, path string, values ...float64) {
	l.t.Helper()
	double := arrow.PrimitiveTypes.Float64
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "d", Type: double}, {Name: "f", Type: arrow.PrimitiveTypes.Float32},
		{Name: "s", Type: arrow.StructOf(arrow.Field{Name: "x", Type: double})},
		{Name: "l", Type: arrow.ListOf(double)}, {Name: "k", Type: arrow.PrimitiveTypes.Int32},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i, v := range values {
		b.Field(0).(*array.Float64Builder).Append(v)
		b.Field(1).(*array.Float32Builder).Append(float32(v))
		b.Field(2).(*array.StructBuilder).Append(true)
		b.Field(2).(*array.StructBuilder).FieldBuilder(0).(*array.Float64Builder).Append(v)
		b.Field(3).(*array.ListBuilder).Append(true)
		b.Field(3).(*array.ListBuilder).ValueBuilder().(*array.Float64Builder).Append(v)
		b.Field(4).(*array.Int32Builder).Append(int32(i))
	}
	writeParquet(l, path, b)
}

// writeParquet writes what a builder has as a file.
func writeParquet(l *lab, path string, b *array.RecordBuilder) {
	l.t.Helper()
	record := b.NewRecordBatch()
	defer record.Release()
	file, err := os.Create(path)
	l.must(err)
	w, err := pqarrow.NewFileWriter(b.Schema(), file, nil, pqarrow.DefaultWriterProps())
	l.must(err)
	l.must(w.Write(record))
	l.must(w.Close())
}

// TestFilesLoseNoNanoseconds: a column of moments in nanoseconds is refused where a query uses it, and none else is.
func TestFilesLoseNoNanoseconds(t *testing.T) {
	l := newLab(t)
	path := filepath.Join(t.TempDir(), "ns.parquet")
	moments := &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "at", Type: moments}, {Name: "local", Type: &arrow.TimestampType{Unit: arrow.Nanosecond}},
		{Name: "us", Type: arrow.FixedWidthTypes.Timestamp_us}, {Name: "list", Type: arrow.ListOf(moments)},
	}, nil))
	defer b.Release()
	b.Field(0).(*array.TimestampBuilder).Append(1001)
	b.Field(1).(*array.TimestampBuilder).Append(1001)
	b.Field(2).(*array.TimestampBuilder).Append(1)
	b.Field(3).(*array.ListBuilder).AppendNull()
	writeParquet(l, path, b)
	for _, items := range []string{"*", `"at"`, `x."AT"`, "list", "us, list", `count("at")`, "x"} {
		err := l.ask(auto, "SELECT "+items+" FROM '"+path+"' x").err
		if errs.KindOf(err) != errs.Unsupported || !strings.Contains(fmt.Sprint(err), path) {
			t.Errorf("%s: the error is %v", items, err)
		}
	}
	if got := l.single(auto, "SELECT local::VARCHAR || ' ' || epoch_us(us) || ' ' || count(*) OVER () FROM '"+path+"'"); got != `"1970-01-01 00:00:00.000001001 1 1"` {
		t.Error(got)
	}
}

// TestFilesUnderFilters: rows of Parquet files that aren't tables' pass the filters that they satisfy, whatever the files'
// statistics and bloom filters make DuckDB's reader believe. The judge doesn't ask those.
func TestFilesUnderFilters(t *testing.T) {
	l := newLab(t)
	dir := t.TempDir()
	nan, plain, bloom := filepath.Join(dir, "nan.of.parquet"), filepath.Join(dir, "plain.parquet"), filepath.Join(dir, "bloom.parquet")
	nanFile(l, nan, math.NaN(), 1, 2)
	nanFile(l, plain, 1, 2, 3)
	// Many equal values give a column a dictionary, and that a bloom filter.
	l.exec(`COPY (SELECT * FROM (VALUES ('-0.0'::DOUBLE, '-0.0'::FLOAT, '\x80'::BLOB, 'a'), (-1, -1, 'a\x0Ab', 'b'), (1, 1, 'x', 'c')) v(d, f, b, s), range(50))
		TO '%s' (FORMAT parquet)`, bloom)
	for _, from := range []string{
		"'" + nan + "'", "read_parquet('" + nan + "')", "parquet_scan(['" + plain + "', '" + nan + "'])", "'" + dir + "/*n.of.parquet'",
		"read_parquet(['" + nan + "', '" + plain + "'], union_by_name = true, can_have_nan = false)", "(FROM '" + nan + "')",
	} {
		for _, col := range []string{"x.d", "x.f", "x.s.x", "x.l[1]"} {
			for _, where := range []string{"%s > 5", "%s >= 'nan'", "%s = 'nan'", "%s IN (7, 'nan')", "NOT (%s <= 5)", "NOT %s BETWEEN 0 AND 9", "%s < 2"} {
				l.agree("SELECT x.k, x.d FROM " + from + " x WHERE " + replace(where, col))
			}
			l.agree(replace("SELECT count(*) FROM "+from+" x JOIN (VALUES ('nan'::DOUBLE), (20)) v(y) ON %s = v.y", col))
			l.agree(replace("SELECT max(%s), min(%s), count(*) FROM "+from+" x", col))
		}
	}
	for _, where := range []string{"d = 0.0", "f = 0.0", `b = '\x80'::BLOB`, `b IN ('a\x0Ab'::BLOB)`, "b = 'x'::BLOB AND s = 'c'"} {
		l.agree("SELECT count(*), any_value(s) FROM '" + bloom + "' WHERE " + where)
	}
	l.agree(`SELECT count(*) FROM '` + bloom + `' JOIN (SELECT '\x80'::BLOB AS b) USING (b)`)
}

// TestFilesKeepTheirNames: what a file's mention means doesn't depend on how filters are kept from it.
func TestFilesKeepTheirNames(t *testing.T) {
	l := newLab(t)
	dir := t.TempDir()
	nanFile(l, filepath.Join(dir, "nan.of.parquet"), math.NaN(), 1)
	l.must(os.MkdirAll(filepath.Join(dir, "p=7"), 0o755))
	nanFile(l, filepath.Join(dir, "p=7", "x.parquet"), math.NaN(), 1)
	l.exec("COPY (SELECT 1.5::DOUBLE AS d, -1 AS file_index) TO '%s/taken.parquet' (FORMAT parquet)", dir)
	l.exec("COPY (SELECT 1.5::DOUBLE AS d, -1 AS file_index, '' AS filename) TO '%s/both.parquet' (FORMAT parquet)", dir)
	for _, query := range []string{
		"SELECT nan.d, nan.k FROM '%s/nan.of.parquet' WHERE nan.d > 5", `SELECT "%s/n*.parquet".d FROM '%s/n*.parquet'`,
		"SELECT parquet_scan.d FROM parquet_scan('%s/nan.of.parquet')", "SELECT * FROM '%s/nan.of.parquet' AS t(a, b) WHERE b > 5",
		"SELECT * FROM '%s/nan.of.parquet' WHERE d > 5", "SELECT t FROM '%s/nan.of.parquet' t WHERE d > 5",
		"SELECT d, filename, file_row_number FROM '%s/nan.of.parquet'", "SELECT d, t.file_index FROM read_parquet('%s/nan.of.parquet') t",
		"SELECT * FROM read_parquet('%s/nan.of.parquet', filename = true, file_row_number = true) WHERE d > 5",
		"SELECT * FROM '%s/p=7/*.parquet' WHERE d > 5 AND p = 7", "SELECT d FROM read_parquet('%s/p=7/*.parquet', hive_partitioning = false) WHERE d > 5",
		"SELECT * FROM read_parquet('%s/nan.of.parquet') WITH ORDINALITY WHERE d > 5", "FROM (PIVOT '%s/nan.of.parquet' ON k IN (0, 1) USING max(d))",
		"SELECT * FROM '%s/taken.parquet' WHERE d = 1.5", "WITH x AS (FROM '%s/nan.of.parquet') SELECT a.k FROM x a, x b WHERE a.d = b.d AND b.d > 5",
		"SELECT o.n, (SELECT count(*) FROM '%s/nan.of.parquet' WHERE d > o.n) FROM (VALUES (5)) o(n)",
	} {
		l.agree(replace(query, dir))
	}
	if err := l.ask(auto, replace("SELECT * FROM '%s/both.parquet'", dir)).err; err == nil {
		t.Error("a file whose columns hide both virtual ones is read")
	}
	l.table(definition{name: "p.t", columns: []string{"d double", "note string"}}, []string{"('nan', 'keep')", "(20, 'go')"})
	if _, err := l.session(auto).Exec(t.Context(), replace("MERGE INTO p.t USING (SELECT d FROM '%s/nan.of.parquet' WHERE NOT (d <= 10)) AS q ON t.d = q.d WHEN NOT MATCHED BY SOURCE THEN DELETE", dir)); err != nil {
		t.Fatal(err)
	}
	if got := l.single(auto, "SELECT note FROM p.t"); got != `"keep"` {
		t.Errorf("what is left is %s", got)
	}
}
