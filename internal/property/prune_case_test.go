package property

import (
	"os"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/tarndb/tarn/internal/lake"
)

// importColumn adds a file of one column that another library wrote, and whose bounds are made of that library's statistics.
func (l *lab) importColumn(name string, typ arrow.DataType, fill func(array.Builder), props ...parquet.WriterProperty) error {
	l.t.Helper()
	table := l.load(name)
	f := table.Schema.Fields[0]
	schema := arrow.NewSchema([]arrow.Field{{
		Name: f.Name, Type: typ, Nullable: true, Metadata: arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{strconv.Itoa(int(f.ID))}),
	}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	fill(b.Field(0))
	record := b.NewRecordBatch()
	defer record.Release()
	ref, err := l.catalog.NewDataFileRef(l.t.Context(), table, nil)
	l.must(err)
	file, err := os.Create(ref.Local)
	l.must(err)
	w, err := pqarrow.NewFileWriter(schema, file, parquet.NewWriterProperties(props...), pqarrow.DefaultWriterProps())
	l.must(err)
	l.must(w.Write(record))
	l.must(w.Close())
	data, err := l.catalog.DataFileFromParquet(l.t.Context(), table, ref, nil)
	if err != nil {
		return err
	}
	_, err = l.catalog.Append(l.t.Context(), table, []lake.NewDataFile{data})
	return err
}

// TestPRN4: that some rows of a file satisfy a condition isn't that all do: NULL and NaN beside 5 prove nothing of x <> 5.
func TestPRN4(t *testing.T) {
	l := newLab(t)
	for _, typ := range []string{"int", "double"} {
		for i, spec := range [][]string{nil, {"identity x"}, {"void x"}} {
			name := "p." + typ + strconv.Itoa(i)
			l.create(definition{name: name, columns: []string{"x " + typ}, spec: spec})
			l.append(name, "(NULL)", "(5)", "(5)")
			if typ == "double" {
				l.append(name, "('nan')", "(5)")
			}
			for _, where := range []string{
				"x <> 5", "x NOT IN (5, 6)", "NOT (x = 5)", "x = 5", "x IN (5, 6)", "x IS NULL", "x IS NOT NULL", "x > 4", "x <> 7", "NOT (x > 4)",
			} {
				l.agree("SELECT count(*), count(x), max(x) FROM " + name + " WHERE " + where)
			}
		}
	}
}

// TestPRN8: bounds of decimals are big-endian, whatever integers the file keeps them as.
func TestPRN8(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "p.a", columns: []string{"d decimal(9,2)"}}, []string{"(-6.59)"}, []string{"(1.00)"})
	l.table(definition{name: "p.b", columns: []string{"d decimal(10,2)"}}, []string{"(3.50)"}, []string{"(1.00)"})
	l.table(definition{name: "p.c", columns: []string{"d decimal(3,0)"}}, []string{"(-659)"}, []string{"(1)"})
	l.retype("p.c", "d", "decimal(38,0)")
	for name, d := range map[string]struct{ value, bound string }{"p.a": {"-6.59", "fd6d"}, "p.b": {"3.50", "015e"}, "p.c": {"-659", "fd6d"}} {
		l.counts("SELECT count(*) FROM "+name+" WHERE d = "+d.value, "1", "0")
		l.counts("SELECT count(*) FROM "+name+" WHERE d BETWEEN "+d.value+" AND "+d.value, "1", "0")
		if n := l.reads("SELECT d FROM " + name + " WHERE d = " + d.value); n != 1 {
			t.Errorf("%d files of 2 of %s are read for one value", n, name)
		}
		l.counts("SELECT count(*) FROM "+name+".files WHERE lower(hex(lower_bounds[1])) = '"+d.bound+"'", "1", "0")
	}
}

// TestPRN9: decimals of fixed length are compared with their signs, also where the writer's statistics weren't.
func TestPRN9(t *testing.T) {
	l := newLab(t)
	l.create(definition{name: "p.t", columns: []string{"d decimal(4,0)"}})
	l.must(l.importColumn("p.t", &arrow.Decimal128Type{Precision: 4}, func(b array.Builder) {
		for _, n := range []int64{-1, 0} {
			b.(*array.Decimal128Builder).Append(decimal128.FromI64(n))
		}
	}))
	l.exec("INSERT INTO p.t VALUES (-1), (0)")
	for _, where := range []string{"d = -1", "d = 0", "d < 0", "d >= 0", "d > -1", "d <= -1", "d <> 0", "d IN (-1, 5)", "d > 0"} {
		l.agree("SELECT d FROM p.t WHERE " + where)
	}
	l.agree("SELECT min(d), max(d), count(d) FROM p.t")
}

// TestPRN11: statistics in milliseconds meet literals in microseconds.
func TestPRN11(t *testing.T) {
	l := newLab(t)
	l.create(definition{name: "p.t", columns: []string{"ts timestamp"}})
	l.must(l.importColumn("p.t", &arrow.TimestampType{Unit: arrow.Millisecond}, func(b array.Builder) {
		b.(*array.TimestampBuilder).Append(1577836800000)
	}))
	l.exec("INSERT INTO p.t VALUES (TIMESTAMP '2020-01-01 00:00:00')")
	for _, where := range []string{"ts > '1990-01-01'", "ts = '2020-01-01'", "ts < '2020-01-02'", "ts < '1990-01-01'", "ts >= DATE '2020-01-01'"} {
		l.agree("SELECT ts FROM p.t WHERE " + where)
	}
	l.agree("SELECT min(ts), max(ts) FROM p.t")
}

// TestBetweenOneType: BETWEEN and IN compare all that they name as one type, and text by text alone is another order.
func TestBetweenOneType(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "p.t", columns: []string{"s string", "d decimal(38,10)"}, spec: []string{"identity s"}},
		[]string{"('9', 1)", "('10', 0.9999999999)", "('11', 2)", "('09', 3)"})
	l.table(definition{name: "p.u", columns: []string{"s string"}, spec: []string{"identity s"}}, []string{"('2024-01-15')", "('2024-02-01')"})
	for _, query := range []string{
		"SELECT s FROM p.t WHERE s BETWEEN '9' AND 20", "SELECT s FROM p.t WHERE s BETWEEN 5 AND '10'", "SELECT s FROM p.t WHERE s IN ('9', CAST(NULL AS INTEGER))",
		"SELECT s FROM p.t WHERE s IN ('9', 10)", "SELECT s FROM p.t WHERE s BETWEEN '09' AND '10'", "SELECT d FROM p.t WHERE d BETWEEN 1 AND 2e0",
		"SELECT s FROM p.u WHERE s BETWEEN '2024-1-1' AND DATE '2024-02-01'", "SELECT count(*) FROM p.t WHERE s BETWEEN '9' AND NULL",
	} {
		want := l.judge(query)
		for _, m := range []mode{auto, off} {
			if d := differ(want, l.ask(m, query), false); d != "" {
				t.Errorf("%v %s: %s", m, query, d)
			}
		}
	}
}
