package write

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/transform"
)

// assigner writes the SQL that makes a query's columns those of a table, by SQL's rules of assignment as Spark has them (its
// ANSI store assignment): what could be misunderstood is refused when the statement is bound, and a value that doesn't fit when
// it comes, with its row.
type assigner struct {
	row    string // SQL of the row as text
	byName bool   // fields of structs are assigned by their names alone
}

// sourceName is the name of a query's column in the SQL of its assignment.
func sourceName(i int) string { return fmt.Sprintf("s%d", i) }

// columnName is the name of a table's column from its assignment to its file. Columns that differ only in case would be one in
// between.
func columnName(i int) string { return fmt.Sprintf("c%d", i) }

const (
	shownColumns = 16 // of a row in an error
	shownLength  = 60 // of each value
)

// targetName is columnName in rows called r.
func targetName(i int) string { return "r." + columnName(i) }

// rowText returns SQL of the row of some columns, which name names, as text, cut to what a person reads.
func rowText(name func(int) string, columns []int) string {
	if len(columns) == 0 {
		return "'()'"
	}
	var parts []string
	for _, i := range columns[:min(len(columns), shownColumns)] {
		parts = append(parts, fmt.Sprintf("coalesce(left(CAST(%s AS VARCHAR), %d), 'NULL')", name(i), shownLength))
	}
	text := "'(' || concat_ws(', ', " + strings.Join(parts, ", ") + ")"
	if len(columns) > shownColumns {
		return text + " || ', ...)'"
	}
	return text + " || ')'"
}

// fault returns SQL that ends the statement: what is wrong, then the row.
func (a assigner) fault(what string, value string) string {
	if value == "" {
		return fmt.Sprintf("error(%s || %s)", quote.Text(what+"; the row is "), a.row)
	}
	return fmt.Sprintf("error(%s || coalesce(left(CAST(%s AS VARCHAR), %d), 'NULL') || '; the row is ' || %s)", quote.Text(what+" "), value, shownLength, a.row)
}

// column returns SQL of x, a query's column of a type, as a column of the table, which is the field. Where that is x itself, check
// is SQL of the same under the name that it has above, checked there; else it is "".
func (a assigner) column(x, typeName string, f catalog.Field, above assigner, nameAbove string) (expr, check string, err error) {
	from, err := parseDuckType(typeName)
	if err != nil {
		return "", "", err
	}
	own, err := duck.TypeSQL(f.Type)
	if f.Type.Nested == catalog.NotNested && err == nil && typeName == own {
		if check, err = above.field(nameAbove, from, f, f.Name); check == nameAbove {
			check = ""
		}
		return x, check, err
	}
	expr, err = a.field(x, from, f, f.Name)
	return expr, "", err
}

// field returns SQL of x, a value of type from, as a value of the field, which path names.
func (a assigner) field(x string, from duckType, f catalog.Field, path string) (string, error) {
	expr, err := a.value(x, from, f.Type, path)
	if err != nil || !f.Required {
		return expr, err
	}
	return fmt.Sprintf("CASE WHEN %s IS NULL THEN %s ELSE %s END", x, a.fault(path+" is NULL, and it is NOT NULL in the table", ""), expr), nil
}

func (a assigner) value(x string, from duckType, to catalog.Type, path string) (string, error) {
	own, err := duck.TypeSQL(to)
	if err != nil {
		return "", errs.Wrap(errs.Unsupported, "write column", path, err)
	}
	if from.name == bareNull {
		return fmt.Sprintf("CAST(NULL AS %s)", own), nil
	}
	switch to.Nested {
	case catalog.Struct:
		return a.structValue(x, from, to, path)
	case catalog.List:
		return a.listValue(x, from, to, path)
	case catalog.Map:
		return a.mapValue(x, from, to, path)
	}
	c, ok := castOf(x, from, to.Primitive, own)
	if !ok {
		return "", a.refusal(from, to, path)
	}
	switch c.fails {
	case "":
		return c.expr, nil
	case "cast":
		c.fails = fmt.Sprintf("%s IS NOT NULL AND %s IS NULL", x, c.expr)
	}
	return fmt.Sprintf("CASE WHEN %s THEN %s ELSE %s END", c.fails,
		a.fault(fmt.Sprintf("%s is a %s and can't hold", path, to), x), c.expr), nil
}

func (a assigner) refusal(from duckType, to catalog.Type, path string) error {
	e := errs.New(errs.Invalid, "write column", path, "a value of type %s can't be assigned to a column of type %s", from, to)
	if to.Nested == catalog.NotNested && len(from.children) == 0 {
		own, _ := duck.TypeSQL(to)
		return e.WithHint("if it is meant, write CAST(... AS %s)", own)
	}
	return e
}

