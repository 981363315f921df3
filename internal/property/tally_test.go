package property

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tarndb/tarn/internal/explain"
)

// tally counts how random plans ran.
type tally struct {
	mu                      sync.Mutex
	queries, plans, refused int
	eligible, engaged       int            // plans of queries that every layout rule must take, and those that ran by groups
	reached                 map[string]int // plans by what they have
}

// reduced is what plans are counted as whose groups are reductions.
const reduced = "reduced keys"

func newTally() *tally { return &tally{reached: map[string]int{}} }

func (s *tally) String() string {
	var kinds []string
	for k, n := range s.reached {
		kinds = append(kinds, fmt.Sprintf("%s %d", k, n))
	}
	slices.Sort(kinds)
	return fmt.Sprintf("%d plans of %d queries, %d refused, %d of %d eligible by groups; %s",
		s.plans, s.queries, s.refused, s.engaged, s.eligible, strings.Join(kinds, ", "))
}

// strategies are what a plan can have, each told by its EXPLAIN.
var strategies = map[string]func(planned) bool{
	"groups":        func(p planned) bool { return len(p.Cores) > 0 },
	"several cores": func(p planned) bool { return len(p.Cores) > 1 },
	"hash":          func(p planned) bool { return len(p.Whole) > 0 },
	"metadata": func(p planned) bool {
		for _, a := range p.Aggregates {
			if a.Strategy == "metadata" {
				return true
			}
		}
		return false
	},
	"dynamic filters": func(p planned) bool {
		return slices.ContainsFunc(p.Dynamic, func(d explain.Dynamic) bool { return d.State == "planned" })
	},
	"filters by manifests": func(p planned) bool {
		return slices.ContainsFunc(p.Dynamic, func(d explain.Dynamic) bool { return d.State == "told" })
	},
	"complete":       rows("complete"),
	"top-n":          rows("top-n"),
	"partial":        rows("partial"),
	"emitted":        rows("emitted"),
	"several keys":   inCore(func(c plannedCore) bool { return len(c.Keys) > 1 }),
	"united packs":   inCore(func(c plannedCore) bool { return c.Packs < c.Groups }),
	"dropped groups": inCore(func(c plannedCore) bool { return c.Dropped.Groups > 0 }),
	"stragglers":     inCore(func(c plannedCore) bool { return c.exchanged() < len(c.Routed) }),
	"side exchanged": inCore(func(c plannedCore) bool { return c.exchanged() == 1 }),
	"both exchanged": inCore(func(c plannedCore) bool { return c.exchanged() > 1 }),
	"broadcast":      inCore(func(c plannedCore) bool { return len(c.Everywhere) > 0 }),
	"slices":         divided("slice"),
	"parts":          divided("by a hash of their keys"),
	"alone":          divided("alone"),
}

// exchanged returns how many tables have all of their rows sent to their groups.
func (c plannedCore) exchanged() int {
	n := 0
	for _, r := range c.Routed {
		if r.Files == r.Of.Files {
			n++
		}
	}
	return n
}

func inCore(is func(plannedCore) bool) func(planned) bool {
	return func(p planned) bool { return slices.ContainsFunc(p.Cores, is) }
}

func rows(kind string) func(planned) bool {
	return inCore(func(c plannedCore) bool { return c.Rows == kind })
}

func divided(how string) func(planned) bool {
	return inCore(func(c plannedCore) bool {
		return slices.ContainsFunc(c.Divided, func(text string) bool { return strings.Contains(text, how) })
	})
}

// isReduced says whether files lie in groups of a key that no spec of their table has, of plans that run by groups as a
// whole.
func isReduced(w *world, p planned) bool {
	if len(p.Cores) != 1 || len(p.Whole) > 0 {
		return false
	}
	return slices.ContainsFunc(p.Cores, func(c plannedCore) bool {
		if c.Groups == 0 || c.Stragglers > 0 || len(c.Everywhere) > 0 {
			return false
		}
		for _, scan := range p.Scans {
			for _, t := range w.tabs {
				if t.name == scan.Table && t.lacks(c.Keys) {
					return true
				}
			}
		}
		return false
	})
}

// lacks says whether the table has specs, and none of the keys in any.
func (t *tab) lacks(keys []string) bool {
	for _, spec := range t.specs {
		for _, f := range spec {
			if slices.Contains(keys, keyText(f)) {
				return false
			}
		}
	}
	return len(t.specs[0]) > 0
}

// ask counts a query, plan one of its plans, whose number it returns, and refuse one that is refused.
func (s *tally) ask() { s.add(&s.queries) }

func (s *tally) plan() int { return s.add(&s.plans) }

func (s *tally) refuse() { s.add(&s.refused) }

func (s *tally) add(n *int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	*n++
	return *n
}

// count counts what a plan has.
func (s *tally) count(w *world, q query, p planned) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if isReduced(w, p) {
		s.reached[reduced]++
	}
	for name, has := range strategies {
		if has(p) {
			s.reached[name]++
		}
	}
	for trait := range traitsOf(w.mentioned(q)) {
		s.reached[trait]++
	}
	if q.eligible {
		s.eligible++
		if len(p.Cores) > 0 {
			s.engaged++
		}
	}
}

// traitsOf returns what some table of a world has, the types of keys included.
func traitsOf(w *world) map[string]bool {
	out := map[string]bool{}
	for _, t := range w.tabs {
		for _, trait := range t.traits {
			out[trait] = true
		}
		for _, k := range t.keys {
			out[k.name] = true
		}
	}
	return out
}

// missing returns what no plan has, of all that random plans must show.
func (s *tally) missing() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := append(slices.Clone(traits), reduced)
	for name := range strategies {
		all = append(all, name)
	}
	for _, k := range allKinds {
		all = append(all, k.name)
	}
	all = slices.DeleteFunc(all, func(name string) bool { return s.reached[name] > 0 })
	slices.Sort(all)
	return all
}

// judge tells what the plans fail to show, or "".
func (s *tally) judge() string {
	if s.eligible >= enoughEligible && float64(s.engaged) < leastEngaged*float64(s.eligible) {
		return fmt.Sprintf("only %d of %d eligible plans ran by groups", s.engaged, s.eligible)
	}
	if s.plans < enoughPlans {
		return ""
	}
	if missing := s.missing(); len(missing) > 0 {
		return "no plan has " + strings.Join(missing, ", ")
	}
	if s.eligible < s.plans/20 || s.refused > s.plans/10 {
		return "the queries show too little: " + s.String()
	}
	return ""
}

// more says whether there are to be more plans than there were: those that are asked for, and beyond them, if it is enough
// of them, as many again until each kind was reached.
func (s *tally) more(plans int) bool {
	s.mu.Lock()
	made := s.plans
	s.mu.Unlock()
	return made < plans || plans >= enoughPlans && made < 2*plans && len(s.missing()) > 0
}
