package write

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// transformSQL writes a transform as a call of package duck's functions; void is a NULL of any type.
func transformSQL(t transform.Transform, column string) string {
	switch t.Op {
	case transform.Bucket:
		return fmt.Sprintf("tarn_bucket(%d, %s)", t.N, column)
	case transform.Truncate:
		return fmt.Sprintf("tarn_truncate(%d, %s)", t.N, column)
	case transform.Year:
		return "tarn_years(" + column + ")"
	case transform.Month:
		return "tarn_months(" + column + ")"
	case transform.Day:
		return "tarn_days(" + column + ")"
	case transform.Hour:
		return "tarn_hours(" + column + ")"
	}
	return column
}

// sourceSQL returns the SQL of the column, or the field of structs in one, with the ID, over rows called r with columns c0, c1, ... It is
// false when there is none.
func (t *Target) sourceSQL(id catalog.FieldID) (string, bool) {
	for i, f := range t.table.Schema.Fields {
		if text, ok := fieldSQL(targetName(i), f, id); ok {
			return text, true
		}
	}
	return "", false
}

func fieldSQL(x string, f catalog.Field, id catalog.FieldID) (string, bool) {
	if f.ID == id {
		return x, f.Type.Nested == catalog.NotNested
	}
	if f.Type.Nested != catalog.Struct {
		return "", false
	}
	for i, inner := range f.Type.Fields {
		if text, ok := fieldSQL(fmt.Sprintf("struct_extract_at(%s, %d)", x, i+1), inner, id); ok {
			return text, true
		}
	}
	return "", false
}

// sortKey is one key of ORDER BY.
type sortKey struct {
	expr            string
	desc, nullsLast bool
}

func (k sortKey) String() string {
	text := k.expr
	if k.desc {
		text += " DESC"
	} else {
		text += " ASC"
	}
	if k.nullsLast {
		return text + " NULLS LAST"
	}
	return text + " NULLS FIRST"
}

// sortKeys returns the table's sort order over the same; none when it has a transform or a column
// that isn't known, whose order can't be made.
func (t *Target) sortKeys() []sortKey {
	var keys []sortKey
	for _, f := range t.table.Order.Fields {
		source, ok := t.sourceSQL(f.Source)
		if !ok || f.Transform.Op == transform.OpUnknown {
			return nil
		}
		if f.Transform.Op == transform.Void {
			continue
		}
		key := sortKey{transformSQL(f.Transform, source), f.Descending, f.NullsLast}
		keys = append(keys, key)
		if t.isFloat(f.Source) { // the spec has -0.0 before 0.0, and DuckDB takes them for equal
			key.expr, key.desc = "signbit("+source+")", !f.Descending
			keys = append(keys, key)
		}
	}
	return keys
}

func (t *Target) isFloat(id catalog.FieldID) bool {
	for _, l := range t.leaves {
		if l.Field().ID == id {
			kind := l.Field().Type.Primitive.Kind
			return kind == transform.Float || kind == transform.Double
		}
	}
	return false
}

func orderBy(keys []sortKey) string {
	if len(keys) == 0 {
		return ""
	}
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = k.String()
	}
	return " ORDER BY " + strings.Join(parts, ", ")
}

// sortedSQL returns a query that says whether a file's rows are in the order of keys, which are over its columns called c0, c1, ...: each row is
// compared with the one before it, as the file has them.
func sortedSQL(rows string, keys []sortKey) string {
	var list, terms []string
	for i, k := range keys {
		list = append(list, fmt.Sprintf("%s AS k%d, lag(%s) OVER () AS b%d", k.expr, i, k.expr, i))
		before := fmt.Sprintf("b%d < k%d", i, i)
		if k.desc {
			before = fmt.Sprintf("b%d > k%d", i, i)
		}
		nulls := fmt.Sprintf("b%d IS NULL AND k%d IS NOT NULL", i, i)
		if k.nullsLast {
			nulls = fmt.Sprintf("b%d IS NOT NULL AND k%d IS NULL", i, i)
		}
		terms = append(terms, fmt.Sprintf("(coalesce(%s, false) OR %s)", before, nulls))
	}
	ordered := "true"
	for i := len(keys) - 1; i >= 0; i-- {
		ordered = fmt.Sprintf("(%s OR b%d IS NOT DISTINCT FROM k%d AND %s)", terms[i], i, i, ordered)
	}
	return fmt.Sprintf("SELECT CAST(coalesce(bool_and(CASE WHEN before IS NULL THEN here = 0 ELSE here = before + 1 AND %s END), true) AS VARCHAR) FROM "+
		"(SELECT file_row_number AS here, lag(file_row_number) OVER () AS before, %s FROM (%s) AS r)", ordered, strings.Join(list, ", "), rows)
}