// String returns the type's name for people.
func (t duckType) String() string {
	switch t.name {
	case "DECIMAL":
		return fmt.Sprintf("DECIMAL(%d,%d)", t.precision, t.scale)
	case "LIST", "ARRAY":
		return t.children[0].String() + "[]"
	}
	return t.name
}

// structValue takes fields by their names when they are those of the column, else by position, where the statement doesn't assign
// by names itself.
func (a assigner) structValue(x string, from duckType, to catalog.Type, path string) (string, error) {
	if from.name != "STRUCT" || len(from.children) != len(to.Fields) {
		return "", a.refusal(from, to, path)
	}
	places := namedPlaces(from.names, to.Fields)
	if places == nil && a.byName {
		e := errs.New(errs.Invalid, "write column", path, "a struct of the fields %s can't be assigned to one of the fields %s by their names",
			strings.Join(from.names, ", "), fieldNames(to.Fields))
		return "", e.WithHint("make a struct of the column's fields: {'name': value, ...}")
	}
	parts := make([]string, len(to.Fields))
	for i, f := range to.Fields {
		at := i
		if places != nil {
			at = places[i]
		}
		inner := fmt.Sprintf("struct_extract_at(%s, %d)", x, at+1)
		part, err := a.field(inner, from.children[at], f, path+"."+f.Name)
		if err != nil {
			return "", err
		}
		parts[i] = quote.Name(f.Name) + " := " + part
	}
	return fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN struct_pack(%s) END", x, strings.Join(parts, ", ")), nil
}

func fieldNames(fields []catalog.Field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}

// namedPlaces returns where each field's name is among names; nil unless they are the same names.
func namedPlaces(names []string, fields []catalog.Field) []int {
	out := make([]int, len(fields))
	for i, f := range fields {
		out[i] = slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, f.Name) })
		if out[i] < 0 || slices.Contains(out[:i], out[i]) {
			return nil
		}
	}
	return out
}

func (a assigner) listValue(x string, from duckType, to catalog.Type, path string) (string, error) {
	if from.name != "LIST" && from.name != "ARRAY" {
		return "", a.refusal(from, to, path)
	}
	element := lambdaName(path)
	part, err := a.field(element, from.children[0], to.Fields[0], path+".element")
	if err != nil {
		return "", err
	}
	list := x
	if from.name == "ARRAY" {
		list = fmt.Sprintf("array_slice(%s, 1, len(%s))", x, x)
	}
	if part == element {
		return list, nil
	}
	return fmt.Sprintf("list_transform(%s, lambda %s: %s)", list, element, part), nil
}

func (a assigner) mapValue(x string, from duckType, to catalog.Type, path string) (string, error) {
	if from.name != "MAP" {
		return "", a.refusal(from, to, path)
	}
	entry := lambdaName(path)
	key, value := entry+".key", entry+".value"
	k, err := a.field(key, from.children[0], to.Fields[0], path+".key")
	if err != nil {
		return "", err
	}
	v, err := a.field(value, from.children[1], to.Fields[1], path+".value")
	if err != nil {
		return "", err
	}
	entries := fmt.Sprintf("list_transform(map_entries(%s), lambda %s: struct_pack(key := %s, value := %s))", x, entry, k, v)
	return fmt.Sprintf("CASE WHEN %s IS NOT NULL THEN map_from_entries(%s) END", x, entries), nil
}

// lambdaName returns a name for an element that none around it has.
func lambdaName(path string) string { return fmt.Sprintf("e%d", strings.Count(path, ".")) }

// cast is how a value becomes one of another type.
type cast struct {
	expr  string
	fails string // SQL of when it can't; "" for never, "cast" for when the expression is NULL and the value isn't
}

