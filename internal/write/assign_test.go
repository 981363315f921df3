package write

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

// TestAssignment assigns values of other types than the column's.
func TestAssignment(t *testing.T) {
	l := newLab(t)
	for _, c := range []struct{ typ, value, want string }{ // a want that begins with "!" is part of an error
		{"int", "7::TINYINT", "7"}, {"int", "7::UBIGINT", "7"}, {"int", "2147483648", "! k is a int and can't hold 2147483648; the row is (2147483648)"},
		{"int", "-2147483648::BIGINT", "-2147483648"}, {"int", "2.9::DECIMAL(4,2)", "2"}, {"int", "-2.9::DOUBLE", "-2"}, {"int", "'nan'::DOUBLE", "! can't hold nan"},
		{"int", "'7'", "! can't be assigned"}, {"int", "true", "! can't be assigned"}, {"long", "sum(x) FROM (VALUES (5), (6)) AS v(x)", "11"},
		{"long", "9223372036854775808::HUGEINT", "! can't hold 9223372036854775808"}, {"long", "18446744073709551615::UBIGINT", "! can't hold"},
		{"float", "1e39::DOUBLE", "! can't hold 1e+39"}, {"float", "0.5::DECIMAL(3,1)", "0.5"}, {"double", "3", "3.0"}, {"double", "'inf'::FLOAT", "inf"},
		{"decimal(5,2)", "2.675::DOUBLE", "2.68"}, {"decimal(5,2)", "2.345::DECIMAL(9,3)", "2.35"}, {"decimal(5,2)", "-2.345::DECIMAL(9,3)", "-2.35"},
		{"decimal(5,2)", "999.995::DECIMAL(9,3)", "! can't hold 999.995"}, {"decimal(5,2)", "1000", "! can't hold 1000"}, {"decimal(5,2)", "'inf'::DOUBLE", "! can't hold inf"},
		{"decimal(10,2)", "1e2::DOUBLE", "100.00"}, // SCH-14
		{"decimal(38,0)", "170141183460469231731687303715884105727::HUGEINT", "! can't hold"}, {"decimal(38,0)", "-5::HUGEINT", "-5"},
		{"date", "TIMESTAMP '1969-12-31 23:59:59'", "1969-12-31"}, {"date", "'2024-01-01'", "! CAST(... AS DATE)"},
		{"date", "TIMESTAMP_NS '1969-12-31 23:59:59.999999999'", "1969-12-31"}, {"time", "TIME '24:00:00'", "! can't hold 24:00:00"}, {"date", "'infinity'::DATE", "! can't hold infinity"},
		{"timestamp", "DATE '1960-02-29'", "1960-02-29 00:00:00"}, {"timestamp", "TIMESTAMP_NS '2020-01-01 00:00:00.000000001'", "! can't hold"},
		{"timestamp", "TIMESTAMP_NS '1960-01-01 00:00:00.000001'", "1960-01-01 00:00:00.000001"}, {"timestamp", "TIMESTAMP_MS '1960-01-01 00:00:00.001'", "1960-01-01 00:00:00.001"},
		{"timestamp", "TIMESTAMPTZ '2020-01-01 00:00:00+02:00'", "2019-12-31 22:00:00"}, {"timestamp", "'infinity'::TIMESTAMP", "! can't hold infinity"},
		{"timestamptz", "TIMESTAMP '2020-01-01 00:00:00'", "2020-01-01 00:00:00+00"}, {"timestamptz", "TIMESTAMP_NS '2020-01-01 00:00:00'", "2020-01-01 00:00:00+00"},
		{"time", "TIME '10:00:00.5'", "10:00:00.5"}, {"time", "TIMESTAMP '2020-01-01 00:00:00'", "! can't be assigned"},
		{"string", "7", "7"}, {"string", "1.50::DECIMAL(4,2)", "1.50"}, {"string", "DATE '2020-01-01'", "2020-01-01"}, {"string", "'a'::BLOB", "! can't be assigned"},
		{"string", "'x'::ENUM('x', 'it''s')", "x"}, {"string", "INTERVAL 1 DAY", "! can't be assigned"}, {"string", "true", "true"},
		{"uuid", "'f79c3e09-677c-4bbd-a479-3f349cb785e7'", "f79c3e09-677c-4bbd-a479-3f349cb785e7"}, {"uuid", "'x'", "! can't hold x"}, {"uuid", "7", "! can't be assigned"},
		{"binary", "'ab'::BLOB", "ab"}, {"binary", "'ab'", "! can't be assigned"}, {"boolean", "1", "! can't be assigned"}, {"boolean", "NULL", "NULL"}, {"decimal(9,2)", "NULL", "NULL"},
	} {
		table := l.table([]string{"k " + c.typ}, nil, nil)
		_, err := Append(context.Background(), l.conn, l.catalog, table, "SELECT "+c.value)
		if text, isError := strings.CutPrefix(c.want, "! "); isError {
			if err == nil || errs.KindOf(err) != errs.Invalid || !strings.Contains(err.Error()+errs.HintOf(err), text) {
				t.Errorf("%s to %s: the error is %v, wanted %s", c.value, c.typ, err, text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s to %s: %v", c.value, c.typ, err)
			continue
		}
		if got := l.one("SELECT k FROM (" + l.rows(l.load(table)) + ")"); got != c.want {
			t.Errorf("%s to %s: stored is %s, wanted %s", c.value, c.typ, got, c.want)
		}
	}
}

// TestNestedAssignment assigns structs by name and by position, and checks what is required inside them.
func TestNestedAssignment(t *testing.T) {
	l := newLab(t)
	fields := nestedFields()
	fields[1].Type.Fields[0].Required = true // s.x
	fields[2].Type.Fields[0].Required = true // l.element
	for _, c := range []struct{ query, got, want string }{
		{"SELECT 1, {'name': 'n', 'IN': {'n': 7}, 'x': 1}, [], MAP {}, NULL", "s", "{'x': 1.0, 'Name': n, 'in': {'n': 7.00}}"},
		{"SELECT 1, {'a': 1, 'b': 'n', 'c': {'d': 7}}, NULL, NULL, NULL", "s", "{'x': 1.0, 'Name': n, 'in': {'n': 7.00}}"},
		{"SELECT 1, row(1, 'n', NULL), NULL, NULL, NULL", "s", "{'x': 1.0, 'Name': n, 'in': NULL}"},
		{"SELECT 1, NULL, [1, 2.5], NULL, NULL", "l", "[1.0, 2.5]"},
		{"SELECT 1, NULL, array_value(1, 2), NULL, NULL", "l", "[1.0, 2.0]"},
		{"SELECT 1, NULL, NULL, MAP {1: {'d': 2, 't': DATE '2020-01-01'}, 2: NULL}, NULL", "m", "{1={'d': 2.0, 't': '2020-01-01 00:00:00'}, 2=NULL}"},
		{"SELECT 1, NULL, NULL, NULL, [[1::TINYINT, NULL], NULL]", "ll", "[[1, NULL], NULL]"},
		{"SELECT 5, {'x': NULL::DOUBLE, 'Name': 'n', 'in': NULL}, NULL, NULL, NULL", "", "s.x is NULL, and it is NOT NULL in the table; the row is (5, {'x': NULL"},
		{"SELECT 5, NULL, [1, NULL], NULL, NULL", "", "l.element is NULL"},
		{"SELECT 5, NULL, [1e300], NULL, NULL", "", "l.element is a float and can't hold 1e+300; the row is (5, NULL, [1e+300]"},
		{"SELECT 5, {'x': 1, 'Name': 'n'}, NULL, NULL, NULL", "", "can't be assigned"},
		{"SELECT 5, NULL, 7, NULL, NULL", "", "can't be assigned"},
		{"SELECT 5, NULL, NULL, [1], NULL", "", "can't be assigned"},
	} {
		table := l.tableOf(fields, nil, nil, 2)
		_, err := Append(context.Background(), l.conn, l.catalog, table, c.query)
		if c.got == "" {
			if err == nil || errs.KindOf(err) != errs.Invalid || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: the error is %v, wanted %s", c.query, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		if got := l.one("SELECT " + c.got + " FROM (" + l.rows(l.load(table)) + ")"); got != c.want {
			t.Errorf("%s: stored is %s, wanted %s", c.query, got, c.want)
		}
	}
}

// TestRequired shows the row that has a NULL where none may be, and leaves nothing of the write.
func TestRequired(t *testing.T) {
	l := newLab(t)
	fields := []catalog.Field{column(1, "k", "long"), column(2, "v", "string")}
	fields[1].Required = true
	table := l.tableOf(fields, []string{"bucket[4] k"}, nil, 2)
	_, err := Append(context.Background(), l.conn, l.catalog, table, "SELECT range, CASE WHEN range <> 9999 THEN 'x' || range END FROM range(10000)")
	if errs.KindOf(err) != errs.Invalid || !strings.Contains(err.Error(), "v is NULL, and it is NOT NULL in the table; the row is (9999, NULL)") {
		t.Errorf("the error is %v", err)
	}
	l.noFiles(table)
	_, err = Append(context.Background(), l.conn, l.catalog, table, "SELECT 1")
	if errs.KindOf(err) != errs.Invalid || !strings.Contains(err.Error(), "1 columns") {
		t.Errorf("the error is %v", err)
	}
}

// noFiles fails if there are data files in the table's folder.
func (l *lab) noFiles(t *catalog.Table) {
	l.t.Helper()
	err := filepath.WalkDir(strings.TrimPrefix(t.Location, "file://")+"/data", func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			l.t.Errorf("left is %s", path)
		}
		return nil
	})
	l.must(err)
}

