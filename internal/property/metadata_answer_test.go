package property

import (
	"strings"
	"testing"
)

// answers fails unless the engine answers as plain DuckDB does, in every mode, and by the strategy: "metadata", "data", or
// "" when EXPLAIN has nothing to say.
func (l *lab) answers(query, strategy string) {
	l.t.Helper()
	l.agree(query)
	want := l.judge(query)
	l.must(want.err)
	if d := differ(want, l.ask(mode{"SET tarn.metadata_answers = off"}, query), false); d != "" {
		l.t.Errorf("%s\n%s", query, d)
	}
	p, err := l.explain(auto, query)
	l.must(err)
	got := ""
	if len(p.Aggregates) > 0 {
		got = p.Aggregates[0].Strategy
	}
	if got != strategy {
		l.t.Errorf("%s is answered by %q, want %q: %v", query, got, strategy, p.Aggregates)
	}
}

// factsTable has NULLs, negative and extreme values of every type in files of two partitions each.
func (l *lab) factsTable(name string) {
	l.t.Helper()
	l.table(definition{
		name: name,
		columns: []string{
			"d date", "b boolean", "i int", "n long", "t time", "ts timestamp", "tz timestamptz", "x decimal(9,2)", "w decimal(38,0)",
			"s string", "f double", "u uuid", "y binary",
		},
		spec: []string{"identity d", "bucket[4] i"},
	}, []string{
		`(DATE '2024-01-01', true, 5, -9223372036854775808, TIME '00:00:00', TIMESTAMP '1969-12-31 23:59:59.999999', TIMESTAMPTZ '2024-01-01 10:00:00+02', -1.50,
		  -99999999999999999999999999999999999999, 'abcdefghijklmnopqrstu', 'NaN', '80000000-0000-0000-0000-000000000000', '\xFF'::BLOB)`,
		`(DATE '2024-01-01', NULL, NULL, 3, NULL, NULL, NULL, NULL, 7, NULL, NULL, NULL, NULL)`,
		`(DATE '1969-12-31', false, -2147483648, 9223372036854775807, TIME '23:59:59.999999', TIMESTAMP '2024-02-29 12:00:00', NULL, 0.01, NULL, 'b', -1,
		  '00000000-0000-0000-0000-000000000001', '\x00'::BLOB)`,
	}, []string{
		`(NULL, NULL, 2147483647, NULL, NULL, NULL, NULL, NULL, NULL, '', 0, NULL, NULL)`,
		`(DATE '2024-01-01', false, 6, 0, TIME '12:00:00', TIMESTAMP '9999-12-31 23:59:59', TIMESTAMPTZ '1900-01-01 00:00:00+00', 9999999.99, 12, 'z', 5, NULL, NULL)`,
	})
}

func TestMetadataAnswers(t *testing.T) {
	l := newLab(t)
	l.factsTable("m.t")
	for _, c := range []string{"d", "b", "i", "n", "t", "ts", "tz", "x", "w"} {
		l.answers("SELECT min("+c+"), max("+c+") AS hi, count("+c+"), count(*) FROM m.t", "metadata")
	}
	for _, c := range []string{"s", "f", "u", "y"} {
		l.answers("SELECT count("+c+") FROM m.t", "metadata")
		l.answers("SELECT min("+c+"), max("+c+") FROM m.t", "data")
	}
	for query, strategy := range map[string]string{
		"SELECT count(*) FROM m.t WHERE d = DATE '2024-01-01'":                                    "metadata",
		"SELECT count(*), max(n) FROM m.t WHERE d > DATE '1970-01-01'":                            "metadata",
		"SELECT count(*), max(n) FROM m.t WHERE d IS NULL OR d < DATE '1970-01-01'":               "metadata",
		"SELECT count(*), min(ts) FROM m.t WHERE d <> DATE '2024-01-01'":                          "metadata",
		"SELECT count(*), min(i) FROM m.t WHERE d = DATE '2030-01-01'":                            "metadata",
		"SELECT count(*) FROM m.t WHERE i IS NULL":                                                "metadata",
		"SELECT count(*) FROM m.t WHERE i = 5":                                                    "",
		"SELECT count(*) FROM m.t WHERE d = DATE '2024-01-01' AND n = 3":                          "",
		"SELECT max(n) - 1, count(*) * 2 AS c FROM m.t HAVING min(i) < 0 ORDER BY c LIMIT 5":      "metadata",
		"SELECT (SELECT max(i) FROM m.t), count(*) FROM m.t":                                      "",
		"SELECT a.i, c.n FROM m.t a JOIN (SELECT max(i) AS m, count(*) AS n FROM m.t) c ON i = m": "metadata",
		"SELECT count(*) FROM m.t UNION ALL SELECT count(s) FROM m.t":                             "metadata",
		"SELECT count(*) FILTER (i > 0) FROM m.t":                                                 "",
	} {
		l.answers(query, strategy)
	}
}

