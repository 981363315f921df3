package property

import (
	"fmt"
	"slices"
	"strings"
)

// tally counts how random plans ran.
type tally struct {
	queries, plans, refused int
	eligible, engaged       int            // plans of queries that every layout rule must take, and those that ran by groups
	reached                 map[string]int // plans by what they have
}

func newTally() *tally { return &tally{reached: map[string]int{}} }

func (s *tally) add(o *tally) {
	s.queries += o.queries
	s.plans += o.plans
	s.refused += o.refused
	s.eligible += o.eligible
	s.engaged += o.engaged
	for k, n := range o.reached {
		s.reached[k] += n
	}
}

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
	"complete":       func(p planned) bool { return p.hasCore(func(c plannedCore) bool { return c.Rows == "complete" }) },
	"top-n":          func(p planned) bool { return p.hasCore(func(c plannedCore) bool { return c.Rows == "top-n" }) },
	"partial":        func(p planned) bool { return p.hasCore(func(c plannedCore) bool { return c.Rows == "partial" }) },
	"emitted":        func(p planned) bool { return p.hasCore(func(c plannedCore) bool { return c.Rows == "emitted" }) },
	"several keys":   func(p planned) bool { return p.hasCore(func(c plannedCore) bool { return len(c.Keys) > 1 }) },
	"united packs":   func(p planned) bool { return p.hasCore(func(c plannedCore) bool { return c.Packs < c.Groups }) },
	"dropped groups": func(p planned) bool { return p.hasCore(func(c plannedCore) bool { return c.Dropped.Groups > 0 }) },
}

func (s *tally) count(q query, p planned) {
	for name, has := range strategies {
		if has(p) {
			s.reached[name]++
		}
	}
	if q.eligible {
		s.eligible++
		if len(p.Cores) > 0 {
			s.engaged++
		}
	}
}

// judge tells what the plans fail to show, or "".
func (s *tally) judge() string {
	if s.eligible >= enoughEligible && float64(s.engaged) < leastEngaged*float64(s.eligible) {
		return fmt.Sprintf("only %d of %d eligible plans ran by groups", s.engaged, s.eligible)
	}
	if s.plans < enoughPlans {
		return ""
	}
	var missing []string
	for name := range strategies {
		if s.reached[name] == 0 {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		return "no plan has " + strings.Join(missing, ", ")
	}
	if s.eligible < s.plans/20 || s.refused > s.plans/10 {
		return "the queries show too little: " + s.String()
	}
	return ""
}
