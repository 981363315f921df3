package property

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/seed"
)

const (
	defaultShortRounds = 3
	shortPerRound      = 8
)

// shortModes have texts come from files, from routed rows and from tables that each pack reads whole.
var shortModes = []mode{small, auto, off, {"SET tarn.pack_bytes = 0", "SET tarn.exchange = 'force'"}, {"SET tarn.broadcast_bytes = 0"}, {"SET tarn.skew = 'bucket'"}}

// newShortWorld makes a large table and two small ones with texts, one under a keyword's name; the second is laid out in another way. Some worlds
// have texts that are not short, in one group or in many.
func newShortWorld(l *lab, rng *rand.Rand, space string) {
	texts := []string{"NULL", "''", "'p'", "'q'", "'p '", "'123456789012'", "'💰💰💰'"}
	if chance(rng, 2) {
		texts = append(texts, "'1234567890123'")
	}
	if chance(rng, 3) {
		texts = append(texts, "'123456789012345 and more'", "'123456789012345 and more '")
	}
	for name, spec := range map[string]string{"large": "bucket[4] k", "x": "bucket[4] k", "y": pick(rng, []string{"bucket[4] k", "bucket[2] k", "identity g", "bucket[3] k"})} {
		n := 12
		if name == "large" {
			n = 150
		}
		var rows []string
		for range n {
			rows = append(rows, fmt.Sprintf("(%s, %s, %s, %s)", pick(rng, []string{"NULL", "1", "2", "3", "4", "5", "6", "7"}), pick(rng, texts), pick(rng, texts),
				pick(rng, []string{"NULL", "-1", "0", "9"})))
		}
		l.table(definition{name: space + "." + name, columns: []string{"k long", "g string", "group string", "v int"}, spec: []string{spec}}, rows)
	}
}

// shortQuery is a random query that groups by texts of the small tables.
func shortQuery(rng *rand.Rand, space string) string {
	kinds := []string{" JOIN ", " JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN "}
	from := space + ".large" + pick(rng, kinds) + space + ".x ON large.k = x.k"
	columns := []string{"x.g", "x.g", "x.group", "large.g"}
	if chance(rng, 2) {
		from += pick(rng, kinds) + space + ".y ON large.k = y.k"
		columns = append(columns, "y.g", "y.group")
	}
	groups := []string{pick(rng, columns)}
	for chance(rng, 2) {
		groups = append(groups, pick(rng, append(columns, "upper(x.g)", "large.v")))
	}
	items := append(groups[:len(groups):len(groups)], "count(*)", "sum(large.v)", pick(rng, []string{"max(x.g)", "min(x.group)", "count(x.g)", "count(DISTINCT large.k)", "avg(x.v)"}))
	query := "SELECT "
	for i, item := range items {
		if i > 0 {
			query += ", "
		}
		query += fmt.Sprintf("%s AS c%d", item, i)
	}
	query += " FROM " + from
	if chance(rng, 3) {
		query += " WHERE " + pick(rng, []string{"x.g IS NOT NULL", "x.g <> 'p'", "large.v >= 0", "x.group LIKE '%5'"})
	}
	query += " GROUP BY " + strings.Join(groups, ", ")
	if chance(rng, 4) {
		query += " HAVING " + pick(rng, []string{groups[0] + " IS NOT NULL", "count(*) > 2", "max(x.g) > 'a'"})
	}
	return query
}

// TestRandomShortTexts groups by texts as numbers, and as texts where one isn't short, and compares with plain DuckDB.
// TARN_SHORT_ROUNDS sets the number of worlds, and TARN_SEED the first one's seed.
func TestRandomShortTexts(t *testing.T) {
	seed := seed.Of(t)
	l := newLab(t)
	short, asked := 0, 0
	for i := range count(t, "TARN_SHORT_ROUNDS", defaultShortRounds) {
		rng := rand.New(rand.NewPCG(seed+uint64(i), 0))
		space := fmt.Sprintf("w%d", i)
		newShortWorld(l, rng, space)
		for range shortPerRound {
			query := shortQuery(rng, space)
			l.sameInModes(seed+uint64(i), shortModes, query)
			asked++
			p, err := l.explain(small, query)
			l.must(err)
			if len(p.Cores) > 0 && len(p.Cores[0].Short) > 0 {
				short++
			}
		}
	}
	t.Logf("TARN_SEED=%d: %d of %d by short texts", seed, short, asked)
	if asked >= 20 && short < asked/10 {
		t.Errorf("TARN_SEED=%d: only %d of %d by short texts", seed, short, asked)
	}
}