// tupleSQL returns the rows of a query, whose columns are c0, c1, ..., with their partition values after them, those of void
// fields left out. Checks, of which there may be none, stand in the place of columns.
func (t *Target) tupleSQL(rows string, checks []string) string {
	items := []string{"*"}
	if slices.ContainsFunc(checks, func(c string) bool { return c != "" }) {
		items = items[:0]
		for i, c := range t.columns {
			expr := "r." + c.As
			if i < len(checks) {
				expr = cmp.Or(checks[i], expr)
			}
			items = append(items, expr+" AS "+c.As)
		}
	}
	text := "SELECT " + strings.Join(items, ", ")
	for i, e := range t.tuples {
		text += fmt.Sprintf(", %s AS p%d", e, i)
	}
	return text + " FROM (" + rows + ") AS r"
}

// assignSQL returns the rows of a query as those of the table, under the names c0, c1, ... Its columns are columns, which are
// assigned to the table's columns called into, or to all of them in their order if into is empty. A column of the table's own
// type is passed on as it is, so that it is still known what it is, and looked at above: checks has SQL of each such column over
// rows called r, or of an error; "" where there is nothing to look at.
func (t *Target) assignSQL(query string, columns []duck.Column, into []string) (text string, checks []string, err error) {
	names := make([]string, len(columns))
	for i := range names {
		names[i] = sourceName(i)
	}
	var lineage []string
	if t.HasLineage() {
		last := len(columns) - 1
		if last < 0 || columns[last].Type != "BIGINT" {
			return "", nil, errs.New(errs.Internal, "write to", t.table.Ident.String(), "the query's last column isn't the rows' ID")
		}
		columns, lineage = columns[:last], t.lineageSQL(last)
	}
	places, err := t.assigned(len(columns), into)
	if err != nil {
		return "", nil, err
	}
	fields := t.table.Schema.Fields
	a, above := assigner{row: rowText(sourceName, upTo(len(columns)))}, assigner{row: rowText(targetName, upTo(len(fields)))}
	var items []string
	checks = make([]string, len(fields))
	for i, f := range fields {
		var expr string
		if at := places[i]; at >= 0 {
			expr, checks[i], err = a.column(sourceName(at), columns[at].Type, f, above, targetName(i))
		} else {
			expr, err = t.defaultSQL(f)
		}
		if err != nil {
			return "", nil, err
		}
		items = append(items, expr+" AS "+columnName(i))
	}
	items = append(items, lineage...)
	return fmt.Sprintf("SELECT %s FROM (%s) AS tarn_rows(%s)", strings.Join(items, ", "), query, strings.Join(names, ", ")), checks, nil
}

// upTo returns 0, 1, ..., n-1.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// defaultSQL returns the value of a column that a statement doesn't mention.
func (t *Target) defaultSQL(f catalog.Field) (string, error) {
	if f.Required && !f.HasWriteDefault {
		return "", errs.New(errs.Invalid, "write to", t.table.Ident.String(), "no value is given for the column %q, which is NOT NULL and has no default", f.Name)
	}
	return duck.WriteDefaultSQL(f)
}

// assigned returns for each column of the table which of a query's columns it is assigned; -1 for none.
func (t *Target) assigned(given int, into []string) ([]int, error) {
	fields, object := t.table.Schema.Fields, t.table.Ident.String()
	out := make([]int, len(fields))
	if len(into) == 0 {
		if given != len(fields) {
			return nil, errs.New(errs.Invalid, "write to", object, "the query gives %d columns, and the table has %d", given, len(fields)).
				WithHint("name the columns that are given: INSERT INTO t (a, b) ...")
		}
		for i := range out {
			out[i] = i
		}
		return out, nil
	}
	if given != len(into) {
		return nil, errs.New(errs.Invalid, "write to", object, "the query gives %d columns, and %d are named", given, len(into))
	}
	for i := range out {
		out[i] = -1
	}
	for at, name := range into {
		i, err := t.column(name)
		if err != nil {
			return nil, err
		}
		if out[i] >= 0 {
			return nil, errs.New(errs.Invalid, "write to", object, "the column %q is named twice", name)
		}
		out[i] = at
	}
	return out, nil
}

// FieldNamed returns the place of the field that a statement calls name: letter case matters only where names differ in nothing
// else. It is -1 for none.
func FieldNamed(fields []catalog.Field, name string) int {
	found := -1
	for i, f := range fields {
		if f.Name == name {
			return i
		}
		if strings.EqualFold(f.Name, name) {
			found = i
		}
	}
	return found
}

// column returns the place of the column that a statement calls name.
func (t *Target) column(name string) (int, error) {
	found := FieldNamed(t.table.Schema.Fields, name)
	if found < 0 {
		return 0, errs.New(errs.NotFound, "write to", t.table.Ident.String(), "it has no column %q", name)
	}
	return found, nil
}
