package property

import (
	"fmt"
	"strings"
	"testing"
)

// tuples returns the SQL tuples (0), (1), ... (n-1).
func tuples(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("(%d)", i)
	}
	return out
}

// bucketed makes a table of the ids from 0 to n-1.
func (l *lab) bucketed(name, fn string, n int) {
	l.t.Helper()
	l.table(definition{name: name, columns: []string{"id long"}, spec: []string{fn + " id"}}, tuples(n))
}

// counts fails unless as many rows are counted as wanted; bug is the count that the known fault gives.
func (l *lab) counts(query, wanted, bug string) {
	l.t.Helper()
	for _, m := range []mode{auto, off} {
		switch got := l.single(m, query); got {
		case wanted:
		case bug:
			l.t.Errorf("%v %s\ngives %s: the known fault", m, query, got)
		default:
			l.t.Errorf("%v %s\ngives %s, wanted %s", m, query, got, wanted)
		}
	}
}

// grouped fails unless all of the query runs by groups, on these keys.
func (l *lab) grouped(query string, keys ...string) {
	l.t.Helper()
	l.groupedIn(auto, query, keys...)
	l.groupedIn(small, query, keys...)
}

// routed is small, with rows sent to their groups wherever that makes a join run by groups.
var routed = mode{"SET tarn.pack_bytes = 0", "SET tarn.exchange = 'force'", "SET tarn.broadcast_bytes = 0"}

// groupedIn is grouped in one mode.
func (l *lab) groupedIn(m mode, query string, keys ...string) {
	l.t.Helper()
	p, err := l.explain(m, query)
	l.must(err)
	if len(p.Cores) != 1 || len(p.Whole) > 0 {
		l.t.Errorf("%v %s\nhas %d parts by groups, and %d that run whole: %s", m, query, len(p.Cores), len(p.Whole), p.reasons())
		return
	}
	if got := strings.Join(p.Cores[0].Keys, "; "); got != strings.Join(keys, "; ") {
		l.t.Errorf("%v %s\nruns by %s, wanted %s", m, query, got, strings.Join(keys, "; "))
	}
}

// whole fails unless nothing of the query runs by groups and the reason says all of the words.
func (l *lab) whole(query string, words ...string) {
	l.t.Helper()
	p, err := l.explain(auto, query)
	l.must(err)
	if len(p.Cores) > 0 {
		l.t.Errorf("%s\nruns by groups", query)
	}
	for _, w := range words {
		if !strings.Contains(p.reasons(), w) {
			l.t.Errorf("%s\nno reason says %q: %s", query, w, p.reasons())
		}
	}
}

// TestSPJ1: bucket numbers of different counts are unrelated; pairing equal numbers keeps 35 of 64 rows.
func TestSPJ1(t *testing.T) {
	l := newLab(t)
	l.bucketed("c.l", "bucket[4]", 64)
	l.bucketed("c.r", "bucket[2]", 64)
	const query = "SELECT count(*) FROM c.l JOIN c.r ON l.id = r.id"
	l.counts(query, "64", "35")
	l.grouped(query, "bucket(2, id)")
}

// TestSPJ2: a bucket number reduced for one pair of tables says nothing of one reduced for another pair.
func TestSPJ2(t *testing.T) {
	l := newLab(t)
	for name, n := range map[string]int{"c.a": 12, "c.b": 8, "c.c": 12, "c.d": 18, "c.e": 6} {
		l.bucketed(name, fmt.Sprintf("bucket[%d]", n), 24)
	}
	for _, from := range []string{
		"(c.a JOIN c.b USING (id)) JOIN (c.c JOIN c.d USING (id)) USING (id)",
		"c.a JOIN c.b USING (id) JOIN c.e USING (id)",
		"c.a JOIN c.b ON a.id = b.id JOIN c.e ON b.id = e.id",
		"(c.a JOIN c.c USING (id)) JOIN (c.b JOIN c.d USING (id)) USING (id)",
	} {
		l.counts("SELECT count(*) FROM "+from, "24", "10")
		l.grouped("SELECT count(*) FROM "+from, "bucket(2, id)")
	}
}

