package output

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/tarndb/tarn/internal/errs"
)

// everything is a result with a column of each type that files hold.
func everything(t *testing.T) result {
	t.Helper()
	return rowsOf(t,
		[4]any{"b", "BOOLEAN", arrow.FixedWidthTypes.Boolean, `[true, null]`},
		[4]any{"i", "INTEGER", arrow.PrimitiveTypes.Int32, `[-1, null]`},
		[4]any{"i", "BIGINT", arrow.PrimitiveTypes.Int64, `[9007199254740993, null]`},
		[4]any{"h", "HUGEINT", &arrow.Decimal128Type{Precision: 38}, `["99999999999999999999999999999999999999", null]`},
		[4]any{"f", "FLOAT", arrow.PrimitiveTypes.Float32, `[1.5, null]`},
		[4]any{"d", "DECIMAL(9,2)", &arrow.Decimal128Type{Precision: 9, Scale: 2}, `["-0.05", null]`},
		[4]any{"s", "VARCHAR", arrow.BinaryTypes.String, `["é", null]`},
		[4]any{"x", "BLOB", arrow.BinaryTypes.Binary, `["AP8=", null]`},
		[4]any{"u", "UUID", arrow.BinaryTypes.String, `["f79c3e09-677c-4bbd-a479-3f349cb785e7", null]`},
		[4]any{"dt", "DATE", arrow.FixedWidthTypes.Date32, `[17486, null]`},
		[4]any{"tm", "TIME", arrow.FixedWidthTypes.Time64us, `[1, null]`},
		[4]any{"ts", "TIMESTAMP", &arrow.TimestampType{Unit: arrow.Microsecond}, `[1, null]`},
		[4]any{"tz", "TIMESTAMP WITH TIME ZONE", arrow.FixedWidthTypes.Timestamp_us, `[1, null]`},
		[4]any{"ns", "TIMESTAMP_NS", &arrow.TimestampType{Unit: arrow.Nanosecond}, `[1, null]`},
		[4]any{"e", "ENUM('x')", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.BinaryTypes.String}, `["x", null]`},
		[4]any{"l", "INTEGER[]", arrow.ListOf(arrow.PrimitiveTypes.Int32), `[[1, null], null]`},
		[4]any{"st", "STRUCT(a INTEGER)", arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true}), `[{"a": 1}, null]`},
		[4]any{"m", "MAP(VARCHAR, INTEGER)", arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32), `[[{"key": "k", "value": 1}], null]`},
	)
}

// uniquely is a result with its columns called as files call them.
func uniquely(r result) []Column {
	columns := make([]Column, len(r.columns))
	for i, name := range uniqueNames(r.columns) {
		columns[i] = Column{name, r.columns[i].Type}
	}
	return columns
}

// readFile reads back a file of the format.
func readFile(t *testing.T, format, text string) []arrow.RecordBatch {
	t.Helper()
	var batches []arrow.RecordBatch
	if format == Arrow {
		r, err := ipc.NewFileReader(bytes.NewReader([]byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.NumRecords() {
			b, err := r.RecordBatchAt(i)
			if err != nil {
				t.Fatal(err)
			}
			batches = append(batches, b)
		}
		return batches
	}
	pf, err := file.NewParquetReader(bytes.NewReader([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	fr, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	table, err := fr.ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	tr := array.NewTableReader(table, 0)
	for tr.Next() {
		b := tr.RecordBatch()
		b.Retain()
		batches = append(batches, b)
	}
	return batches
}

func TestFilesReadBackAsTheyWere(t *testing.T) {
	r := everything(t)
	r.batches = append(r.batches, r.batches[0]) // two batches, one file
	want := render(t, JSON, Options{}, result{columns: uniquely(r), batches: r.batches})
	for _, format := range []string{Parquet, Arrow} {
		back := readFile(t, format, render(t, format, Options{}, r))
		if got := render(t, JSON, Options{}, result{columns: uniquely(r), batches: back}); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", format, got, want)
		}
	}
}

func TestFilesWithoutRowsKeepTheirSchema(t *testing.T) {
	full := everything(t)
	for _, format := range []string{Parquet, Arrow} {
		text := render(t, format, Options{}, result{columns: full.columns})
		if rows := readFile(t, format, text); len(rows) > 0 && rows[0].NumRows() > 0 {
			t.Errorf("%s: an empty result makes %d rows", format, rows[0].NumRows())
		}
	}
	w, err := New(Parquet, &bytes.Buffer{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := write(w, result{columns: []Column{{"v", "INTERVAL"}}}); errs.KindOf(err) != errs.Unsupported {
		t.Errorf("an empty interval column: %v", err)
	}
}

func TestFilesRefuseWhatTheyCannotHold(t *testing.T) {
	huge := array.NewDecimal128Builder(memory.DefaultAllocator, &arrow.Decimal128Type{Precision: 38})
	huge.Append(decimal128.New(math.MaxInt64, 0))
	tooLong := result{columns: []Column{{"h", "HUGEINT"}}, batches: []arrow.RecordBatch{
		array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "h", Type: huge.Type()}}, nil), []arrow.Array{huge.NewArray()}, 1)}}
	interval := array.NewMonthDayNanoIntervalBuilder(memory.DefaultAllocator)
	interval.Append(arrow.MonthDayNanoInterval{Days: 1})
	intervals := result{columns: []Column{{"v", "INTERVAL"}}, batches: []arrow.RecordBatch{
		array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "v", Type: arrow.FixedWidthTypes.MonthDayNanoInterval}}, nil),
			[]arrow.Array{interval.NewArray()}, 1)}}
	for name, c := range map[string]struct {
		format  string
		results []result
		kind    errs.Kind
		text    string
	}{
		"39 digits":   {Parquet, []result{tooLong}, errs.Unsupported, "write column h: 170141183460469231713240559642174554112 has more than the 38 digits"},
		"intervals":   {Parquet, []result{intervals}, errs.Unsupported, "write column v: a parquet file has no type for INTERVAL"},
		"two results": {Arrow, []result{everything(t), everything(t)}, errs.Invalid, "it holds one result"},
	} {
		w, err := New(c.format, &bytes.Buffer{}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := write(w, c.results...); errs.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
