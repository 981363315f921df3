package duck

import (
	"fmt"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/transform"
)

// primitiveSQL are DuckDB's types of Iceberg's. A type without one is refused: no other type of DuckDB holds its values
// whole. The unknown type holds nothing but NULL, for which any type does.
var primitiveSQL = map[transform.Kind]string{
	transform.Boolean: "BOOLEAN", transform.Int: "INTEGER", transform.Long: "BIGINT", transform.Float: "FLOAT",
	transform.Double: "DOUBLE", transform.Date: "DATE", transform.Time: "TIME", transform.Timestamp: "TIMESTAMP",
	transform.TimestampTZ: "TIMESTAMP WITH TIME ZONE", transform.TimestampNS: "TIMESTAMP_NS", transform.String: "VARCHAR",
	transform.UUID: "UUID", transform.Fixed: "BLOB", transform.Binary: "BLOB", transform.Unknown: "INTEGER",
}

func typeSQL(t transform.Type) (string, error) {
	if t.Kind == transform.Decimal {
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale), nil
	}
	if name, ok := primitiveSQL[t.Kind]; ok {
		return name, nil
	}
	return "", errs.New(errs.Unsupported, "read column", "", "values of type %s can't be read", t)
}

// TypeSQL returns the DuckDB type that holds the values of t, as SQL text. An error is Unsupported, and names the nested
// field by its path inside t.
func TypeSQL(t catalog.Type) (string, error) { return typeText(t, "") }

func typeText(t catalog.Type, path string) (string, error) {
	parts := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		inner := strings.TrimPrefix(path+"."+f.Name, ".")
		part, err := typeText(f.Type, inner)
		if err != nil {
			return "", err
		}
		parts[i] = part
	}
	switch t.Nested {
	case catalog.List:
		return parts[0] + "[]", nil
	case catalog.Map:
		return "MAP(" + parts[0] + ", " + parts[1] + ")", nil
	case catalog.Struct:
		if len(parts) == 0 {
			return "", errs.New(errs.Unsupported, "read column", path, "a struct without fields can't be read")
		}
		for i, f := range t.Fields {
			parts[i] = quote.Name(f.Name) + " " + parts[i]
		}
		return "STRUCT(" + strings.Join(parts, ", ") + ")", nil
	}
	name, err := typeSQL(t.Primitive)
	if err != nil && path != "" {
		return "", errs.Wrap(errs.Unsupported, "", path, err)
	}
	return name, err
}

// fieldSQL is TypeSQL of a column, which its error names.
func fieldSQL(f catalog.Field) (string, error) { return typeText(f.Type, f.Name) }
