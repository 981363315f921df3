package property

import (
	"fmt"
	"strings"
	"testing"
)

// TestSievesOfPacks: a table has a sieve in each pack where a row needs a match in the pack, by the column whose value is checked, and
// nowhere else; the rows are right either way.
func TestSievesOfPacks(t *testing.T) {
	l := newLab(t)
	rows := func(n int, row func(i int) string) (out []string) {
		for i := range n {
			out = append(out, row(i))
		}
		return out
	}
	spec, days := []string{"bucket[4] id"}, []string{"bucket[4] id", "identity day"}
	big := func(i int) string { return fmt.Sprintf("(%d, %d, %d)", i%90, i%3, i) }
	few := func(i int) string { return fmt.Sprintf("(%d, %d, %d)", i*7, i%3, i) }
	for _, d := range []struct {
		name, typ string
		spec      []string
		rows      []string
	}{
		{"s.big", "long", spec, append(rows(200, big), "(NULL, 1, -1)")}, {"s.few", "int", spec, append(rows(15, few), "(NULL, 1, -1)")},
		{"s.days", "long", days, rows(200, big)}, {"s.several", "long", days, rows(15, few)}, {"s.texts", "string", spec, []string{"('1', 1, 1)", "('2', 2, 2)"}},
	} {
		l.table(definition{name: d.name, columns: []string{"id " + d.typ, "day int", "v int"}, spec: d.spec}, d.rows)
	}
	m := mode{"SET tarn.dynamic_filter = 'force'", "SET tarn.pack_bytes = 0", "SET tarn.spj = 'require'", "SET tarn.exchange = 'off'", "SET tarn.broadcast_bytes = 0"}
	for _, c := range []struct{ query, want string }{
		{"SELECT big.v, few.v FROM s.big RIGHT JOIN s.few ON big.id = few.id", "s.big.id by s.few.id"},
		{"SELECT big.v, few.v FROM s.big LEFT JOIN s.few ON big.id = few.id", "s.few.id by s.big.id"},
		{"SELECT big.v, few.v FROM s.big FULL JOIN s.few ON big.id = few.id", ""},
		{"SELECT few.v FROM s.few WHERE NOT EXISTS (SELECT 1 FROM s.big WHERE big.id = few.id)", "s.big.id by s.few.id"},
		{"SELECT big.v, few.v FROM s.big JOIN s.few ON big.id IS NOT DISTINCT FROM few.id", ""},
		{"SELECT a.n, few.v FROM (SELECT id, count(*) AS n FROM s.big GROUP BY id) a RIGHT JOIN s.few ON a.id = few.id", "s.big.id by s.few.id"},
		{"SELECT a.n, few.v FROM (SELECT id, row_number() OVER (PARTITION BY id ORDER BY v) AS n FROM s.big) a RIGHT JOIN s.few ON a.id = few.id", ""},
		// The value of another column is checked too, and a row in the wrong group by that one might be dropped first.
		{"SELECT days.v, several.v FROM s.days RIGHT JOIN s.several ON days.id = several.id AND days.day = several.day", ""},
		{"SELECT a.v, b.v FROM s.texts a RIGHT JOIN s.texts b ON a.id = b.id", ""},
	} {
		want := l.judge(c.query)
		l.must(want.err)
		if d := differ(want, l.ask(m, c.query), false); d != "" {
			t.Errorf("%s\n%s", c.query, d)
		}
		var got []string
		for _, core := range l.measured(m, c.query).Cores {
			for _, s := range core.Sieves {
				got = append(got, s.Column+" by "+s.From)
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s\nhas the sieves %q, wanted %q", c.query, got, c.want)
		}
	}
}
