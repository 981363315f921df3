package bind

import (
	"reflect"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
)

// transferFilters gives each scan the conditions on columns that a join says are equal to its own: of a.k = b.k and a.k = 5,
// files of b without a 5 are left out too.
//
// Proof: let a row of b not satisfy what is asked of a.k, with a.k = b.k. It matches only rows of a that don't satisfy it
// either, and those don't matter. Where a row of b comes out without a match it matters by itself: nothing is taken over from
// the other side of a join that preserves b's. In a LEFT JOIN b ON a.k = b.k AND b.k = 5 rows of a with another k come out,
// while in b LEFT JOIN a ... WHERE b.k = 5 no other row of a can be seen. IS NULL is no such condition: see pushFilter. Nor
// does IS NOT DISTINCT FROM say it: an outer join below may have filled a.k with NULL, whatever is asked of rows of a.
//
// Columns of derived tables are followed to the scans that they come from, where origin says that a condition may as well stand
// there. A value of such a column but NULL is one of the scan's, so that what is asked of the scan holds for it.
func (b *binder) transferFilters() {
	t := transfer{origin: b.origin}
	for range b.query.Scans { // a condition may go on to a third table
		t.changed = false
		for _, b := range b.query.Blocks {
			if b.Whole == "" {
				t.rel(b.From)
			}
		}
		if !t.changed {
			return
		}
	}
}

type transfer struct {
	origin  func(plan.Col) (*plan.Scan, catalog.Field, bool)
	changed bool
}

func (t *transfer) rel(r plan.Rel) {
	j, ok := r.(*plan.Join)
	if !ok {
		return
	}
	t.rel(j.Left)
	t.rel(j.Right)
	for _, eq := range j.On {
		if eq.NullSafe {
			continue
		}
		left, right := j.OnlyMatched()
		if right {
			t.copy(eq.Left, eq.Right)
		}
		if left {
			t.copy(eq.Right, eq.Left)
		}
	}
}

// copy adds to the scan that a column comes from what is asked of an equal one of the same type.
func (t *transfer) copy(from, to plan.Col) {
	source, a, ok := t.origin(from)
	target, b, ok2 := t.origin(to)
	if !ok || !ok2 || a.Type.Primitive != b.Type.Primitive {
		return
	}
	for _, c := range filterTerms(source.Filter) {
		moved, ok := renamed(c, a.ID, b.ID)
		if !ok || acceptsNull(c) || slices.ContainsFunc(filterTerms(target.Filter), func(f catalog.Filter) bool { return reflect.DeepEqual(f, moved) }) {
			continue
		}
		target.Filter = catalog.AllOf(append(slices.Clone(filterTerms(target.Filter)), moved)...)
		t.changed = true
	}
}

func filterTerms(f catalog.Filter) []catalog.Filter {
	if f.Op == catalog.And {
		return f.Terms
	}
	return []catalog.Filter{f}
}

// renamed returns a filter on one column as one on another; false when it is about more.
func renamed(f catalog.Filter, from, to catalog.FieldID) (catalog.Filter, bool) {
	switch f.Op {
	case catalog.Test:
		if f.Field != from {
			return f, false
		}
		f.Field = to
		return f, true
	case catalog.And, catalog.Or:
		terms := make([]catalog.Filter, len(f.Terms))
		for i, t := range f.Terms {
			var ok bool
			if terms[i], ok = renamed(t, from, to); !ok {
				return f, false
			}
		}
		f.Terms = terms
		return f, true
	}
	return f, false
}
