package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tarndb/tarn/transform"
)

// PartitionType returns the struct of all partition fields of all specs of the table, by partition field ID, which tells
// the tuples of files of different specs in one type. Where specs share a field, the newest gives the name, and a void
// field takes the type of a spec in which it is none. Fields whose type can't be told, or whose column the schema doesn't
// have any more, are left out.
//
// Old tables may have given one ID to fields of different columns or transforms, and one name to several fields: they stay
// apart, the older one under a new ID or name.
func PartitionType(t *Table) Type {
	columns, _ := partitionColumns(t)
	out := Type{Nested: Struct}
	for _, c := range columns {
		out.Fields = append(out.Fields, Field{ID: c.id, Name: c.name, Type: Type{Primitive: c.typ()}})
	}
	return out
}

// PartitionPlaces returns the place of each field of each spec in PartitionType; -1 for one that it leaves out.
func PartitionPlaces(t *Table) map[SpecID][]int {
	_, places := partitionColumns(t)
	return places
}

// IsVoid says whether the field was dropped and only keeps its place: it is NULL for all files.
func (f PartitionField) IsVoid() bool { return f.Transform.Op == transform.Void }

// partitionColumn is one field of PartitionType.
type partitionColumn struct {
	id    FieldID
	name  string
	field PartitionField // of the newest spec in which it isn't void
}

func (c *partitionColumn) typ() transform.Type {
	return c.field.Transform.ResultType(c.field.SourceType)
}

// is says whether f is the column's field in another spec.
func (c *partitionColumn) is(f PartitionField) bool {
	isSame := c.field.Transform == f.Transform || c.field.Transform.Op == transform.Void || f.Transform.Op == transform.Void
	return c.field.ID == f.ID && c.field.Sources[0] == f.Sources[0] && isSame
}

func partitionColumns(t *Table) ([]*partitionColumn, map[SpecID][]int) {
	var columns []*partitionColumn
	in := map[SpecID][]*partitionColumn{} // nil for a field that is left out
	for _, spec := range newestSpecs(t) {
		for _, f := range spec.Fields {
			if !isTold(t, f) {
				in[spec.ID] = append(in[spec.ID], nil)
				continue
			}
			at := slices.IndexFunc(columns, func(c *partitionColumn) bool { return c.is(f) })
			if at < 0 {
				at = len(columns)
				columns = append(columns, &partitionColumn{id: FieldID(f.ID), name: f.Name, field: f})
			} else if columns[at].field.Transform.Op == transform.Void {
				columns[at].field = f
			}
			in[spec.ID] = append(in[spec.ID], columns[at])
		}
	}
	tellApart(columns)
	slices.SortStableFunc(columns, func(a, b *partitionColumn) int { return cmp.Compare(a.id, b.id) })
	places := map[SpecID][]int{}
	for spec, fields := range in {
		for _, c := range fields {
			places[spec] = append(places[spec], slices.Index(columns, c))
		}
	}
	return columns, places
}

// isTold says whether the field is part of PartitionType.
func isTold(t *Table, f PartitionField) bool {
	isKnown := len(f.Sources) == 1 && f.Transform.Op != transform.OpUnknown && f.Transform.ResultType(f.SourceType).Kind != transform.None
	return isKnown && t.Schema != nil && hasField(t.Schema.Fields, f.Sources[0])
}

func hasField(fields []Field, id FieldID) bool {
	return slices.ContainsFunc(fields, func(f Field) bool { return f.ID == id || hasField(f.Type.Fields, id) })
}

// tellApart gives IDs and names that an earlier column has to no other. Names that differ only in case are alike in SQL.
func tellApart(columns []*partitionColumn) {
	ids, names := map[FieldID]bool{}, map[string]bool{}
	next := FieldID(0)
	for _, c := range columns {
		next = max(next, c.id+1)
	}
	for _, c := range columns {
		if ids[c.id] {
			c.id = next
			next++
		}
		for names[strings.ToLower(c.name)] {
			c.name = fmt.Sprintf("%s_%d", c.name, c.id)
		}
		ids[c.id], names[strings.ToLower(c.name)] = true, true
	}
}

// newestSpecs returns the specs by falling ID.
func newestSpecs(t *Table) []PartitionSpec {
	specs := make([]PartitionSpec, 0, len(t.Specs))
	for _, s := range t.Specs {
		specs = append(specs, s)
	}
	slices.SortFunc(specs, func(a, b PartitionSpec) int { return cmp.Compare(b.ID, a.ID) })
	return specs
}
