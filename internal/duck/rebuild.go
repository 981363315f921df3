package duck

import (
	"fmt"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/transform"
)

// rebuild returns the SQL of a value as type to, from expr, which gives it as type from. Fields of structs are found by
// their IDs: a field that from lacks is its initial default. NULL stays NULL at every depth. Level is how many lambdas the
// result lies in.
func rebuild(expr string, from, to catalog.Type, level int) (string, error) {
	switch {
	case sameType(from, to):
		return expr, nil
	case isUnknown(from) || isUnknown(to):
		return castSQL("NULL", catalog.Field{Type: to})
	case from.Nested != to.Nested, from.Nested == catalog.NotNested && !canPromote(from.Primitive, to.Primitive):
		return "", errs.New(errs.Corrupt, "", "", "the file has %s, which can't become %s", from, to)
	}
	switch to.Nested {
	case catalog.Struct:
		return rebuildStruct(expr, from, to, level)
	case catalog.List:
		name := lambdaName(level)
		element, err := rebuild(name, from.Fields[0].Type, to.Fields[0].Type, level+1)
		return fmt.Sprintf("list_transform(%s, lambda %s: %s)", expr, name, element), err
	case catalog.Map:
		return rebuildMap(expr, from, to, level)
	}
	return castSQL(expr, catalog.Field{Type: to})
}

// lambdaName is a lambda's parameter: lambdas of other levels have others.
func lambdaName(level int) string { return quote.Name(fmt.Sprintf("tarn element %d", level)) }

func rebuildStruct(expr string, from, to catalog.Type, level int) (string, error) {
	parts := make([]string, len(to.Fields))
	for i, f := range to.Fields {
		var value string
		var err error
		if own, ok := childOf(catalog.Field{Type: from}, f.ID); ok {
			value, err = rebuild(fmt.Sprintf("struct_extract(%s, %s)", expr, quote.Text(own.Name)), own.Type, f.Type, level)
		} else {
			value, err = defaultExpr(f)
		}
		if err != nil {
			return "", errs.Wrap(errs.Corrupt, "", f.Name, err)
		}
		parts[i] = quote.Name(f.Name) + " := " + value
	}
	return fmt.Sprintf("CASE WHEN %s IS NULL THEN NULL ELSE struct_pack(%s) END", expr, strings.Join(parts, ", ")), nil
}

func rebuildMap(expr string, from, to catalog.Type, level int) (string, error) {
	name := lambdaName(level)
	key, err := rebuild("struct_extract("+name+", 'key')", from.Fields[0].Type, to.Fields[0].Type, level+1)
	if err != nil {
		return "", err
	}
	value, err := rebuild("struct_extract("+name+", 'value')", from.Fields[1].Type, to.Fields[1].Type, level+1)
	return fmt.Sprintf("map_from_entries(list_transform(map_entries(%s), lambda %s: struct_pack(k := %s, v := %s)))", expr, name, key, value), err
}

// sameType says whether DuckDB reads both types alike: it looks fields of structs up by name.
func sameType(a, b catalog.Type) bool {
	if a.Nested != b.Nested || a.Primitive != b.Primitive || len(a.Fields) != len(b.Fields) {
		return false
	}
	for i, f := range a.Fields {
		other := b.Fields[i]
		if a.Nested == catalog.Struct && (f.ID != other.ID || f.Name != other.Name) || !sameType(f.Type, other.Type) {
			return false
		}
	}
	return true
}

// canPromote says whether the spec lets a column of one type become one of the other, or DuckDB has one type for both.
func canPromote(from, to transform.Type) bool {
	switch from.Kind {
	case transform.Int:
		return to.Kind == transform.Long
	case transform.Float:
		return to.Kind == transform.Double
	case transform.Decimal:
		return to.Kind == transform.Decimal && to.Scale == from.Scale && to.Precision >= from.Precision
	case transform.Date:
		return to.Kind == transform.Timestamp || to.Kind == transform.TimestampNS
	case transform.Fixed, transform.Binary:
		return to.Kind == transform.Fixed || to.Kind == transform.Binary
	}
	return false
}
