package lake

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/datafile"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// metaArrowTypes are the Arrow types in which values of Iceberg's are written to a metadata table's file. A fixed is written as
// bytes of any length: a bound of it may be cut. The unknown type has only NULL.
var metaArrowTypes = map[transform.Kind]arrow.DataType{
	transform.Boolean: arrow.FixedWidthTypes.Boolean, transform.Int: arrow.PrimitiveTypes.Int32, transform.Long: arrow.PrimitiveTypes.Int64,
	transform.Float: arrow.PrimitiveTypes.Float32, transform.Double: arrow.PrimitiveTypes.Float64,
	transform.Date: arrow.FixedWidthTypes.Date32, transform.Time: arrow.FixedWidthTypes.Time64us,
	transform.Timestamp: &arrow.TimestampType{Unit: arrow.Microsecond}, transform.TimestampTZ: arrow.FixedWidthTypes.Timestamp_us,
	transform.TimestampNS: &arrow.TimestampType{Unit: arrow.Nanosecond},
	transform.String:      arrow.BinaryTypes.String, transform.UUID: extensions.NewUUIDType(),
	transform.Fixed: arrow.BinaryTypes.Binary, transform.Binary: arrow.BinaryTypes.Binary, transform.Unknown: arrow.PrimitiveTypes.Int32,
}

// isWritable says whether a file of a metadata table can hold values of t. Of other types it has the raw bytes.
func isWritable(t transform.Type) bool {
	_, ok := metaArrowTypes[t.Kind]
	return ok || t.Kind == transform.Decimal
}

// writable returns t with binary in the place of types that aren't writable.
func writable(t catalog.Type) catalog.Type {
	out := catalog.Type{Primitive: t.Primitive, Nested: t.Nested}
	if t.Nested == catalog.NotNested && !isWritable(t.Primitive) {
		return bytesType
	}
	for _, f := range t.Fields {
		out.Fields = append(out.Fields, catalog.Field{ID: f.ID, Name: f.Name, Type: writable(f.Type)})
	}
	tellApart(out.Fields, func(i int) int { return int(out.Fields[i].ID) })
	return out
}

// tellApart gives fields of a struct whose names differ only in case, which SQL's structs can't have, new ones with the ID
// that id returns of the field at a place: all of them, since one that kept its name would be found by those of the others.
func tellApart(fields []catalog.Field, id func(i int) int) {
	uses := map[string]int{}
	for _, f := range fields {
		uses[strings.ToLower(f.Name)]++
	}
	for i, f := range fields {
		low := strings.ToLower(f.Name)
		if uses[low] < 2 {
			continue
		}
		name := fmt.Sprintf("%s_%d", f.Name, id(i))
		for uses[strings.ToLower(name)] > 0 {
			name += "_"
		}
		uses[strings.ToLower(name)]++
		fields[i].Name = name
	}
}

func arrowType(t catalog.Type) (arrow.DataType, error) {
	fields := make([]arrow.Field, len(t.Fields))
	for i, f := range t.Fields {
		inner, err := arrowField(f)
		if err != nil {
			return nil, err
		}
		fields[i] = inner
	}
	switch t.Nested {
	case catalog.Struct:
		return arrow.StructOf(fields...), nil
	case catalog.List:
		return arrow.ListOfField(fields[0]), nil
	case catalog.Map:
		fields[0].Nullable = false
		return arrow.MapOfFields(fields[0], fields[1]), nil
	}
	if t.Primitive.Kind == transform.Decimal {
		return &arrow.Decimal128Type{Precision: int32(t.Primitive.Precision), Scale: int32(t.Primitive.Scale)}, nil
	}
	if typ, ok := metaArrowTypes[t.Primitive.Kind]; ok {
		return typ, nil
	}
	return nil, errs.New(errs.Unsupported, "write metadata table", "", "values of type %s can't be told", t)
}

