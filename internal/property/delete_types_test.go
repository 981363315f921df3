package property

import (
	"fmt"
	"testing"
)

// TestEqualityDeleteTypes: equality deletes remove the one row of each type that is equal to theirs, whether the column is
// read or not. All NaN are equal, the two zeros aren't.
func TestEqualityDeleteTypes(t *testing.T) {
	l := newLab(t)
	for i, c := range []struct {
		typ  string
		rows []string // the first is deleted
	}{
		{"double", []string{"'NaN'", "0.0", "'inf'", "NULL"}},
		{"double", []string{"'-0.0'", "'0.0'", "'NaN'"}},
		{"float", []string{"'NaN'", "'-0.0'", "'0.0'", "NULL"}},
		{"float", []string{"'0.0'", "'-0.0'"}},
		{"decimal(4,2)", []string{"-1.5", "1.5", "0", "NULL"}},
		{"decimal(9,2)", []string{"-1.5", "1.5", "0", "NULL"}},
		{"decimal(18,4)", []string{"-1.5", "1.5", "0", "NULL"}},
		{"decimal(38,10)", []string{"-1.5", "1.5", "0", "-99999999999999999999", "NULL"}},
		{"timestamp", []string{"'1969-12-31 23:59:59.999999'", "'1970-01-01'", "NULL"}},
		{"timestamptz", []string{"'1970-01-01 02:00:00+02'", "'1970-01-01 02:00:00+00'", "NULL"}},
		{"timestamp_ns", []string{"'1969-12-31 23:59:59.999999999'", "'1969-12-31 23:59:59.999999998'", "NULL"}},
		{"time", []string{"'23:59:59.999999'", "'00:00:00'", "NULL"}},
		{"uuid", []string{"'f79c3e09-677c-4bbd-a479-3f349cb785e7'", "'00000000-0000-0000-0000-000000000000'", "NULL"}},
		{"binary", []string{`'\x80'`, "''", `'\x00'`, "NULL"}},
		{"string", []string{"''", "'a'", "'longer than twelve bytes'", "NULL"}},
		{"string", []string{"'longer than twelve bytes'", "'longer than twelve bytez'", "''"}},
		{"boolean", []string{"false", "true", "NULL"}},
		{"date", []string{"'1969-12-31'", "'1970-01-01'", "NULL"}},
		{"int", []string{"-1", "1", "NULL"}},
		{"long", []string{"-4294967297", "-1", "NULL"}},
		{"long", []string{"NULL", "0", "-1"}},
	} {
		name := fmt.Sprintf("e.t%d", i)
		x := l.fieldOf(1, "x "+c.typ)
		own := l.sqlType(x)
		var rows, kept []string
		for v, text := range c.rows {
			rows = append(rows, fmt.Sprintf("(CAST(%s AS %s), %d)", text, own, v))
			kept = append(kept, fmt.Sprint(v))
		}
		l.table(definition{name: name, columns: []string{"x " + c.typ, "v int"}, version: 3}, rows)
		l.delta(name, nil, l.equal(name, fmt.Sprintf("SELECT CAST(%s AS %s) AS x", c.rows[0], own), x))
		l.shows("SELECT v FROM "+name, kept[1:]...)
		l.shows("SELECT v FROM (SELECT * FROM "+name+")", kept[1:]...)
		l.shows("SELECT count(*) FROM "+name+" WHERE x IS NOT NULL OR x IS NULL", fmt.Sprint(len(kept)-1))
		l.shows("SELECT count(*) FROM "+name, fmt.Sprint(len(kept)-1))
	}
}

// TestDroppedEqualityColumn: deletes by a column count after it was dropped, and a new one of its name isn't it.
func TestDroppedEqualityColumn(t *testing.T) {
	l := newLab(t)
	const n = "e.t"
	l.table(definition{name: n, columns: []string{"id int", "k int", "s string"}, spec: []string{"identity s"}, version: 3},
		[]string{"(1, 7, 'a')", "(2, 8, 'a')", "(3, NULL, 'b')", "(4, 7, 'b')"})
	one := l.equal(n, "SELECT 7::INTEGER AS k", l.fieldOf(2, "k int"))
	one.Partition = tuple("a")
	both := l.equal(n, "SELECT 4::INTEGER AS id, 7::INTEGER AS k", l.fieldOf(1, "id int"), l.fieldOf(2, "k int"))
	both.Partition = tuple("b")
	l.delta(n, nil, one, both)
	l.setSchema(n, func(_, s map[string]any) { f := s["fields"].([]any); s["fields"] = []any{f[0], f[2]} })
	l.shows("SELECT * FROM e.t", `2 "a"`, `3 "b"`)
	l.shows("SELECT count(*) FROM e.t", "2")
	l.setSchema(n, func(meta, s map[string]any) {
		s["fields"] = append(s["fields"].([]any), map[string]any{"id": 9, "name": "k", "required": false, "type": "string", "initial-default": "z"})
		meta["last-column-id"] = 9
	})
	l.shows("SELECT * FROM e.t", `2 "a" "z"`, `3 "b" "z"`)
	l.shows("SELECT s, k FROM e.t WHERE k = 'z' AND s = 'b'", `"b" "z"`)
	byDefault := l.equal(n, "SELECT 'z' AS k", l.fieldOf(9, "k string"))
	byDefault.Partition = tuple("b")
	l.delta(n, nil, byDefault)
	l.shows("SELECT id, k FROM e.t", `2 "z"`)
	l.shows("SELECT count(*) FROM e.t WHERE s = 'b'", "0")
}
