package write

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// TestEveryPair asks for each type of a column and each type of a query whether the one is assigned to the other. Those that aren't are refused by
// their types alone, and all others by no more than their values.
func TestEveryPair(t *testing.T) {
	l := newLab(t)
	numbers := []string{"TINYINT", "UTINYINT", "SMALLINT", "USMALLINT", "INTEGER", "UINTEGER", "BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT", "DECIMAL(9,2)", "FLOAT", "DOUBLE"}
	times := []string{"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"}
	values := map[string]string{
		"BOOLEAN": "true", "TIME": "'10:00:00'", "TIME WITH TIME ZONE": "'10:00:00+00'", "VARCHAR": "'f79c3e09-677c-4bbd-a479-3f349cb785e7'", "UUID": "'f79c3e09-677c-4bbd-a479-3f349cb785e7'",
		"BLOB": "'abcd'", "BIT": "'101'", "INTERVAL": "'1 day'", "JSON": "'[1]'", "ENUM('a', 'b')": "'a'", "INTEGER[]": "[1]", "INTEGER[2]": "[1, 2]", "MAP(INTEGER, INTEGER)": "MAP {1: 1}",
		"STRUCT(a INTEGER)": "{'a': 1}", "UNION(i INTEGER, s VARCHAR)": "1",
	}
	for _, n := range numbers {
		values[n] = "7"
	}
	for _, n := range times {
		values[n] = "'2024-01-01'"
	}
	texts := slices.Concat(numbers, times, []string{"BOOLEAN", "TIME", "VARCHAR", "UUID", "JSON", "ENUM('a', 'b')"})
	for typ, takes := range map[string][]string{
		"boolean": {"BOOLEAN"}, "int": numbers, "long": numbers, "float": numbers, "double": numbers, "decimal(9,2)": numbers, "date": times, "time": {"TIME"},
		"timestamp": times, "timestamptz": times, "timestamp_ns": times, "string": texts, "uuid": {"UUID", "VARCHAR"}, "binary": {"BLOB"}, "fixed[4]": {"BLOB"},
	} {
		target, err := NewTarget(l.tableOf([]catalog.Field{column(1, "k", typ)}, nil, nil, 3))
		l.must(err)
		for from, value := range values {
			value = fmt.Sprintf("CAST(%s AS %s)", value, from)
			isTaken := slices.Contains(takes, from)
			_, err := target.rowsOf(t.Context(), l.conn, "SELECT "+value+" AS x WHERE false")
			switch {
			case (err == nil) != isTaken:
				t.Errorf("%s to %s: %v", from, typ, err)
			case !isTaken && (errs.KindOf(err) != errs.Invalid || !strings.Contains(err.Error(), "write column k: a value of type ") || !strings.HasSuffix(err.Error(), "to a column of type "+target.table.Schema.Fields[0].Type.String())):
				t.Errorf("%s to %s: %v", from, typ, err)
			case isTaken:
				rows, err := target.rowsOf(t.Context(), l.conn, "SELECT "+value)
				l.must(err)
				if got := l.one("SELECT c0 IS NULL FROM (" + rows + ")"); got != "false" {
					t.Errorf("%s to %s is %s", from, typ, got)
				}
			}
		}
		for _, null := range []string{"NULL", "CASE WHEN random() > 2 THEN NULL END", "max(NULL)", "(SELECT NULL)"} {
			rows, err := target.rowsOf(t.Context(), l.conn, "SELECT "+null)
			l.must(err)
			if got := l.one("SELECT c0 FROM (" + rows + ")"); got != "NULL" {
				t.Errorf("%s to %s is %s", null, typ, got)
			}
		}
	}
	// The parts of nested columns, some of which are bare NULLs.
	fields := []catalog.Field{{ID: 1, Name: "s", Type: catalog.Type{Nested: catalog.Struct, Fields: []catalog.Field{column(2, "a", "date"), column(3, "b", "int"), {
		ID: 4, Name: "m", Type: catalog.Type{Nested: catalog.Map, Fields: []catalog.Field{column(5, "key", "int"), {
			ID: 6, Name: "value", Type: catalog.Type{Nested: catalog.List, Fields: []catalog.Field{column(7, "element", "uuid")}},
		}}},
	}}}}}
	target, err := NewTarget(l.tableOf(fields, nil, nil, 2))
	l.must(err)
	for value, want := range map[string]string{
		"{'a': NULL, 'b': 1, 'm': NULL}": "", "{'a': NULL, 'b': NULL, 'm': MAP {1: [NULL]}}": "", "{'a': NULL, 'b': 2, 'm': MAP {1: NULL}}": "", "{'a': NULL, 'b': 2, 'm': MAP {1: []}}": "",
		"NULL": "", "{'a': NULL, 'b': 2, 'm': MAP {}}": "",
		"{'a': 1, 'b': NULL, 'm': NULL}":              "write column s.a: a value of type INTEGER can't be assigned to a column of type date",
		"{'a': NULL, 'b': 1, 'm': MAP {1: [2]}}":      "write column s.m.value.element: a value of type INTEGER",
		"{'a': NULL, 'b': 1, 'm': MAP {1: 2}}":        "write column s.m.value: a value of type INTEGER",
		"{'a': NULL, 'b': 1, 'm': MAP {'x': [NULL]}}": "write column s.m.key: a value of type VARCHAR",
		"{'a': NULL, 'b': 1, 'm': 7}":                 "write column s.m: a value of type INTEGER",
		"5":                                           "write column s: a value of type INTEGER",
	} {
		rows, err := target.rowsOf(t.Context(), l.conn, "SELECT "+value)
		switch {
		case want != "" && !strings.Contains(fmt.Sprint(err), want), want == "" && err != nil:
			t.Errorf("%s: %v, wanted %s", value, err, want)
		case want == "":
			_ = l.one("SELECT c0 FROM (" + rows + ")")
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
