package datafile

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/namemapping"
	"github.com/tarndb/tarn/transform"
)

func mappedColumns() []catalog.Field {
	return []catalog.Field{
		leafField(1, "key", transform.Long), leafField(2, "lat.long", transform.Long),
		nestedField(3, "loc", catalog.Struct, leafField(4, "latitude", transform.Long)),
		nestedField(5, "l", catalog.List, nestedField(6, "element", catalog.Struct, leafField(7, "x", transform.Long))),
		nestedField(8, "m", catalog.Map, leafField(9, "key", transform.Long), leafField(10, "value", transform.Long)),
	}
}

const mappedNames = `[{"field-id": 1, "names": ["id", "rec_id"]}, {"field-id": 2, "names": ["lat.long"]},
	{"field-id": 3, "names": ["loc"], "fields": [{"field-id": 4, "names": ["latitude", "lat"]}]},
	{"field-id": 5, "names": ["l"], "fields": [{"field-id": 6, "names": ["element"], "fields": [{"field-id": 7, "names": ["x"]}]}]},
	{"field-id": 8, "names": ["m"], "fields": [{"field-id": 9, "names": ["key"]}, {"field-id": 10, "names": ["value"]}]},
	{"names": ["ignored"]}]`

func TestNameMapping(t *testing.T) {
	isMap := schema.ConvertedTypes.Map
	for _, c := range []struct {
		name    string
		mapping string
		file    []schema.Node
		shape   string
		byName  bool
		kind    errs.Kind
		text    string
	}{
		{"by the first names", mappedNames, []schema.Node{
			pqLong("id", -1), pqLong("lat.long", -1), pqStruct("loc", -1, pqLong("latitude", -1)), pqLong("ignored", -1), pqLong("extra", -1),
			pqList("l", -1, "bag", pqStruct("array_element", -1, pqLong("x", -1))), pqMap(isMap, "m", -1, "entries", pqLong("k", -1), pqLong("v", -1)),
		}, "id:1 long, lat.long:2 long, loc:3 struct<latitude:4 long>, l:5 list<array_element:6 struct<x:7 long>>, m:8 map<k:9 long, v:10 long>", true, 0, ""},
		{"by other names", mappedNames, []schema.Node{pqInt("rec_id", -1), pqStruct("loc", -1, pqLong("lat", -1), pqLong("lon", -1))},
			"rec_id:1 int, loc:3 struct<lat:4 long>", true, 0, ""},
		{"a name with a dot is no path", mappedNames, []schema.Node{pqLong("id", -1), pqStruct("lat", -1, pqLong("long", -1))}, "id:1 long", true, 0, ""},
		{"case matters", mappedNames, []schema.Node{pqLong("ID", -1), pqLong("lat.long", -1)}, "lat.long:2 long", true, 0, ""},
		{"none is there", mappedNames, []schema.Node{pqLong("other", -1)}, "", false, 0, ""},
		{"files with IDs ignore it", mappedNames, []schema.Node{pqLong("lat.long", 1), pqLong("id", 2)}, "", false, 0, ""},
		{"one ID is enough", mappedNames, []schema.Node{pqLong("id", -1), pqStruct("loc", -1, pqLong("latitude", 4))}, "", false, 0, ""},
		{"two names of one field", mappedNames, []schema.Node{pqLong("id", -1), pqLong("rec_id", -1)}, "", false, errs.Corrupt, "the field ID 1"},
		{"names that differ in case", mappedNames, []schema.Node{pqLong("id", -1), pqLong("Id", -1)}, "", false, errs.Unsupported, `"id" and "Id"`},
		{"unwanted names that differ in case", mappedNames, []schema.Node{pqLong("id", -1), pqLong("a", -1), pqLong("A", -1)}, "id:1 long", true, 0, ""},
		{"another type", mappedNames, []schema.Node{pqStruct("id", -1, pqLong("id", -1))}, "", false, errs.Corrupt, "column key"},
		{"no mapping", "", []schema.Node{pqLong("id", -1)}, "", false, errs.Unsupported, "its columns have no field IDs"},
		{"one name for two fields", `[{"field-id": 1, "names": ["a"]}, {"field-id": 2, "names": ["a"]}]`, []schema.Node{pqLong("a", -1)}, "", false, errs.Corrupt, `"a" twice`},
		{"no JSON", `{`, []schema.Node{pqLong("a", -1)}, "", false, errs.Corrupt, namemapping.Property},
	} {
		test := newShapeTest(t, mappedColumns()...)
		if c.mapping != "" {
			test.table.Properties[namemapping.Property] = c.mapping
		}
		got, err := test.prepare(t, test.file(t, "f.parquet", c.file...))
		wantError(t, c.name, err, c.kind, c.text)
		if err != nil {
			continue
		}
		text := ""
		if got[0].Shape != nil {
			text = shapeText(got[0].Shape.Fields)
		}
		if text != c.shape || got[0].ByName != c.byName {
			t.Errorf("%s: got %s by name %v, want %s", c.name, text, got[0].ByName, c.shape)
		}
	}
}

// TestMappingHint reads the mapping that the error suggests.
func TestMappingHint(t *testing.T) {
	test := newShapeTest(t, mappedColumns()...)
	test.table.Schema.Fields[1].Name = "it's"
	file := test.file(t, "f.parquet", pqLong("key", -1), pqLong("it's", -1), pqStruct("loc", -1, pqLong("latitude", -1)))
	_, err := test.prepare(t, file)
	head, rest, ok := strings.Cut(errs.HintOf(err), "SET TBLPROPERTIES ('"+namemapping.Property+"' = '")
	text, isWhole := strings.CutSuffix(rest, "')")
	if !ok || !isWhole || !strings.HasSuffix(head, "ALTER TABLE db.t ") {
		t.Fatalf("the hint is %q", errs.HintOf(err))
	}
	test.table.Properties[namemapping.Property] = strings.ReplaceAll(text, "''", "'")
	got, err := test.prepare(t, file)
	if err != nil || shapeText(got[0].Shape.Fields) != "key:1 long, it's:2 long, loc:3 struct<latitude:4 long>" {
		t.Errorf("%v, %+v", err, got)
	}
	for i := range catalog.FieldID(40) {
		test.table.Schema.Fields = append(test.table.Schema.Fields, leafField(100+i, "a long name of a column", transform.Long))
	}
	delete(test.table.Properties, namemapping.Property)
	if _, err = test.prepare(t, file); len(errs.HintOf(err)) > 300 || !strings.Contains(errs.HintOf(err), "SET TBLPROPERTIES") {
		t.Errorf("the hint is %q", errs.HintOf(err))
	}
}
