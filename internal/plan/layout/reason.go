package layout

import (
	"fmt"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
)

// of writes the slot with its table, as reasons do: bucket(16, customer_id) of shop.orders.
func (s Slot) of() string { return s.String() + " of " + s.Table.Ident.String() }

func conditionText(j *plan.Join) string {
	if j.Text == "" {
		return "a cross join"
	}
	return j.Text
}

// missing tells which side of a join has no layout key at all, and the statement that would give it the other side's.
func missing(j *plan.Join, l, r Property) string {
	why, has, bare, column := l.Why, r, j.Left, func(e plan.Equality) (other, own plan.Col) { return e.Right, e.Left }
	if len(l.Slots) > 0 {
		why, has, bare, column = r.Why, l, j.Right, func(e plan.Equality) (other, own plan.Col) { return e.Left, e.Right }
	}
	scan, ok := bare.(*plan.ScanRel)
	if !ok {
		return why
	}
	for _, eq := range j.On {
		other, own := column(eq)
		for _, s := range has.Slots {
			f, known := scan.Scan.Table.Schema.Field(catalog.FieldID(own.Index))
			if _, carried := s.Carriers[other]; !carried || !known || own.Source != scan.Scan.Source {
				continue
			}
			if scan.Scan.Table.Version.Reading == catalog.ReadChanges {
				return why // whatever its layout
			}
			if hasField(scan.Scan.Table, s, f.ID) {
				return why + "; a rewrite of those files by the current spec would mend it"
			}
			return fmt.Sprintf("%s, and the other side has %s; after ALTER TABLE %s ADD PARTITION FIELD %s and a rewrite of its files the join needs no shuffle",
				why, s.of(), scan.Scan.Table.Ident, s.Transform.SQL(catalog.QuoteIdent(f.Name)))
		}
	}
	return why
}

// hasField says whether a table's current spec has the slot's transform on the column already.
func hasField(t *catalog.Table, s Slot, column catalog.FieldID) bool {
	for _, f := range t.Spec().Fields {
		if f.Transform == s.Transform && len(f.Sources) == 1 && f.Sources[0] == column {
			return true
		}
	}
	return false
}

// mismatch tells why no pair of slots matches, with the keys of both sides and what would mend it.
func mismatch(j *plan.Join, l, r Property) string {
	for _, ls := range l.Slots {
		for _, rs := range r.Slots {
			if ls.Class == rs.Class && ls.Transform == rs.Transform && meets(j, ls, rs) {
				return fmt.Sprintf("%s: an outer join below may have filled a side of it with NULL, and IS NOT DISTINCT FROM matches NULLs of all groups",
					conditionText(j))
			}
			if ls.Class == rs.Class && connects(j, ls, rs) {
				return fmt.Sprintf("%s, but %s: the transforms differ; after ALTER TABLE %s REPLACE PARTITION FIELD %s WITH %s and a rewrite of its files the join needs no shuffle",
					ls.of(), rs.of(), rs.Table.Ident, rs, ls.Transform.SQL(catalog.QuoteIdent(rs.Column.Name)))
			}
		}
	}
	text := fmt.Sprintf("%s connects no layout key of both sides: the left has %s, the right %s", conditionText(j), slotList(l), slotList(r))
	for _, lost := range []string{l.Why, r.Why} {
		if lost != "" {
			text += "; " + lost
		}
	}
	return text
}

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

func slotList(p Property) string {
	var parts []string
	for _, s := range p.Slots {
		parts = append(parts, s.of())
	}
	return strings.Join(parts, ", ")
}
