package property

import "testing"

// TestNamesOfSetOperations: a set operation's columns are called as those of its first side, also where two have one name.
func TestNamesOfSetOperations(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "s.t", columns: []string{"a long", "b int"}, spec: []string{"bucket[4] a"}}, []string{"(1, 1)", "(2, NULL)", "(2, NULL)"})
	l.table(definition{name: "s.u", columns: []string{"a long", "b int"}, spec: []string{"bucket[4] a"}}, []string{"(2, NULL)", "(3, 1)"})
	const join, other = "SELECT * FROM s.t x JOIN s.u y ON x.a = y.a", "SELECT 1, 2, 3, 4"
	for _, query := range []string{
		join + " UNION ALL " + join,
		join + " INTERSECT " + join,
		join + " EXCEPT ALL " + other,
		other + " UNION " + join,
		"(" + join + " UNION ALL " + other + ") UNION " + join,
		join + " UNION ALL " + join + " ORDER BY a LIMIT 3",
		"SELECT a, a FROM s.t UNION SELECT a, b FROM s.u",
		"SELECT a, b FROM s.t UNION BY NAME SELECT b, a, a + 1 AS c FROM s.u",
		"SELECT count(*) FROM (" + join + " UNION ALL " + join + ") z",
		"SELECT * FROM (" + join + " UNION " + join + ") z",
	} {
		l.agree(query)
	}
}
