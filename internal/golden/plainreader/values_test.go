package plainreader

import (
	"encoding/json"
	"testing"

	"github.com/tarndb/tarn/internal/golden"
)

// TestProjection reads values that no golden table has: defaults of all types, promotions, and fields that a file lacks.
func TestProjection(t *testing.T) {
	files := map[string]record{
		"empty":   {},
		"date":    {1: "0042-02-03"},
		"nanos":   {1: "1969-12-31 23:59:59.123456789"},
		"counted": {1: number(-1)},
		"null":    {1: nil},
		"nested":  {1: record{2: number(1), 3: pairs{{record{4: "k"}, []any{record{5: "v"}, nil}}}}},
	}
	for _, c := range []struct{ file, field, want string }{
		{"date", `"type": "timestamp"`, `"0042-02-03 00:00:00.000000"`},
		{"date", `"type": "timestamp_ns"`, `"0042-02-03 00:00:00.000000"`},
		{"date", `"type": "date"`, `"0042-02-03"`},
		{"nanos", `"type": "timestamptz"`, `"1969-12-31 23:59:59.123456"`},
		{"nanos", `"type": "timestamptz_ns"`, `"1969-12-31 23:59:59.123456789"`},
		{"counted", `"type": "timestamp_ns"`, `"1969-12-31 23:59:59.999999999"`},
		{"counted", `"type": "unknown"`, `NULL`},
		{"counted", `"type": "decimal(9, 2)"`, `-1`},
		{"null", `"type": "int", "initial-default": 5`, `NULL`},
		{"empty", `"type": "unknown"`, `NULL`},
		{"empty", `"type": "int"`, `NULL`},
		{"empty", `"type": "int", "initial-default": 5`, `5`},
		{"empty", `"type": "boolean", "initial-default": false`, `false`},
		{"empty", `"type": "float", "initial-default": 0.1`, `0.10000000149011612f`},
		{"empty", `"type": "double", "initial-default": 0.1`, `0.1f`},
		{"empty", `"type": "decimal(9, 2)", "initial-default": "-1.50"`, `-3/2`},
		{"empty", `"type": "string", "initial-default": "x"`, `"x"`},
		{"empty", `"type": "date", "initial-default": "2024-02-29"`, `"2024-02-29"`},
		{"empty", `"type": "time", "initial-default": "01:02:03.5"`, `"01:02:03.500000"`},
		{"empty", `"type": "timestamp", "initial-default": "2024-02-29T01:02:03.000004"`, `"2024-02-29 01:02:03.000004"`},
		{"empty", `"type": "timestamptz", "initial-default": "2024-02-29T01:02:03+00:00"`, `"2024-02-29 01:02:03.000000"`},
		{"empty", `"type": "timestamp_ns", "initial-default": "2024-02-29T01:02:03.000000004"`, `"2024-02-29 01:02:03.000000004"`},
		{"empty", `"type": "binary", "initial-default": "00FF"`, `"00ff"`},
		{"empty", `"type": "fixed[2]", "initial-default": "00FF"`, `"00ff"`},
		{"empty", `"type": "uuid", "initial-default": "F79C3E09-677C-4BBD-A479-3F349CB785E7"`, `"f79c3e09-677c-4bbd-a479-3f349cb785e7"`},
		{"empty", `"type": {"type": "list", "element-id": 2, "element": "int"}, "initial-default": [1, null]`, `[1, NULL]`},
		{"empty", `"type": {"type": "map", "key-id": 2, "key": "string", "value-id": 3, "value": "int"},
			"initial-default": {"keys": ["b", "a"], "values": [1, 2]}`, `map[["a", 2], ["b", 1]]`},
		{"empty", `"type": {"type": "struct", "fields": [{"id": 2, "name": "a", "type": "int"},
			{"id": 3, "name": "b", "type": "int", "initial-default": 7}]}, "initial-default": {"2": 1}`, `{a: 1, b: 7}`},
		{"nested", `"type": {"type": "struct", "fields": [{"id": 9, "name": "new", "type": "int", "initial-default": 3},
			{"id": 3, "name": "m", "type": {"type": "map", "key-id": 6, "value-id": 7,
				"key": {"type": "struct", "fields": [{"id": 4, "name": "renamed", "type": "string"}]},
				"value": {"type": "list", "element-id": 8, "element":
					{"type": "struct", "fields": [{"id": 10, "name": "w", "type": "int"}]}}}}]}`,
			`{m: map[[{renamed: "k"}, [{w: NULL}, NULL]]], new: 3}`},
	} {
		var f field
		if err := json.Unmarshal([]byte(`{"id": 1, "name": "c", `+c.field+`}`), &f); err != nil {
			t.Fatal(c.field, err)
		}
		got, err := projection{}.member(files[c.file], f)
		if err != nil || golden.Text(got) != c.want {
			t.Errorf("%s of the file %s is %s, wanted %s (%v)", c.field, c.file, golden.Text(got), c.want, err)
		}
	}
}

