package duck

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// routedValues are values of each type that may be a key, as ParseValue reads them.
var routedValues = map[string][]string{
	"boolean":       {"true", "false"},
	"int":           {"0", "1", "-1", "9", "10", "-10", "-11", "2147483647", "-2147480000"},
	"long":          {"0", "-1", "9223372036854775807", "-9223372036854770000", "-9223372036854765432"},
	"decimal(4,2)":  {"0.00", "-0.01", "99.99", "-12.34"},
	"decimal(9,2)":  {"0.00", "-0.01", "10.65", "-10.65", "9999999.99"},
	"decimal(18,0)": {"0", "999999999999999999", "-1"},
	"decimal(38,3)": {"0.001", "-0.001", "99999999999999999999999999999999999.999", "-1234567890123456789012345678.901"},
	"date":          {"1970-01-01", "1969-12-31", "1969-01-01", "2024-02-29", "0001-01-01", "5000-12-31"},
	"time":          {"00:00:00", "22:31:08.000001"},
	"timestamp":     {"1970-01-01T00:00:00", "1969-12-31T23:59:59.999999", "2024-02-29T12:30:00", "0001-01-01T00:00:00", "2024-02-29T13:30:00"},
	"timestamptz":   {"1970-01-01T00:00:00+00:00", "1969-12-31T23:59:59.999999+00:00", "2024-02-29T12:30:00-08:00"},
	"timestamp_ns":  {"1970-01-01T00:00:00", "1969-12-31T23:59:59.999999999", "2024-02-29T12:30:00.000000001"},
	"string":        {"", "a", "ab", "abc", "日本語文字", "日本", "💰x", "a longer text than twelve bytes"},
	"uuid":          {"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"},
	"binary":        {"", "00", "0001", "e4b896", "000102030405060708090a0b0c0d0e0f"},
	"fixed[2]":      {"0000", "00ff"},
}

// routeAll returns the bins of a query's rows.
func routeAll(t *testing.T, c *Conn, r *Router, sql string) []int32 {
	t.Helper()
	res, err := c.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	var out []int32
	for {
		ch, err := res.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		bins, err := r.Route(ch)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, bins...)
		ch.Close()
	}
}

// literalsSQL returns a SELECT of values, with their places, and NULL last.
func literalsSQL(t *testing.T, typ transform.Type, values []string) string {
	t.Helper()
	name, err := typeSQL(typ)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]string, len(values)+1)
	for i, v := range values {
		rows[i] = fmt.Sprintf("(%d, CAST('%s' AS %s))", i, v, name)
		if name == "BLOB" {
			rows[i] = fmt.Sprintf("(%d, unhex('%s'))", i, v)
		}
	}
	rows[len(values)] = fmt.Sprintf("(%d, CAST(NULL AS %s))", len(values), name)
	return "SELECT k FROM (VALUES " + strings.Join(rows, ", ") + ") v(n, k) ORDER BY n"
}

// TestRouterKnowsEachGroup puts the groups that transform.Apply gives, and finds each value in its own. In wider types the
// groups are the same.
func TestRouterKnowsEachGroup(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	for text, values := range routedValues {
		typ, err := transform.ParseType(text)
		if err != nil {
			t.Fatal(err)
		}
		sql := literalsSQL(t, typ, values)
		for _, name := range []string{"identity", "bucket[1]", "bucket[7]", "bucket[100000]", "truncate[1]", "truncate[3]", "truncate[1000]", "year", "month", "day", "hour"} {
			tr, err := transform.Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			if !tr.CanApply(typ) {
				continue
			}
			bins, known, want := NewBins(1000, 1), map[string]int32{}, make([]int32, len(values)+1)
			for i := range want {
				var v transform.Value
				if i < len(values) {
					if v, err = transform.ParseValue(typ, values[i]); err == nil {
						v, err = tr.Apply(typ, v)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				key := string(transform.AppendKey(nil, typ, v))
				if _, ok := known[key]; !ok {
					known[key] = int32(len(known))
					bins.Put([]transform.Value{v}, len(known)-1)
				}
				want[i] = known[key]
			}
			r, err := bins.Router([]RouteKey{{Transform: tr}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := routeAll(t, c, r, sql); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s of %s: %v, want %v", name, text, got, want)
			}
		}
	}
}

// TestRouterOfStrays sends rows of no group to one bin in all types that are compared, or nowhere, by what is NULL.
func TestRouterOfStrays(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	for _, tc := range []struct{ transform, a, b string }{
		{"truncate[10]", "i::INTEGER", "i::BIGINT"}, {"bucket[16]", "i::INTEGER", "i::BIGINT"}, {"identity", "i::INTEGER", "i::BIGINT"},
		{"truncate[10]", "(i - 2147483648)::INTEGER", "(i - 2147483648)::BIGINT"}, {"truncate[10]", "i::BIGINT - 9223372036854775807", "i::BIGINT - 9223372036854775807"},
		{"truncate[10]", "i::DECIMAL(9, 2)", "i::DECIMAL(38, 2)"}, {"identity", "i::DECIMAL(4, 0)", "i::DECIMAL(38, 0)"},
		{"truncate[7]", "i - 99999999999999999999999999999999999999::DECIMAL(38, 0)", "i - 99999999999999999999999999999999999999::DECIMAL(38, 0)"},
	} {
		tr, err := transform.Parse(tc.transform)
		if err != nil {
			t.Fatal(err)
		}
		bins := NewBins(97, 1)
		var got [2][]int32
		for i, value := range []string{tc.a, tc.b} {
			r, err := bins.Router([]RouteKey{{Transform: tr}}, []bool{true, false})
			if err != nil {
				t.Fatal(err)
			}
			got[i] = routeAll(t, c, r, fmt.Sprintf("SELECT CASE WHEN i <> 500 THEN %s END AS k FROM range(1000) t(i) ORDER BY i", value))
		}
		if fmt.Sprint(got[0]) != fmt.Sprint(got[1]) {
			t.Errorf("%s of %s and %s part equal values:\n%v\n%v", tc.transform, tc.a, tc.b, got[0], got[1])
		}
		for i, bin := range got[0] {
			if (bin < 0) != (i == 500) || bin >= 97 {
				t.Errorf("%s of %s: row %d goes to bin %d", tc.transform, tc.a, i, bin)
			}
		}
	}
}

// TestRouterRefuses keys and strays that don't fit together, and a transform of a type that it isn't defined on.
func TestRouterRefuses(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	hour := RouteKey{Transform: transform.Transform{Op: transform.Hour}}
	_, err := NewBins(1, 2).Router([]RouteKey{hour}, nil)
	wantError(t, err, errs.Internal, "1 keys")
	_, err = NewBins(1, 1).Router([]RouteKey{hour}, []bool{true})
	wantError(t, err, errs.Internal, "1 kinds of strays")
	r, err := NewBins(1, 1).Router([]RouteKey{hour}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := newSpill(t, c, []ScanColumn{{Field: primitive(1, "k", longType), As: "k"}}, 1)
	wantError(t, spillRows(t.Context(), c, "SELECT 1::BIGINT AS k", s.Writer(1), r), errs.Internal, "hour is not defined on long")
}
