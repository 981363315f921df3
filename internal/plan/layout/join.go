package layout

import (
	"slices"

	"github.com/tarndb/tarn/internal/plan"
)

// ForJoin returns the slots that a join keeps. A pair of slots matches when they are of one class of types and an equality
// of the condition connects a carrier of each.
//
// Proof: rows that satisfy the condition are equal in the two carriers, so they have equal transforms and lie in one
// group; with "=" neither is NULL, so a weak carrier is right there. A preserved row lies in exactly one group and meets
// there all of its partners, so it is emitted once and filled with NULL only if it has no partner anywhere. A NULL-safe
// equality needs strong carriers: in (a LEFT JOIN b ON a.k = b.k) JOIN c ON b.k IS NOT DISTINCT FROM c.k the NULLs that
// the left join filled in lie in many groups, and the rows of c with NULL in one.
//
// A side that may be read everywhere needs no slot, when no row of its own comes out: each row of the other side meets all of
// it wherever it lies. In l RIGHT JOIN r with r everywhere, a row of r without a match would come out once per pack.
func ForJoin(j *plan.Join, l, r Property) Property {
	out := matched(j, l, r)
	if r.Everywhere && MayRepeatRight(j.Kind) {
		out = append(out, alone(l, out, 0)...)
	}
	if l.Everywhere && MayRepeatLeft(j.Kind) {
		out = append(out, alone(r, out, 1)...)
	}
	p := Property{Slots: out, Everywhere: l.Everywhere && r.Everywhere}
	if !slices.ContainsFunc(out, func(s Slot) bool { return !slices.Contains(s.From, Absent) }) {
		p.Why = unmatched(j, l, r)
	}
	return p
}

// MayRepeatLeft says whether the left side of a join of that kind may be read by each pack of the right one's rows.
func MayRepeatLeft(k plan.JoinKind) bool { return k == plan.Inner || k == plan.Right }

// MayRepeatRight is MayRepeatLeft of the right side.
func MayRepeatRight(k plan.JoinKind) bool {
	return k == plan.Inner || k == plan.Left || k == plan.Semi || k == plan.Anti
}

// matched returns the slots that both sides have.
func matched(j *plan.Join, l, r Property) []Slot {
	var out []Slot
	for li, ls := range l.Slots {
		for ri, rs := range r.Slots {
			if ls.Class == rs.Class && connects(j, ls, rs) {
				out = append(out, joined(j, ls, rs, li, ri))
				break
			}
		}
	}
	return out
}

// alone returns the slots of one side that no matched slot is made of.
func alone(p Property, matched []Slot, side int) []Slot {
	var out []Slot
	for i, s := range p.Slots {
		if slices.ContainsFunc(matched, func(m Slot) bool { return m.From[side] == i }) {
			continue
		}
		from := []int{Absent, Absent}
		from[side] = i
		s.From = from
		out = append(out, s)
	}
	return out
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
	out := Slot{Class: ls.Class, Column: ls.Column, Table: ls.Table, From: []int{li, ri}, Carriers: map[plan.Col]Strength{}}
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