// castOf returns the cast of x to a primitive type, whose own type in DuckDB is own, or false when none may be done without
// being asked for.
func castOf(x string, from duckType, to transform.Type, own string) (cast, bool) {
	plain, tried := cast{expr: fmt.Sprintf("CAST(%s AS %s)", x, own)}, cast{fmt.Sprintf("TRY_CAST(%s AS %s)", x, own), "cast"}
	switch to.Kind {
	case transform.Boolean:
		return cast{expr: x}, from.name == "BOOLEAN"
	case transform.Int, transform.Long:
		return integerCast(x, from, to, own)
	case transform.Float, transform.Double:
		switch {
		case from.name == own:
			return cast{expr: x}, true
		case from.name == "DOUBLE" || from.isInteger() && integerBits[from.name] > 64:
			return tried, true
		}
		return plain, from.isNumber()
	case transform.Decimal:
		switch {
		case from.name == "DECIMAL" && from.precision == to.Precision && from.scale == to.Scale:
			return cast{expr: x}, true
		case from.name == "FLOAT" || from.name == "DOUBLE": // by its shortest text, so that 2.675 is no less than that
			return cast{fmt.Sprintf("TRY_CAST(CAST(%s AS VARCHAR) AS %s)", x, own), "cast"}, true
		}
		return tried, from.isNumber()
	case transform.Date, transform.Timestamp, transform.TimestampTZ, transform.TimestampNS:
		return timeCast(x, from, to, own)
	case transform.Time:
		return cast{x, x + " >= TIME '24:00:00'"}, from.name == "TIME" // which Iceberg's days don't have
	case transform.String:
		if from.name == "VARCHAR" {
			return cast{expr: x}, true
		}
		return plain, from.isNumber() || slices.Contains(textual, from.name)
	case transform.UUID:
		if from.name == "UUID" {
			return cast{expr: x}, true
		}
		return tried, from.name == "VARCHAR"
	case transform.Binary:
		return cast{expr: x}, from.name == "BLOB"
	case transform.Fixed:
		return cast{x, fmt.Sprintf("octet_length(%s) <> %d", x, to.Length)}, from.name == "BLOB"
	}
	return cast{}, false
}

// textual are types whose values become text, besides numbers.
var textual = []string{
	"BOOLEAN", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE", "UUID", "JSON", "ENUM",
}

// integerBits are the integer types, by how many bits a signed type needs for their values.
var integerBits = map[string]int{
	"TINYINT": 8, "UTINYINT": 9, "SMALLINT": 16, "USMALLINT": 17, "INTEGER": 32, "UINTEGER": 33, "BIGINT": 64, "UBIGINT": 65,
	"HUGEINT": 128, "UHUGEINT": 129,
}

func (t duckType) isInteger() bool { return integerBits[t.name] > 0 }

func (t duckType) isNumber() bool {
	return t.isInteger() || t.name == "DECIMAL" || t.name == "FLOAT" || t.name == "DOUBLE"
}

func integerCast(x string, from duckType, to transform.Type, own string) (cast, bool) {
	bits := 32
	if to.Kind == transform.Long {
		bits = 64
	}
	switch {
	case from.name == own:
		return cast{expr: x}, true
	case from.isInteger() && integerBits[from.name] <= bits:
		return cast{expr: fmt.Sprintf("CAST(%s AS %s)", x, own)}, true
	case from.isInteger():
		return cast{fmt.Sprintf("TRY_CAST(%s AS %s)", x, own), "cast"}, true
	}
	return cast{fmt.Sprintf("TRY_CAST(trunc(%s) AS %s)", x, own), "cast"}, from.isNumber()
}

// timeCast casts to dates and timestamps. Infinite ones, which DuckDB knows and Iceberg doesn't, would become some date.
func timeCast(x string, from duckType, to transform.Type, own string) (cast, bool) {
	switch from.name {
	case "DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE":
	default:
		return cast{}, false
	}
	isInfinite := fmt.Sprintf("NOT isfinite(%s)", x)
	if from.name == own {
		return cast{x, isInfinite}, true
	}
	c := cast{expr: fmt.Sprintf("TRY_CAST(%s AS %s)", x, own)}
	switch {
	case to.Kind == transform.Date && from.name == "TIMESTAMP_NS":
		c.expr = fmt.Sprintf("tarn_days(%s)", x) // DuckDB's cast goes toward 1970
	case to.Kind == transform.TimestampNS && from.name == "TIMESTAMP WITH TIME ZONE":
		c.expr = fmt.Sprintf("TRY_CAST(CAST(%s AS TIMESTAMP) AS %s)", x, own)
	case to.Kind == transform.TimestampTZ && from.name == "TIMESTAMP_NS":
		c.expr = fmt.Sprintf("TRY_CAST(CAST(%s AS TIMESTAMP) AS %s)", x, own)
	}
	c.fails = fmt.Sprintf("%s OR %s IS NOT NULL AND %s IS NULL", isInfinite, x, c.expr)
	if from.name == "TIMESTAMP_NS" && to.Kind != transform.Date {
		c.fails += fmt.Sprintf(" OR epoch_ns(%s) %% 1000 <> 0", x)
	}
	return c, true
}
