package layout

import (
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
)

// ForScan returns a slot for each column that a scan reads and whose values can be keys. Where its files lie doesn't matter
// here: rows of a file that lies in no one group can be sent to theirs.
func ForScan(s *plan.Scan, l *catalog.TableLayout) Property {
	if l.Repeats {
		return none("the change log of %s has rows of one file in several places", s.Table.Ident)
	}
	if s.Table.Virtual {
		return none("%s is made of a table's metadata and lies in no groups", s.Table.Ident)
	}
	var slots []Slot
	var unfit []Unfit
	for _, id := range s.Columns {
		column, ok := s.Table.Schema.Field(id)
		if !ok || catalog.IsReserved(id) {
			continue
		}
		class, ok := ClassOf(column.Type.Primitive)
		if !ok {
			why := unfitColumn(s.Table.Ident.String()+"."+catalog.ShownName(column.Name), column.Type)
			unfit = append(unfit, Unfit{plan.Col{Source: s.Source, Index: int(id)}, column, why})
			continue
		}
		slots = append(slots, Slot{
			Class: class, Column: column, Table: s.Table,
			Carriers: map[plan.Col]Strength{{Source: s.Source, Index: int(id)}: Strong},
		})
	}
	out := Property{Slots: slots, Unfit: unfit}
	switch {
	case len(slots) == 0 && len(unfit) > 0:
		out.Why = unfit[len(unfit)-1].Why
	case len(slots) == 0:
		out.Why = "no column of " + s.Table.Ident.String() + " that the query reads can be a layout key"
	}
	return out
}
