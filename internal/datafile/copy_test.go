package datafile

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/hamba/avro/v2"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/namemapping"
	"github.com/tarndb/tarn/transform"
)

// rowsOf reads a Parquet file as JSON, a line for each row.
func rowsOf(t testing.TB, local string) string {
	t.Helper()
	r, err := pqfile.OpenParquetFile(local, false)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	reader, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: 1 << 20}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	batches, err := reader.GetRecordReader(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer batches.Release()
	var out strings.Builder
	for batches.Next() {
		data, err := batches.RecordBatch().MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var rows []map[string]any
		if err := json.Unmarshal(data, &rows); err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			line, _ := json.Marshal(row)
			out.Write(append(line, '\n'))
		}
	}
	return out.String()
}

// avroFile writes a container file of two rows a block, with the schema as it is spelled. Values are those of the types
// below the logical ones.
func (s *shapeTest) avroFile(t testing.TB, name, schema string, rows ...any) catalog.DataFile {
	t.Helper()
	plain, err := avro.Parse(regexp.MustCompile(`"logicalType": "[a-z-]*"`).ReplaceAllString(schema, `"doc": ""`))
	if err != nil {
		t.Fatal(err)
	}
	long := func(n int) []byte { return binary.AppendVarint(nil, int64(n)) }
	text := func(s string) []byte { return append(long(len(s)), s...) }
	sync := []byte("0123456789abcdef")
	data := slices.Concat([]byte("Obj\x01"), long(1), text("avro.schema"), text(schema), long(0), sync)
	for block := range slices.Chunk(rows, 2) {
		var values []byte
		for _, row := range block {
			value, err := avro.Marshal(plain, row)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, value...)
		}
		data = slices.Concat(data, long(len(block)), text(string(values)), sync)
	}
	path := filepath.Join(s.dir, name)
	writeFile(t, path, string(data))
	return catalog.DataFile{Ref: catalog.FileRef{Path: path, Bytes: int64(len(data))}, Format: catalog.Avro, Rows: int64(len(rows))}
}

const everyAvroType = `{"type": "record", "name": "r", "fields": [
	{"name": "b", "type": ["null", "boolean"], "field-id": 1},
	{"name": "i", "type": "int", "field-id": 2},
	{"name": "skipped", "type": {"type": "map", "values": ["null", "string"]}},
	{"name": "n", "type": "long", "field-id": 3},
	{"name": "f", "type": "float", "field-id": 4},
	{"name": "d", "type": "double", "field-id": 5},
	{"name": "dec", "type": {"type": "fixed", "name": "dec", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 2}, "field-id": 6},
	{"name": "dt", "type": {"type": "int", "logicalType": "date"}, "field-id": 7},
	{"name": "tm", "type": {"type": "long", "logicalType": "time-micros"}, "field-id": 8},
	{"name": "ts", "type": {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": false}, "field-id": 9},
	{"name": "tz", "type": {"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": true}, "field-id": 10},
	{"name": "s", "type": ["string", "null"], "field-id": 11},
	{"name": "u", "type": {"type": "fixed", "name": "u", "size": 16, "logicalType": "uuid"}, "field-id": 12},
	{"name": "fx", "type": {"type": "fixed", "name": "fx", "size": 3}, "field-id": 13},
	{"name": "bin", "type": "bytes", "field-id": 14},
	{"name": "st_x20", "type": ["null", {"type": "record", "name": "st", "fields": [
		{"name": "a", "type": ["null", "int"], "field-id": 16}, {"name": "gone", "type": "string", "field-id": 99}]}], "field-id": 15},
	{"name": "l", "type": {"type": "array", "items": ["null", "long"], "element-id": 18}, "field-id": 17},
	{"name": "m", "type": {"type": "map", "values": "long", "key-id": 20, "value-id": 21}, "field-id": 19},
	{"name": "k", "type": {"type": "array", "logicalType": "map", "items": {"type": "record", "name": "k23_v24", "fields": [
		{"name": "key", "type": "int", "field-id": 23}, {"name": "value", "type": ["null", "string"], "field-id": 24}]}}, "field-id": 22},
	{"name": "ns", "type": {"type": "long", "logicalType": "timestamp-nanos", "adjust-to-utc": false}, "field-id": 25},
	{"name": "nothing", "type": "null", "field-id": 26}
]}`