func arrowField(f catalog.Field) (arrow.Field, error) {
	typ, err := arrowType(f.Type)
	return arrow.Field{Name: f.Name, Type: typ, Nullable: true, Metadata: datafile.ArrowID(f.ID)}, err
}

// canTell says whether v, a value of t, is one that SQL's type can hold, which bytes of metadata may not be.
func canTell(t transform.Type, v transform.Value) bool {
	switch v := v.(type) {
	case *big.Int:
		return len(new(big.Int).Abs(v).String()) <= t.Precision
	case int64:
		return t.Kind != transform.Time || v >= 0 && v < 86_400_000_000
	}
	return true
}

// appendMeta appends v, as metaColumn describes it, and returns about how many bytes it takes.
func appendMeta(b array.Builder, v any) (int, error) {
	if v == nil {
		b.AppendNull()
		return 1, nil
	}
	switch v := v.(type) {
	case []any:
		return appendNested(b, v)
	case [][2]any:
		return appendMap(b, v)
	}
	size, ok := appendPrimitive(b, v)
	if !ok {
		return 0, errs.New(errs.Internal, "write metadata table", "", "a column of type %s got a %T", b.Type(), v)
	}
	return size, nil
}

func appendPrimitive(b array.Builder, v any) (int, bool) {
	switch b := b.(type) {
	case *array.BooleanBuilder:
		return put(v, b.Append)
	case *array.Int32Builder:
		return put(v, b.Append)
	case *array.Date32Builder:
		return put(v, func(days int32) { b.Append(arrow.Date32(days)) })
	case *array.Int64Builder:
		return put(v, b.Append)
	case *array.Time64Builder:
		return put(v, func(n int64) { b.Append(arrow.Time64(n)) })
	case *array.TimestampBuilder:
		return put(v, func(n int64) { b.Append(arrow.Timestamp(n)) })
	case *array.Float32Builder:
		return put(v, b.Append)
	case *array.Float64Builder:
		return put(v, b.Append)
	case *array.Decimal128Builder:
		return put(v, func(n *big.Int) { b.Append(decimal128.FromBigInt(n)) })
	case *extensions.UUIDBuilder:
		return put(v, b.AppendBytes)
	case *array.StringBuilder:
		text, _ := v.(string)
		_, ok := put(v, b.Append)
		return len(text) + 8, ok
	case *array.BinaryBuilder:
		raw, _ := v.([]byte)
		_, ok := put(v, b.Append)
		return len(raw) + 8, ok
	}
	return 0, false
}

func put[T any](v any, add func(T)) (int, bool) {
	value, ok := v.(T)
	if ok {
		add(value)
	}
	return 8, ok
}

func appendNested(b array.Builder, values []any) (int, error) {
	var into func(i int) array.Builder
	switch b := b.(type) {
	case *array.StructBuilder:
		b.Append(true)
		into = b.FieldBuilder
	case *array.ListBuilder:
		b.Append(true)
		into = func(int) array.Builder { return b.ValueBuilder() }
	default:
		return 0, errs.New(errs.Internal, "write metadata table", "", "a column of type %s got several values", b.Type())
	}
	size := 1
	for i, v := range values {
		n, err := appendMeta(into(i), v)
		if err != nil {
			return 0, err
		}
		size += n
	}
	return size, nil
}

func appendMap(b array.Builder, entries [][2]any) (int, error) {
	into, ok := b.(*array.MapBuilder)
	if !ok {
		return 0, errs.New(errs.Internal, "write metadata table", "", "a column of type %s got a map", b.Type())
	}
	into.Append(true)
	size := 1
	for _, e := range entries {
		k, err := appendMeta(into.KeyBuilder(), e[0])
		if err != nil {
			return 0, err
		}
		v, err := appendMeta(into.ItemBuilder(), e[1])
		if err != nil {
			return 0, err
		}
		size += k + v
	}
	return size, nil
}
