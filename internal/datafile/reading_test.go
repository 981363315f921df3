package datafile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/transform"
)

var pqOptional, pqRepeated = parquet.Repetitions.Optional, parquet.Repetitions.Repeated

func pqInt(name string, id int32) schema.Node  { return schema.NewInt32Node(name, pqOptional, id) }
func pqLong(name string, id int32) schema.Node { return schema.NewInt64Node(name, pqOptional, id) }

func pqGroup(name string, id int32, r parquet.Repetition, kind schema.ConvertedType, fields ...schema.Node) schema.Node {
	return schema.Must(schema.NewGroupNodeConverted(name, r, fields, kind, id))
}

func pqStruct(name string, id int32, fields ...schema.Node) schema.Node {
	return pqGroup(name, id, pqOptional, schema.ConvertedTypes.None, fields...)
}

// pqList makes a list of three levels, the middle one of that name.
func pqList(name string, id int32, middle string, element schema.Node) schema.Node {
	return pqGroup(name, id, pqOptional, schema.ConvertedTypes.List, pqGroup(middle, -1, pqRepeated, schema.ConvertedTypes.None, element))
}

func pqMap(kind schema.ConvertedType, name string, id int32, middle string, kv ...schema.Node) schema.Node {
	return pqGroup(name, id, pqOptional, kind, pqGroup(middle, -1, pqRepeated, schema.ConvertedTypes.None, kv...))
}

// The table's types.
func leafField(id catalog.FieldID, name string, kind transform.Kind) catalog.Field {
	typ := transform.Type{Kind: kind}
	if kind == transform.Decimal {
		typ.Precision, typ.Scale = 9, 2
	}
	return catalog.Field{ID: id, Name: name, Type: catalog.Type{Primitive: typ}}
}

func nestedField(id catalog.FieldID, name string, kind catalog.NestedKind, fields ...catalog.Field) catalog.Field {
	return catalog.Field{ID: id, Name: name, Type: catalog.Type{Nested: kind, Fields: fields}}
}

// shapeText writes a shape with its IDs: s:1 struct<a:2 int>.
func shapeText(fields []catalog.Field) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		typ := f.Type.Primitive.String()
		if f.Type.Nested != catalog.NotNested {
			typ = [...]string{"", "struct", "list", "map"}[f.Type.Nested] + "<" + shapeText(f.Type.Fields) + ">"
		}
		parts[i] = fmt.Sprintf("%s:%d %s", f.Name, f.ID, typ)
	}
	return strings.Join(parts, ", ")
}

// shapeTest is a table without rows, of any schema, whose only file has any other.
type shapeTest struct {
	r     Reader
	dir   string
	table catalog.Table
}

func newShapeTest(t *testing.T, columns ...catalog.Field) *shapeTest {
	t.Helper()
	return &shapeTest{r: Reader{Files: fileio.Disk{}, Footers: &Footers{}}, dir: t.TempDir(), table: catalog.Table{
		Ident: catalog.Ident{"db", "t"}, FormatVersion: 3, Schema: &catalog.Schema{Fields: columns}, Properties: map[string]string{},
	}}
}

// file writes a Parquet file of that schema and no rows.
func (s *shapeTest) file(t *testing.T, name string, fields ...schema.Node) catalog.DataFile {
	t.Helper()
	path := filepath.Join(s.dir, name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	root := schema.Must(schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1))
	if err := pqfile.NewParquetWriter(f, root.(*schema.GroupNode)).Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return catalog.DataFile{Ref: catalog.FileRef{Path: path, Bytes: info.Size()}, Format: catalog.Parquet}
}

// prepare prepares a scan of all columns of the table over the files.
func (s *shapeTest) prepare(t *testing.T, files ...catalog.DataFile) ([]catalog.DataFile, error) {
	t.Helper()
	var columns []catalog.FieldID
	for _, f := range s.table.Schema.Fields {
		columns = append(columns, f.ID)
	}
	return s.prepareColumns(t, columns, files...)
}