func everyAvroColumn() []catalog.Field {
	kinds := []transform.Kind{transform.Boolean, transform.Int, transform.Long, transform.Float, transform.Double, transform.Decimal, transform.Date,
		transform.Time, transform.Timestamp, transform.TimestampTZ, transform.String, transform.UUID, transform.Fixed, transform.Binary}
	var columns []catalog.Field
	for i, kind := range kinds {
		columns = append(columns, leafField(catalog.FieldID(i+1), "c"+kind.String(), kind))
	}
	columns[12].Type.Primitive.Length = 3
	return append(columns,
		nestedField(15, "st ", catalog.Struct, leafField(16, "renamed", transform.Int)),
		nestedField(17, "l", catalog.List, leafField(18, "element", transform.Long)),
		nestedField(19, "m", catalog.Map, leafField(20, "key", transform.String), leafField(21, "value", transform.Long)),
		nestedField(22, "k", catalog.Map, leafField(23, "key", transform.Int), leafField(24, "value", transform.String)),
		leafField(25, "ns", transform.TimestampNS), leafField(26, "nothing", transform.Long))
}

func everyAvroRow(n int) map[string]any {
	return map[string]any{
		"b": n == 0, "i": n - 5, "n": int64(1)<<40 + int64(n), "f": float32(0.5), "d": -1.25, "dec": [4]byte{0xff, 0xff, 0xfd, 0x76}, "dt": -1,
		"tm": int64(1_000_001), "ts": int64(-1), "tz": int64(1), "s": "\u00fc", "u": [16]byte{1, 2}, "fx": [3]byte{7, 8, 9}, "bin": []byte{0, 255},
		"skipped": map[string]any{}, "st_x20": map[string]any{"st": map[string]any{"a": 7, "gone": "x"}}, "l": []any{int64(1), nil},
		"m": map[string]any{"x": int64(1)}, "k": []any{map[string]any{"key": 5, "value": "five"}}, "ns": int64(-1), "nothing": nil,
	}
}

func TestAvroCopies(t *testing.T) {
	test := newShapeTest(t, everyAvroColumn()...)
	empty := everyAvroRow(1)
	empty["b"], empty["s"], empty["st_x20"], empty["l"], empty["m"], empty["k"] = nil, nil, nil, []any{}, map[string]any{}, []any{}
	file := test.avroFile(t, "f.avro", everyAvroType, everyAvroRow(0), empty, everyAvroRow(2))
	got, err := test.prepare(t, file, file)
	if err != nil {
		t.Fatal(err)
	}
	f := got[0]
	if f.Format != catalog.Parquet || filepath.Dir(f.Ref.Local) != test.dir || f.Ref.Path != file.Ref.Path || f.ByName || got[1].Ref != f.Ref {
		t.Errorf("got %+v", f)
	}
	const shape = "st :15 struct<renamed:16 int, gone:99 string>, l:17 list<element:18 long>, m:19 map<key:20 string, value:21 long>, " +
		"k:22 map<key:23 int, value:24 string>, ns:25 timestamp_ns"
	if f.Shape == nil || !strings.HasSuffix(shapeText(f.Shape.Fields), shape) {
		t.Errorf("got %v", f.Shape)
	}
	lines := strings.Split(rowsOf(t, f.Ref.Local), "\n")
	for i, want := range []string{everyAvroValue, emptyAvroValue, strings.NewReplacer("true", "false", "-5", "-3", "1099511627776", "1099511627778").Replace(everyAvroValue)} {
		if lines[i] != want {
			t.Errorf("row %d: got\n%s, want\n%s", i, lines[i], want)
		}
	}
}

