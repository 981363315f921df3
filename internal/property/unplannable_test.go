package property

import "testing"

// DuckDB 1.5 can't plan the final step of this query with all its optimizers on: by the statistics of the packs' rows neither
// the anti join nor the join after it has a match.
func TestUnplannableFinalStep(t *testing.T) {
	l := newLab(t)
	spec := []string{"bucket[2] a"}
	l.table(definition{name: "n.t0", columns: []string{"a int", "x double"}, spec: spec}, []string{"(1, 1)", "(1, 1)", "(2, 3)"})
	l.table(definition{name: "n.t1", columns: []string{"a int", "b string", "s string"}, spec: spec},
		[]string{"(NULL, 'abc', 'p')", "(9, 'e', 'q')"})
	l.table(definition{name: "n.t3", columns: []string{"a int", "b string"}, spec: spec}, []string{"(NULL, 'j')", "(2, 'k')", "(1, NULL)"})
	l.table(definition{name: "n.t9", columns: []string{"a int", "b string"}, spec: spec}, []string{"(NULL, 'j')", "(2, 'k')", "(9, 'z')"})
	const query = `WITH u0 AS (SELECT t0.a + 0 AS a, t0.x FROM n.t0 LEFT JOIN n.t9 USING (a)),
		u1 AS (SELECT t1.a + 0 AS a, t1.b, t1.s FROM n.t1 LEFT JOIN n.t9 USING (a)),
		u3 AS (SELECT t3.a + 0 AS a, t3.b FROM n.t3 LEFT JOIN n.t9 USING (a))
		SELECT u1.s, count(u0.x) AS n FROM u1 ANTI JOIN u3 ON u1.b = u3.b AND u1.a = u3.a LEFT JOIN u0 ON u1.a = u0.a GROUP BY u1.s`
	p, err := l.explain(small, query)
	l.must(err)
	if len(p.Cores) != 3 {
		t.Fatalf("%d cores, wanted one for each WITH entry", len(p.Cores))
	}
	l.agree(query)
}

// DuckDB 1.5 can't decorrelate an EXISTS over a FULL JOIN of WITH entries, by which a pack reads its tables; over views it can.
func TestUnplannablePack(t *testing.T) {
	l := newLab(t)
	for _, name := range []string{"n.p", "n.q"} {
		l.table(definition{name: name, columns: []string{"k int", "v int"}, spec: []string{"bucket[2] k"}},
			[]string{"(1, 1)", "(2, 5)", "(3, 7)", "(3, 9)", "(4, 4)", "(NULL, 2)"})
		l.deleter(name).byPosition("v = 4", true)
	}
	const query = `SELECT a.k FROM n.p a FULL JOIN n.q b ON a.k = b.k WHERE EXISTS (
		SELECT 1 FROM n.q c FULL JOIN n.q d ON c.k IS NOT DISTINCT FROM d.k AND c.v < d.v WHERE a.k = d.k)`
	p, err := l.explain(small, query)
	l.must(err)
	if len(p.Cores) != 1 || len(p.Whole) != 0 {
		t.Fatalf("%d cores, %d operators run whole, wanted one core", len(p.Cores), len(p.Whole))
	}
	l.agree(query)
}
