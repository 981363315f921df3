package property

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/golden"
	"github.com/tarndb/tarn/internal/seed"
)

const (
	defaultPlans    = 250
	queriesPerWorld = 16
	plansPerQuery   = 3
	// labs ask beside each other, a world each at a time.
	labs = 2
	// With fewer plans, or fewer eligible ones, their mix is a matter of luck.
	enoughPlans, enoughEligible = 2000, 5
	// leastEngaged is the part of the eligible plans that must run by groups: a planner that always falls back gives right
	// answers too.
	leastEngaged = 1.0 / 3
	// hangs is when a plan is called endless, whatever else the machine does.
	hangs = 3 * time.Minute
)

// TestRandomQueries lets random queries over random tables be answered under random settings, whole, and by plain DuckDB
// over the rows as they were before they were written: all must agree. TARN_PLANS sets the number of plans (CI runs more
// than the default), and TARN_SEED the seed. A failure prints the seed with which it comes first; so that a crash has one
// too, each world's is logged when its turn comes.
func TestRandomQueries(t *testing.T) {
	seed, plans := seed.Of(t), count(t, "TARN_PLANS", defaultPlans)
	if testing.Short() {
		plans /= 10
	}
	sum, start := newTally(), time.Now()
	var next atomic.Uint64
	t.Run("lab", func(t *testing.T) {
		for i := range labs {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				l := newLab(t)
				for sum.more(plans) && !t.Failed() {
					round := next.Add(1) - 1
					t.Logf("world %d: TARN_SEED=%d", round, seed+round)
					l.round(seed+round, fmt.Sprintf("r%d", round), sum)
				}
			})
		}
	})
	t.Logf("seed %d: %s in %.1f s", seed, sum, time.Since(start).Seconds())
	if t.Failed() {
		return
	}
	if wrong := sum.judge(); wrong != "" {
		t.Errorf("seed %d: %s", seed, wrong)
	}
}

// round makes the world of a seed and asks it.
func (l *lab) round(seed uint64, space string, sum *tally) {
	l.t.Helper()
	w := newWorld(seed, space)
	w.make(l, space)
	for i := range uint64(queriesPerWorld) {
		// The query doesn't depend on those before it, nor on what settings there are.
		q := newQuery(rand.New(rand.NewPCG(seed, 2*i+1)), w)
		rng := rand.New(rand.NewPCG(seed, 2*i+2))
		sum.ask()
		for n := range plansPerQuery + 1 {
			p := trial{mode: off}
			if n > 0 {
				p = trial{mode: draw(rng), sum: sum, requires: n == 1 && i%4 == 0}
			}
			if !l.stands(seed, w, q, p) {
				return
			}
		}
	}
}

// trial is one way in which a query is tried.
type trial struct {
	mode
	sum      *tally // where its plan is counted; nil: its plan isn't looked at
	requires bool   // tarn.spj = 'require' is tried too
}

// try tells what is wrong with a query's answer or its plan, or "".
func (l *lab) try(w *world, q query, p trial) string {
	l.t.Helper()
	wrong := l.check(q.sql(), q, p.mode)
	if wrong == "" && p.sum != nil {
		wrong = l.look(w, q, p)
	}
	return wrong
}

// stands says whether a query stands a trial. If it doesn't, it tells why, and of a smaller failure if there is one.
func (l *lab) stands(seed uint64, w *world, q query, p trial) bool {
	l.t.Helper()
	endless := time.AfterFunc(hangs, func() {
		debug.SetTraceback("all")
		panic(fmt.Sprintf("TARN_SEED=%d: after %v there is no end of %v %s", seed, hangs, p.mode, q.sql()))
	})
	wrong := l.try(w, q, p)
	if endless.Stop(); wrong == "" {
		return true
	}
	l.t.Errorf("TARN_SEED=%d: %s", seed, l.describe(failure{w, q, p, wrong}))
	if small, ok := l.reduce(w, q, p); ok {
		l.t.Errorf("TARN_SEED=%d, made smaller: %s", seed, l.describe(small))
	}
	return false
}

// describe writes all that is known of a wrong answer.
func (l *lab) describe(f failure) string {
	l.t.Helper()
	var b strings.Builder
	text := f.query.sql()
	fmt.Fprintf(&b, "%v %s\n%s\n", f.trial, text, f.wrong)
	for _, m := range []mode{f.trial.mode, off} {
		plan, err := l.session(m).Explain(l.t.Context(), text, tarn.ExplainOptions{})
		if err != nil {
			plan = err.Error() + "\n"
		}
		fmt.Fprintf(&b, "the plan with %v:\n%s", m, plan)
	}
	fmt.Fprintf(&b, "the tables:\n%s", f.world.mentioned(f.query).story())
	return b.String()
}

// check tells what is wrong with the answer to a query, or "". Its text may mention other tables than the query itself.
func (l *lab) check(text string, q query, m mode) string {
	l.t.Helper()
	if q.any() {
		want := l.judge(strings.TrimSuffix(text, fmt.Sprintf(" LIMIT %d", q.limit)))
		if want.err == nil {
			return fewer(oneZero(want), oneZero(l.ask(m, text)), q.limit)
		}
	}
	return differ(oneZero(l.judge(text)), oneZero(l.ask(m, text)), q.order != "")
}

// oneZero makes -0.0 of an answer 0.0: which of the two stands for both, as in a group, is a matter of luck.
func oneZero(a answer) answer {
	for _, row := range a.rows {
		for i, v := range row {
			if v == 0.0 {
				row[i] = 0.0
			}
		}
	}
	return a
}

// look tells what is wrong with the plan, or "".
func (l *lab) look(w *world, q query, p trial) string {
	l.t.Helper()
	p.sum.plan()
	plan, err := l.explain(p.mode, q.sql())
	if err != nil {
		if errs.KindOf(l.judge(q.sql()).err) == errs.KindOf(err) {
			p.sum.refuse()
			return ""
		}
		return "EXPLAIN: " + err.Error()
	}
	p.sum.count(w, q, plan)
	if q.joins > 0 && len(plan.Cores) == 0 && len(plan.Whole) == 0 {
		return "EXPLAIN gives no reason for a join that runs whole"
	}
	if !p.requires {
		return ""
	}
	_, err = l.explain(append(slices.Clone(p.mode), "SET tarn.spj = 'require'"), q.sql())
	switch kind := errs.KindOf(err); {
	case len(plan.Whole) > 0 && (err == nil || kind != errs.Unsupported):
		return fmt.Sprintf("require gives %v, though there are reasons: %s", err, plan.reasons())
	case len(plan.Whole) == 0 && err != nil:
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

var roundName = regexp.MustCompile(`\br\d+\.`)

// TestOne explains one query over the world of TARN_SEED: TARN_QUERY.
func TestOne(t *testing.T) {
	text := os.Getenv("TARN_QUERY")
	if text == "" {
		t.Skip("TARN_QUERY is not set")
	}
	text = roundName.ReplaceAllString(text, "r.")
	l := newLab(t)
	w := newWorld(seed.Of(t), "r")
	w.make(l, "r")
	t.Log(w.story())
	for _, m := range []mode{auto, small, off} {
		plan, err := l.session(m).Explain(t.Context(), text, tarn.ExplainOptions{})
		t.Logf("%v\n%s%v\n%s", m, plan, err, differ(l.judge(text), l.ask(m, text), false))
	}
}
