package layout

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/transform"
)

// unfitColumn tells why there are no groups by a column: which types a transform takes is Iceberg's to say.
func unfitColumn(name string, t catalog.Type) string {
	text := name + " is a " + t.String() + ": "
	switch {
	case t.Nested == catalog.Struct:
		return text + "a transform takes a primitive value, and groups are made by columns, not by fields of a struct"
	case t.Nested != catalog.NotNested:
		return text + "no transform takes one, nor what lies in one"
	case t.Primitive.Kind == transform.Float || t.Primitive.Kind == transform.Double:
		return text + "of the transforms identity alone takes one, and by it 0.0 and -0.0 are two partitions, where they are one value in SQL"
	}
	return text + "no transform takes one"
}

func conditionText(j *plan.Join) string { return cmp.Or(j.Text, "a cross join") }

// unmatched tells why no slot of one side matches one of the other.
func unmatched(j *plan.Join, l, r Property) string {
	unfit := unfitOf(j, l, r)
	switch {
	case (len(l.Slots) == 0 || len(r.Slots) == 0) && len(unfit) > 0:
		return strings.Join(unfit, "; ")
	case len(l.Slots) == 0:
		return l.Why
	case len(r.Slots) == 0:
		return r.Why
	case len(j.On) == 0:
		text := "no equality between plain columns of both sides in " + conditionText(j)
		return strings.Join(append([]string{text}, unfit...), "; ")
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
	for _, why := range append(unfit, l.Why, r.Why) {
		if why != "" {
			text += "; " + why
		}
	}
	return text
}

// unfitOf tells of the columns of a join's sides that it compares and that can be no slots. Of fields of structs only the join's text
// tells.
func unfitOf(j *plan.Join, l, r Property) (out []string) {
	for _, u := range slices.Concat(l.Unfit, r.Unfit) {
		isCompared := slices.ContainsFunc(j.On, func(eq plan.Equality) bool { return eq.Left == u.Col || eq.Right == u.Col })
		isStruct := u.Column.Type.Nested == catalog.Struct && strings.Contains(j.Text, catalog.ShownName(u.Column.Name)+".")
		if (isCompared || isStruct) && !slices.Contains(out, u.Why) {
			out = append(out, u.Why)
		}
	}
	return out
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
