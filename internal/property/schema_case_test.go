package property

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/golden"
	"github.com/tarndb/tarn/internal/lake"
)

// tells fails unless a query has those rows, told as text, in every mode and any order.
func (l *lab) tells(query string, want ...string) {
	l.t.Helper()
	slices.Sort(want)
	for _, m := range []mode{auto, small, off} {
		a := l.ask(m, query)
		l.must(a.err)
		var got []string
		for _, row := range a.rows {
			got = append(got, golden.Text(row))
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			l.t.Errorf("%v %s\ngives %q, wanted %q", m, query, got, want)
		}
	}
}

// column is a field of a schema's JSON.
func column(id int, name string, typ any, more ...any) map[string]any {
	out := map[string]any{"id": id, "name": name, "required": false, "type": typ}
	for i := 0; i < len(more); i += 2 {
		out[more[i].(string)] = more[i+1]
	}
	return out
}

// setColumns makes the columns those of the table's new current schema.
func (l *lab) setColumns(name string, columns ...any) {
	l.t.Helper()
	l.setSchema(name, func(meta, schema map[string]any) {
		schema["fields"], meta["last-column-id"] = columns, 1000
	})
}

// fromSQL adds a file that has a query's rows under the table's present schema. The twin doesn't get them.
func (l *lab) fromSQL(name, query string) catalog.FileRef {
	l.t.Helper()
	table := l.load(name)
	ref, err := l.catalog.NewDataFileRef(l.t.Context(), table, nil)
	l.must(err)
	var names []string
	for _, f := range table.Schema.Fields {
		names = append(names, catalog.ShownName(f.Name))
	}
	query = "SELECT * FROM (" + query + ") v(" + strings.Join(names, ", ") + ")"
	_, err = l.conn.CopyParquet(l.t.Context(), query, table.Schema.Fields, ref.Local, duck.CopyOptions{})
	l.must(err)
	f, err := l.catalog.DataFileFromParquet(l.t.Context(), table, ref, nil)
	l.must(err)
	_, err = l.catalog.Append(l.t.Context(), table, []lake.NewDataFile{f})
	l.must(err)
	return ref
}

// TestSchemaCases are cases of schemas that changed, under their ids in the list of other engines' faults.
func TestSchemaCases(t *testing.T) {
	for id, run := range map[string]func(*lab){
		"SCH-1 filter on a default": filterOnDefault, "SCH-2 bounds of the old width": narrowBounds, "SCH-4 same name again": sameNameAgain,
		"SCH-5 next ID": nextID, "SCH-6 nested fields": nestedFields, "SCH-7 without IDs": withoutIDs, "SCH-9 time travel": travelledSchema,
		"SCH-10 widths of bounds": widthsOfBounds, "SCH-13 no write default": noWriteDefault, "SCH-14 decimal with an exponent": decimalExponent,
	} {
		t.Run(id, func(t *testing.T) { run(newLab(t)) })
	}
}

func filterOnDefault(l *lab) {
	for i, c := range []struct{ typ, initial, twin, value string }{
		{"string", "X1", "VARCHAR", "'X1'"}, {"date", "2024-02-29", "DATE", "DATE '2024-02-29'"}, {"decimal(9, 2)", "14.20", "DECIMAL(9,2)", "14.20"},
		{"binary", "00ff", "BLOB", `'\x00\xFF'::BLOB`}, {"double", "", "DOUBLE", "0.1"},
		{"long", "", "BIGINT", "-5000000000"}, {"timestamptz", "2024-02-29T01:02:03.000004+00:00", "TIMESTAMPTZ", "TIMESTAMPTZ '2024-02-29 01:02:03.000004+00'"},
		{"boolean", "", "BOOLEAN", "true"}, {"uuid", "00000000-0000-0000-0000-0000000000ff", "UUID", "'00000000-0000-0000-0000-0000000000ff'::UUID"},
	} {
		name := fmt.Sprintf("a.t%d", i)
		l.table(definition{name: name, columns: []string{"id int"}, version: 3}, []string{"(1)"})
		initial := `"` + c.initial + `"`
		if c.initial == "" {
			initial = c.value
		}
		l.setColumns(name, column(1, "id", "int"), column(2, "c", c.typ, "initial-default", rawJSON(initial), "write-default", rawJSON(initial)))
		l.exec("ALTER TABLE %s ADD COLUMN c %s DEFAULT %s", name, c.twin, c.value)
		l.append(name, "(2, "+c.value+")", "(3, NULL)")
		for _, where := range []string{"c = " + c.value, "c IS NULL", "c <> " + c.value} {
			l.agree("SELECT id FROM " + name + " WHERE " + where)
		}
		l.tells("SELECT count(*) FROM "+name+" WHERE c = "+c.value, "(2)")
	}
	l.tells("SELECT id FROM a.t0 WHERE c LIKE 'X%'", "(1)", "(2)")
}

