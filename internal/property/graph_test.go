package property

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/internal/plantest"
	"github.com/tarndb/tarn/internal/seed"
	"github.com/tarndb/tarn/internal/task"
)

const (
	defaultGraphs = 100
	// With fewer graphs, whether each mutation finds one is a matter of luck.
	enoughGraphs   = 500
	graphsPerWorld = 40
	// timesPlanned is how often a query is planned again: a choice by a map's order shows in one of them.
	timesPlanned = 20
	// timesMutated is how often each mutation is tried on a graph, each time elsewhere.
	timesMutated = 2
)

// randomPlans plans random queries over random tables, as many as TARN_GRAPHS says, without running them.
func randomPlans(t *testing.T, use func(query string, rng *rand.Rand, p *plantest.Planned, opts plantest.Options)) {
	t.Helper()
	seed := seed.Of(t)
	l := newLab(t)
	planner := plantest.Over(t, l.catalog)
	graphs := count(t, "TARN_GRAPHS", defaultGraphs)
	for made, round := 0, 0; made < graphs && !t.Failed(); round++ {
		seed := seed + uint64(round)
		w := newWorld(seed, fmt.Sprintf("r%d", round))
		w.make(l, w.space)
		for i := uint64(0); i < graphsPerWorld && made < graphs; i++ {
			q := newQuery(rand.New(rand.NewPCG(seed, 2*i+1)), w).sql()
			rng := rand.New(rand.NewPCG(seed, 2*i+2))
			opts := planOptions(rng)
			p, err := planner.Plan(t.Context(), q, opts)
			if err != nil {
				if errs.KindOf(err) == errs.Internal {
					t.Errorf("TARN_SEED=%d: %s\n%v", seed, q, err)
				}
				continue
			}
			made++
			if use(q, rng, p, opts); t.Failed() {
				t.Fatalf("TARN_SEED=%d: %s\n%s\n%s", seed, q, p.Report.Text(), w.story())
			}
		}
	}
	t.Logf("seed %d", seed)
}

// planOptions returns random options of planning.
func planOptions(rng *rand.Rand) plantest.Options {
	return plantest.Options{
		SPJ:            pick(rng, []spj.Mode{spj.Auto, spj.Auto, spj.Auto, spj.Auto, spj.Off}),
		Exchange:       pick(rng, []spj.Exchange{spj.ExchangeAuto, spj.ExchangeAuto, spj.ExchangeForce, spj.ExchangeForce, spj.ExchangeOff}),
		BroadcastBytes: pick(rng, []int64{0, 0, 4 << 10, 1 << 30, 1 << 30}),
		Task: task.Options{
			PackBytes: pick(rng, []int64{0, 0, 1, 4 << 10, 2 << 20}), Workers: 1 + rng.IntN(3),
			Skew: pick(rng, []task.Skew{task.SkewAuto, task.SkewOff, task.SkewSlice, task.SkewSlice, task.SkewBucket, task.SkewAlone}),
		},
	}
}

// TestPlanningAgainGivesTheSame plans each query many times from the same bound query and surveys: planning changes neither,
// and chooses by nothing else.
func TestPlanningAgainGivesTheSame(t *testing.T) {
	randomPlans(t, func(_ string, _ *rand.Rand, p *plantest.Planned, opts plantest.Options) {
		want := planText(t, p)
		for i := range timesPlanned {
			again, err := p.Again(t.Context(), opts)
			if err != nil {
				t.Errorf("planned %d times: %v", i+2, err)
				return
			}
			if d := firstDifference(want, planText(t, again)); d != "" {
				t.Errorf("planned %d times: %s", i+2, d)
				return
			}
		}
	})
}

// planText writes all of a plan: its texts, its graph, and what EXPLAIN says of it.
func planText(t *testing.T, p *plantest.Planned) string {
	t.Helper()
	graph, err := p.Graph.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return p.SQL() + p.Scans() + p.Report.Text() + p.Report.JSON() + "\n" + strings.ReplaceAll(string(graph), "},", "},\n")
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d is\n%s\nand was\n%s", i+1, b[i], a[i])
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("there are %d lines and were %d", len(b), len(a))
	}
	return ""
}

// TestMutatedGraphsAreRejected changes graphs of random plans in one way after the other: the checker must find each.
func TestMutatedGraphsAreRejected(t *testing.T) {
	tried := map[string]int{}
	randomPlans(t, func(_ string, rng *rand.Rand, p *plantest.Planned, _ plantest.Options) {
		data, err := p.Graph.Encode()
		if err != nil {
			t.Fatal(err)
		}
		fresh := func() *task.Graph {
			g, err := task.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		if err := task.Check(fresh()); err != nil {
			t.Errorf("a graph as it was made: %v", err)
		}
		for name, mutate := range mutations {
			for range timesMutated {
				g := fresh()
				if !mutate(&mutant{Rand: rng, g: g}) {
					continue
				}
				tried[name]++
				if err := task.Check(g); errs.KindOf(err) != errs.Internal || err == nil {
					t.Errorf("%s: the checker says %v", name, err)
				}
			}
		}
	})
	for name := range mutations {
		if tried[name] == 0 && count(t, "TARN_GRAPHS", defaultGraphs) >= enoughGraphs && !t.Failed() {
			t.Errorf("no graph could be changed so: %s", name)
		}
	}
	t.Logf("tried %v", tried)
}
