package duck

import (
	"fmt"
	"strings"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/quote"
)

// typeNames are DuckDB's names of its plain types.
var typeNames = map[bindings.Type]string{
	bindings.TypeBoolean: "BOOLEAN", bindings.TypeTinyInt: "TINYINT", bindings.TypeSmallInt: "SMALLINT",
	bindings.TypeInteger: "INTEGER", bindings.TypeBigInt: "BIGINT", bindings.TypeHugeInt: "HUGEINT",
	bindings.TypeUTinyInt: "UTINYINT", bindings.TypeUSmallInt: "USMALLINT", bindings.TypeUInteger: "UINTEGER",
	bindings.TypeUBigInt: "UBIGINT", bindings.TypeUHugeInt: "UHUGEINT", bindings.TypeBigNum: "BIGNUM",
	bindings.TypeFloat: "FLOAT", bindings.TypeDouble: "DOUBLE", bindings.TypeDate: "DATE", bindings.TypeTime: "TIME",
	bindings.TypeTimeNS: "TIME_NS", bindings.TypeTimeTZ: "TIME WITH TIME ZONE", bindings.TypeTimestamp: "TIMESTAMP",
	bindings.TypeTimestampS: "TIMESTAMP_S", bindings.TypeTimestampMS: "TIMESTAMP_MS", bindings.TypeTimestampNS: "TIMESTAMP_NS",
	bindings.TypeTimestampTZ: "TIMESTAMP WITH TIME ZONE", bindings.TypeInterval: "INTERVAL", bindings.TypeVarchar: "VARCHAR",
	bindings.TypeBlob: "BLOB", bindings.TypeBit: "BIT", bindings.TypeUUID: "UUID", bindings.TypeSQLNull: "\"NULL\"",
	bindings.TypeGeometry: "GEOMETRY", bindings.TypeVariant: "VARIANT", bindings.TypeAny: "ANY",
}

// typeName returns t as DuckDB's SQL spells it.
func typeName(t bindings.LogicalType) string {
	if alias := bindings.LogicalTypeGetAlias(t); alias != "" {
		return alias // JSON, and types that a user named
	}
	id := bindings.GetTypeId(t)
	switch id {
	case bindings.TypeDecimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", bindings.DecimalWidth(t), bindings.DecimalScale(t))
	case bindings.TypeEnum:
		return enumName(t)
	case bindings.TypeList:
		return destroyedName(bindings.ListTypeChildType(t)) + "[]"
	case bindings.TypeArray:
		return fmt.Sprintf("%s[%d]", destroyedName(bindings.ArrayTypeChildType(t)), bindings.ArrayTypeArraySize(t))
	case bindings.TypeMap:
		return fmt.Sprintf("MAP(%s, %s)", destroyedName(bindings.MapTypeKeyType(t)), destroyedName(bindings.MapTypeValueType(t)))
	case bindings.TypeStruct:
		return "STRUCT(" + memberNames(t, int(bindings.StructTypeChildCount(t)), bindings.StructTypeChildName, bindings.StructTypeChildType) + ")"
	case bindings.TypeUnion:
		return "UNION(" + memberNames(t, int(bindings.UnionTypeMemberCount(t)), bindings.UnionTypeMemberName, bindings.UnionTypeMemberType) + ")"
	}
	if name, ok := typeNames[id]; ok {
		return name
	}
	return fmt.Sprintf("type %d", id)
}

// destroyedName returns the name of t, and destroys it.
func destroyedName(t bindings.LogicalType) string {
	defer bindings.DestroyLogicalType(&t)
	return typeName(t)
}

func memberNames(
	t bindings.LogicalType, n int,
	name func(bindings.LogicalType, bindings.IdxT) string,
	member func(bindings.LogicalType, bindings.IdxT) bindings.LogicalType,
) string {
	parts := make([]string, n)
	for i := range parts {
		own := destroyedName(member(t, bindings.IdxT(i)))
		if name := name(t, bindings.IdxT(i)); name != "" { // row(1, 2) has no names
			own = quoteWhenNeeded(name) + " " + own
		}
		parts[i] = own
	}
	return strings.Join(parts, ", ")
}

func enumName(t bindings.LogicalType) string {
	values := make([]string, bindings.EnumDictionarySize(t))
	for i := range values {
		values[i] = quote.Text(bindings.EnumDictionaryValue(t, bindings.IdxT(i)))
	}
	return "ENUM(" + strings.Join(values, ", ") + ")"
}