// rawJSON is JSON text that is written as it is.
type rawJSON string

func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

func narrowBounds(l *lab) {
	for i, spec := range [][]string{nil, {"identity n"}, {"bucket[4] n"}, {"truncate[10] n"}} { // the summaries of manifests, too
		name := fmt.Sprintf("a.t%d", i)
		l.table(definition{name: name, columns: []string{"n int", "f float", "d decimal(9,2)"}, spec: spec}, []string{"(-5, 1.5, -6.59)"}, []string{"(7, 8, 8)"})
		l.setColumns(name, column(1, "n", "long"), column(2, "f", "double"), column(3, "d", "decimal(20, 2)"))
		l.exec("ALTER TABLE %[1]s ALTER n TYPE BIGINT; ALTER TABLE %[1]s ALTER f TYPE DOUBLE; ALTER TABLE %[1]s ALTER d TYPE DECIMAL(20,2)", name)
		for _, where := range []string{"n = -5", "n < 0", "f = 1.5", "f < 2 AND n < 4294967291", "d = -6.59", "d < 0", "n = 4294967291"} {
			l.agree("SELECT * FROM " + name + " WHERE " + where)
		}
		l.append(name, "(4294967291, 1e300, 123456789012.34)")
		l.agree("SELECT a.* FROM " + name + " a JOIN " + name + " b ON a.n = b.n")
		l.tells("SELECT n FROM "+name+" WHERE n = -5", "(-5)")
	}
}

func sameNameAgain(l *lab) {
	for i, typ := range []string{"string", "int", "double"} {
		own := []string{"VARCHAR", "INTEGER", "DOUBLE"}[i]
		name := fmt.Sprintf("a.t%d", i)
		l.table(definition{name: name, columns: []string{"id int", "a string"}}, []string{"(1, 'old')"})
		l.setColumns(name, column(1, "id", "int"), column(3, "a", typ))
		l.fromSQL(name, "SELECT 2::INTEGER, 7::"+own)
		l.tells("SELECT id, a IS NULL FROM "+name, "(1, true)", "(2, false)")
		l.tells("SELECT id FROM "+name+" WHERE a IS NULL", "(1)")
		l.tells("SELECT id FROM " + name + " WHERE CAST(a AS VARCHAR) = 'old'")
	}
}

// nextID is the reading side: what was written under the ID of a dropped column stays away from the next one.
func nextID(l *lab) {
	l.table(definition{name: "a.t", columns: []string{"id int", "tmp int"}}, []string{"(1, 12)"})
	l.setColumns("a.t", column(1, "id", "int"))
	l.setColumns("a.t", column(1, "id", "int"), column(3, "x", "int"))
	l.fromSQL("a.t", "SELECT 2::INTEGER, 13::INTEGER")
	l.tells("SELECT * FROM a.t", "(1, NULL)", "(2, 13)")
	l.tells("SELECT id FROM a.t WHERE x = 12")
}

func structType(fields ...any) map[string]any {
	return map[string]any{"type": "struct", "fields": fields}
}

func listType(id int, element any) map[string]any {
	return map[string]any{"type": "list", "element-id": id, "element-required": false, "element": element}
}

func mapType(keyID int, key any, valueID int, value any) map[string]any {
	return map[string]any{"type": "map", "key-id": keyID, "key": key, "value-id": valueID, "value-required": false, "value": value}
}

