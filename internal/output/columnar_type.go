package output

import (
	"math/big"

	"github.com/google/uuid"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tarndb/tarn/internal/errs"
)

// fileColumn returns a column as a file holds it. The caller releases it. A uuid that arrives as text becomes a uuid; one
// within a nested value stays the text that it is.
func fileColumn(t duckType, arr arrow.Array) (arrow.Array, error) {
	if text, ok := arr.(*array.String); ok && t.name == "UUID" {
		return uuidColumn(text)
	}
	if err := checkHuge(t, arr); err != nil {
		return nil, err
	}
	arr.Retain()
	return arr, nil
}

func uuidColumn(text *array.String) (arrow.Array, error) {
	b := extensions.NewUUIDBuilder(memory.DefaultAllocator)
	defer b.Release()
	for i := range text.Len() {
		if text.IsNull(i) {
			b.AppendNull()
			continue
		}
		id, err := uuid.Parse(text.Value(i))
		if err != nil {
			return nil, errs.New(errs.Internal, "", "", "%q is not a uuid", text.Value(i))
		}
		b.Append(id)
	}
	return b.NewArray(), nil
}

// maxDecimal is the first integer that decimal(38,0), as which files hold 128-bit integers, has no room for.
var maxDecimal = new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil)

// checkHuge refuses 128-bit integers beyond 38 digits, at any depth.
func checkHuge(t duckType, arr arrow.Array) error {
	switch a := arr.(type) {
	case *array.Decimal128:
		if t.name != "HUGEINT" && t.name != "UHUGEINT" {
			return nil
		}
		for i := range a.Len() {
			if a.IsNull(i) {
				continue
			}
			if n := hugeInt(a.Value(i), t.name == "HUGEINT"); n.CmpAbs(maxDecimal) >= 0 {
				return errs.New(errs.Unsupported, "", "", "%d has more than the 38 digits that the file format can hold", n).
					WithHint("cast the column to VARCHAR or DOUBLE")
			}
		}
	case *array.Map:
		if err := checkHuge(t.child(0), a.Keys()); err != nil {
			return err
		}
		return checkHuge(t.child(1), a.Items())
	case array.ListLike:
		return checkHuge(t.child(0), a.ListValues())
	case *array.Struct:
		for j := range a.NumField() {
			if err := checkHuge(t.child(j), a.Field(j)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkType refuses what a file has no type for: it would be read back as something else.
func checkType(format string, t duckType, typ arrow.DataType) error {
	refused := t.name == "TIME WITH TIME ZONE" || t.name == "BIT" || t.name == "BIGNUM"
	if format == Parquet {
		switch typ.(type) {
		case *arrow.MonthDayNanoIntervalType, arrow.UnionType, *arrow.NullType:
			refused = true
		}
	}
	if refused {
		return errs.New(errs.Unsupported, "", "", "a %s file has no type for %s", format, t.name).
			WithHint("cast the column to VARCHAR")
	}
	if nested, ok := typ.(arrow.NestedType); ok {
		for j, f := range memberFields(nested) {
			if err := checkType(format, t.child(j), f.Type); err != nil {
				return err
			}
		}
	}
	return nil
}

// memberFields returns the parts of a nested type in the order of a DuckDB type's fields.
func memberFields(typ arrow.NestedType) []arrow.Field {
	if m, ok := typ.(*arrow.MapType); ok {
		return []arrow.Field{m.KeyField(), m.ItemField()}
	}
	return typ.Fields()
}

// emptySchema is the schema of a file without rows, for which no batch ever told the types.
func emptySchema(h header) (*arrow.Schema, error) {
	names := uniqueNames(h.columns)
	fields := make([]arrow.Field, len(h.columns))
	for j, t := range h.types {
		typ, ok := arrowType(t)
		if !ok {
			return nil, errs.New(errs.Unsupported, "write column", names[j], "the type %s has no place in a file", h.columns[j].Type)
		}
		fields[j] = arrow.Field{Name: names[j], Type: typ, Nullable: true}
	}
	return arrow.NewSchema(fields, nil), nil
}

// arrowTypes holds the Arrow type of each DuckDB type without parameters.
var arrowTypes = map[string]arrow.DataType{
	"BOOLEAN": arrow.FixedWidthTypes.Boolean,
	"TINYINT": arrow.PrimitiveTypes.Int8, "SMALLINT": arrow.PrimitiveTypes.Int16,
	"INTEGER": arrow.PrimitiveTypes.Int32, "BIGINT": arrow.PrimitiveTypes.Int64,
	"UTINYINT": arrow.PrimitiveTypes.Uint8, "USMALLINT": arrow.PrimitiveTypes.Uint16,
	"UINTEGER": arrow.PrimitiveTypes.Uint32, "UBIGINT": arrow.PrimitiveTypes.Uint64,
	"HUGEINT": &arrow.Decimal128Type{Precision: 38}, "UHUGEINT": &arrow.Decimal128Type{Precision: 38},
	"FLOAT": arrow.PrimitiveTypes.Float32, "DOUBLE": arrow.PrimitiveTypes.Float64,
	"VARCHAR": arrow.BinaryTypes.String, "JSON": arrow.BinaryTypes.String, "ENUM": arrow.BinaryTypes.String,
	"BLOB": arrow.BinaryTypes.Binary,
	"DATE": arrow.FixedWidthTypes.Date32, "TIME": arrow.FixedWidthTypes.Time64us,
	"TIMESTAMP": &arrow.TimestampType{Unit: arrow.Microsecond}, "TIMESTAMP_S": &arrow.TimestampType{Unit: arrow.Second},
	"TIMESTAMP_MS": &arrow.TimestampType{Unit: arrow.Millisecond}, "TIMESTAMP_NS": &arrow.TimestampType{Unit: arrow.Nanosecond},
	"TIMESTAMP WITH TIME ZONE": arrow.FixedWidthTypes.Timestamp_us,
}

func arrowType(t duckType) (arrow.DataType, bool) {
	switch t.name {
	case "UUID":
		return extensions.NewUUIDType(), true
	case "DECIMAL":
		if len(t.params) != 2 {
			return nil, false
		}
		return &arrow.Decimal128Type{Precision: int32(t.params[0]), Scale: int32(t.params[1])}, true
	case "LIST", "MAP", "STRUCT":
		return nestedArrowType(t)
	}
	typ, ok := arrowTypes[t.name]
	return typ, ok
}

func nestedArrowType(t duckType) (arrow.DataType, bool) {
	fields := make([]arrow.Field, len(t.fields))
	for j, f := range t.fields {
		typ, ok := arrowType(f.typ)
		if !ok {
			return nil, false
		}
		fields[j] = arrow.Field{Name: f.name, Type: typ, Nullable: true}
	}
	switch t.name {
	case "LIST":
		return arrow.ListOf(fields[0].Type), true
	case "MAP":
		if len(fields) != 2 {
			return nil, false
		}
		return arrow.MapOf(fields[0].Type, fields[1].Type), true
	}
	return arrow.StructOf(fields...), true
}