const (
	everyAvroValue = `{"cbinary":"AP8=","cboolean":true,"cdate":"1969-12-31","cdecimal":"-6.5","cdouble":-1.25,"cfixed":"BwgJ","cfloat":0.5,"cint":-5,` +
		`"clong":1099511627776,"cstring":"ü","ctime":"00:00:01.000001","ctimestamp":"1969-12-31T23:59:59.999999","ctimestamptz":"1970-01-01T00:00:00.000001Z",` +
		`"cuuid":"01020000-0000-0000-0000-000000000000","k":[{"key":5,"value":"five"}],"l":[1,null],"m":[{"key":"x","value":1}],` +
		`"ns":"1969-12-31T23:59:59.999999999","st ":{"gone":"x","renamed":7}}`
	emptyAvroValue = `{"cbinary":"AP8=","cboolean":null,"cdate":"1969-12-31","cdecimal":"-6.5","cdouble":-1.25,"cfixed":"BwgJ","cfloat":0.5,"cint":-4,` +
		`"clong":1099511627777,"cstring":null,"ctime":"00:00:01.000001","ctimestamp":"1969-12-31T23:59:59.999999","ctimestamptz":"1970-01-01T00:00:00.000001Z",` +
		`"cuuid":"01020000-0000-0000-0000-000000000000","k":[],"l":[],"m":[],"ns":"1969-12-31T23:59:59.999999999","st ":null}`
)

func TestDamagedAvro(t *testing.T) {
	test := newShapeTest(t, leafField(1, "s", transform.String), leafField(2, "n", transform.Long))
	const text = `{"type": "record", "name": "r", "fields": [{"name": "s", "type": "string", "field-id": 1}, {"name": "n", "type": ["null", "long"], "field-id": 2}]}`
	row := map[string]any{"s": "some text", "n": int64(7)}
	whole := test.avroFile(t, "f.avro", text, row, row, row)
	data, err := os.ReadFile(whole.Ref.Path)
	if err != nil {
		t.Fatal(err)
	}
	prepare := func(name string, data []byte) error {
		file := whole
		file.Ref = catalog.FileRef{Path: filepath.Join(test.dir, name+".avro"), Bytes: int64(len(data))}
		writeFile(t, file.Ref.Path, string(data))
		_, err := test.prepare(t, file)
		return err
	}
	if err := prepare("whole", data); err != nil {
		t.Fatal(err)
	}
	for at := range data {
		cut := prepare("cut", data[:at])
		wantError(t, "cut", cut, errs.Corrupt, "cut.avro")
		if cut == nil {
			t.Fatalf("cut at %d", at)
		}
		damaged := slices.Clone(data)
		damaged[at] ^= 0xff
		if err := prepare("damaged", damaged); err != nil && errs.KindOf(err) != errs.Corrupt && errs.KindOf(err) != errs.Unsupported || err != nil && !strings.Contains(err.Error(), "damaged.avro") {
			t.Errorf("damaged at %d: %v (%v)", at, err, errs.KindOf(err))
		}
	}
	left, _ := filepath.Glob(test.dir + "/*-*")
	if len(left) > 0 {
		t.Errorf("parts of copies are left: %q", left)
	}
}

func TestAvroWithoutIDs(t *testing.T) {
	test := newShapeTest(t, mappedColumns()...)
	test.table.Properties[namemapping.Property] = mappedNames
	const text = `{"type": "record", "name": "r", "fields": [{"name": "rec_id", "type": "long"}, {"name": "other", "aliases": ["loc"], "type":
		{"type": "record", "name": "l", "fields": [{"name": "lat", "type": ["null", "long"]}, {"name": "lon", "type": "long"}]}},
		{"name": "l", "type": {"type": "array", "items": {"type": "record", "name": "e", "fields": [{"name": "x", "type": "int"}]}}},
		{"name": "m", "type": {"type": "array", "logicalType": "map", "items": {"type": "record", "name": "p", "fields": [{"name": "k", "type": "long"}, {"name": "v", "type": "long"}]}}}]}`
	file := test.avroFile(t, "f.avro", text, map[string]any{"rec_id": int64(1), "other": map[string]any{"lat": int64(2), "lon": int64(3)},
		"l": []any{map[string]any{"x": 4}}, "m": []any{map[string]any{"k": int64(5), "v": int64(6)}}})
	got, err := test.prepare(t, file)
	if err != nil {
		t.Fatal(err)
	}
	const rows = `{"key":1,"l":[{"x":4}],"loc":{"latitude":2},"m":[{"key":5,"value":6}]}` + "\n"
	if text := rowsOf(t, got[0].Ref.Local); text != rows {
		t.Errorf("got %s", text)
	}
	const shape = "key:1 long, loc:3 struct<latitude:4 long>, l:5 list<element:6 struct<x:7 int>>, m:8 map<key:9 long, value:10 long>"
	if got[0].ByName || got[0].Shape == nil || shapeText(got[0].Shape.Fields) != shape {
		t.Errorf("got %+v", got[0])
	}
	delete(test.table.Properties, namemapping.Property)
	_, err = newShapeTest(t, mappedColumns()...).prepare(t, file)
	wantError(t, "no mapping", err, errs.Unsupported, "f.avro: its columns have no field IDs")
	if _, err := test.prepareColumns(t, nil, file); err != nil {
		t.Errorf("rows alone: %v", err)
	}
}

