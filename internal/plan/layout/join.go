package layout

import (
	"github.com/tarndb/tarn/internal/plan"
)

// ForJoin returns the keys that a join keeps. A pair of slots matches when both have the same transform over one class of
// types and an equality of the condition connects a carrier of each.
//
// Proof: rows that satisfy the condition are equal in the two carriers, so they have equal transforms and lie in one
// group; with "=" neither is NULL, so a weak carrier is right there. A preserved row lies in exactly one group and meets
// there all of its partners, so it is emitted once and filled with NULL only if it has no partner anywhere. A NULL-safe
// equality needs strong carriers: in (a LEFT JOIN b ON a.k = b.k) JOIN c ON b.k IS NOT DISTINCT FROM c.k the NULLs that
// the left join filled in lie in many groups, and the rows of c with NULL in one.
func ForJoin(j *plan.Join, l, r Property) Property {
	if len(l.Slots) == 0 || len(r.Slots) == 0 {
		return none("%s", missing(j, l, r))
	}
	if len(j.On) == 0 {
		return none("no equality between plain columns of both sides in %s", conditionText(j))
	}
	var out []Slot
	for li, ls := range l.Slots {
		for ri, rs := range r.Slots {
			if ls.Transform == rs.Transform && ls.Class == rs.Class && connects(j, ls, rs) {
				out = append(out, joined(j, ls, rs, li, ri))
				break
			}
		}
	}
	if len(out) == 0 {
		return none("%s", mismatch(j, l, r))
	}
	return Property{Slots: out}
}

func connects(j *plan.Join, ls, rs Slot) bool {
	for _, eq := range j.On {
		a, ok := ls.Carriers[eq.Left]
		b, ok2 := rs.Carriers[eq.Right]
		if ok && ok2 && (!eq.NullSafe || a == Strong && b == Strong) {
			return true
		}
	}
	return false
}

// IsStrict says whether the NULL group of a matched slot can't have matches: one of the equalities that connect it is "=".
func IsStrict(j *plan.Join, ls, rs Slot) bool {
	for _, eq := range j.On {
		_, ok := ls.Carriers[eq.Left]
		_, ok2 := rs.Carriers[eq.Right]
		if ok && ok2 && !eq.NullSafe {
			return true
		}
	}
	return false
}

// joined merges two matched slots: a preserved side's carriers stay as they are, the other side's become weak. In an
// inner join a weak carrier compared by "=" becomes strong, since its NULLs are gone. A full join's USING column is the
// coalesced one, and strong when it is made of strong ones.
func joined(j *plan.Join, ls, rs Slot, li, ri int) Slot {
	out := Slot{Transform: ls.Transform, Class: ls.Class, Column: ls.Column, Table: ls.Table, From: []int{li, ri}, Carriers: map[plan.Col]Strength{}}
	keepLeft := j.Kind != plan.Right && j.Kind != plan.Full
	keepRight := j.Kind == plan.Inner || j.Kind == plan.Right
	for c, s := range ls.Carriers {
		out.Carriers[c] = weakenUnless(keepLeft, s)
	}
	if !j.IsFilter() {
		for c, s := range rs.Carriers {
			out.Carriers[c] = weakenUnless(keepRight, s)
		}
	}
	for i, eq := range j.On {
		a, ok := ls.Carriers[eq.Left]
		b, ok2 := rs.Carriers[eq.Right]
		if !ok || !ok2 {
			continue
		}
		if !eq.NullSafe && j.Kind == plan.Inner {
			out.Carriers[eq.Left], out.Carriers[eq.Right] = Strong, Strong
		}
		if !eq.NullSafe && j.Kind == plan.Semi {
			out.Carriers[eq.Left] = Strong
		}
		if j.Kind == plan.Full && j.Merged != nil && a == Strong && b == Strong {
			out.Carriers[plan.Col{Source: *j.Merged, Index: i}] = Strong
		}
	}
	return out
}

func weakenUnless(keep bool, s Strength) Strength {
	if keep {
		return s
	}
	return Weak
}