func (s *shapeTest) prepareColumns(t *testing.T, columns []catalog.FieldID, files ...catalog.DataFile) ([]catalog.DataFile, error) {
	t.Helper()
	layout := &catalog.TableLayout{Table: &s.table, Files: func(_ context.Context, yield func(catalog.DataFile) error) error {
		for _, f := range files {
			if err := yield(f); err != nil {
				return err
			}
		}
		return nil
	}}
	layout, err := s.prepareLayout(t, columns, layout)
	if err != nil {
		return nil, err
	}
	var out []catalog.DataFile
	err = layout.Files(t.Context(), func(f catalog.DataFile) error { out = append(out, f); return nil })
	return out, err
}

func (s *shapeTest) prepareLayout(t *testing.T, columns []catalog.FieldID, layout *catalog.TableLayout) (*catalog.TableLayout, error) {
	t.Helper()
	noOther := func(func([]catalog.Field, error) bool) {}
	return s.r.Prepare(t.Context(), Scan{Table: &s.table, Columns: columns, Layout: layout, Schemas: noOther, Folder: s.dir})
}

// wantError says whether err is of the kind and has the text; no kind wants no error.
func wantError(t *testing.T, name string, err error, kind errs.Kind, text string) {
	t.Helper()
	if text == "" && err != nil || text != "" && (errs.KindOf(err) != kind || err == nil || !strings.Contains(err.Error(), text)) {
		t.Errorf("%s: %v (%v), want %v about %q", name, err, errs.KindOf(err), kind, text)
	}
}

