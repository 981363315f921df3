package property

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/golden"
)

const (
	defaultRounds   = 3
	queriesPerRound = 20
	// With fewer queries, or fewer eligible ones, their mix is a matter of luck.
	enoughQueries, enoughEligible = 300, 5
	// leastEngaged is the part of the eligible queries that must run by groups: a planner that always falls back gives right
	// answers too.
	leastEngaged = 1.0 / 3
)

// tallied counts how queries ran.
type tallied struct {
	queries, refused, eligible, engaged, otherEngaged, groups int
}

// TestRandomQueries lets random queries over random tables be answered by groups in packs, by single groups, whole, and by
// plain DuckDB over the rows as they were before they were written. TARN_PROPERTY_ROUNDS sets the number of rounds, and
// TARN_SEED the first one's seed.
func TestRandomQueries(t *testing.T) {
	seed := seedOf(t)
	l := newLab(t)
	var sum tallied
	start := time.Now()
	rounds := count(t, "TARN_PROPERTY_ROUNDS", defaultRounds)
	for i := range rounds {
		l.round(seed+uint64(i), fmt.Sprintf("r%d", i), &sum)
		if t.Failed() {
			break
		}
	}
	t.Logf("seed %d: %+v in %.1f s", seed, sum, time.Since(start).Seconds())
	if t.Failed() {
		return
	}
	if sum.eligible >= enoughEligible && float64(sum.engaged) < leastEngaged*float64(sum.eligible) {
		t.Errorf("seed %d: only %d of %d eligible queries ran by groups", seed, sum.engaged, sum.eligible)
	}
	if sum.queries >= enoughQueries && (sum.eligible < sum.queries/10 || sum.refused > sum.queries/10) {
		t.Errorf("seed %d: the queries show too little: %+v", seed, sum)
	}
}

// round makes a world and asks it.
func (l *lab) round(seed uint64, space string, sum *tallied) {
	rng := rand.New(rand.NewPCG(seed, 0))
	w := newWorld(l, rng, space)
	for range queriesPerRound {
		q := newQuery(rng, w)
		wrong := l.check(q, sum)
		if wrong != "" {
			l.t.Errorf("seed %d: %s\n%s\nthe tables:\n%s", seed, q.sql, wrong, w.story())
			return
		}
	}
}

// check tells what is wrong with the answers to a query, or "".
func (l *lab) check(q query, sum *tallied) string {
	sum.queries++
	want := l.judge(q.sql)
	if q.unlimited != "" {
		want = l.judge(q.unlimited)
	}
	if want.err != nil {
		sum.refused++
	}
	for _, m := range []mode{auto, small, off} {
		got := l.ask(m, q.sql)
		var wrong string
		if q.unlimited != "" && want.err == nil {
			wrong = fewer(want, got, q.limit)
		} else {
			wrong = differ(want, got, q.ordered)
		}
		if wrong != "" {
			return fmt.Sprintf("%v: %s", m, wrong)
		}
	}
	if want.err != nil {
		return ""
	}
	return l.count(q, sum)
}

// count looks at the plan.
func (l *lab) count(q query, sum *tallied) string {
	p, err := l.explain(auto, q.sql)
	if err != nil {
		return "EXPLAIN: " + err.Error()
	}
	if q.eligible {
		sum.eligible++
	}
	switch {
	case len(p.Cores) > 0 && q.eligible:
		sum.engaged++
	case len(p.Cores) > 0:
		sum.otherEngaged++
	case q.joins > 0 && len(p.Whole) == 0:
		return "EXPLAIN gives no reason for a join that runs whole"
	}
	for _, c := range p.Cores {
		sum.groups += c.Groups
	}
	if sum.queries%4 > 0 {
		return ""
	}
	_, err = l.explain(mode{"SET tarn.spj = 'require'"}, q.sql)
	switch kind := errs.KindOf(err); {
	case len(p.Whole) > 0 && (err == nil || kind != errs.Unsupported):
		return fmt.Sprintf("require gives %v, though there are reasons: %s", err, p.reasons())
	case len(p.Whole) == 0 && err != nil:
		return "require refuses without a reason: " + err.Error()
	}
	return ""
}

// fewer tells why rows aren't min(limit, all) of the wanted ones, or "".
func fewer(want, got answer, limit int) string {
	if got.err != nil {
		return got.err.Error()
	}
	if n := min(limit, len(want.rows)); len(got.rows) != n {
		return fmt.Sprintf("%d rows, wanted %d", len(got.rows), n)
	}
	counts := map[string]int{}
	for _, r := range want.rows {
		counts[golden.Text(r)]++
	}
	for _, r := range got.rows {
		if counts[golden.Text(r)]--; counts[golden.Text(r)] < 0 {
			return "a row that isn't wanted: " + golden.Text(r)
		}
	}
	return ""
}

// TestOne explains one query over the world of TARN_SEED: TARN_QUERY.
func TestOne(t *testing.T) {
	text := os.Getenv("TARN_QUERY")
	if text == "" {
		t.Skip("TARN_QUERY is not set")
	}
	l := newLab(t)
	w := newWorld(l, rand.New(rand.NewPCG(seedOf(t), 0)), "r")
	t.Log(w.story())
	for _, m := range []mode{auto, small, off} {
		plan, err := l.session(m).Explain(t.Context(), text, tarn.ExplainOptions{})
		t.Logf("%v\n%s%v\n%s", m, plan, err, differ(l.judge(text), l.ask(m, text), false))
	}
}