func nestedFields(l *lab) {
	l.table(definition{name: "a.t", columns: []string{"id int"}})
	l.setColumns("a.t", column(1, "id", "int"), column(2, "s", structType(column(3, "a", "int"), column(4, "b", "int"))),
		column(5, "l", listType(6, structType(column(7, "x", "int")))), column(8, "m", mapType(9, "string", 10, structType(column(11, "y", "int")))))
	l.fromSQL("a.t", "SELECT 1::INTEGER, {'a': 10::INTEGER, 'b': 20::INTEGER}, [{'x': 1::INTEGER}], MAP {'k': {'y': 2::INTEGER}}")
	l.fromSQL("a.t", "SELECT 2::INTEGER, NULL::STRUCT(a INTEGER, b INTEGER), NULL::STRUCT(x INTEGER)[], NULL::MAP(VARCHAR, STRUCT(y INTEGER))")
	l.setColumns("a.t", column(1, "id", "int"), column(2, "s", structType(column(4, "b", "long"), column(3, "a2", "int"))),
		column(5, "l", listType(6, structType(column(7, "x2", "long")))),
		column(8, "m", mapType(9, "string", 10, structType(column(11, "y", "int"), column(12, "z", "int")))),
		column(13, "l2", listType(14, "int")), column(15, "m2", mapType(16, "string", 17, "int")))
	l.tells("SELECT s.a2 FROM a.t", "(10)", "(NULL)")
	l.tells("SELECT id FROM a.t WHERE s.a2 = 10", "(1)")
	l.tells("SELECT l, m FROM a.t", `([{x2: 1}], map[["k", {y: 2, z: NULL}]])`, "(NULL, NULL)")
	l.tells("SELECT s IS NULL, l2, m2 FROM a.t", "(false, NULL, NULL)", "(true, NULL, NULL)")
	l.setColumns("a.t", column(1, "id", "int"), column(8, "m", mapType(9, "string", 10, structType(column(12, "z", "int")))))
	l.tells("SELECT m FROM a.t", `(map[["k", {z: NULL}]])`, "(NULL)")
	l.tells("SELECT map_keys(m) FROM a.t WHERE id = 1", `(["k"])`)
}

func withoutIDs(l *lab) {
	const mapping = `[{"field-id":1,"names":["id","rec_id"]},{"field-id":2,"names":["lat.long"]},
		{"field-id":3,"names":["loc"],"fields":[{"field-id":4,"names":["latitude","lat"]}]}]`
	columns := func(id string) []any {
		return []any{column(1, id, "int"), column(2, "lat.long", "string"), column(3, "loc", structType(column(4, "latitude", "double")))}
	}
	l.table(definition{name: "a.t", columns: []string{"id int"}})
	l.setColumns("a.t", columns("id")...)
	l.setProperties("a.t", map[string]string{"schema.name-mapping.default": mapping, "write.metadata.metrics.default": "none"})
	file := l.fromSQL("a.t", "SELECT 0::INTEGER, string_agg(md5(i::VARCHAR), ''), {'latitude': 0::DOUBLE} FROM range(200) r(i)")
	l.strip(file, "SELECT 1::INTEGER AS rec_id, 'one' AS \"lat.long\", {'lat': 1.5::DOUBLE, 'other': 1} AS loc, 5 AS lat")
	l.tells("SELECT * FROM a.t", `(1, "one", {latitude: 1.5f})`)
	l.setColumns("a.t", columns("key")...)
	l.tells(`SELECT key, "lat.long", loc.latitude FROM a.t WHERE key = 1 AND "lat.long" = 'one'`, `(1, "one", 1.5f)`)
	l.fromSQL("a.t", "SELECT 2::INTEGER, 'two', {'latitude': 2.5::DOUBLE}") // has IDs, and a name that the mapping doesn't know
	l.tells("SELECT key FROM a.t", "(1)", "(2)")
	for _, text := range []string{"", "null"} {
		l.setProperties("a.t", map[string]string{"schema.name-mapping.default": text})
		if text == "" {
			l.evolve("a.t", func(meta map[string]any) { delete(meta["properties"].(map[string]any), "schema.name-mapping.default") })
		}
		for _, m := range []mode{auto, small, off} {
			err := l.ask(m, "SELECT * FROM a.t").err
			if errs.KindOf(err) != errs.Unsupported || !strings.Contains(err.Error(), file.Path) || !strings.Contains(errs.HintOf(err), "SET TBLPROPERTIES") {
				l.t.Errorf("%v: %v", m, err)
			}
		}
	}
	l.setProperties("a.t", map[string]string{"schema.name-mapping.default": "[]"}) // one that maps nothing
	l.tells(`SELECT key, "lat.long" FROM a.t`, "(NULL, NULL)", `(2, "two")`)
}

