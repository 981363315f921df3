package lake

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/transform"
)

// metaColumn is a column of a metadata table and how it comes from a row. Its value is NULL as nil, of a primitive type a
// transform.Value, of a struct or list a []any, of a map a [][2]any.
type metaColumn struct {
	catalog.Field
	value func(row any) any
	stats bool // it takes the statistics of manifest entries
}

// newColumn makes a column of a metadata table whose rows are of type R. Their IDs are the reference implementation's.
func newColumn[R any](id catalog.FieldID, name string, t catalog.Type, value func(R) any) metaColumn {
	return metaColumn{Field: catalog.Field{ID: id, Name: name, Type: t}, value: func(row any) any { return value(row.(R)) }}
}

// structColumn makes one column of several.
func structColumn(id catalog.FieldID, name string, columns []metaColumn) metaColumn {
	typ := catalog.Type{Nested: catalog.Struct}
	out := metaColumn{Field: catalog.Field{ID: id, Name: name}}
	for _, c := range columns {
		typ.Fields = append(typ.Fields, c.Field)
		out.stats = out.stats || c.stats
	}
	out.Type = typ
	out.value = func(row any) any {
		values := make([]any, len(columns))
		for i, c := range columns {
			values[i] = c.value(row)
		}
		return values
	}
	return out
}

// The types of metadata tables' columns.
var (
	boolType   = plainType(transform.Boolean)
	intType    = plainType(transform.Int)
	longType   = plainType(transform.Long)
	textType   = plainType(transform.String)
	bytesType  = plainType(transform.Binary)
	momentType = plainType(transform.TimestampTZ)
)

func plainType(k transform.Kind) catalog.Type {
	return catalog.Type{Primitive: transform.Type{Kind: k}}
}

func listOf(id catalog.FieldID, element catalog.Type) catalog.Type {
	return catalog.Type{Nested: catalog.List, Fields: []catalog.Field{{ID: id, Name: "element", Type: element, Required: true}}}
}

func mapOf(keyID, valueID catalog.FieldID, key, value catalog.Type) catalog.Type {
	return catalog.Type{Nested: catalog.Map, Fields: []catalog.Field{
		{ID: keyID, Name: "key", Type: key, Required: true}, {ID: valueID, Name: "value", Type: value, Required: true},
	}}
}

// moment is a time of metadata, in milliseconds, as a value of momentType.
func moment(milliseconds int64) any { return milliseconds * 1000 }

// orNull is the value of what may be missing.
func orNull[T any](v *T) any {
	if v == nil {
		return nil
	}
	return *v
}

// intOrNull is orNull of an int that is one of 32 bits.
func intOrNull(v *int) any {
	if v == nil {
		return nil
	}
	return int32(*v)
}

// mapValue returns m as a map's value, sorted by its keys; a nil map is NULL.
func mapValue[K cmp.Ordered, V any](m map[K]V, key func(K) any) any {
	if m == nil {
		return nil
	}
	out := make([][2]any, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, [2]any{key(k), m[k]})
	}
	return out
}

// maxFieldID returns the highest field ID in the columns.
func maxFieldID(fields []catalog.Field) catalog.FieldID {
	highest := catalog.FieldID(0)
	for _, f := range fields {
		highest = max(highest, f.ID, maxFieldID(f.Type.Fields))
	}
	return highest
}
