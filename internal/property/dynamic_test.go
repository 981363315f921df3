package property

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/explain"
	"github.com/tarndb/tarn/transform"
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
		if d.State != "applied" && d.State != "told" {
			l.t.Errorf("%s: the filter of %s by %s is %s: %s", query, d.Column, d.From, d.State, d.Reason)
		}
		if d.Bloom {
			out = append(out, fmt.Sprintf("%s -> %s: bloom", d.From, d.Column))
			continue
		}
		told := ""
		if d.State == "told" {
			told = ", told"
		}
		out = append(out, fmt.Sprintf("%s -> %s: %d, %d of %d%s", d.From, d.Column, d.Values, d.FilesPruned, d.Files, told))
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

// TestDynamicPartitionPruning: files of days that no row of the other table has aren't read, where no row of theirs comes out
// without a match.
func TestDynamicPartitionPruning(t *testing.T) {
	l := newLab(t)
	l.holidays()
	// 13 files of sales: 12 days, and the rows of none. The three holidays are two of the days, and one of another year.
	const sales, days = "d.days.day -> s.day: 3, 11 of 13", "s.day -> d.days.day: 2, 0 of 1"
	all := "s.day -> d.days.day: 12, 0 of 1"
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"SELECT v FROM d.sales s JOIN d.days ON s.day = days.day WHERE days.is_holiday", []string{sales, days}},
		{"SELECT v FROM d.sales s JOIN d.days USING (day) WHERE is_holiday AND v % 2 = 0", []string{sales, days}},
		{"SELECT v, year FROM d.days RIGHT JOIN d.sales s ON s.day = days.day AND is_holiday", []string{all}},
		{"SELECT v, year FROM d.sales s LEFT JOIN d.days ON s.day = days.day AND is_holiday", []string{all}},
		{"SELECT v, year FROM d.days LEFT JOIN d.sales s ON s.day = days.day AND is_holiday", []string{"d.days.day -> s.day: 13, 1 of 13"}},
		{"SELECT v, year FROM d.days LEFT JOIN d.sales s ON s.day = days.day WHERE is_holiday", []string{sales}},
		{"SELECT v, year FROM d.days FULL JOIN d.sales s ON s.day = days.day AND is_holiday", nil},
		{"SELECT v FROM d.sales s WHERE day IN (SELECT day FROM d.days WHERE is_holiday)", []string{sales, days}},
		{"SELECT v FROM d.sales s WHERE EXISTS (SELECT 1 FROM d.days WHERE is_holiday AND days.day = s.day AND year > v)", []string{sales, days}},
		{"SELECT v FROM d.sales s WHERE NOT EXISTS (SELECT 1 FROM d.days WHERE is_holiday AND days.day = s.day)", []string{all}},
		{"SELECT year FROM d.days WHERE is_holiday AND NOT EXISTS (SELECT 1 FROM d.sales s WHERE days.day = s.day)", []string{sales}},
		{"SELECT v FROM d.sales s WHERE day NOT IN (SELECT day FROM d.days WHERE is_holiday AND day IS NOT NULL)", nil},
		{"SELECT v FROM d.sales s JOIN d.days ON s.day IS NOT DISTINCT FROM days.day WHERE is_holiday", nil},
		{"SELECT v FROM d.sales s JOIN (SELECT day FROM d.days WHERE is_holiday ORDER BY day LIMIT 1) h ON s.day = h.day", nil},
		{"SELECT n, v FROM d.sales s JOIN (SELECT day, row_number() OVER (ORDER BY day) AS n FROM d.days WHERE is_holiday) h ON s.day = h.day", []string{sales}},
		{"SELECT n, h.year FROM d.days h JOIN (SELECT day, count(*) AS n FROM d.sales s GROUP BY day) USING (day) WHERE is_holiday", []string{strings.Replace(sales, "d.days", "h", 1), strings.Replace(days, "d.days", "h", 1)}},
		// No row satisfies the condition.
		{"SELECT v FROM d.sales s JOIN d.days ON s.day = days.day WHERE days.year % 10 = 9", []string{"d.days.day -> s.day: 0, 13 of 13", "s.day -> d.days.day: 0, 1 of 1"}},
	} {
		l.finds(c.query, c.want...)
	}
	// EXPLAIN looks nothing up.
	p, err := l.session(forced[0]).Explain(t.Context(), "SELECT v FROM d.sales s JOIN d.days ON s.day = days.day WHERE is_holiday", tarn.ExplainOptions{})
	l.must(err)
	for _, want := range []string{"dynamic filter on s.day (", "a run looks up the values of d.days.day (", "13 files of 13 kept"} {
		if !strings.Contains(p, want) {
			t.Errorf("EXPLAIN doesn't say %q:\n%s", want, p)
		}
	}
}