func TestNestedShapes(t *testing.T) {
	none, isMap, isKV := schema.ConvertedTypes.None, schema.ConvertedTypes.Map, schema.ConvertedTypes.MapKeyValue
	s := nestedField(1, "s", catalog.Struct, leafField(2, "a", transform.Long), leafField(3, "b", transform.Int))
	list := nestedField(1, "l", catalog.List, nestedField(2, "element", catalog.Struct, leafField(3, "x2", transform.Int)))
	longs := nestedField(1, "l", catalog.List, leafField(2, "element", transform.Long))
	dict := nestedField(1, "m", catalog.Map, leafField(2, "key", transform.Int), nestedField(3, "value", catalog.Struct,
		leafField(4, "y", transform.Int), leafField(5, "z", transform.Int)))
	element := func(name string) schema.Node { return pqStruct(name, 2, pqInt("x2", 3)) }
	value := pqStruct("value", 3, pqInt("y", 4), pqInt("z", 5))
	const dictShape = "m:1 map<key:2 int, value:3 struct<y:4 int>>"
	for _, c := range []struct {
		name   string
		column catalog.Field
		file   schema.Node
		shape  string
		kind   errs.Kind
		text   string
	}{
		{"as the table", s, pqStruct("s", 1, pqLong("a", 2), pqInt("b", 3)), "", 0, ""},
		{"column renamed", s, pqStruct("old", 1, pqLong("a", 2), pqInt("b", 3)), "", 0, ""},
		{"name of a dropped column", leafField(5, "x", transform.Int), pqInt("x", 1), "", 0, ""},
		{"column promoted", leafField(1, "n", transform.Long), pqInt("n", 1), "", 0, ""},
		{"field renamed", s, pqStruct("s", 1, pqLong("was", 2), pqInt("b", 3)), "s:1 struct<was:2 long, b:3 int>", 0, ""},
		{"field promoted", s, pqStruct("s", 1, pqInt("a", 2), pqInt("b", 3)), "s:1 struct<a:2 int, b:3 int>", 0, ""},
		{"field added", s, pqStruct("s", 1, pqInt("b", 3)), "s:1 struct<b:3 int>", 0, ""},
		{"all fields added", s, pqStruct("s", 1, pqInt("gone", 9)), "s:1 struct<gone:9 int>", 0, ""},
		{"field dropped", s, pqStruct("s", 1, pqLong("a", 2), pqInt("b", 3), pqInt("c", 9)), "s:1 struct<a:2 long, b:3 int, c:9 int>", 0, ""},
		{"name used again", s, pqStruct("s", 1, pqLong("b", 2), pqInt("a", 3)), "s:1 struct<b:2 long, a:3 int>", 0, ""},
		{"another order", s, pqStruct("s", 1, pqInt("b", 3), pqLong("a", 2)), "s:1 struct<b:3 int, a:2 long>", 0, ""},
		{"field without ID", s, pqStruct("s", 1, pqLong("a", 2), pqInt("b", -1)), "s:1 struct<a:2 long>", 0, ""},
		{"no field that can be read", s, pqStruct("s", 1, pqInt("b", -1)), "", errs.Unsupported, "column s: the file has no field of it"},
		{"names differ in case", s, pqStruct("s", 1, pqLong("a", 2), pqInt("A", 9)), "", errs.Unsupported, `"a" and "A"`},
		{"one ID twice", s, pqStruct("s", 1, pqLong("a", 2), pqInt("b", 2)), "", errs.Corrupt, "the field ID 2"},
		{"repeated field", s, pqStruct("s", 1, pqLong("a", 2), schema.NewInt32Node("b", pqRepeated, 3)), "", errs.Unsupported, "field b: \"b\" is a repeated field"},
		{"no struct", s, pqLong("s", 1), "", errs.Corrupt, "a primitive column where the table's type is struct<"},
		{"wrong type", s, pqStruct("s", 1, pqLong("a", 2), pqLong("b", 3)), "", errs.Corrupt, "field b: it is stored as INT64, which is no int"},

		{"list", list, pqList("l", 1, "list", element("element")), "", 0, ""},
		{"list/item", list, pqList("l", 1, "list", element("item")), "", 0, ""},
		{"bag/array_element", list, pqList("l", 1, "bag", element("array_element")), "", 0, ""},
		{"element's field renamed", list, pqList("l", 1, "list", pqStruct("e", 2, pqInt("x", 3))), "l:1 list<e:2 struct<x:3 int>>", 0, ""},
		{"element without ID", longs, pqList("l", 1, "list", pqLong("element", -1)), "", 0, ""},
		{"element promoted", longs, pqList("l", 1, "list", pqInt("element", 2)), "l:1 list<element:2 int>", 0, ""},
		{"another element", longs, pqList("l", 1, "list", pqLong("element", 7)), "", errs.Corrupt, "has the ID 7, where the table has 2"},
		{"two levels", longs, pqGroup("l", 1, pqOptional, schema.ConvertedTypes.List, schema.NewInt64Node("array", pqRepeated, -1)), "", 0, ""},
		{"no list", longs, pqGroup("l", 1, pqOptional, none, pqGroup("list", -1, pqRepeated, none, pqLong("element", 2))), "", errs.Corrupt, "has a struct where"},
		{"list of a repeated field", longs, pqList("l", 1, "list", schema.NewInt64Node("element", pqRepeated, 2)), "", errs.Unsupported, "can't be read"},

		{"map", dict, pqMap(isMap, "m", 1, "key_value", pqInt("key", 2), value), "", 0, ""},
		{"map/map", dict, pqMap(isMap, "m", 1, "map", pqInt("k", 2), value), "", 0, ""},
		{"map's value evolved", dict, pqMap(isMap, "m", 1, "key_value", pqInt("key", 2), pqStruct("value", 3, pqInt("y", 4))), dictShape, 0, ""},
		{"map without values", dict, pqMap(isMap, "m", 1, "key_value", pqInt("key", 2)), "", errs.Corrupt, "no repeated group of a key and a value"},
		{"MAP_KEY_VALUE inside", dict, pqGroup("m", 1, pqOptional, isMap, pqGroup("map", -1, pqRepeated, isKV, pqInt("key", 2), value)), "", 0, ""},
	} {
		test := newShapeTest(t, c.column)
		got, err := test.prepare(t, test.file(t, "f.parquet", c.file))
		wantError(t, c.name, err, c.kind, c.text)
		if err != nil {
			if !strings.Contains(err.Error(), test.dir) {
				t.Errorf("%s: %v doesn't name the file", c.name, err)
			}
			continue
		}
		text := ""
		if got[0].Shape != nil {
			text = shapeText(got[0].Shape.Fields)
		}
		if text != c.shape || got[0].ByName || got[0].Constants != nil || got[0].Format != catalog.Parquet {
			t.Errorf("%s: got %s of %+v, want %s", c.name, text, got[0], c.shape)
		}
	}
}