// parquetFile writes two rows of one column. Its leaves get values with these levels.
func (s *shapeTest) parquetFile(t *testing.T, column schema.Node, leaves ...leafValues) catalog.DataFile {
	t.Helper()
	path := filepath.Join(s.dir, "f.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	root := schema.Must(schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{column}, -1))
	w := pqfile.NewParquetWriter(f, root.(*schema.GroupNode))
	rows := w.AppendRowGroup() //nolint:staticcheck // In a test a panic will do.
	for _, leaf := range leaves {
		c, err := rows.NextColumn()
		if err != nil {
			t.Fatal(err)
		}
		switch c := c.(type) {
		case *pqfile.Int32ColumnChunkWriter:
			_, err = c.WriteBatch(leaf.values.([]int32), leaf.defs, leaf.reps)
		case *pqfile.ByteArrayColumnChunkWriter:
			_, err = c.WriteBatch(leaf.values.([]parquet.ByteArray), leaf.defs, leaf.reps)
		case *pqfile.FixedLenByteArrayColumnChunkWriter:
			_, err = c.WriteBatch(leaf.values.([]parquet.FixedLenByteArray), leaf.defs, leaf.reps)
		}
		if err = errors.Join(err, c.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return catalog.DataFile{Ref: catalog.FileRef{Path: path, Bytes: info.Size()}, Format: catalog.Parquet, Rows: 2}
}

type leafValues struct {
	values     any
	defs, reps []int16
}

// TestParquetCopies reads files that are made in ways that DuckDB takes for something else.
func TestParquetCopies(t *testing.T) {
	none, isList, isKV := schema.ConvertedTypes.None, schema.ConvertedTypes.List, schema.ConvertedTypes.MapKeyValue
	list := nestedField(1, "l", catalog.List, nestedField(2, "element", catalog.Struct, leafField(3, "x", transform.Int)))
	dict := nestedField(1, "m", catalog.Map, leafField(2, "key", transform.Int), leafField(3, "value", transform.Int))
	bytes := func(texts ...string) (out []parquet.ByteArray) {
		for _, text := range texts {
			out = append(out, parquet.ByteArray(text))
		}
		return out
	}
	plain := func(typ parquet.Type, length int) schema.Node {
		return schema.Must(schema.NewPrimitiveNodeLogical("c", pqOptional, schema.NoLogicalType{}, typ, length, 1))
	}
	old := func(middle string) schema.Node {
		return pqGroup("l", 1, pqOptional, isList, pqGroup(middle, 2, pqRepeated, none, pqInt("x", 3)))
	}
	// Row 1 has the elements 7 and NULL; row 2 is NULL.
	elements := leafValues{[]int32{7}, []int16{3, 2, 0}, []int16{0, 1, 0}}
	id := parquet.FixedLenByteArray("0123456789abcdef")
	const byIDs, always = 1, 2 // when a copy is made
	for _, c := range []struct {
		name   string
		column catalog.Field
		file   schema.Node
		leaves []leafValues
		rows   string
		copied int
		kind   errs.Kind
		text   string
	}{
		{"list of structs of one field", list, old("array"), []leafValues{elements}, `{"l":[{"x":7},{"x":null}]} {"l":null}`, always, 0, ""},
		{"the same, by another name", list, old("l_tuple"), []leafValues{elements}, `{"l":[{"x":7},{"x":null}]} {"l":null}`, always, 0, ""},
		{"element where DuckDB looks for the column", nestedField(1, "l", catalog.List, leafField(2, "element", transform.Int)),
			pqGroup("l", 1, pqOptional, isList, schema.NewInt32Node("array", pqRepeated, 2)), []leafValues{{[]int32{7, 8}, []int16{2, 2, 0}, []int16{0, 1, 0}}},
			`{"l":[7,8]} {"l":null}`, byIDs, 0, ""},
		{"list whose wrapper has an ID", nestedField(1, "l", catalog.List, leafField(2, "element", transform.Int)),
			pqGroup("l", 1, pqOptional, isList, pqGroup("list", 9, pqRepeated, none, pqInt("element", 2))), []leafValues{elements},
			`{"l":[7,null]} {"l":null}`, byIDs, 0, ""},
		{"list of two fields", nestedField(1, "l", catalog.List, nestedField(2, "element", catalog.Struct, leafField(3, "x", transform.Int), leafField(4, "y", transform.Int))),
			pqGroup("l", 1, pqOptional, isList, pqGroup("array", 2, pqRepeated, none, pqInt("x", 3), pqInt("y", 4))), []leafValues{elements, elements},
			`{"l":[{"x":7,"y":7},{"x":null,"y":null}]} {"l":null}`, byIDs, 0, ""},
		{"MAP_KEY_VALUE", dict, pqMap(isKV, "m", 1, "map", schema.NewInt32Node("key", parquet.Repetitions.Required, 2), pqInt("value", 3)),
			[]leafValues{{[]int32{1, 2}, []int16{2, 2, 0}, []int16{0, 1, 0}}, {[]int32{5}, []int16{3, 2, 0}, []int16{0, 1, 0}}},
			`{"m":[{"key":1,"value":5},{"key":2,"value":null}]} {"m":null}`, always, 0, ""},
		{"unmarked text", leafField(1, "c", transform.String), plain(parquet.Types.ByteArray, 0), []leafValues{{bytes("ü"), []int16{1, 0}, nil}},
			`{"c":"ü"} {"c":null}`, always, 0, ""},
		{"bytes marked as text", leafField(1, "c", transform.Binary), pqText("c", 1), []leafValues{{bytes("ab"), []int16{1, 0}, nil}},
			`{"c":"YWI="} {"c":null}`, always, 0, ""},
		{"unmarked uuid", leafField(1, "c", transform.UUID), plain(parquet.Types.FixedLenByteArray, 16),
			[]leafValues{{[]parquet.FixedLenByteArray{id}, []int16{1, 0}, nil}}, `{"c":"30313233-3435-3637-3839-616263646566"} {"c":null}`, always, 0, ""},
		{"text as fixed", catalog.Field{ID: 1, Name: "c", Type: catalog.Type{Primitive: transform.Type{Kind: transform.Fixed, Length: 2}}}, pqText("c", 1),
			[]leafValues{{bytes("ab"), []int16{1, 0}, nil}}, "", 0, errs.Unsupported, "stored as BYTE_ARRAY (String), which can't be read as fixed[2]"},
	} {
		for _, bare := range []bool{false, true} {
			test := newShapeTest(t, c.column)
			file := test.parquetFile(t, c.file, c.leaves...)
			if bare {
				test.table.Properties[namemapping.Property], _ = namemapping.Text(namemapping.Of(test.table.Schema.Fields))
				file = test.parquetFile(t, bareNode(c.file), c.leaves...)
			}
			got, err := test.prepare(t, file)
			wantError(t, c.name, err, c.kind, c.text)
			if err != nil {
				continue
			}
			rows := strings.TrimSpace(strings.ReplaceAll(rowsOf(t, got[0].Ref.Local), "\n", " "))
			isCopy := got[0].Ref.Local != file.Ref.Path
			if rows != c.rows || isCopy != (c.copied == always || c.copied == byIDs && !bare) || got[0].ByName != (bare && !isCopy) {
				t.Errorf("%s, without IDs %v: got %s of %+v, want %s", c.name, bare, rows, got[0], c.rows)
			}
			if got, err := test.prepareColumns(t, nil, file); err != nil || len(got) != 1 {
				t.Errorf("%s: rows alone: %v", c.name, err)
			}
		}
	}
}

func bareNode(n schema.Node) schema.Node {
	switch n := n.(type) {
	case *schema.GroupNode:
		var fields schema.FieldList
		for i := range n.NumFields() {
			fields = append(fields, bareNode(n.Field(i)))
		}
		return schema.Must(schema.NewGroupNodeConverted(n.Name(), n.RepetitionType(), fields, n.ConvertedType(), -1))
	case *schema.PrimitiveNode:
		return schema.Must(schema.NewPrimitiveNodeLogical(n.Name(), n.RepetitionType(), n.LogicalType(), n.PhysicalType(), n.TypeLength(), -1))
	}
	return n
}