// TestPairedRowsStay: a USING column of rows that a join pairs by nearness or by their places leaves none of them out.
func TestPairedRowsStay(t *testing.T) {
	l := newLab(t)
	l.holidays()
	const sales, values = "(SELECT day, v FROM d.sales)", "(SELECT v FROM d.sales WHERE day IS NOT NULL)"
	for _, from := range []string{
		values + " q ASOF JOIN " + sales + " p ON q.v > p.v JOIN d.days USING (day)",
		values + " q ASOF LEFT JOIN " + sales + " p ON q.v > p.v FULL JOIN d.days USING (day)",
		values + " q ASOF JOIN (" + sales + " p JOIN d.days USING (day)) ON q.v > p.v",
		"(SELECT day, v + 1 AS v FROM d.sales) p JOIN (SELECT v FROM d.sales) q USING (v) ASOF JOIN (SELECT year - 2000 AS y FROM d.years) z ON p.v > z.y",
	} {
		l.agree("SELECT q.v, p.v FROM " + from + " WHERE day = DATE '2024-05-01'")
	}
}

// TestDynamicFilterOfAChain: a condition on years leaves days, and these leave files.
func TestDynamicFilterOfAChain(t *testing.T) {
	l := newLab(t)
	l.holidays()
	l.finds("SELECT v FROM d.sales s JOIN d.days ON s.day = days.day JOIN d.years y ON y.year = days.year WHERE parity = 'odd'",
		"y.year -> d.days.year: 1, 0 of 1", "y.year -> d.days.year: bloom", "d.days.day -> s.day: 4, 9 of 13", "d.days.year -> y.year: 1, 0 of 1",
		"d.days.year -> y.year: bloom", "s.day -> d.days.day: 4, 0 of 1")
	// What is equal to what is filtered is filtered alike, without another look.
	l.finds("SELECT count(*) FROM d.days h JOIN d.sales s ON s.day = h.day JOIN d.sales z ON z.day = s.day WHERE h.is_holiday",
		"h.day -> s.day: 3, 11 of 13", "h.day -> z.day: 3, 11 of 13", "s.day -> h.day: 2, 0 of 1", "s.day -> z.day: 2, 11 of 13", "z.day -> s.day: 2, 11 of 13", "z.day -> h.day: 2, 0 of 1")
}

// TestDynamicFilterLeavesOutManifests: not even the lists of other days' files are read.
func TestDynamicFilterLeavesOutManifests(t *testing.T) {
	l := newLab(t)
	l.holidays()
	for m := 1; m <= 12; m++ {
		l.append("d.sales", fmt.Sprintf("(DATE '2025-%02d-01', %d)", m, m))
	}
	l.append("d.days", "(DATE '2025-03-01', true, 2025)")
	const query = "SELECT v FROM d.sales s JOIN d.days ON s.day = days.day WHERE year = 2025"
	l.found(query)
	for _, s := range l.measured(forced[0], query).Scans {
		if s.Table == "d.sales" && s.Counts.ManifestsPruned != 12 {
			t.Errorf("%d of %d manifests are left out, wanted all but one of 13", s.Counts.ManifestsPruned, s.Counts.Manifests)
		}
	}
}