func pqText(name string, id int32) schema.Node {
	return schema.Must(schema.NewPrimitiveNodeLogical(name, pqOptional, schema.StringLogicalType{}, parquet.Types.ByteArray, 0, id))
}

func TestShapesAreShared(t *testing.T) {
	test := newShapeTest(t, nestedField(1, "s", catalog.Struct, leafField(2, "a", transform.Long)), leafField(3, "b", transform.Long))
	got, err := test.prepare(t,
		test.file(t, "1", pqStruct("s", 1, pqLong("old", 2)), pqLong("b", 3)),
		test.file(t, "2", pqStruct("s", 1, pqLong("a", 2)), pqLong("b", 3)),
		test.file(t, "3", pqStruct("other", 1, pqLong("old", 2)), pqLong("b", 3)),
		test.file(t, "4", pqStruct("s", 1, pqLong("old", 2)), pqLong("b", 3)),
		test.file(t, "5", pqStruct("s", 1, pqLong("old", 2)), pqLong("b", 3), pqLong("c", 9)),
	)
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Shape == nil || got[1].Shape != nil || got[3].Shape != got[0].Shape || got[4].Shape != got[0].Shape || got[2].Shape == got[0].Shape {
		t.Errorf("got %+v", got)
	}
	if got, err = test.prepareColumns(t, []catalog.FieldID{3}, got...); err != nil || got[0].Shape != nil {
		t.Errorf("the struct isn't wanted: %+v, %v", got, err)
	}
}

func TestMetadataColumnsInFiles(t *testing.T) {
	test := newShapeTest(t, leafField(1, "id", transform.Long))
	columns := []catalog.FieldID{1, catalog.PathID, catalog.RowID, catalog.LastUpdatedID}
	with := test.file(t, "1", pqLong("id", 1), pqLong("_row_id", int32(catalog.RowID)))
	if _, err := test.prepareColumns(t, columns, with, test.file(t, "2", pqLong("id", 1))); err != nil {
		t.Error(err)
	}
	_, err := test.prepareColumns(t, columns, test.file(t, "3", pqLong("id", 1), pqText("_row_id", int32(catalog.RowID))))
	wantError(t, "text as row ID", err, errs.Corrupt, "column _row_id")
}

func TestColumnsThatCantBeRead(t *testing.T) {
	test := newShapeTest(t, leafField(1, "id", transform.Long), leafField(2, "v", transform.Variant), leafField(3, "g", transform.Geometry),
		nestedField(4, "s", catalog.Struct, leafField(5, "v", transform.Variant)), leafField(6, "u", transform.Unknown))
	file := test.file(t, "f", pqLong("id", 1))
	for column, text := range map[catalog.FieldID]string{1: "", 2: "column v of db.t", 3: "column g of db.t", 4: "column s of db.t", 6: ""} {
		_, err := test.prepareColumns(t, []catalog.FieldID{column}, file)
		wantError(t, fmt.Sprint("column ", column), err, errs.Unsupported, text)
	}
	file.Format = catalog.ORC
	_, err := test.prepareColumns(t, nil, file)
	wantError(t, "ORC", err, errs.Unsupported, "f: it is of format orc")
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
