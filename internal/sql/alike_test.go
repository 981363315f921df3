package sql

import "testing"

func TestGroupsAlike(t *testing.T) {
	for _, c := range []struct{ text, first, second string }{
		{`SELECT 1 FROM t GROUP BY k, "K"`, "k", "K"},
		{"SELECT 1 FROM t GROUP /* all */ BY f(k) + 1, v, F(`K`)+1 HAVING true", "fk+1", "FK+1"},
		{`SELECT 1 FROM t GROUP BY ROLLUP (k, v), CUBE (x, "K") ORDER BY 1`, "k", "K"},
		{`SELECT * FROM (SELECT 1 FROM t GROUP BY GROUPING SETS ((t.k, v), (t."K"))), u`, "t.k", "t.K"},
		{`SELECT 1 FROM t GROUP BY t.k, "K"`, "", ""},
		{`SELECT 1 FROM t GROUP BY k, k`, "", ""},
		{`SELECT 1 FROM t GROUP BY v = 'a', v = 'A'`, "", ""},
		{`SELECT (SELECT 1 FROM t GROUP BY k), "K" FROM t GROUP BY "K" ORDER BY k, "K"`, "", ""},
		{`SELECT 1 FROM t GROUP BY k UNION SELECT 1 FROM t, "K" GROUP BY "K"`, "", ""},
		{`SELECT 'GROUP BY k, "K"'`, "", ""},
	} {
		if first, second := GroupsAlike(c.text); first != c.first || second != c.second {
			t.Errorf("%s: %q, %q", c.text, first, second)
		}
	}
}
