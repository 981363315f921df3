package datafile

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/namemapping"
	"github.com/tarndb/tarn/transform"
)

// TestConstants follows the spec's "Column Projection": a column that a file has no ID of takes its identity partition
// value, before the name mapping and before its default.
func TestConstants(t *testing.T) {
	identity, _ := transform.Parse("identity")
	bucket, _ := transform.Parse("bucket[4]")
	region := leafField(2, "region", transform.String)
	region.HasDefault, region.InitialDefault = true, "default"
	columns := []catalog.Field{leafField(1, "id", transform.Long), region,
		nestedField(3, "s", catalog.Struct, leafField(4, "a", transform.Long), leafField(5, "b", transform.Long))}
	spec := func(source catalog.FieldID, fn transform.Transform) catalog.PartitionSpec {
		return catalog.PartitionSpec{Fields: []catalog.PartitionField{{ID: 1000, Sources: []catalog.FieldID{source}, Transform: fn,
			SourceType: transform.Type{Kind: transform.String}}}}
	}
	id, pq := pqLong("id", 1), pqStruct("s", 3, pqLong("a", 4))
	for _, c := range []struct {
		name  string
		bare  bool // the file has no IDs
		has   bool // the file has the column
		spec  catalog.PartitionSpec
		value transform.Value
		want  string
		kind  errs.Kind
		text  string
	}{
		{"absent", false, false, spec(2, identity), "north", "map[2:north]", 0, ""},
		{"absent, NULL", false, false, spec(2, identity), nil, "map[2:<nil>]", 0, ""},
		{"absent, of another transform", false, false, spec(2, bucket), int32(3), "map[]", 0, ""},
		{"absent, unpartitioned", false, false, catalog.PartitionSpec{}, nil, "map[]", 0, ""},
		{"there", false, true, spec(2, identity), "north", "map[]", 0, ""},
		{"no IDs", true, true, spec(2, identity), "north", "map[2:north]", 0, ""},
		{"no such value", false, false, spec(2, identity), int64(1), "", errs.Corrupt, "read partition value of region"},
		{"of a nested field", false, true, spec(5, identity), "x", "", errs.Unsupported, "lacks the field with ID 5"},
	} {
		test := newShapeTest(t, columns...)
		test.table.Specs = map[catalog.SpecID]catalog.PartitionSpec{0: c.spec}
		test.table.Properties[namemapping.Property] = `[{"field-id": 1, "names": ["id"]}, {"field-id": 2, "names": ["region"]}]`
		file := test.file(t, "f.parquet", id, pq)
		switch {
		case c.bare:
			file = test.file(t, "f.parquet", pqLong("id", -1), pqText("region", -1))
		case c.has:
			file = test.file(t, "f.parquet", id, pqText("region", 2), pq)
		}
		file.Partition = []transform.Value{c.value}
		got, err := test.prepare(t, file)
		wantError(t, c.name, err, c.kind, c.text)
		if err == nil && fmt.Sprint(got[0].Constants) != c.want {
			t.Errorf("%s: got %v, want %s", c.name, got[0].Constants, c.want)
		}
	}
}

// TestConstantsOfCopies reads columns that a file in Avro lacks, or has without an ID: the copy is no file of its own.
func TestConstantsOfCopies(t *testing.T) {
	identity, _ := transform.Parse("identity")
	late := leafField(3, "late", transform.Long)
	late.HasDefault, late.InitialDefault = true, int64(5)
	const text = `{"type": "record", "name": "r", "fields": [{"name": "id", "type": "long"ID}, {"name": "region", "type": "string"}]}`
	for _, c := range []struct{ name, id, want string }{{"IDs", `, "field-id": 1`, "map[2:north]"}, {"no IDs", "", "map[2:north]"}} {
		test := newShapeTest(t, leafField(1, "id", transform.Long), leafField(2, "region", transform.String), late)
		test.table.Specs = map[catalog.SpecID]catalog.PartitionSpec{0: {Fields: []catalog.PartitionField{
			{ID: 1000, Sources: []catalog.FieldID{2}, Transform: identity, SourceType: transform.Type{Kind: transform.String}},
		}}}
		test.table.Properties[namemapping.Property] = `[{"field-id": 1, "names": ["id"]}, {"field-id": 2, "names": ["region"]}]`
		file := test.avroFile(t, "f.avro", strings.Replace(text, "ID", c.id, 1), map[string]any{"id": int64(1), "region": "south"})
		file.Partition = []transform.Value{"north"}
		for _, columns := range [][]catalog.FieldID{{1, 2, 3}, {2}, {2, 3}} {
			got, err := test.prepareColumns(t, columns, file)
			if err != nil || fmt.Sprint(got[0].Constants) != c.want || got[0].ByName {
				t.Errorf("%s: columns %v: %+v, %v", c.name, columns, got, err)
			}
		}
		if got, err := test.prepareColumns(t, []catalog.FieldID{3}, file); err != nil || got[0].Constants != nil {
			t.Errorf("%s: a default: %+v, %v", c.name, got, err)
		}
		delete(test.table.Properties, namemapping.Property)
		if _, err := test.prepareColumns(t, []catalog.FieldID{3}, file); c.id != "" && err != nil {
			t.Errorf("%s, no mapping: %v", c.name, err)
		}
	}
}

func TestConstantsOfPromotedColumns(t *testing.T) {
	typ := func(text string) transform.Type {
		got, err := transform.ParseType(text)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, c := range []struct {
		to, from string
		value    transform.Value
		want     transform.Value // nil: an error
	}{
		{"long", "int", int32(-5), int64(-5)}, {"int", "long", int64(7), int32(7)}, {"int", "long", int64(1) << 40, nil},
		{"double", "float", float32(1.5), 1.5}, {"float", "double", 1.5, float32(1.5)}, {"float", "double", math.Pi, nil},
		{"timestamp", "date", int32(-1), nil}, {"string", "string", "x", "x"}, {"string", "long", int64(1), nil},
		{"decimal(18,2)", "decimal(9,2)", big.NewInt(150), big.NewInt(150)},
	} {
		got, err := constantOf(typ(c.to), typ(c.from), c.value)
		if (err == nil) != (c.want != nil) || err == nil && fmt.Sprintf("%T %v", got, got) != fmt.Sprintf("%T %v", c.want, c.want) {
			t.Errorf("%v, a %s, as a %s: got %T %v, %v, want %T %v", c.value, c.from, c.to, got, got, err, c.want, c.want)
		}
	}
}