// TestSPJ4: a group whose files are many is still one group for GROUP BY, DISTINCT and windows.
func TestSPJ4(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "c.t", columns: []string{"k int", "v int"}, spec: []string{"identity k"}},
		[]string{"(1, 10)"}, []string{"(1, 20)"}, []string{"(1, 30)"})
	l.table(definition{name: "c.u", columns: []string{"k int"}, spec: []string{"identity k"}}, []string{"(1)"})
	for _, query := range []string{
		"SELECT k, count(*) FROM c.t JOIN c.u USING (k) GROUP BY k",
		"SELECT DISTINCT k FROM c.t JOIN c.u USING (k)",
		"SELECT k, v, count(*) OVER (PARTITION BY k) FROM c.t JOIN c.u USING (k)",
		"SELECT k, count(*) FROM c.t GROUP BY k",
	} {
		l.agree(query)
		l.grouped(query, "k")
		one := mode{"SET tarn.pack_bytes = 1"}
		if d := differ(l.judge(query), l.ask(one, query), false); d != "" {
			t.Errorf("%v %s\n%s", one, query, d)
		}
	}
}

// TestSPJ5: all files of a partition are read, not one of them.
func TestSPJ5(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "c.l", columns: []string{"id int", "p int"}, spec: []string{"identity p"}}, []string{"(1, 7)", "(2, 8)"})
	l.table(definition{name: "c.r", columns: []string{"v int", "p int"}, spec: []string{"identity p"}},
		[]string{"(20, 7)"}, []string{"(21, 7)", "(22, 8)"})
	l.agree("SELECT id, p, v FROM c.l JOIN c.r USING (p)")
	l.grouped("SELECT id, p, v FROM c.l JOIN c.r USING (p)", "p")
	l.counts("SELECT count(*) FROM c.l JOIN c.r USING (p)", "3", "1")
}

// TestSPJ6: hours before 1970 belong to the day before, not to the day of 1970-01-01.
func TestSPJ6(t *testing.T) {
	l := newLab(t)
	rows := []string{"(TIMESTAMP '1969-12-31 23:00:00')", "(TIMESTAMP '1970-01-01 00:30:00')"}
	for name, fn := range map[string]string{"c.l": "hour", "c.r": "day", "c.d": "day", "c.m": "month", "c.y": "year"} {
		l.table(definition{name: name, columns: []string{"ts timestamp"}, spec: []string{fn + " ts"}}, rows)
	}
	for other, key := range map[string]string{"c.r": "days(ts)", "c.m": "months(ts)", "c.y": "years(ts)"} {
		l.counts("SELECT count(*) FROM c.l JOIN "+other+" USING (ts)", "2", "0")
		l.grouped("SELECT count(*) FROM c.l JOIN "+other+" USING (ts)", key)
	}
	l.counts("SELECT count(*) FROM c.d JOIN c.r USING (ts)", "2", "1")
	l.grouped("SELECT d.ts FROM c.d JOIN c.r USING (ts)", "days(ts)")
}

// TestSPJ7: a tuple is read through its own file's spec; the key is what all specs in use have.
func TestSPJ7(t *testing.T) {
	l := newLab(t)
	columns := []string{"region string", "id long", "v int"}
	for _, name := range []string{"c.t", "c.t2"} {
		l.table(definition{name: name, columns: columns, spec: []string{"identity region"}}, []string{"('eu', 1, 1)"})
		l.setSpec(name, []string{"bucket[4] id", "identity region"})
		l.append(name, "('eu', 2, 2)", "('us', 3, 3)")
	}
	l.table(definition{name: "c.u", columns: columns, spec: []string{"identity region"}}, []string{"('eu', 1, 1)", "('eu', 2, 2)", "('us', 3, 3)"})
	const query = "SELECT t.region, t.id, t.v, u.v FROM c.t JOIN c.u ON t.region = u.region AND t.id = u.id"
	l.agree(query)
	l.counts("SELECT count(*) FROM c.t JOIN c.u USING (region, id)", "3", "0")
	l.grouped(query, "region")
	l.whole("SELECT * FROM c.t JOIN c.t2 USING (id)", "laid out by (region)", "bucket(4, id)")
	l.agree("SELECT * FROM c.t JOIN c.t2 USING (id)")
	// The file without the bucket is routed row by row when that is wanted.
	const both = "SELECT t.v, t2.v FROM c.t JOIN c.t2 USING (id)"
	l.groupedIn(routed, both, "bucket(4, id)")
	if d := differ(l.judge(both), l.ask(routed, both), false); d != "" {
		t.Errorf("%v %s\n%s", routed, both, d)
	}
	// The files of the first spec are left out by the filter, so that the bucket is in all that are read.
	const late = "SELECT x.v, y.v FROM c.t x JOIN c.t2 y ON x.id = y.id WHERE x.region = 'us' AND y.region = 'us'"
	l.agree(late)
	l.grouped(late, "bucket(4, id)")
}

