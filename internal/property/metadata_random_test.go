package property

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/golden"
	"github.com/tarndb/tarn/internal/seed"
)

const (
	defaultMetadataRounds = 6
	metadataPerRound      = 16
	// With fewer queries it is a matter of luck how many the statistics tell.
	enoughMetadata = 80
)

// TestRandomMetadataAnswers asks for counts and extremes of random tables, as the statistics may tell them, as the rows do,
// and as plain DuckDB does. TARN_METADATA_ROUNDS sets the number of tables, and TARN_SEED the first one's seed.
func TestRandomMetadataAnswers(t *testing.T) {
	seed := seed.Of(t)
	l := newLab(t)
	told, asked := 0, 0
	for i := range count(t, "TARN_METADATA_ROUNDS", defaultMetadataRounds) {
		rng := rand.New(rand.NewPCG(seed+uint64(i), 0))
		w := newPruneWorld(l, rng, fmt.Sprintf("w%d", i), 15)
		for range metadataPerRound {
			query := strings.ReplaceAll(w.facts(rng), "#", "")
			asked++
			if strategy, wrong := l.judgeFacts(query); wrong != "" {
				t.Errorf("TARN_SEED=%d: %s\n%s\n%s", seed+uint64(i), query, wrong, w.story())
			} else if strategy == "metadata" {
				told++
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("TARN_SEED=%d: the statistics told %d of %d", seed, told, asked)
	if asked >= enoughMetadata && told < asked/20 {
		t.Errorf("TARN_SEED=%d: the statistics told only %d of %d", seed, told, asked)
	}
}

// judgeFacts says how a query is answered and what is wrong with it, or "".
func (l *lab) judgeFacts(query string) (strategy, wrong string) {
	want := l.judge(query)
	if want.err != nil {
		return "", ""
	}
	want.rows = withoutSigns(want.rows)
	for _, m := range []mode{auto, {"SET tarn.metadata_answers = off"}, off} {
		got := l.ask(m, query)
		got.rows = withoutSigns(got.rows)
		if d := differ(want, got, false); d != "" {
			return "", fmt.Sprintf("%v: %s", m, d)
		}
	}
	p, err := l.explain(auto, query)
	if err != nil {
		return "", err.Error()
	}
	for _, a := range p.Aggregates {
		if a.Strategy == "metadata" {
			return a.Strategy, ""
		}
	}
	return "", ""
}

// withoutSigns takes the sign from zeros: 0.0 and -0.0 are equal, and either may be told to be the least or the greatest value.
func withoutSigns(rows []golden.Row) []golden.Row {
	for _, r := range rows {
		for i, v := range r {
			if v == float32(0) {
				r[i] = float32(0)
			}
			if v == float64(0) {
				r[i] = float64(0)
			}
		}
	}
	return rows
}

// facts makes a query whose core the statistics may tell.
func (w *pruneWorld) facts(rng *rand.Rand) string {
	from := w.name
	if chance(rng, 4) {
		from += " AS x"
	}
	where := ""
	if chance(rng, 4) {
		where = " WHERE " + w.partitionTest(rng)
	}
	var items []string
	for i := range 1 + rng.IntN(2) {
		items = append(items, fmt.Sprintf("%s AS v%d", w.fact(rng), i))
	}
	query := "SELECT " + strings.Join(items, ", ") + " FROM " + from + where
	switch rng.IntN(20) {
	case 0:
		return query + " LIMIT 0"
	case 1:
		return query + " HAVING " + w.fact(rng) + " IS NOT NULL"
	case 2:
		return query + " HAVING count(*) > 3 ORDER BY v0"
	case 3:
		return "SELECT * FROM (" + query + ") q WHERE v0 IS NOT NULL"
	case 4:
		return query + " UNION ALL " + query
	case 5:
		return "SELECT q.v0, count(*) FROM (" + query + ") q CROSS JOIN " + w.name + " GROUP BY ALL"
	case 6:
		return "SELECT (SELECT " + w.fact(rng) + " FROM " + w.name + where + ") AS a, " + w.fact(rng) + " FROM " + from
	case 7:
		return "SELECT DISTINCT v0 FROM (" + query + ")"
	case 8:
		return "WITH q AS (" + query + ") SELECT a.v0, b.v0 FROM q a, q b"
	case 9:
		return "SELECT " + w.fact(rng) + ", " + w.fact(rng) + " FROM (SELECT * FROM " + from + where + ")"
	case 10:
		return query + " OFFSET 1"
	case 11:
		return "SELECT " + w.fact(rng) + " FROM " + w.name + " GROUP BY ()"
	}
	return query
}

// fact is an aggregate.
func (w *pruneWorld) fact(rng *rand.Rand) string {
	c := pick(rng, w.columns).name
	if chance(rng, 5) {
		c = "rid"
	}
	switch rng.IntN(30) {
	case 0:
		return "count(DISTINCT " + c + ")"
	case 1:
		return "count(*) FILTER (" + c + " IS NULL)"
	case 2:
		return "max(" + c + ") FILTER (rid > 2)"
	case 3:
		return "count(NULL)"
	case 4:
		return "count(1)"
	}
	fn := pick(rng, []string{"count(*)", "count(%)", "count(%)", "min(%)", "max(%)", "min(%)", "max(%)"})
	return strings.ReplaceAll(fn, "%", c)
}

// partitionTest is a condition that whole files may satisfy.
func (w *pruneWorld) partitionTest(rng *rand.Rand) string {
	if len(w.spec) == 0 || chance(rng, 3) {
		return w.predicate(rng, 1)
	}
	_, col, _ := strings.Cut(pick(rng, w.spec), " ")
	c := w.column(col)
	text := w.test(rng, c)
	for chance(rng, 3) {
		text = "(" + text + pick(rng, []string{" AND ", " OR "}) + w.test(rng, c) + ")"
	}
	return text
}
