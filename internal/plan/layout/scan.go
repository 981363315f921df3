package layout

import (
	"cmp"

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
	unfit := ""
	for _, id := range s.Columns {
		column, ok := s.Table.Schema.Field(id)
		if !ok || catalog.IsReserved(id) {
			continue
		}
		class, ok := ClassOf(column.Type.Primitive)
		if !ok {
			unfit = unfitColumn(s.Table.Ident.String()+"."+catalog.ShownName(column.Name), column.Type)
			continue
		}
		slots = append(slots, Slot{
			Class: class, Column: column, Table: s.Table,
			Carriers: map[plan.Col]Strength{{Source: s.Source, Index: int(id)}: Strong},
		})
	}
	if len(slots) == 0 {
		return none("%s", cmp.Or(unfit, "no column of "+s.Table.Ident.String()+" that the query reads can be a layout key"))
	}
	return Property{Slots: slots, Unfit: unfit}
}
