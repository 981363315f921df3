package duck

import (
	"fmt"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/transform"
)

// initialSQL returns the value of f in files that were written before it was added, as read_parquet wants it: text that
// DuckDB casts to the column's type.
func initialSQL(f catalog.Field) (string, error) {
	switch {
	case !hasDefault(f):
		return "NULL", nil
	case f.Type.Nested == catalog.NotNested:
		return literalSQL(f.Type.Primitive, f.InitialDefault), nil
	}
	expr, err := defaultExpr(f)
	return "CAST(" + expr + " AS VARCHAR)", err
}

func hasDefault(f catalog.Field) bool { return f.HasDefault || f.InitialDefault != nil }

// defaultExpr returns the value of f where it is missing, of f's type. A struct's default is by the spec a struct of its
// fields' defaults.
func defaultExpr(f catalog.Field) (string, error) {
	switch {
	case !hasDefault(f):
		return castSQL("NULL", f)
	case f.Type.Nested == catalog.NotNested:
		return castSQL(literalSQL(f.Type.Primitive, f.InitialDefault), f)
	case f.Type.Nested != catalog.Struct:
		return "", errs.New(errs.Unsupported, "read column", f.Name, "a default of type %s can't be read", f.Type)
	}
	parts := make([]string, len(f.Type.Fields))
	for i, inner := range f.Type.Fields {
		expr, err := defaultExpr(inner)
		if err != nil {
			return "", err
		}
		parts[i] = quote.Name(inner.Name) + " := " + expr
	}
	return "struct_pack(" + strings.Join(parts, ", ") + ")", nil
}

// WriteDefaultSQL returns the value of f in new rows that don't say it, of f's type: its write default, or NULL.
func WriteDefaultSQL(f catalog.Field) (string, error) { return defaultExpr(asWritten(f)) }

// asWritten returns f with its write defaults, at all depths, in the place of the initial ones.
func asWritten(f catalog.Field) catalog.Field {
	f.InitialDefault, f.HasDefault = f.WriteDefault, f.HasWriteDefault
	fields := make([]catalog.Field, len(f.Type.Fields))
	for i := range fields {
		fields[i] = asWritten(f.Type.Fields[i])
	}
	f.Type.Fields = fields
	return f
}

// literalSQL returns v, a value of t, as text that DuckDB casts to the type of t.
func literalSQL(t transform.Type, v transform.Value) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		return quote.Text(blobText(v))
	default:
		return textSQL(transform.FormatValue(t, v))
	}
}

// ValueSQL returns v, a value of a column of type t, as SQL of that type.
func ValueSQL(t transform.Type, v transform.Value) (string, error) {
	return castSQL(literalSQL(t, v), catalog.Field{Type: catalog.Type{Primitive: t}})
}

// textSQL returns text as an SQL string, also text with a zero byte, at which DuckDB ends a statement.
func textSQL(text string) string {
	if strings.ContainsRune(text, 0) {
		return "decode(CAST(" + quote.Text(blobText([]byte(text))) + " AS BLOB))"
	}
	return quote.Text(text)
}

// blobText returns bytes as DuckDB casts them from text.
func blobText(b []byte) string {
	var text strings.Builder
	for _, c := range b {
		fmt.Fprintf(&text, `\x%02X`, c)
	}
	return text.String()
}
