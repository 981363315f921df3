package layout

import (
	"sort"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/transform"
)

// ForScan returns the keys that every file of a scan conforms to: fields with one source and one transform that stand in
// each spec in use and that no file's bounds contradict. Writers are known that give wrong tuples for dates before 1970
// and the like, but no honest one files a row in another bucket: there the slot stays, with the liar's name. The field's place is looked up in each spec by itself: specs may
// order their fields differently, and reading a tuple of one by the places of another pairs unrelated groups.
func ForScan(s *plan.Scan, l *catalog.TableLayout) Property {
	if l.Repeats {
		return none("the change log of %s has rows of one file in several places", s.Table.Ident)
	}
	specs := specsInUse(l)
	var slots []Slot
	var whys []string
	for _, f := range s.Table.Specs[specs[0]].Fields {
		slot, why := slotFor(s, l, specs, f)
		if why != "" {
			whys = append(whys, why)
			continue
		}
		slots = append(slots, slot)
	}
	if len(slots) == 0 && len(whys) == 0 {
		return none("%s is unpartitioned", s.Table.Ident)
	}
	return Property{Slots: slots, Why: strings.Join(whys, "; ")}
}

// specsInUse returns the specs of the surviving files, the current one first when it is among them; of an empty table the
// current one alone.
func specsInUse(l *catalog.TableLayout) []catalog.SpecID {
	seen := map[catalog.SpecID]bool{}
	for _, g := range l.Groups {
		seen[g.Spec] = true
	}
	if len(seen) == 0 {
		seen[l.Table.DefaultSpec] = true
	}
	var out []catalog.SpecID
	for id := range seen {
		out = append(out, id)
	}
	current := l.Table.DefaultSpec
	sort.Slice(out, func(i, j int) bool {
		if (out[i] == current) != (out[j] == current) {
			return out[i] == current
		}
		return out[i] > out[j]
	})
	return out
}

func slotFor(s *plan.Scan, l *catalog.TableLayout, specs []catalog.SpecID, f catalog.PartitionField) (Slot, string) {
	name := s.Table.Ident.String()
	column, class, why := keyColumn(s.Table, f)
	if why != "" {
		return Slot{}, why
	}
	slot := Slot{
		Transform: f.Transform, Class: class, Column: column, Table: s.Table, Fields: map[catalog.SpecID]int{},
		Carriers: map[plan.Col]Strength{{Source: s.Source, Index: int(column.ID)}: Strong},
	}
	for _, id := range specs {
		at := fieldPlace(s.Table.Specs[id], f)
		if at < 0 {
			return Slot{}, "files of " + name + " written under spec " + specText(s.Table, id) + " have no " + slot.String() +
				" (the current spec is " + specText(s.Table, s.Table.DefaultSpec) + ")"
		}
		slot.Fields[id] = at
	}
	for _, g := range l.Groups {
		if g.Contradicts&(1<<uint(slot.Fields[g.Spec])) == 0 {
			continue
		}
		if f.Transform.Op != transform.Bucket {
			return Slot{}, "the bounds of " + g.Liars[slot.Fields[g.Spec]] + " contradict its " + slot.String()
		}
		slot.Liar = g.Liars[slot.Fields[g.Spec]]
	}
	return slot, ""
}

// keyColumn returns the source column of a field that can be a key.
func keyColumn(t *catalog.Table, f catalog.PartitionField) (catalog.Field, Class, string) {
	name := t.Ident.String() + "." + f.Name
	if len(f.Sources) != 1 || f.Transform.Op == transform.Void || f.Transform.Op == transform.OpUnknown {
		return catalog.Field{}, Class{}, name + " has the transform " + f.Transform.String() + ", which gives no key"
	}
	column, ok := t.Schema.Field(f.Sources[0])
	if !ok {
		return catalog.Field{}, Class{}, "the source column of " + name + " was dropped"
	}
	class, ok := ClassOf(column.Type.Primitive)
	written, ok2 := ClassOf(f.SourceType)
	if !ok || !ok2 || class != written {
		return catalog.Field{}, Class{}, "a " + column.Type.Primitive.String() + " is no layout key (" + name + ")"
	}
	return column, class, ""
}

func fieldPlace(spec catalog.PartitionSpec, f catalog.PartitionField) int {
	for i, g := range spec.Fields {
		if g.Transform == f.Transform && len(g.Sources) == 1 && g.Sources[0] == f.Sources[0] {
			return i
		}
	}
	return -1
}

// specText writes a spec as DDL does: "(bucket(16, id), days(ts))" or "unpartitioned".
func specText(t *catalog.Table, id catalog.SpecID) string {
	var parts []string
	for _, f := range t.Specs[id].Fields {
		source := f.Name
		if len(f.Sources) == 1 {
			if c, ok := t.Schema.Field(f.Sources[0]); ok {
				source = catalog.QuoteIdent(c.Name)
			}
		}
		parts = append(parts, f.Transform.SQL(source))
	}
	if len(parts) == 0 {
		return "unpartitioned"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
