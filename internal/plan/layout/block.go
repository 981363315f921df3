package layout

import (
	"maps"
	"slices"

	"github.com/tarndb/tarn/internal/plan"
)

// ForBlock returns the slots that a SELECT's whole result keeps, given those of its FROM. Filters and projections keep
// all. GROUP BY, DISTINCT and windows keep those of which a strong carrier is among their own keys: then all rows that
// belong together lie in one group. With fewer slots whole groups unite, so leaving some out is always right.
//
// A weak carrier won't do: A FULL JOIN B ON a.k = b.k GROUP BY a.k done group by group gives the NULL row once per group.
// The carriers of the result are output positions, under source 0; OfRel moves them to the mention's own source.
func ForBlock(b *plan.Block, from Property) Property {
	if b.Whole != "" {
		return none("%s", b.Whole)
	}
	out := Property{Everywhere: from.Everywhere, Why: from.Why}
	for i, s := range from.Slots {
		if op := blocked(b, s); op != "" {
			out.Why = op
			if op != allRows {
				out.Why += " has none of the columns by which rows of its input could be in groups: " + slotList(from)
			}
			continue
		}
		k := s
		k.From, k.Carriers = []int{i}, map[plan.Col]Strength{}
		for pos, o := range b.Output {
			if o.Col == nil {
				continue
			}
			if strength, ok := s.Carriers[*o.Col]; ok {
				k.Carriers[plan.Col{Index: pos}] = strength
			}
		}
		out.Slots = append(out.Slots, k)
	}
	return out
}

// allRows is what blocks every slot.
const allRows = "an aggregate over all rows spans all groups"

// blocked returns which operator of the block needs rows of several of the slot's groups, or "".
func blocked(b *plan.Block, s Slot) string {
	if b.Group != nil && !hasStrong(s, b.Group.Keys) {
		if len(b.Group.Keys) == 0 && b.Group.Text == "" {
			return allRows
		}
		return "GROUP BY " + b.Group.Text
	}
	if b.Distinct {
		var cols []plan.Col
		for _, o := range b.Output {
			if o.Col != nil {
				cols = append(cols, *o.Col)
			}
		}
		if !hasStrong(s, cols) {
			return "DISTINCT"
		}
	}
	for _, keys := range b.Windows {
		if !hasStrong(s, keys) {
			return "a window's PARTITION BY"
		}
	}
	return ""
}

func hasStrong(s Slot, cols []plan.Col) bool {
	for _, c := range cols {
		if strength, ok := s.Carriers[c]; ok && strength == Strong {
			return true
		}
	}
	return false
}

// ForUnion returns the slots that a UNION ALL keeps: those that each side has over one class in one output column. The same
// groups of all sides unite, and an output position that carries the value on every side carries it above.
func ForUnion(sides []Property) Property {
	everywhere, why := true, ""
	for _, p := range sides {
		everywhere = everywhere && p.Everywhere
		if len(p.Slots) == 0 {
			why = p.Why
		}
	}
	if why != "" {
		return Property{Everywhere: everywhere, Why: why}
	}
	var out []Slot
	for i, s := range sides[0].Slots {
		u := s
		u.From, u.Carriers = []int{i}, maps.Clone(s.Carriers)
		for _, p := range sides[1:] {
			at := Absent
			for k, o := range p.Slots {
				if common := intersect(u.Carriers, o.Carriers); at < 0 && o.Class == s.Class && len(common) > 0 {
					at, u.Carriers = k, common
				}
			}
			u.From = append(u.From, at)
		}
		if !slices.Contains(u.From, Absent) {
			out = append(out, u)
		}
	}
	if len(out) == 0 {
		why = "the sides of UNION ALL have no column in one place that could be a layout key of all of them"
	}
	return Property{Slots: out, Everywhere: everywhere, Why: why}
}

func intersect(a, b map[plan.Col]Strength) map[plan.Col]Strength {
	out := map[plan.Col]Strength{}
	for c, s := range a {
		if t, ok := b[c]; ok {
			out[c] = min(s, t)
		}
	}
	return out
}

// OfRel moves a block's property to a mention of it, whose columns have the mention's source.
func OfRel(source plan.SourceID, p Property) Property {
	out := Property{Everywhere: p.Everywhere, Why: p.Why}
	for i, s := range p.Slots {
		m := s
		m.From, m.Carriers = []int{i}, map[plan.Col]Strength{}
		for c, strength := range s.Carriers {
			m.Carriers[plan.Col{Source: source, Index: c.Index}] = strength
		}
		out.Slots = append(out.Slots, m)
	}
	return out
}
