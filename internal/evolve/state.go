package evolve

import (
	"maps"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// MainBranch is the branch that a table's name means.
const MainBranch = "main"

// firstPartitionID is the ID of a table's first partition field, by the spec ("Partition Evolution").
const firstPartitionID = 1000

// State is what statements may change of a table's metadata. It is immutable.
type State struct {
	FormatVersion   int
	Location        string // "": where the catalog puts tables
	Schemas         []catalog.Schema
	SchemaID        int
	LastColumnID    catalog.FieldID
	Specs           []catalog.PartitionSpec
	SpecID          catalog.SpecID
	LastPartitionID catalog.PartitionFieldID
	Orders          []catalog.SortOrder
	OrderID         int
	Properties      map[string]string
	Refs            map[string]Ref
	Snapshots       map[catalog.SnapshotID]bool // those that the table has
}

// Ref is a branch or a tag. Zero retention settings are unset.
type Ref struct {
	Snapshot      catalog.SnapshotID
	IsTag         bool
	MaxRefAgeMs   int64
	MaxSnapshotMs int64
	MinSnapshots  int
}

// Schema returns the current schema.
func (s State) Schema() catalog.Schema {
	for _, schema := range s.Schemas {
		if schema.ID == s.SchemaID {
			return schema
		}
	}
	return catalog.Schema{}
}

// Spec returns the current partition spec.
func (s State) Spec() catalog.PartitionSpec {
	for _, spec := range s.Specs {
		if spec.ID == s.SpecID {
			return spec
		}
	}
	return catalog.PartitionSpec{}
}

// Order returns the current sort order.
func (s State) Order() catalog.SortOrder {
	for _, order := range s.Orders {
		if order.ID == s.OrderID {
			return order
		}
	}
	return catalog.SortOrder{}
}

// draft is a State on its way: its parts may be changed, and fields are the working copy of the current schema's.
type draft struct {
	State
	from       State // what it began as
	fields     []catalog.Field
	identifier []catalog.FieldID
}

func newDraft(s State) *draft {
	current := s.Schema()
	d := &draft{State: s, from: s, fields: cloneFields(current.Fields), identifier: slices.Clone(current.Identifier)}
	d.Schemas, d.Specs, d.Orders = slices.Clone(s.Schemas), slices.Clone(s.Specs), slices.Clone(s.Orders)
	d.Properties, d.Refs = maps.Clone(s.Properties), maps.Clone(s.Refs)
	if d.Properties == nil {
		d.Properties = map[string]string{}
	}
	if d.Refs == nil {
		d.Refs = map[string]Ref{}
	}
	return d
}

func cloneFields(fields []catalog.Field) []catalog.Field {
	out := slices.Clone(fields)
	for i := range out {
		out[i].Type.Fields = cloneFields(out[i].Type.Fields)
	}
	return out
}

// finish makes the working fields the current schema, which may be one that the table had before.
func (d *draft) finish() (State, error) {
	before := d.Schema().Fields
	if len(d.from.Schemas) > 0 && !sameFields(before, d.fields) {
		if err := d.mapNames(before); err != nil {
			return d.from, err
		}
	}
	slices.Sort(d.identifier)
	id := 0
	for _, s := range d.Schemas {
		if sameFields(s.Fields, d.fields) && slices.Equal(s.Identifier, d.identifier) {
			d.SchemaID = s.ID
			return d.State, nil
		}
		id = max(id, s.ID+1)
	}
	d.Schemas = append(d.Schemas, catalog.Schema{ID: id, Fields: d.fields, Identifier: d.identifier})
	d.SchemaID = id
	return d.State, nil
}

func sameFields(a, b []catalog.Field) bool {
	return slices.EqualFunc(a, b, func(x, y catalog.Field) bool {
		return x.ID == y.ID && x.Name == y.Name && x.Required == y.Required && x.Doc == y.Doc &&
			x.HasDefault == y.HasDefault && sameValue(x.Type.Primitive, x.InitialDefault, y.InitialDefault) &&
			sameValue(x.Type.Primitive, x.WriteDefault, y.WriteDefault) &&
			x.Type.Primitive == y.Type.Primitive && x.Type.Nested == y.Type.Nested && sameFields(x.Type.Fields, y.Type.Fields)
	})
}

func sameValue(t transform.Type, a, b transform.Value) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return transform.FormatValue(t, a) == transform.FormatValue(t, b)
}

func (d *draft) nextID() catalog.FieldID {
	d.LastColumnID++
	return d.LastColumnID
}

// useSpec makes fields the current spec, which may be one that the table had before.
func (d *draft) useSpec(fields []catalog.PartitionField) {
	id := catalog.SpecID(0)
	for _, spec := range d.Specs {
		if slices.EqualFunc(spec.Fields, fields, samePartitionField) {
			d.SpecID = spec.ID
			return
		}
		id = max(id, spec.ID+1)
	}
	for _, f := range fields {
		d.LastPartitionID = max(d.LastPartitionID, f.ID)
	}
	d.Specs = append(d.Specs, catalog.PartitionSpec{ID: id, Fields: fields})
	d.SpecID = id
}

func samePartitionField(a, b catalog.PartitionField) bool {
	return a.ID == b.ID && a.Name == b.Name && a.Transform == b.Transform && slices.Equal(a.Sources, b.Sources)
}

// useOrder makes fields the current sort order; that without fields is always number 0.
func (d *draft) useOrder(fields []catalog.SortField) {
	id := 1
	if len(fields) == 0 {
		id = 0
	}
	for _, order := range d.Orders {
		if slices.Equal(order.Fields, fields) {
			d.OrderID = order.ID
			return
		}
		if len(fields) > 0 {
			id = max(id, order.ID+1)
		}
	}
	d.Orders = append(d.Orders, catalog.SortOrder{ID: id, Fields: fields})
	d.OrderID = id
}

// checkWritable refuses a table whose layout can't be told: rows can't be laid out by it, and changing other parts of the
// metadata beside it can't be checked.
func (s State) checkWritable() error {
	for _, f := range s.Spec().Fields {
		if f.Transform.Op == transform.OpUnknown || len(f.Sources) > 1 {
			return errs.New(errs.Unsupported, "", "", "its partition field %q has the transform %s, with which it can only be read", f.Name, f.Transform)
		}
	}
	for _, f := range s.Order().Fields {
		if f.Transform.Op == transform.OpUnknown {
			return errs.New(errs.Unsupported, "", "", "its sort order has the transform %s, with which it can only be read", f.Transform)
		}
	}
	return nil
}
