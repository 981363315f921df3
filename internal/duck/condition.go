package duck

import (
	"fmt"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/transform"
)

// ConditionSQL writes a filter on one column, named so in the rows at hand, as SQL: In, GE and LE tests and what And makes of
// them. It is "" for all else, and where a value has no text that DuckDB reads as that value.
func ConditionSQL(column string, f catalog.Filter) string {
	switch f.Op {
	case catalog.AlwaysFalse:
		return "false"
	case catalog.And:
		terms := make([]string, len(f.Terms))
		for i, t := range f.Terms {
			if terms[i] = ConditionSQL(column, t); terms[i] == "" {
				return ""
			}
		}
		return strings.Join(terms, " AND ")
	case catalog.Test:
		return testSQL(column, f)
	}
	return ""
}

func testSQL(column string, f catalog.Filter) string {
	typ, err := typeSQL(f.Type)
	if err != nil {
		return ""
	}
	values := make([]string, len(f.Pred.Values))
	for i, v := range f.Pred.Values {
		text := literalSQL(f.Type, v)
		if v == nil || isDated(f.Type) && !hasFourDigits(text) {
			return ""
		}
		values[i] = "CAST(" + text + " AS " + typ + ")"
	}
	list := strings.Join(values, ", ")
	switch f.Pred.Op {
	case transform.In:
		return fmt.Sprintf("%s IN (%s)", quote.Name(column), list)
	case transform.GE:
		return quote.Name(column) + " >= " + list
	case transform.LE:
		return quote.Name(column) + " <= " + list
	}
	return ""
}

func isDated(t transform.Type) bool {
	switch t.Kind {
	case transform.Date, transform.Timestamp, transform.TimestampTZ, transform.TimestampNS, transform.TimestampTZNS:
		return true
	}
	return false
}

// hasFourDigits says whether a quoted date is of the years 1 to 9999: others are written in more than one way.
func hasFourDigits(text string) bool { return strings.IndexByte(text, '-') == 5 && text[1:5] != "0000" }

// DistinctSQL returns a SELECT of the distinct tuples of columns in the rows of a view. Values come as text that
// transform.ParseValue reads.
func DistinctSQL(view string, columns []ScanColumn) string {
	keys, texts := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		keys[i] = fmt.Sprintf("%s AS k%d", quote.Name(c.As), i)
		texts[i] = fmt.Sprintf("CAST(k%d AS VARCHAR)", i)
		if t := c.Field.Type.Primitive; t.Kind == transform.Binary || t.Kind == transform.Fixed {
			texts[i] = fmt.Sprintf("lower(hex(k%d))", i)
		}
	}
	return "SELECT " + strings.Join(texts, ", ") + " FROM (SELECT DISTINCT " + strings.Join(keys, ", ") + " FROM " + view + ")"
}
