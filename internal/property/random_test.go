package property

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/golden"
)

const (
	defaultPlans    = 250
	queriesPerWorld = 40
	plansPerQuery   = 2
	// parts are run beside each other.
	parts = 2
	// With fewer plans, or fewer eligible ones, their mix is a matter of luck.
	enoughPlans, enoughEligible = 2000, 5
	// leastEngaged is the part of the eligible plans that must run by groups: a planner that always falls back gives right
	// answers too.
	leastEngaged = 1.0 / 3
)

// TestRandomQueries lets random queries over random tables be answered under random settings, whole, and by plain DuckDB
// over the rows as they were before they were written: all must agree. TARN_PLANS sets the number of plans (CI runs more
// than the default), and TARN_SEED the seed. A failure prints the seed with which it comes first.
func TestRandomQueries(t *testing.T) {
	seed, plans := seedOf(t), count(t, "TARN_PLANS", defaultPlans)
	if testing.Short() {
		plans /= 10
	}
	sums := make([]*tally, parts)
	start := time.Now()
	t.Run("part", func(t *testing.T) {
		for part := range parts {
			sums[part] = newTally()
			t.Run(fmt.Sprint(part), func(t *testing.T) {
				l := newLab(t)
				for i := part; sums[part].plans < plans/parts && !t.Failed(); i += parts {
					l.round(seed+uint64(i), fmt.Sprintf("r%d", i), sums[part])
				}
			})
		}
	})
	sum := newTally()
	for _, s := range sums {
		sum.add(s)
	}
	t.Logf("seed %d: %s in %.1f s", seed, sum, time.Since(start).Seconds())
	if t.Failed() {
		return
	}
	if wrong := sum.judge(); wrong != "" {
		t.Errorf("seed %d: %s", seed, wrong)
	}
}

// round makes a world and asks it.
func (l *lab) round(seed uint64, space string, sum *tally) {
	l.t.Helper()
	w := newWorld(rand.New(rand.NewPCG(seed, 0)), space)
	w.make(l, space)
	for i := range uint64(queriesPerWorld) {
		// The query doesn't depend on those before it, nor on what settings there are.
		q := newQuery(rand.New(rand.NewPCG(seed, 2*i+1)), w)
		rng := rand.New(rand.NewPCG(seed, 2*i+2))
		sum.queries++
		if wrong := l.check(q.sql(), q, off); wrong != "" {
			l.fail(seed, w, q, off, wrong)
			return
		}
		for n := range plansPerQuery {
			m := draw(rng)
			wrong := l.check(q.sql(), q, m)
			if wrong == "" {
				wrong = l.look(w, q, m, sum, n == 0)
			}
			if wrong != "" {
				l.fail(seed, w, q, m, wrong)
				return
			}
		}
	}
}

// fail tells of a wrong answer, and of a smaller one if there is one.
func (l *lab) fail(seed uint64, w *world, q query, m mode, wrong string) {
	l.t.Helper()
	l.t.Errorf("TARN_SEED=%d: %s", seed, l.describe(w, q, m, wrong))
	if small, ok := l.reduce(w, q, m); ok {
		l.t.Errorf("TARN_SEED=%d, made smaller: %s", seed, l.describe(small.world, small.query, m, small.wrong))
	}
}

// describe writes all that is known of a wrong answer.
func (l *lab) describe(w *world, q query, m mode, wrong string) string {
	l.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%v %s\n%s\n", m, q.sql(), wrong)
	for _, m := range []mode{m, off} {
		plan, err := l.session(m).Explain(l.t.Context(), q.sql(), tarn.ExplainOptions{})
		if err != nil {
			plan = err.Error() + "\n"
		}
		fmt.Fprintf(&b, "the plan with %v:\n%s", m, plan)
	}
	fmt.Fprintf(&b, "the tables:\n%s", w.mentioned(q).story())
	return b.String()
}

// check tells what is wrong with the answer to a query, or "". Its text may mention other tables than the query itself.
func (l *lab) check(text string, q query, m mode) string {
	l.t.Helper()
	if q.any() {
		want := l.judge(strings.TrimSuffix(text, fmt.Sprintf(" LIMIT %d", q.limit)))
		if want.err == nil {
			return fewer(want, l.ask(m, text), q.limit)
		}
	}
	return differ(l.judge(text), l.ask(m, text), q.order != "")
}

// look looks at the plan; thoroughly also at what tarn.spj = 'require' says.
func (l *lab) look(w *world, q query, m mode, sum *tally, thoroughly bool) string {
	l.t.Helper()
	sum.plans++
	p, err := l.explain(m, q.sql())
	if err != nil {
		if !thoroughly || errs.KindOf(l.judge(q.sql()).err) == errs.KindOf(err) {
			sum.refused++
			return ""
		}
		return "EXPLAIN: " + err.Error()
	}
	sum.count(w, q, p)
	if q.joins > 0 && len(p.Cores) == 0 && len(p.Whole) == 0 {
		return "EXPLAIN gives no reason for a join that runs whole"
	}
	if !thoroughly || sum.plans%8 > 1 {
		return ""
	}
	_, err = l.explain(append(m[:len(m):len(m)], "SET tarn.spj = 'require'"), q.sql())
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

var roundName = regexp.MustCompile(`\br\d+\.`)

// TestOne explains one query over the world of TARN_SEED: TARN_QUERY.
func TestOne(t *testing.T) {
	text := os.Getenv("TARN_QUERY")
	if text == "" {
		t.Skip("TARN_QUERY is not set")
	}
	text = roundName.ReplaceAllString(text, "r.")
	l := newLab(t)
	w := newWorld(rand.New(rand.NewPCG(seedOf(t), 0)), "r")
	w.make(l, "r")
	t.Log(w.story())
	for _, m := range []mode{auto, small, off} {
		plan, err := l.session(m).Explain(t.Context(), text, tarn.ExplainOptions{})
		t.Logf("%v\n%s%v\n%s", m, plan, err, differ(l.judge(text), l.ask(m, text), false))
	}
}
