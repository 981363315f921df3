package property

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/seed"
)

const (
	defaultDistinctRounds = 3
	distinctPerRound      = 8
)

// distinctModes are the ways in which packs may be made: the last two route rows and divide groups where that may be.
var distinctModes = []mode{small, auto, off, {"SET tarn.pack_bytes = 0", "SET tarn.exchange = 'force'"}, {"SET tarn.skew = 'slice'"}, {"SET tarn.skew = 'bucket'"}}

// newDistinctWorld makes two tables of one layout, in several files per group.
func newDistinctWorld(l *lab, rng *rand.Rand, space string) {
	spec := pick(rng, [][]string{{"bucket[4] k"}, {"day d", "bucket[3] k"}, {"identity k"}, {"bucket[2] k", "bucket[2] n"}, {"truncate[2] k", "identity g"}})
	for _, name := range []string{"t", "u"} {
		var batches [][]string
		for range 1 + rng.IntN(3) {
			var rows []string
			for range 1 + rng.IntN(40) {
				row := fmt.Sprintf("(%s, %s, %s, %s, %s)", pick(rng, []string{"NULL", "1", "2", "3", "4", "5", "6", "7"}), pick(rng, []string{"NULL", "'p'", "'q'"}),
					pick(rng, []string{"NULL", "'1969-12-31 23:00:00'", "'2024-01-01 05:00:00'", "'2024-01-01 06:00:00'", "'2024-01-02 00:00:00'"}),
					pick(rng, []string{"NULL", "-1", "0", "9"}), pick(rng, []string{"NULL", "1.25", "-3.50", "99999.99"}))
				rows = append(rows, row)
			}
			batches = append(batches, rows)
		}
		l.table(definition{name: space + "." + name, columns: []string{"k long", "g string", "d timestamp", "v int", "n decimal(9,2)"}, spec: spec}, batches...)
	}
}

// distinctQuery is a random query with aggregates of DISTINCT values.
func distinctQuery(rng *rand.Rand, space string) string {
	from, p := space+".t", ""
	if !chance(rng, 3) {
		on := pick(rng, []string{"t.k = u.k", "t.k = u.k AND t.d = u.d", "t.k = u.k AND t.n = u.n", "t.k IS NOT DISTINCT FROM u.k", "t.k = u.k AND t.g = u.g"})
		from += pick(rng, []string{" JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN "}) + space + ".u ON " + on
		p = pick(rng, []string{"t.", "u."})
	}
	x := p + pick(rng, []string{"k", "k", "k", "d", "n"})
	items := []string{"count(DISTINCT " + x + ") AS a"}
	for range rng.IntN(4) {
		y := x
		if chance(rng, 5) {
			y = p + pick(rng, []string{"v", "k", "n", "g"})
		}
		call := pick(rng, []string{"count(DISTINCT #)", "min(DISTINCT #)", "count(DISTINCT #)", "max(#)", "count(*)", "sum(%v)", "avg(%n)", "count(#)"})
		if !strings.HasSuffix(x, "d") && !strings.HasSuffix(y, "g") && chance(rng, 3) {
			call = pick(rng, []string{"sum(DISTINCT #)", "avg(DISTINCT #)"})
		}
		call = strings.ReplaceAll(strings.ReplaceAll(call, "#", y), "%", p)
		if chance(rng, 3) {
			call += " FILTER (WHERE " + p + pick(rng, []string{"v > 0", "v IS NULL", "k > 3", "g = 'p'"}) + ")"
		}
		items = append(items, call+" AS "+string(rune('b'+len(items))))
	}
	query := "SELECT " + strings.Join(items, ", ") + " FROM " + from
	if chance(rng, 3) {
		query += " WHERE " + p + pick(rng, []string{"v IS NOT NULL", "k < 5", "g IS NULL", "n > 100000000"})
	}
	if group := pick(rng, []string{"", "g", "g", "v", "v, g"}); group != "" {
		query = strings.Replace(query, "SELECT ", "SELECT "+p+strings.ReplaceAll(group, ", ", ", "+p)+", ", 1) + " GROUP BY ALL"
	}
	if chance(rng, 5) {
		query += " HAVING count(DISTINCT " + x + ") > 1"
	}
	if chance(rng, 5) {
		query = "SELECT count(*) AS rows, max(a) AS most FROM (" + query + ")"
	}
	return query
}

// sameInModes compares a query's answers in several modes with plain DuckDB's.
func (l *lab) sameInModes(seed uint64, modes []mode, query string) {
	l.t.Helper()
	want := l.judge(query)
	l.must(want.err)
	for _, m := range modes {
		if d := differ(want, l.ask(m, query), false); d != "" {
			l.t.Errorf("TARN_SEED=%d: %v %s\n%s", seed, m, query, d)
		}
	}
}

// TestRandomDistinct compares aggregates of DISTINCT values, which are added up over the packs where each value lies in one
// group, with plain DuckDB's. TARN_DISTINCT_ROUNDS sets the number of worlds, and TARN_SEED the first one's seed.
func TestRandomDistinct(t *testing.T) {
	seed := seed.Of(t)
	l := newLab(t)
	partial, asked := 0, 0
	for i := range count(t, "TARN_DISTINCT_ROUNDS", defaultDistinctRounds) {
		rng := rand.New(rand.NewPCG(seed+uint64(i), 0))
		space := fmt.Sprintf("w%d", i)
		newDistinctWorld(l, rng, space)
		for range distinctPerRound {
			query := distinctQuery(rng, space)
			l.sameInModes(seed+uint64(i), distinctModes, query)
			asked++
			p, err := l.explain(small, query)
			l.must(err)
			if len(p.Cores) > 0 && p.Cores[0].Rows == "partial" {
				partial++
			}
		}
	}
	t.Logf("TARN_SEED=%d: %d of %d were added up", seed, partial, asked)
	if asked >= 20 && partial < asked/10 {
		t.Errorf("TARN_SEED=%d: only %d of %d were added up", seed, partial, asked)
	}
}

// TestDistinctInSeveralDays: a value of the bucket's column lies in the groups of several days, and is counted once.
func TestDistinctInSeveralDays(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "c.t", columns: []string{"k long", "d date", "g string"}, spec: []string{"identity d", "bucket[2] k"}},
		[]string{"(1, '2024-01-01', 'a')", "(2, '2024-01-01', 'a')"}, []string{"(1, '2024-01-02', 'a')", "(NULL, '2024-01-02', 'b')", "(3, NULL, 'b')"})
	for query, keys := range map[string]string{
		"SELECT g, count(DISTINCT k) AS n FROM c.t GROUP BY g":                                                     "bucket(2, k)",
		"SELECT g, count(DISTINCT d) AS n FROM c.t GROUP BY g":                                                     "d",
		"SELECT count(DISTINCT x.k) AS n, sum(DISTINCT y.k) AS s FROM c.t x JOIN c.t y ON x.k = y.k AND x.d = y.d": "bucket(2, k)",
	} {
		l.agree(query)
		l.grouped(query, keys)
	}
	both := "SELECT count(DISTINCT x.k) AS n, count(DISTINCT x.d) AS m FROM c.t x JOIN c.t y ON x.k = y.k AND x.d = y.d"
	l.agree(both)
	if p, err := l.explain(small, both); err != nil || p.Cores[0].Rows != "emitted" {
		t.Errorf("%v %v", p, err)
	}
}
