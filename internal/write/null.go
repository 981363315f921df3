package write

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
)

// Told gives text what a query's columns are: first as DuckDB describes them, and once more if that is refused, with bare NULLs told from INTEGERs,
// which may be assigned to less. described tells the columns of another query, without running it.
func Told(query string, columns []duck.Column, described func(string) ([]duck.Column, error), text func([]duck.Column) (string, error)) (string, error) {
	out, refused := text(columns)
	if refused == nil {
		return out, nil
	}
	nulls, err := NullsSQL(query, columns)
	if err != nil || nulls == "" {
		return "", cmp.Or(err, refused)
	}
	told, err := described(nulls)
	if err != nil {
		return "", err
	}
	if columns, err = markNulls(columns, told); err != nil {
		return "", err
	}
	return text(columns)
}

// NullsSQL returns a query to be described, never run, which tells the INTEGERs among a query's columns from bare NULLs, which DuckDB
// describes as INTEGERs too: beside a BOOLEAN the one stays an INTEGER, and the other becomes a BOOLEAN. It is "" where there is
// nothing to tell.
func NullsSQL(query string, columns []duck.Column) (string, error) {
	var list, names []string
	for i, c := range columns {
		t, err := parseDuckType(c.Type)
		if err != nil {
			return "", err
		}
		for _, x := range t.integers(sourceName(i)) {
			list = append(list, fmt.Sprintf("coalesce(%s, false) AS %s", x, quote.Name(c.Name)))
		}
		names = append(names, sourceName(i))
	}
	if len(list) == 0 {
		return "", nil
	}
	return fmt.Sprintf("SELECT %s FROM (%s) AS tarn_rows(%s)", strings.Join(list, ", "), query, strings.Join(names, ", ")), nil
}

// markNulls returns the columns with the type NULL where NullsSQL's query, which is described as told, tells that an INTEGER is a bare NULL.
func markNulls(columns, told []duck.Column) ([]duck.Column, error) {
	out, next := slices.Clone(columns), 0
	for i, c := range out {
		places, err := integersIn(c.Type)
		if err != nil {
			return nil, err
		}
		if next+len(places) > len(told) {
			return nil, errs.New(errs.Internal, "read type", c.Type, "it isn't told which of its parts are NULL")
		}
		for k, at := range slices.Backward(places) {
			if told[next+k].Type == "BOOLEAN" {
				out[i].Type = out[i].Type[:at] + quote.Name(bareNull) + out[i].Type[at+len("INTEGER"):]
			}
		}
		next += len(places)
	}
	return out, nil
}

// bareNull is the type of a bare NULL.
const bareNull = "NULL"

// integers returns SQL of what may be a bare NULL of x, a value of the type, in the order of integersIn.
func (t duckType) integers(x string) []string {
	switch t.name {
	case "INTEGER":
		return []string{x}
	case "LIST", "ARRAY":
		return t.children[0].integers(x + "[1]")
	case "MAP":
		return append(t.children[0].integers("map_keys("+x+")[1]"), t.children[1].integers("map_values("+x+")[1]")...)
	case "STRUCT":
		var out []string
		for i, c := range t.children {
			out = append(out, c.integers(fmt.Sprintf("struct_extract_at(%s, %d)", x, i+1))...)
		}
		return out
	}
	return nil
}

// RefuseNulls refuses a table that is made of bare NULLs, by what the query of NullsSQL is described as.
func RefuseNulls(columns []duck.Column) error {
	for _, c := range columns {
		if c.Type == "BOOLEAN" {
			return duckType{name: bareNull}.refusal(c.Name)
		}
	}
	return nil
}
