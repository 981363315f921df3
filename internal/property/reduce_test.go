package property

import (
	"fmt"
	"slices"
	"strings"
)

// maxTrials bounds how long a wrong answer is made smaller.
const maxTrials = 150

// failure is a world, a query over it, how it was tried and what is wrong with its answer.
type failure struct {
	world *world
	query query
	trial trial
	wrong string
}

// reduction makes a failure smaller: as long as it stays one, tables that aren't mentioned go, and steps, rows, parts of the
// query and settings.
type reduction struct {
	lab    *lab
	best   failure
	trials int
}

// reduce returns a smaller failure, whose tables are there under the names of its text.
func (l *lab) reduce(w *world, q query, p trial) (failure, bool) {
	if p.sum != nil {
		p.sum = newTally() // the plans to come aren't random ones
	}
	r := &reduction{lab: l, best: failure{world: w, query: q, trial: p}}
	if !r.try(w.mentioned(q), q, p) {
		return failure{}, false // it isn't the rows and the query alone
	}
	for before := -1; before != r.best.size() && r.trials < maxTrials; {
		before = r.best.size()
		r.shrinkMode()
		r.shrinkQuery()
		r.shrinkTables()
	}
	return r.best, true
}

func (f failure) size() int {
	n := len(f.query.sql()) + len(f.trial.mode)
	for _, t := range f.world.tabs {
		for _, s := range t.steps {
			n += 1 + len(s.rows)
		}
	}
	return n
}

// try keeps a smaller failure if it is one. The world is made anew in a namespace of its own.
func (r *reduction) try(w *world, q query, p trial) bool {
	if r.trials++; r.trials > maxTrials {
		return false
	}
	space := fmt.Sprintf("%s_%d", strings.TrimRight(w.space, "_0123456789"), r.trials)
	w, q = w.in(space), q.in(w.space, space)
	w.make(r.lab, space)
	if r.lab.judge(q.sql()).err != nil {
		return false // the query makes no sense any more
	}
	wrong := r.lab.try(w, q, p)
	if wrong != "" {
		r.best = failure{w, q, p, wrong}
	}
	return wrong != ""
}

func (r *reduction) tryQuery(w *world, q query) bool { return r.try(w, q, r.best.trial) }

func (r *reduction) shrinkMode() {
	for i := len(r.best.trial.mode) - 1; i >= 0; i-- {
		p := r.best.trial
		p.mode = slices.Delete(slices.Clone(p.mode), i, i+1)
		r.try(r.best.world, r.best.query, p)
	}
}

func (r *reduction) shrinkQuery() {
	for i := len(r.best.query.where) - 1; i >= 0; i-- {
		q := r.best.query
		q.where = slices.Delete(slices.Clone(q.where), i, i+1)
		r.tryQuery(r.best.world, q)
	}
	if q := r.best.query; q.union != "" {
		q.union = ""
		r.tryQuery(r.best.world, q)
	}
	if q := r.best.query; q.order != "" {
		q.order, q.limit, q.offset = "", -1, 0
		r.tryQuery(r.best.world, q)
	}
	if q := r.best.query; strings.Contains(q.head, ", ") && q.tail == "" && q.order == "" {
		for _, item := range strings.Split(q.head, ", ") {
			q.head = item
			if r.tryQuery(r.best.world, q) {
				break
			}
		}
	}
	r.tryQuery(r.best.world.mentioned(r.best.query), r.best.query)
}

func (r *reduction) shrinkTables() {
	for t := range r.best.world.tabs {
		for i := len(r.best.world.tabs[t].steps) - 1; i > 0; i-- {
			s := r.best.world.tabs[t].steps[i]
			if s.rows == nil && !s.deletes {
				continue
			}
			if r.tryQuery(r.best.world.with(t, i, nil), r.best.query) {
				continue
			}
			for n := len(s.rows) / 2; n > 0; n /= 2 {
				for at := 0; at+n <= len(s.rows) && len(s.rows) > n; {
					rows := slices.Delete(slices.Clone(s.rows), at, at+n)
					if r.tryQuery(r.best.world.with(t, i, rows), r.best.query) {
						s.rows = rows
					} else {
						at += n
					}
				}
			}
		}
	}
}

// in returns the world under the names of another namespace.
func (w *world) in(space string) *world {
	out := &world{space: space, keys: w.keys}
	for _, t := range w.tabs {
		other := *t
		other.name = space + strings.TrimPrefix(t.name, w.space)
		out.tabs = append(out.tabs, &other)
	}
	return out
}

// mentioned leaves out the tables that a query doesn't mention.
func (w *world) mentioned(q query) *world {
	out := &world{space: w.space, keys: w.keys}
	for _, t := range w.tabs {
		if strings.Contains(q.sql(), t.name) {
			out.tabs = append(out.tabs, t)
		}
	}
	return out
}

// with returns the world with other rows in a step of a table, or without the step.
func (w *world) with(tab, at int, rows []string) *world {
	out := &world{space: w.space, keys: w.keys, tabs: slices.Clone(w.tabs)}
	t := *w.tabs[tab]
	t.steps = slices.Clone(t.steps)
	if rows == nil {
		t.steps = slices.Delete(t.steps, at, at+1)
	} else {
		t.steps[at].rows = rows
	}
	out.tabs[tab] = &t
	return out
}

// in returns the query over the tables of another namespace.
func (q query) in(from, to string) query {
	rename := func(text string) string { return strings.ReplaceAll(text, from+".", to+".") }
	q.head, q.from, q.tail = rename(q.head), rename(q.from), rename(q.tail)
	q.with, q.where, q.other = slices.Clone(q.with), slices.Clone(q.where), slices.Clone(q.other)
	for _, list := range [][]string{q.with, q.where, q.other} {
		for i := range list {
			list[i] = rename(list[i])
		}
	}
	return q
}
