package property

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/explain"
)

// forced are modes in which every dynamic filter that is legal is found.
var forced = []mode{
	{"SET tarn.dynamic_filter = 'force'", "SET tarn.pack_bytes = 0"},
	{"SET tarn.dynamic_filter = 'force'", "SET tarn.spj = 'off'"},
	append(mode{"SET tarn.dynamic_filter = 'force'"}, routed...),
	{"SET tarn.dynamic_filter = 'force'", "SET tarn.exchange = 'force'", "SET tarn.broadcast_bytes = '1GiB'"},
}

// found runs a query with forced filters, fails unless the rows are right in each mode, and returns what became of the
// filters: "from -> column: values, files left out of all".
func (l *lab) found(query string) []string {
	l.t.Helper()
	want := l.judge(query)
	l.must(want.err)
	for _, m := range append([]mode{{"SET tarn.spj = 'off'", "SET tarn.dynamic_filter = 'off'"}}, forced...) {
		if d := differ(want, l.ask(m, query), false); d != "" {
			l.t.Errorf("%v %s\n%s", m, query, d)
		}
	}
	var out []string
	for _, d := range l.measured(forced[0], query).Dynamic {
		if d.State != "applied" {
			l.t.Errorf("%s: the filter of %s by %s is %s: %s", query, d.Column, d.From, d.State, d.Reason)
		}
		out = append(out, fmt.Sprintf("%s -> %s: %d, %d of %d", d.From, d.Column, d.Values, d.FilesPruned, d.Files))
	}
	return out
}

// measured returns what EXPLAIN ANALYZE says of a query.
func (l *lab) measured(m mode, query string) explain.Report {
	l.t.Helper()
	var r explain.Report
	text, err := l.session(m).Explain(context.Background(), query, tarn.ExplainOptions{JSON: true, Analyze: true})
	l.must(err)
	l.must(json.Unmarshal([]byte(text), &r))
	return r
}

// finds fails unless the filters are as wanted.
func (l *lab) finds(query string, want ...string) {
	l.t.Helper()
	if got := l.found(query); strings.Join(got, "\n") != strings.Join(want, "\n") {
		l.t.Errorf("%s\nfinds\n  %s\nwanted\n  %s", query, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// holidays makes a table of days laid out by them, with rows of no day, one of days without a layout, and one of years.
func (l *lab) holidays() {
	l.t.Helper()
	var sales, days, years []string
	for m := 1; m <= 12; m++ {
		for v := range 2 {
			sales = append(sales, fmt.Sprintf("(DATE '2024-%02d-01', %d)", m, m*10+v))
		}
		days = append(days, fmt.Sprintf("(DATE '2024-%02d-01', %v, %d)", m, m == 5 || m == 12, 2020+m%3))
	}
	years = append(years, "(2020, 'even')", "(2021, 'odd')", "(2022, 'even')", "(NULL, 'none')")
	l.table(definition{name: "d.sales", columns: []string{"day date", "v int"}, spec: []string{"identity day"}}, append(sales, "(NULL, 1)"))
	l.table(definition{name: "d.days", columns: []string{"day date", "is_holiday boolean", "year int"}}, append(days, "(NULL, true, 2020)", "(DATE '2023-01-01', true, NULL)"))
	l.table(definition{name: "d.years", columns: []string{"year long", "parity string"}}, years)
}

// TestDynamicPartitionPruning: files of days that no row of the other table has aren't read.
func TestDynamicPartitionPruning(t *testing.T) {
	l := newLab(t)
	l.holidays()
	// 13 files of sales: 12 days, and the rows of none.
	l.finds("SELECT v FROM d.sales s JOIN d.days ON s.day = days.day WHERE days.is_holiday", "d.days.day -> s.day: 3, 11 of 13", "s.day -> d.days.day: 2, 0 of 1")
}