// strip puts a query's rows in the place of a larger file of as many, without field IDs. The file stays as long as its
// manifest entry says: what lies before a footer is only read where the footer points.
func (l *lab) strip(ref catalog.FileRef, query string) {
	l.t.Helper()
	before, err := os.Stat(ref.Local)
	l.must(err)
	l.exec("COPY (%s) TO '%s' (FORMAT parquet)", query, ref.Local)
	data, err := os.ReadFile(ref.Local)
	l.must(err)
	at := len(data) - 8 - int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	data = slices.Insert(data, at, make([]byte, int(before.Size())-len(data))...)
	l.must(os.WriteFile(ref.Local, data, 0o600))
}

func travelledSchema(l *lab) {
	for i, change := range [][]any{
		{column(1, "a", "int")},
		{column(1, "a", "int"), column(2, "c", "int")},
		{column(1, "a", "int"), column(2, "b", "int"), column(3, "c", "int")},
		{column(2, "b", "long"), column(1, "a", "int")},
	} {
		name := fmt.Sprintf("a.t%d", i)
		l.table(definition{name: name, columns: []string{"a int", "b int"}}, []string{"(1, 2)"})
		at := l.single(auto, "SELECT max(snapshot_id) FROM "+name+".snapshots")
		l.setColumns(name, change...)
		l.tells("SELECT * FROM "+name+" VERSION AS OF "+at, "(1, 2)")
		for _, version := range []string{at, "'main'"} {
			a := l.ask(auto, "SELECT * FROM "+name+" VERSION AS OF "+version)
			l.must(a.err)
			want := 2
			if version != at {
				want = len(change)
			}
			if len(a.columns) != want {
				l.t.Errorf("%s as of %s has %q", name, version, a.columns)
			}
		}
	}
}

// widthsOfBounds looks at the bytes that are written.
func widthsOfBounds(l *lab) {
	l.table(definition{name: "a.t", columns: []string{"i int", "d date", "n long", "x decimal(9,2)", "u uuid", "b boolean", "f float", "g double"}},
		[]string{"(34, DATE '2026-01-01', 34, -6.59, '00112233-4455-6677-8899-aabbccddeeff', true, 1.5, 1.5)"})
	for id, want := range []string{"22000000", "e64f0000", "2200000000000000", "fd6d", "00112233445566778899aabbccddeeff", "01", "0000c03f", "000000000000f83f"} {
		l.tells(fmt.Sprintf("SELECT lower(hex(lower_bounds[%[1]d])), lower(hex(upper_bounds[%[1]d])) FROM a.t.files", id+1), fmt.Sprintf("(%[1]q, %[1]q)", want))
	}
}

func noWriteDefault(l *lab) {
	for i, more := range [][]any{{"initial-default", 5}, {"initial-default", 5, "write-default", nil}, {"initial-default", 5, "write-default", 6}} {
		name := fmt.Sprintf("a.t%d", i)
		l.table(definition{name: name, columns: []string{"id int"}, version: 3}, []string{"(1)"})
		l.setColumns(name, column(1, "id", "int"), column(2, "c", "int", more...))
		l.fromSQL(name, "SELECT 2::INTEGER, NULL::INTEGER")
		l.tells("SELECT * FROM "+name, "(1, 5)", "(2, NULL)")
		l.tells("SELECT id FROM "+name+" WHERE c IS NULL", "(2)")
		l.tells("SELECT id FROM "+name+" WHERE c = 5", "(1)")
	}
}

func decimalExponent(l *lab) {
	l.table(definition{name: "a.t", columns: []string{"x decimal(10,2)"}, spec: []string{"bucket[16] x"}, version: 3}, []string{"(1E+2)"})
	l.tells("SELECT lower(hex(lower_bounds[1])) FROM a.t.files", `("2710")`)
	l.tells("SELECT count(*) FROM a.t WHERE x = 100", "(1)")
	l.setColumns("a.t", column(1, "x", "decimal(10, 2)"), column(2, "y", "decimal(10, 2)", "initial-default", "1E+2"))
	l.tells("SELECT x, y, x = y FROM a.t WHERE y = 100.00", "(100, 100, true)")
}