// Of a column that was added, promoted or is missing in older files the statistics don't tell all.
func TestMetadataAnswersEvolved(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "m.t", columns: []string{"k int", "v int"}}, []string{"(1, 10)", "(2, NULL)"})
	l.addColumn("m.t", "late")
	l.answers("SELECT count(late) FROM m.t", "data")
	l.answers("SELECT count(*), max(k) FROM m.t", "metadata")
	l.append("m.t", "(3, 30, 300)", "(4, 40, NULL)")
	l.answers("SELECT max(late), count(late) FROM m.t", "data")
	l.promote("m.t", "v")
	l.append("m.t", "(5, 5000000000, 1)")
	l.answers("SELECT max(v) FROM m.t", "data")
	l.answers("SELECT count(v), min(k) FROM m.t", "metadata")
	l.table(definition{name: "m.none", columns: []string{"k int"}})
	l.answers("SELECT count(*), max(k), count(k) FROM m.none", "metadata")
}

// TestMetadataAnswersAround: what stands around an aggregate is none of the statistics' business.
func TestMetadataAnswersAround(t *testing.T) {
	l := newLab(t)
	l.factsTable("m.t")
	for _, query := range []string{
		"SELECT count(*) FROM m.t LIMIT 0", "SELECT count(*) FROM m.t WHERE false", "SELECT max(n), count(*) FROM m.t WHERE NULL", "SELECT count(*), count(*) FROM m.t",
		"SELECT count(*) AS n FROM m.t HAVING n > 9", "SELECT max(n) AS n FROM m.t HAVING max(n) > 3", "SELECT DISTINCT ON (count(*)) count(*) FROM m.t",
		"SELECT count(*) OVER () FROM m.t", "SELECT count(*) FROM m.t GROUP BY ROLLUP (b)", "SELECT count(*) FROM m.t GROUP BY GROUPING SETS ((), ())",
		"SELECT count(DISTINCT b), max(n) FROM m.t", "SELECT count(NULL), count(1), count(t.b) FROM m.t", "SELECT max(n, 2) FROM m.t", "SELECT min(COLUMNS('^[in]$')) FROM m.t",
		"SELECT count(*) FROM (SELECT * FROM m.t LIMIT 2)", "SELECT count(*) FROM (SELECT DISTINCT b FROM m.t)",
		"SELECT count(*) FROM m.t WHERE d = DATE '2024-01-01' AND d IS NOT NULL", "SELECT count(*) FROM m.t a WHERE EXISTS (SELECT 1 FROM m.t b WHERE b.i = a.i)",
		"SELECT (SELECT count(*) FROM m.t b WHERE b.d = a.d) FROM m.t a", "SELECT x.n FROM m.t AS y, (SELECT max(n) AS n FROM m.t WHERE d IS NULL) x", "SELECT max(k) FROM m.t AS z(k)",
		"SELECT count(*) FROM m.t WHERE d NOT IN (DATE '2024-01-01')", "SELECT count(*) FROM m.t WHERE d IN (DATE '2024-01-01', NULL)", "SELECT count(*) FROM m.t WHERE NOT (d IS NULL)",
		"SELECT max(i) FROM m.t WHERE d BETWEEN DATE '1969-01-01' AND DATE '2024-01-01'", "SELECT count(*) + (SELECT min(i) FROM m.t) FROM m.t", "SELECT any_value(n) IS NULL, count(*) FROM m.t WHERE d = '1800-01-01'",
		"SELECT count(*) FROM m.t UNION SELECT count(*) FROM m.t", "SELECT count(*) FROM m.t EXCEPT SELECT 5", "SELECT max(tz)::DATE, min(t) || '' FROM m.t",
	} {
		want := l.judge(query)
		for _, m := range []mode{auto, {"SET tarn.metadata_answers = off"}} {
			if d := differ(want, l.ask(m, query), false); d != "" {
				t.Errorf("%v %s\n%s", m, query, d)
			}
		}
	}
}

// PRN-14: a bound of a string is no value of it, and after a delete the bounds of a file may be those of rows that are gone.
func TestPRN14(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "p.t", columns: []string{"s string", "n long", "f double"}}, []string{"('abcdefghijklmnopqrstu', 9, 'NaN'), ('a', 1, 2.5)"})
	l.answers("SELECT max(s), min(f), max(f) FROM p.t", "data")
	l.answers("SELECT count(*), max(n) FROM p.t", "metadata")
	d := l.deleter("p.t")
	d.byPosition("n = 9", true)
	l.append("p.t", "('b', 2, 1)")
	for _, query := range []string{"SELECT count(*) FROM p.t", "SELECT max(n), count(n) FROM p.t", "SELECT max(s), count(*) FROM p.t"} {
		l.answers(query, "data")
	}
	p, err := l.explain(auto, "SELECT count(*) FROM p.t")
	l.must(err)
	if !strings.Contains(p.Aggregates[0].Reason, "deleted by") {
		t.Errorf("the reason is %q", p.Aggregates[0].Reason)
	}
}