// TestDynamicFilterByBounds: files of a table without a layout, whose rows came in the order of the key.
func TestDynamicFilterByBounds(t *testing.T) {
	l := newLab(t)
	l.create(definition{name: "d.big", columns: []string{"id long", "v int"}})
	for at := range 8 {
		l.must(l.tryAppendQuery("d.big", fmt.Sprintf("SELECT range, range %% 7 FROM range(%d, %d)", at*5000, at*5000+5000)))
	}
	l.table(definition{name: "d.few", columns: []string{"id int", "tag string"}}, []string{"(3, 'a')", "(11000, 'a')", "(39999, 'a')", "(20000, 'b')", "(NULL, 'a')"})
	l.finds("SELECT count(*), sum(v) FROM d.big JOIN d.few USING (id) WHERE tag = 'a'", "d.few.id -> d.big.id: 3, 5 of 8", "d.few.id -> d.big.id: bloom", "d.big.id -> d.few.id: 3, 0 of 1", "d.big.id -> d.few.id: bloom")
	// More values than are kept.
	l.create(definition{name: "d.many", columns: []string{"id int"}})
	l.must(l.tryAppendQuery("d.many", "SELECT range FROM range(12000, 24000)"))
	l.finds("SELECT count(*), sum(v) FROM d.big WHERE id IN (SELECT id FROM d.many WHERE id % 2 < 5)", "d.many.id -> d.big.id: -1, 5 of 8", "d.many.id -> d.big.id: bloom", "d.big.id -> d.many.id: -1, 0 of 1", "d.big.id -> d.many.id: bloom")
}

// TestDynamicFilterByManifests: what the partitions and bounds of a table's files say of its values, before its rows say more.
func TestDynamicFilterByManifests(t *testing.T) {
	l := newLab(t)
	l.holidays()
	l.table(definition{name: "d.events", columns: []string{"region string", "day date", "n int"}, spec: []string{"identity region", "identity day"}},
		[]string{"('eu', DATE '2024-02-01', 1)", "('eu', DATE '2024-02-01', 2)", "('eu', DATE '2024-07-01', 3)", "('eu', NULL, 4)", "('us', DATE '2024-03-01', 5)"})
	const rest = "s.day -> d.events.day: 2, 1 of 4"
	l.finds("SELECT n, v FROM d.sales s JOIN d.events ON s.day = events.day WHERE region = 'eu'",
		"d.events.day -> s.day: 2, 11 of 13, told", "d.events.day -> s.day: 2, 11 of 13", rest)
	l.finds("SELECT n, v FROM d.sales s JOIN d.events ON s.day = events.day WHERE region = 'eu' AND n % 3 = 0",
		"d.events.day -> s.day: 2, 12 of 13, told", "d.events.day -> s.day: 1, 12 of 13", "s.day -> d.events.day: 1, 2 of 4")
	// Bounds of v leave out four files anyway.
	l.finds("SELECT n FROM d.events ANTI JOIN d.sales s ON s.day = events.day AND v > 40 WHERE region = 'eu'",
		"d.events.day -> s.day: 2, 8 of 13, told", "d.events.day -> s.day: 2, 8 of 13")
}

// TestDynamicFilterOfOtherVersions: a table gives the values of the version that the statement reads.
func TestDynamicFilterOfOtherVersions(t *testing.T) {
	l := newLab(t)
	l.holidays()
	first := l.load("d.days").Snapshot.ID
	l.append("d.days", "(DATE '2024-01-01', true, 1)")
	for version, want := range map[string]string{"": "6", fmt.Sprintf("FOR VERSION AS OF %d", first): "4"} {
		query := "SELECT count(*) FROM d.sales s JOIN d.days " + version + " h ON s.day = h.day WHERE h.is_holiday"
		for _, m := range forced {
			if got := l.single(m, query); got != want {
				t.Errorf("%v %s gives %s, wanted %s", m, query, got, want)
			}
		}
	}
}

// TestDynamicFilterOfAutoMode: a condition on a small table leaves out files of a table of 16 MiB, without being told to.
func TestDynamicFilterOfAutoMode(t *testing.T) {
	l := newLab(t)
	l.holidays()
	l.create(definition{name: "d.fact", columns: []string{"day date", "v long"}, spec: []string{"identity day"}})
	l.must(l.tryAppendQuery("d.fact", "SELECT DATE '2024-01-01' + to_months((range % 12)::INT), (hash(range) // 2)::BIGINT FROM (SELECT * FROM range(2500000))"))
	const query = "SELECT count(*) FROM d.fact JOIN d.days ON fact.day = days.day WHERE is_holiday"
	for _, c := range []struct {
		m    mode
		want int
	}{{auto, 10}, {off, 10}, {mode{"SET tarn.dynamic_filter = off"}, 0}, {mode{"SET tarn.dynamic_filter_bytes = 1"}, 0}} {
		if got := l.single(c.m, query); got != "416666" {
			t.Errorf("%v %s gives %s", c.m, query, got)
		}
		for _, s := range l.measured(c.m, query).Scans {
			if s.Table == "d.fact" && s.Counts.FilesPruned != c.want {
				t.Errorf("%v: %d of %d files are left out, wanted %d", c.m, s.Counts.FilesPruned, s.Counts.Files, c.want)
			}
		}
	}
}

