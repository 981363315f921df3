package write

import (
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// Carriage says how the values of an Iceberg type pass through DuckDB and Parquet.
type Carriage struct {
	Kind    transform.Kind
	Iceberg string // as tables are defined
	Duck    string // the type of columns in queries
	Parquet string // the type in files; "" where no file can be written
	Takes   string // what INSERT assigns to a column of it, for people
	Refused string // why no file can be written
}

// Carriages are all primitive types, in the order of the spec.
var Carriages = []Carriage{
	{transform.Boolean, "boolean", "BOOLEAN", "BOOLEAN", "BOOLEAN", ""},
	{transform.Int, "int", "INTEGER", "INT32", "any number; fractions are cut off, and what doesn't fit is an error", ""},
	{transform.Long, "long", "BIGINT", "INT64", "any number; fractions are cut off, and what doesn't fit is an error", ""},
	{transform.Float, "float", "FLOAT", "FLOAT", "any number; what doesn't fit is an error", ""},
	{transform.Double, "double", "DOUBLE", "DOUBLE", "any number", ""},
	{transform.Decimal, "decimal(P, S)", "DECIMAL(P, S)", "INT32, INT64 or FIXED_LEN_BYTE_ARRAY, DECIMAL(P, S)", "any number, rounded to S digits; what doesn't fit is an error", ""},
	{transform.Date, "date", "DATE", "INT32, DATE", "DATE; the day, in UTC, of any TIMESTAMP", ""},
	{transform.Time, "time", "TIME", "INT64, TIME in microseconds", "TIME", ""},
	{transform.Timestamp, "timestamp", "TIMESTAMP", "INT64, TIMESTAMP in microseconds", "any TIMESTAMP, one with a zone in UTC; nanoseconds that would be lost are an error; DATE", ""},
	{transform.TimestampTZ, "timestamptz", "TIMESTAMP WITH TIME ZONE", "INT64, TIMESTAMP in microseconds, adjusted to UTC", "any TIMESTAMP, one without a zone as of UTC; nanoseconds that would be lost are an error; DATE", ""},
	{transform.TimestampNS, "timestamp_ns", "TIMESTAMP_NS", "INT64, TIMESTAMP in nanoseconds", "any TIMESTAMP between 1677 and 2262, one with a zone in UTC; DATE", ""},
	{transform.TimestampTZNS, "timestamptz_ns", "", "", "", "DuckDB has no type of nanoseconds with a zone"},
	{transform.String, "string", "VARCHAR", "BYTE_ARRAY, STRING", "VARCHAR, and any other single value but BLOB, BIT and INTERVAL as DuckDB writes it", ""},
	{transform.UUID, "uuid", "UUID", "FIXED_LEN_BYTE_ARRAY(16), UUID", "UUID; VARCHAR that is one", ""},
	{transform.Fixed, "fixed[L]", "BLOB", "FIXED_LEN_BYTE_ARRAY(L)", "BLOB of L bytes; another length is an error", ""},
	{transform.Binary, "binary", "BLOB", "BYTE_ARRAY", "BLOB", ""},
	{transform.Unknown, "unknown", "INTEGER", "", "", "a file has no column for values that can only be NULL"},
	{transform.Variant, "variant", "", "", "", "variants can't be written"},
	{transform.Geometry, "geometry", "", "", "", "geometries can't be written"},
	{transform.Geography, "geography", "", "", "", "geographies can't be written"},
}

// Becoming are the Iceberg types that columns of DuckDB's types become in a table made from a query. Types that aren't in it
// are refused.
var Becoming = []struct {
	Duck string
	Type transform.Type
}{
	{"BOOLEAN", transform.Type{Kind: transform.Boolean}}, {"TINYINT", transform.Type{Kind: transform.Int}},
	{"SMALLINT", transform.Type{Kind: transform.Int}}, {"INTEGER", transform.Type{Kind: transform.Int}},
	{"UTINYINT", transform.Type{Kind: transform.Int}}, {"USMALLINT", transform.Type{Kind: transform.Int}},
	{"BIGINT", transform.Type{Kind: transform.Long}}, {"UINTEGER", transform.Type{Kind: transform.Long}},
	{"FLOAT", transform.Type{Kind: transform.Float}}, {"DOUBLE", transform.Type{Kind: transform.Double}},
	{"DATE", transform.Type{Kind: transform.Date}}, {"TIME", transform.Type{Kind: transform.Time}},
	{"TIMESTAMP", transform.Type{Kind: transform.Timestamp}}, {"TIMESTAMP_S", transform.Type{Kind: transform.Timestamp}},
	{"TIMESTAMP_MS", transform.Type{Kind: transform.Timestamp}}, {"TIMESTAMP_NS", transform.Type{Kind: transform.TimestampNS}},
	{"TIMESTAMP WITH TIME ZONE", transform.Type{Kind: transform.TimestampTZ}}, {"VARCHAR", transform.Type{Kind: transform.String}},
	{"JSON", transform.Type{Kind: transform.String}}, {"UUID", transform.Type{Kind: transform.UUID}}, {"BLOB", transform.Type{Kind: transform.Binary}},
}

// Refusals say why columns of other types make no table, and what to do.
var Refusals = []struct{ Duck, Hint string }{
	{"HUGEINT", "CAST it to DECIMAL(38, 0) or BIGINT; sum() of a BIGINT is a HUGEINT"},
	{"UHUGEINT", "CAST it to DECIMAL(38, 0)"}, {"UBIGINT", "CAST it to DECIMAL(20, 0) or BIGINT"}, {"BIGNUM", "CAST it to DECIMAL(38, 0)"},
	{"ENUM", "CAST it to VARCHAR"}, {"INTERVAL", "keep its months, days and microseconds in columns of their own"},
	{"TIME_NS", "CAST it to TIME"}, {"TIME WITH TIME ZONE", "CAST it to TIME"}, {"BIT", "CAST it to VARCHAR or BLOB"},
	{"UNION", "choose one of its members"}, {"GEOMETRY", "store it as BLOB"}, {"VARIANT", "CAST it to VARCHAR"}, {"NULL", "CAST the NULL to a type"},
}

// TypeOf returns the Iceberg type of a column that a query gives as one of DuckDB's types. Nested fields get IDs from nextID.
// What no column can hold whole is Unsupported.
func TypeOf(column, duckType string, nextID func() catalog.FieldID) (catalog.Type, error) {
	t, err := parseDuckType(duckType)
	if err != nil {
		return catalog.Type{}, err
	}
	return t.iceberg(column, nextID)
}

func (t duckType) iceberg(column string, nextID func() catalog.FieldID) (catalog.Type, error) {
	if t.name == "DECIMAL" {
		return catalog.Type{Primitive: transform.Type{Kind: transform.Decimal, Precision: t.precision, Scale: t.scale}}, nil
	}
	for _, b := range Becoming {
		if b.Duck == t.name {
			return catalog.Type{Primitive: b.Type}, nil
		}
	}
	out := catalog.Type{Nested: map[string]catalog.NestedKind{
		"LIST": catalog.List, "ARRAY": catalog.List, "MAP": catalog.Map, "STRUCT": catalog.Struct,
	}[t.name]}
	names := t.names
	switch out.Nested {
	case catalog.NotNested:
		return catalog.Type{}, t.refusal(column)
	case catalog.List:
		names = []string{"element"}
	case catalog.Map:
		names = []string{"key", "value"}
	}
	if slices.Contains(names, "") {
		return catalog.Type{}, errs.New(errs.Unsupported, "make column", column, "a struct has a field without a name")
	}
	for i, child := range t.children {
		f := catalog.Field{ID: nextID(), Name: names[i], Required: out.Nested == catalog.Map && i == 0}
		var err error
		if f.Type, err = child.iceberg(column, nextID); err != nil {
			return catalog.Type{}, err
		}
		out.Fields = append(out.Fields, f)
	}
	return out, nil
}

func (t duckType) refusal(column string) error {
	e := errs.New(errs.Unsupported, "make column", column, "no column of a table holds values of type %s", t.name)
	for _, r := range Refusals {
		if r.Duck == t.name {
			return e.WithHint("%s", r.Hint)
		}
	}
	return e
}

// carriageOf returns how a type is carried.
func carriageOf(kind transform.Kind) Carriage {
	for _, c := range Carriages {
		if c.Kind == kind {
			return c
		}
	}
	return Carriage{Refused: "the type isn't known"}
}

// checkWritable refuses a field of which no file can hold the values, and names that a file can't tell apart.
func checkWritable(path string, fields []catalog.Field) error {
	seen := map[string]bool{}
	for _, f := range fields {
		inner := strings.TrimPrefix(path+"."+f.Name, ".")
		if lower := strings.ToLower(f.Name); seen[lower] {
			return errs.New(errs.Unsupported, "write column", inner, "another column has the name in other letter case, and DuckDB can't write both")
		} else {
			seen[lower] = true
		}
		if f.Type.Nested != catalog.NotNested {
			if len(f.Type.Fields) == 0 {
				return errs.New(errs.Unsupported, "write column", inner, "a struct without fields can't be written")
			}
			if err := checkWritable(inner, f.Type.Fields); err != nil {
				return err
			}
			continue
		}
		if c := carriageOf(f.Type.Primitive.Kind); c.Refused != "" {
			return errs.New(errs.Unsupported, "write column", inner, "values of type %s can't be written: %s", f.Type, c.Refused)
		}
	}
	return nil
}
