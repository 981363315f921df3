package duck

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestOrderKey compares the order of tarn_order_key with that of create_sort_key, over all pairs of values with NULLs and the
// ends of their types.
func TestOrderKey(t *testing.T) {
	_, c := session(t, Options{})
	values := map[string][]string{
		"INTEGER": {"NULL", "-2147483648", "-1", "0", "1", "2147483647"},
		"DATE":    {"NULL", "'1582-10-14'", "'1969-12-31'", "'1970-01-01'", "'infinity'"},
		"BIGINT":  {"NULL", "-9223372036854775808", "-1", "0", "4294967296", "9223372036854775807"},
		"TIMESTAMP WITH TIME ZONE": {"NULL", "'-infinity'", "'1969-12-31 23:59:59.999999+00'", "'1970-01-01 00:00:00+00'",
			"'infinity'"},
		"DECIMAL(18,2)": {"NULL", "-9999999999999999.99", "-0.01", "0", "0.01"},
	}
	for _, types := range [][]string{
		{"INTEGER"}, {"BIGINT"}, {"DATE", "BIGINT"}, {"BIGINT", "INTEGER"}, {"TIMESTAMP WITH TIME ZONE", "DATE"}, {"DECIMAL(18,2)"},
		{"DATE", "INTEGER", "DATE"},
	} {
		for _, way := range []string{"ASC NULLS LAST", "ASC NULLS FIRST", "DESC NULLS LAST", "DESC NULLS FIRST"} {
			var args, from []string
			for i, typ := range types {
				var list []string
				for _, v := range values[typ] {
					list = append(list, "(CAST("+v+" AS "+typ+"))")
				}
				from = append(from, fmt.Sprintf("(VALUES %s) v%d(x%d)", strings.Join(list, ", "), i, i))
				args = append(args, fmt.Sprintf("x%d, '%s'", i, way))
				way = "ASC NULLS LAST" // the rest of them
			}
			list := "(" + strings.Join(args, ", ") + ")"
			sql := "WITH v AS (SELECT tarn_order_key" + list + " AS n, create_sort_key" + list + " AS k FROM " + strings.Join(from, ", ") + `)
				SELECT count(*), count(*) FILTER ((a.n < b.n) IS DISTINCT FROM (a.k < b.k)), min(a.n) < 0 FROM v a, v b`
			rows, err := rowsOf(t.Context(), c, sql)
			if err != nil {
				t.Fatal(err)
			}
			pairs := 1
			for _, typ := range types {
				pairs *= len(values[typ]) * len(values[typ])
			}
			if want := []string{fmt.Sprintf("%d|0|false", pairs)}; !slices.Equal(rows, want) {
				t.Errorf("%v %s: %v, want %v", types, list, rows, want)
			}
		}
	}
}

// TestOrderKeyRefuses has what doesn't fit into a number, and what has no order of whole numbers.
func TestOrderKeyRefuses(t *testing.T) {
	_, c := session(t, Options{})
	for _, args := range []string{
		"1::BIGINT, 'ASC NULLS LAST', 2::BIGINT, 'ASC NULLS LAST'", "1.5::DOUBLE, 'ASC NULLS LAST'", "'a', 'ASC NULLS LAST'", "true, 'ASC NULLS LAST'",
		"1.5::DECIMAL(38,2), 'ASC NULLS LAST'", "[1], 'ASC NULLS LAST'",
		"1", "1, 81985529216486895", "1, NULL", "1, 'ASC NULLS LAST', 2",
	} {
		if _, err := c.Describe(t.Context(), "SELECT tarn_order_key("+args+")"); err == nil {
			t.Errorf("%s is taken", args)
		}
	}
}
