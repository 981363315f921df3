package evolve

import (
	"math/big"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/transform"
)

// literalKinds says which types a constant of each kind may be the default of. Text stands for values of types that have
// no other form.
var literalKinds = map[sql.LiteralKind][]transform.Kind{
	sql.BooleanLiteral:   {transform.Boolean},
	sql.NumberLiteral:    {transform.Int, transform.Long, transform.Float, transform.Double, transform.Decimal},
	sql.StringLiteral:    {transform.String, transform.UUID, transform.Time, transform.Date, transform.Timestamp, transform.TimestampTZ, transform.TimestampNS, transform.TimestampTZNS},
	sql.BinaryLiteral:    {transform.Binary, transform.Fixed},
	sql.DateLiteral:      {transform.Date},
	sql.TimestampLiteral: {transform.Timestamp, transform.TimestampTZ, transform.TimestampNS, transform.TimestampTZNS},
}

// defaultOf returns the value of a constant as a default of the type; nil for NULL.
func (d *draft) defaultOf(t catalog.Type, l sql.Literal) (transform.Value, error) {
	if l.Kind == sql.NullLiteral {
		return nil, nil
	}
	if d.FormatVersion < defaultsVersion {
		return nil, errs.New(errs.Invalid, "", "", "tables of format version %d have no default values", d.FormatVersion).WithHint("%s", upgradeHint)
	}
	if t.Nested != catalog.NotNested {
		return nil, errs.New(errs.Unsupported, "", "", "columns of type %s have no default but NULL", TypeSQL(t))
	}
	if !slices.Contains(literalKinds[l.Kind], t.Primitive.Kind) {
		return nil, errs.New(errs.Invalid, "", "", "%q can't be the default of a column of type %s", l.Text, TypeSQL(t))
	}
	return valueOf(t.Primitive, l)
}

func valueOf(t transform.Type, l sql.Literal) (transform.Value, error) {
	text := l.Text
	if t.Kind == transform.Decimal {
		text = withFraction(text)
	}
	v, err := transform.ParseValue(t, text)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, "", "", err)
	}
	return v, nil
}

// Assigned returns a constant as a value of a column, nil for NULL, as a partition is named by it: as in Spark, text stands for any value, and
// a text column takes any constant.
func Assigned(f catalog.Field, l sql.Literal) (transform.Value, error) {
	switch {
	case l.Kind == sql.NullLiteral && f.Required:
		return nil, errs.New(errs.Invalid, "name partition of", f.Name, "it is NULL, and the column is NOT NULL")
	case l.Kind == sql.NullLiteral:
		return nil, nil
	case l.Kind == sql.StringLiteral && f.Type.Nested == catalog.NotNested, f.Type.Primitive.Kind == transform.String,
		slices.Contains(literalKinds[l.Kind], f.Type.Primitive.Kind):
		v, err := valueOf(f.Type.Primitive, l)
		return v, errs.Wrap(errs.Invalid, "name partition of", f.Name, err)
	}
	return nil, errs.New(errs.Invalid, "name partition of", f.Name, "%q can't be a value of type %s", l.Text, TypeSQL(f.Type))
}

// withFraction gives a number that ends with its point a digit behind it.
func withFraction(text string) string {
	if strings.HasSuffix(text, ".") {
		return text + "0"
	}
	return text
}

// valueAs returns the value, if any, as one of the type, to which its own may be promoted unless it is the same; nil where there is
// none.
func valueAs(from, to transform.Type, v transform.Value) transform.Value {
	if v == nil || from == to {
		return v
	}
	return widen(from, to, v)
}

// widen returns the value as one of a type that its own may be promoted to.
func widen(from, to transform.Type, v transform.Value) transform.Value {
	switch v := v.(type) {
	case int32:
		if from.Kind == transform.Int {
			return int64(v)
		}
		return dateToTime(int64(v), to)
	case float32:
		return float64(v)
	}
	return v
}

// dateToTime returns the first moment of a day, in the units of the type; nil where it has none.
func dateToTime(days int64, to transform.Type) transform.Value {
	perDay := int64(24*60*60) * 1_000_000
	if to.Kind == transform.TimestampNS {
		perDay *= 1000
	}
	n := new(big.Int).Mul(big.NewInt(days), big.NewInt(perDay))
	if !n.IsInt64() {
		return nil
	}
	return n.Int64()
}
