package layout

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tarndb/tarn/internal/plan"
)

func conditionText(j *plan.Join) string { return cmp.Or(j.Text, "a cross join") }

// unmatched tells why no slot of one side matches one of the other.
func unmatched(j *plan.Join, l, r Property) string {
	if len(l.Slots) == 0 || len(r.Slots) == 0 {
		if len(l.Slots) == 0 {
			return l.Why
		}
		return r.Why
	}
	if len(j.On) == 0 {
		return "no equality between plain columns of both sides in " + conditionText(j)
	}
	for _, ls := range l.Slots {
		for _, rs := range r.Slots {
			switch {
			case !meets(j, ls, rs):
			case ls.Class != rs.Class:
				return fmt.Sprintf("%s compares %s with %s: values of types %s and %s are hashed and compared in different ways",
					conditionText(j), ls.of(), rs.of(), ls.Column.Type, rs.Column.Type)
			default:
				return conditionText(j) + ": an outer join below may have filled a side of it with NULL, and IS NOT DISTINCT FROM matches NULLs of all groups"
			}
		}
	}
	text := fmt.Sprintf("%s connects no columns by which rows of both sides could be in groups: those of the left side are by %s, those of the right by %s",
		conditionText(j), slotList(l), slotList(r))
	for _, why := range []string{l.Unfit, l.Why, r.Unfit, r.Why} {
		if why != "" {
			text += "; " + why
		}
	}
	return text
}

// slotList names the columns of a relation's slots, not all of a wide one's.
func slotList(p Property) string {
	const most = 3
	var parts []string
	for _, s := range p.Slots {
		if len(parts) == most {
			parts = append(parts, "...")
			break
		}
		parts = append(parts, s.of())
	}
	return strings.Join(parts, ", ")
}

// of names the slot's column with its table.
func (s Slot) of() string { return s.Column.Name + " of " + s.Table.Ident.String() }

// meets says whether an equality is between carriers of both slots, however weak.
func meets(j *plan.Join, ls, rs Slot) bool {
	for _, eq := range j.On {
		_, l := ls.Carriers[eq.Left]
		_, r := rs.Carriers[eq.Right]
		if l && r {
			return true
		}
	}
	return false
}
