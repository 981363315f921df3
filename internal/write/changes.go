package write

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
)

// Value says where a column of a new row, or a field of one, gets its value from.
type Value struct {
	From    int           // the place of the query's column; -1: none
	Stays   bool          // From is the table's own column: what is there is kept, even where it could not be assigned
	Default bool          // without a column: the field's write default
	Fields  map[int]Value // of a struct that is From but for some of its fields, by their places: the values of those
}

// Case is one way in which new rows come about.
type Case struct {
	Action int     // the value of the query's action column
	Values []Value // one for each of the table's columns
}

// Changes is a query of what a statement does to rows, by the places of its columns.
type Changes struct {
	Query   string
	Columns []duck.Column // their types which may be NULL, where they are told from INTEGER
	Action  int           // says which case a row is of, and is NULL where nothing is done; -1: all rows are of the only case
	RowID   int           // the row ID that a changed row keeps, NULL for a new one; -1: all are new, or the target has no lineage
	Cases   []Case        // none: no row is written
	Carried []int         // columns that follow what the rows of a Job have
}

// ChangesSQL returns the SELECT of what a statement does: the new rows as a Job takes them, whose values mean nothing in rows of no
// case, then the columns that are carried. What may not be assigned is Invalid.
func (t *Target) ChangesSQL(c Changes) (string, error) {
	names := make([]string, len(c.Columns))
	for i := range names {
		names[i] = sourceName(i)
	}
	var items, carried []string
	if len(c.Cases) > 0 {
		for i, f := range t.table.Schema.Fields {
			expr, err := t.changed(&c, i, f)
			if err != nil {
				return "", err
			}
			items = append(items, expr+" AS "+columnName(i))
		}
		items = append(items, t.lineageSQL(c.RowID)...)
	}
	rows := slices.Clone(items)
	for _, at := range c.Carried {
		rows, carried = append(rows, sourceName(at)), append(carried, sourceName(at))
	}
	text := fmt.Sprintf("SELECT %s FROM (%s) AS tarn_rows(%s)", strings.Join(rows, ", "), c.Query, strings.Join(names, ", "))
	if c.Action >= 0 {
		text += fmt.Sprintf(" WHERE %s IS NOT NULL", sourceName(c.Action))
	}
	if len(c.Cases) == 0 {
		return text, nil
	}
	var out []string
	for _, column := range t.columns {
		out = append(out, column.As)
	}
	for i, e := range t.tuples {
		out = append(out, fmt.Sprintf("%s AS p%d", e, i))
	}
	return fmt.Sprintf("SELECT %s FROM (%s) AS r", strings.Join(append(out, carried...), ", "), text), nil
}

// lineageSQL returns the columns of row lineage: when rows were last updated is when they are committed.
func (t *Target) lineageSQL(rowID int) []string {
	if !t.HasLineage() {
		return nil
	}
	const null = "CAST(NULL AS BIGINT)"
	id := null
	if rowID >= 0 {
		id = sourceName(rowID)
	}
	return []string{id + " AS " + t.lineage[0].As, null + " AS " + t.lineage[1].As}
}

// changed returns the value of the i-th column of new rows.
func (t *Target) changed(c *Changes, i int, f catalog.Field) (string, error) {
	exprs := make([]string, len(c.Cases))
	isSame := true
	for k, one := range c.Cases {
		var err error
		if exprs[k], err = t.valueOf(c, one.Values[i], f, assigner{row: c.rowText(one), byName: true}); err != nil {
			return "", err
		}
		isSame = isSame && exprs[k] == exprs[0]
	}
	if isSame && (c.Action < 0 || exprs[0] == plainExpr(c.Cases[0].Values[i])) {
		return exprs[0], nil
	}
	// Only rows of a case are assigned: those of others may have values that don't fit.
	action := sourceName(c.Action)
	if isSame {
		numbers := make([]string, len(c.Cases))
		for k, one := range c.Cases {
			numbers[k] = strconv.Itoa(one.Action)
		}
		return fmt.Sprintf("CASE WHEN %s IN (%s) THEN %s END", action, strings.Join(numbers, ", "), exprs[0]), nil
	}
	text := "CASE " + action
	for k, one := range c.Cases {
		text += fmt.Sprintf(" WHEN %d THEN %s", one.Action, exprs[k])
	}
	return text + " END", nil
}

// plainExpr is the expression of a value that is taken as it is.
func plainExpr(v Value) string {
	if v.From < 0 {
		return ""
	}
	return sourceName(v.From)
}

// valueOf returns the SQL of a value as one of the field f, a column.
func (t *Target) valueOf(c *Changes, v Value, f catalog.Field, a assigner) (string, error) {
	switch {
	case v.From < 0 && v.Default:
		return t.defaultSQL(f)
	case v.From < 0:
		return "", errs.New(errs.Internal, "write column", f.Name, "nothing says where its value comes from")
	}
	from, err := parseDuckType(c.Columns[v.From].Type)
	if err != nil {
		return "", err
	}
	if v.Stays && len(v.Fields) == 0 && isOwn(from, f.Type) {
		return sourceName(v.From), nil
	}
	if len(v.Fields) == 0 {
		return a.field(sourceName(v.From), from, f, f.Name)
	}
	return t.rebuilt(c, sourceName(v.From), from, v, f, a, f.Name)
}

// rebuilt returns a struct with other values in some of its fields. Of a NULL the other fields are NULL.
func (t *Target) rebuilt(c *Changes, x string, from duckType, v Value, f catalog.Field, a assigner, path string) (string, error) {
	if f.Type.Nested != catalog.Struct || from.name != "STRUCT" || len(from.children) != len(f.Type.Fields) {
		return "", errs.New(errs.Internal, "write column", path, "%s isn't a struct of the column's fields", from)
	}
	parts := make([]string, len(f.Type.Fields))
	for i, inner := range f.Type.Fields {
		old, innerPath := fmt.Sprintf("struct_extract_at(%s, %d)", x, i+1), path+"."+inner.Name
		value, isSet := v.Fields[i]
		var part string
		var err error
		switch {
		case !isSet && !inner.Required && isOwn(from.children[i], inner.Type): // a required one of a struct that was NULL is none
			part = old
		case !isSet:
			part, err = a.field(old, from.children[i], inner, innerPath)
		case len(value.Fields) > 0:
			part, err = t.rebuilt(c, old, from.children[i], value, inner, a, innerPath)
		default:
			part, err = t.valueOf(c, value, named(inner, innerPath), a)
		}
		if err != nil {
			return "", err
		}
		parts[i] = quote.Name(inner.Name) + " := " + part
	}
	return "struct_pack(" + strings.Join(parts, ", ") + ")", nil
}

// isOwn says whether a type is DuckDB's of a column's own values.
func isOwn(from duckType, t catalog.Type) bool {
	text, err := duck.TypeSQL(t)
	if err != nil {
		return false
	}
	own, err := parseDuckType(text)
	return err == nil && reflect.DeepEqual(from, own)
}

// named returns a field under the name by which people find it.
func named(f catalog.Field, path string) catalog.Field {
	f.Name = path
	return f
}

// rowText returns SQL of the values that a case assigns, for errors.
func (c *Changes) rowText(of Case) string {
	var places []int
	for _, v := range of.Values {
		if v.From >= 0 {
			places = append(places, v.From)
		}
	}
	return rowText(sourceName, places)
}