// TestSPJ9: keys are matched by their columns, wherever they stand in the specs.
func TestSPJ9(t *testing.T) {
	l := newLab(t)
	columns := []string{"id long", "a int", "b string"}
	rows := []string{"(1, 1, 'x')", "(1, 2, 'x')", "(2, 1, NULL)", "(NULL, 1, 'y')"}
	l.table(definition{name: "c.t1", columns: columns, spec: []string{"identity id", "identity a", "identity b"}}, rows)
	l.setSpec("c.t1", []string{"identity id", "identity b", "identity a"})
	l.append("c.t1", "(1, 1, 'x')", "(3, 1, 'z')")
	l.table(definition{name: "c.t2", columns: columns, spec: []string{"identity id", "identity b", "identity a"}}, rows, []string{"(3, 1, 'z')"})
	const query = "SELECT * FROM c.t1 JOIN c.t2 ON t1.id = t2.id AND t1.a = t2.a AND t1.b = t2.b"
	l.agree(query)
	l.agree(strings.Replace(query, "JOIN", "FULL JOIN", 1))
	l.grouped(query, "id", "a") // b divides none of their groups
}

// TestNoGroups: aggregates over a join that no group survives are those over no rows.
func TestNoGroups(t *testing.T) {
	l := newLab(t)
	for name, rows := range map[string][]string{"c.l": {"(1, 1)", "(NULL, 2)"}, "c.r": {"(2, 1)", "(NULL, 2)"}} {
		l.table(definition{name: name, columns: []string{"k int", "v int"}, spec: []string{"identity k"}}, rows)
	}
	l.create(definition{name: "c.none", columns: []string{"k int", "v int"}, spec: []string{"identity k"}})
	for _, from := range []string{
		"c.l JOIN c.r USING (k)", "c.l JOIN c.none USING (k)", "c.none LEFT JOIN c.l USING (k)", "c.none FULL JOIN c.none n USING (k)",
		"c.l LEFT JOIN c.none USING (k)", "c.l FULL JOIN c.r USING (k)", "c.l SEMI JOIN c.r USING (k)", "c.l ANTI JOIN c.none USING (k)",
		"c.l JOIN c.r ON l.k IS NOT DISTINCT FROM r.k",
	} {
		l.agree("SELECT count(*) AS a, count(k) + 1 AS b, sum(k) AS c, avg(k) AS d, min(k) AS e, bool_and(k > 0) AS f FROM (SELECT 1 AS k FROM " + from + ")")
		l.agree("SELECT count(*) AS a, count(*) FILTER (WHERE true) AS b FROM " + from)
		l.agree("SELECT count(*) AS a FROM " + from + " HAVING count(*) = 0")
		l.agree("SELECT 1 AS a FROM " + from + " LIMIT 1")
		l.agree("SELECT 1 AS a, count(*) AS b FROM " + from + " GROUP BY 1")
	}
	l.grouped("SELECT count(*) FROM c.l JOIN c.r USING (k)", "k")
}

// TestNothingToRoute: rows are to be routed, and nothing can come of them; or of nothing but them.
func TestNothingToRoute(t *testing.T) {
	l := newLab(t)
	columns := []string{"k int", "v int"}
	l.table(definition{name: "c.plain", columns: columns}, []string{"(1, 1)", "(NULL, 2)"})
	l.create(definition{name: "c.none", columns: columns, spec: []string{"bucket[4] k"}})
	l.create(definition{name: "c.nothing", columns: columns})
	for _, kind := range []string{"", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"} {
		for _, pair := range [][2]string{{"c.plain", "c.none"}, {"c.none", "c.plain"}, {"c.plain", "c.nothing"}, {"c.plain", "c.plain"}} {
			query := fmt.Sprintf("SELECT count(*) FROM %s a %s JOIN %s b ON a.k = b.k", pair[0], kind, pair[1])
			if d := differ(l.judge(query), l.ask(routed, query), false); d != "" {
				t.Errorf("%v %s\n%s", routed, query, d)
			}
		}
	}
}