// TestRefusedTables are tables whose rows can't be written.
func TestRefusedTables(t *testing.T) {
	l := newLab(t)
	table := l.table([]string{"k long", "v long"}, []string{"bucket[4] k"}, nil)
	for name, change := range map[string]func(t *catalog.Table){
		"can't be written":  func(t *catalog.Table) { t.Schema.Fields[1].Type = column(2, "v", "timestamptz_ns").Type },
		"other letter case": func(t *catalog.Table) { t.Schema.Fields[1].Name = "K" },
		"was dropped":       func(t *catalog.Table) { t.Schema.Fields = t.Schema.Fields[1:] },
		"by which no rows":  func(t *catalog.Table) { t.Specs[0].Fields[0].Sources = []catalog.FieldID{1, 2} },
		"only Parquet":      func(t *catalog.Table) { t.Properties = map[string]string{"write.format.default": "orc"} },
		"no columns":        func(t *catalog.Table) { t.Schema.Fields = nil },
		"metadata":          func(t *catalog.Table) { t.Virtual = true },
	} {
		changed := l.load(table)
		change(changed)
		if _, err := NewTarget(changed); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("the error is %v, wanted %s", err, name)
		}
	}
	for _, property := range []string{
		"write.target-file-size-bytes=0", "write.target-file-size-bytes=x", "write.parquet.compression-codec=rar", "write.distribution-mode=some",
		"write.parquet.compression-level=99", "write.metadata.metrics.default=some", "write.metadata.metrics.column.k=truncate(0)",
		"write.metadata.metrics.max-inferred-column-defaults=-1", "write.parquet.row-group-limit=-5",
	} {
		changed := l.load(table)
		name, value, _ := strings.Cut(property, "=")
		changed.Properties = map[string]string{name: value}
		if _, err := NewTarget(changed); errs.KindOf(err) != errs.Invalid || !strings.Contains(err.Error(), value) {
			t.Errorf("%s: the error is %v", property, err)
		}
	}
}
