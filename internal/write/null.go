package write

import (
	"fmt"
	"strings"

	"github.com/tarndb/tarn/internal/duck"
)

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
			list = append(list, fmt.Sprintf("coalesce(%s, false) AS %s", x, duck.QuoteName(c.Name)))
		}
		names = append(names, sourceName(i))
	}
	if len(list) == 0 {
		return "", nil
	}
	return fmt.Sprintf("SELECT %s FROM (%s) AS tarn_rows(%s)", strings.Join(list, ", "), query, strings.Join(names, ", ")), nil
}

// integers returns SQL of what may be a bare NULL of x, a value of the type.
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
			return duckType{name: "NULL"}.refusal(c.Name)
		}
	}
	return nil
}