// TestFilledWithNull: NULLs that an outer join fills in lie in every group; they mustn't pass for the group of NULL.
func TestFilledWithNull(t *testing.T) {
	l := newLab(t)
	for name, rows := range map[string][]string{
		"c.a": {"(1, 1)", "(2, 2)", "(3, 3)", "(NULL, 4)"}, "c.b": {"(2, 1)", "(4, 2)", "(NULL, 3)"}, "c.c": {"(1, 1)", "(4, 2)", "(NULL, 3)"},
	} {
		l.table(definition{name: name, columns: []string{"k int", "v int"}, spec: []string{"identity k"}}, rows)
	}
	for _, kind := range []string{"LEFT", "RIGHT", "FULL"} {
		ab := "c.a " + kind + " JOIN c.b ON a.k = b.k"
		for _, side := range []string{"a", "b"} {
			for _, query := range []string{
				"SELECT a.v, b.v, c.v FROM " + ab + " JOIN c.c ON " + side + ".k IS NOT DISTINCT FROM c.k",
				"SELECT a.v, b.v, c.v FROM " + ab + " LEFT JOIN c.c ON " + side + ".k IS NOT DISTINCT FROM c.k",
				"SELECT a.v, b.v, c.v FROM " + ab + " FULL JOIN c.c ON " + side + ".k = c.k",
				"SELECT a.v, b.v FROM " + ab + " WHERE EXISTS (SELECT 1 FROM c.c WHERE c.k IS NOT DISTINCT FROM " + side + ".k)",
				"SELECT a.v, b.v FROM " + ab + " WHERE NOT EXISTS (SELECT 1 FROM c.c WHERE c.k IS NOT DISTINCT FROM " + side + ".k)",
				"SELECT " + side + ".k, count(*) FROM " + ab + " GROUP BY " + side + ".k",
				"SELECT DISTINCT " + side + ".k FROM " + ab,
				"SELECT " + side + ".v, count(*) OVER (PARTITION BY " + side + ".k) FROM " + ab,
			} {
				l.agree(query)
			}
		}
		l.agree("SELECT k, count(*) FROM c.a " + kind + " JOIN c.b USING (k) GROUP BY k")
		l.agree("SELECT k, a.v, c.v FROM c.a " + kind + " JOIN c.b USING (k) FULL JOIN c.c USING (k)")
	}
}

// TestFloatKeys: two zeros are one SQL value and two partitions, so that floats are never keys.
func TestFloatKeys(t *testing.T) {
	l := newLab(t)
	for name, rows := range map[string][]string{
		"c.l": {"(0.0, 1)", "('-0.0', 2)", "('nan', 3)", "('inf', 4)", "(1.5, 5)", "(NULL, 6)"},
		"c.r": {"('-0.0', 1)", "('nan', 2)", "(1.5, 3)", "(NULL, 4)"},
	} {
		l.table(definition{name: name, columns: []string{"d double", "v int"}, spec: []string{"identity d"}}, rows)
	}
	for _, kind := range []string{"", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"} {
		l.agree("SELECT l.v FROM c.l " + kind + " JOIN c.r ON l.d = r.d")
	}
	for _, query := range []string{
		"SELECT count(*) FROM c.l GROUP BY d", "SELECT count(DISTINCT d) FROM c.l", "SELECT v FROM c.l WHERE d = 0", "SELECT v FROM c.l WHERE d = -0.0::DOUBLE",
		"SELECT v FROM c.l WHERE d > 5", "SELECT v FROM c.l WHERE d >= 'nan'", "SELECT v FROM c.l WHERE d IN (0, 'nan')", "SELECT v FROM c.l WHERE d < 0", "SELECT v FROM c.l WHERE d <= 0",
	} {
		l.agree(query)
	}
	l.whole("SELECT l.v FROM c.l JOIN c.r ON l.d = r.d", "double")
}

// TestBlockMentionedTwice joins a WITH entry with itself by groups: its text is in the core's statement once.
func TestBlockMentionedTwice(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "c.t", columns: []string{"a int", "v int"}, spec: []string{"bucket[4] a"}}, []string{"(1, 10)", "(1, 20)", "(2, 30)", "(NULL, 40)"})
	for _, query := range []string{
		"WITH w AS (SELECT a, count(*) AS n FROM c.t GROUP BY a) SELECT l.a, l.n, r.n FROM w AS l JOIN w AS r USING (a)",
		"WITH w AS (SELECT DISTINCT a FROM c.t) SELECT l.a FROM w AS l LEFT JOIN w AS r USING (a) WHERE NOT EXISTS (SELECT 1 FROM w o WHERE o.a = l.a)",
	} {
		l.agree(query)
	}
}