// TestDynamicFilterOfEachType joins small tables on columns of each type, laid out by themselves and by buckets.
func TestDynamicFilterOfEachType(t *testing.T) {
	l := newLab(t)
	for i, c := range []struct {
		types  [2]string
		values []string
	}{
		{[2]string{"boolean", "boolean"}, []string{"true", "false"}},
		{[2]string{"int", "long"}, []string{"0", "1", "-1", "2147483647", "-2147483648"}},
		{[2]string{"long", "int"}, []string{"0", "7", "-7", "2147483647"}},
		{[2]string{"decimal(9,2)", "decimal(18,2)"}, []string{"0.00", "-0.01", "10.65", "9999999.99"}},
		{[2]string{"date", "date"}, []string{"1970-01-01", "1969-12-31", "2024-02-29", "0001-01-01", "5000-12-31"}},
		{[2]string{"time", "time"}, []string{"00:00:00", "22:31:08.000001", "23:59:59.999999"}},
		{[2]string{"timestamp", "timestamp"}, []string{"1970-01-01 00:00:00", "1969-12-31 23:59:59.999999", "2024-02-29 12:30:00", "0044-01-01 00:00:00", "12000-01-01 00:00:00"}},
		{[2]string{"timestamptz", "timestamptz"}, []string{"1970-01-01 00:00:00+00", "2024-02-29 12:30:00-08", "1969-12-31 23:59:59.999999+00"}},
		{[2]string{"string", "string"}, []string{"", "a", "o''neil", "日本語文字", "a longer text than twelve bytes", "x\\y\\n%"}},
		{[2]string{"uuid", "uuid"}, []string{"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", "f79c3e09-677c-4bbd-a479-3f349cb785e7", "7fffffff-0000-0000-8000-000000000000"}},
		{[2]string{"binary", "binary"}, []string{"\\x00\\x00", "\\x00\\xFF", "ab"}},
		{[2]string{"double", "double"}, []string{"0.0", "-0.0", "nan", "1.5"}},
	} {
		for _, fn := range []string{"identity", "bucket[3]"} {
			left, right := fmt.Sprintf("e%d.l", i), fmt.Sprintf("e%d.r", i)
			if !l.canBe(fn, c.types[0]) || !l.canBe(fn, c.types[1]) {
				continue
			}
			left, right = left+strings.Trim(fn, "[]123"), right+strings.Trim(fn, "[]123")
			spec := []string{fn + " k"}
			var rows [2][]string
			for j, v := range c.values {
				rows[0] = append(rows[0], fmt.Sprintf("('%s', %d)", v, j))
				rows[1] = append(rows[1], fmt.Sprintf("('%s', %d)", v, j))
			}
			l.table(definition{name: left, columns: []string{"k " + c.types[0], "v int"}, spec: spec}, append(rows[0], "(NULL, -1)"))
			l.table(definition{name: right, columns: []string{"k " + c.types[1], "v int"}, spec: spec}, append(rows[1], "(NULL, -1)"))
			l.found(fmt.Sprintf("SELECT l.v FROM %s l JOIN %s r ON l.k = r.k AND r.v %% 2 = 0", left, right))
			l.found(fmt.Sprintf("SELECT l.v FROM %s l ANTI JOIN %s r ON l.k = r.k WHERE l.v > 0", left, right))
		}
	}
}

// canBe says whether columns of a type can be laid out by a transform.
func (l *lab) canBe(fn, typ string) bool {
	l.t.Helper()
	tr, err := transform.Parse(fn)
	l.must(err)
	t, err := transform.ParseType(typ)
	l.must(err)
	return tr.CanApply(t)
}
