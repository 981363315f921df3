package duck

import (
	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/errs"
)

// unfaithful are the types that Arrow export cuts or can't tell from another: TIMETZ loses its offset, UHUGEINT its
// highest bit, and BIGNUM comes in DuckDB's own bytes.
var unfaithful = map[bindings.Type]bool{
	bindings.TypeTimeTZ: true, bindings.TypeUHugeInt: true, bindings.TypeBigNum: true, bindings.TypeVariant: true,
	bindings.TypeGeometry: true, bindings.TypeTimeNS: true,
}

// refuseUnfaithful returns an error when a column holds, at any depth, a type that Arrow doesn't carry whole.
func refuseUnfaithful(columns []Column, types []bindings.LogicalType) error {
	for i, t := range types {
		if holdsUnfaithful(t) {
			return errs.New(errs.Unsupported, "return column", columns[i].Name, "values of type %s can't be returned", columns[i].Type).
				WithHint("cast the column to VARCHAR")
		}
	}
	return nil
}

func holdsUnfaithful(t bindings.LogicalType) bool {
	id := bindings.GetTypeId(t)
	found := unfaithful[id]
	eachChild(t, func(child bindings.LogicalType) { found = found || holdsUnfaithful(child) })
	return found
}

// eachChild calls f with each type that t is made of directly.
func eachChild(t bindings.LogicalType, f func(bindings.LogicalType)) {
	visit := func(child bindings.LogicalType) {
		defer bindings.DestroyLogicalType(&child)
		f(child)
	}
	switch bindings.GetTypeId(t) {
	case bindings.TypeList:
		visit(bindings.ListTypeChildType(t))
	case bindings.TypeArray:
		visit(bindings.ArrayTypeChildType(t))
	case bindings.TypeMap:
		visit(bindings.MapTypeKeyType(t))
		visit(bindings.MapTypeValueType(t))
	case bindings.TypeStruct:
		for i := range bindings.StructTypeChildCount(t) {
			visit(bindings.StructTypeChildType(t, i))
		}
	case bindings.TypeUnion:
		for i := range bindings.UnionTypeMemberCount(t) {
			visit(bindings.UnionTypeMemberType(t, i))
		}
	}
}