// TestMisfits keeps values from being read as another type.
func TestMisfits(t *testing.T) {
	for name, v := range map[string]any{
		"int": "1", "boolean": number(1), "double": number(1), "string": number(1), "timestamp": number(1), "struct": []any{},
		"variant": "x", "list": record{}, "map": record{},
	} {
		if got, err := (projection{}).value(typ{name: name}, v); err == nil {
			t.Errorf("%v as %s is %s", v, name, golden.Text(got))
		}
	}
}

// TestIdentity takes a column that a file lacks from its partition tuple, even when that is NULL; never one that it has.
func TestIdentity(t *testing.T) {
	f := field{ID: 1, Type: typ{name: "string"}, Default: json.RawMessage(`"default"`)}
	for _, c := range []struct {
		r        record
		identity map[int]any
		want     string
	}{
		{record{}, map[int]any{1: "tuple"}, `"tuple"`},
		{record{}, map[int]any{1: nil}, `NULL`},
		{record{}, map[int]any{2: "other"}, `"default"`},
		{record{1: "file"}, map[int]any{1: "tuple"}, `"file"`},
		{record{1: nil}, map[int]any{1: "tuple"}, `NULL`},
	} {
		got, err := projection{c.identity}.member(c.r, f)
		if err != nil || golden.Text(got) != c.want {
			t.Errorf("%v with the tuple %v is %s, wanted %s (%v)", c.r, c.identity, golden.Text(got), c.want, err)
		}
	}
}

// TestNameMapping maps nested names, and leaves files with field IDs alone.
func TestNameMapping(t *testing.T) {
	m := &metadata{Properties: map[string]string{"schema.name-mapping.default": `[
		{"field-id": 1, "names": ["l", "L"], "fields": [{"field-id": 2, "names": ["element"], "fields": [{"field-id": 3, "names": ["a"]}]}]},
		{"names": ["group"], "fields": [{"field-id": 4, "names": ["b"]}]}]`}}
	mapping, err := m.nameMapping()
	if err != nil {
		t.Fatal(err)
	}
	columns := []shape{
		{name: "L", kids: []shape{{name: "element", kids: []shape{{name: "a"}, {name: "unmapped"}}}}},
		{name: "group", kids: []shape{{name: "b"}}},
	}
	if err := identify(columns, mapping); err != nil {
		t.Fatal(err)
	}
	element, group := columns[0].kids[0], columns[1]
	if columns[0].id != 1 || element.id != 2 || element.kids[0].id != 3 || element.kids[1].ok || group.ok || group.kids[0].id != 4 {
		t.Errorf("%+v", columns)
	}
	own := []shape{{name: "l"}, {name: "x", id: 9, ok: true}}
	if err := identify(own, mapping); err != nil || own[0].ok {
		t.Errorf("%+v: %v", own, err)
	}
	if err := identify([]shape{{name: "l"}}, nil); err == nil {
		t.Error("a file without IDs is read without a mapping")
	}
}
