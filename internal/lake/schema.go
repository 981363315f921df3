package lake

import (
	"cmp"
	"slices"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// describe fills in t's specs and sort order from the metadata, its columns from one of the schemas, and from the JSON what
// iceberg-go drops.
func describe(t *catalog.Table, meta table.Metadata, schema *iceberg.Schema, raw []byte) error {
	if schema == nil {
		return errs.New(errs.Corrupt, "", "", "there is no current schema")
	}
	defaults, err := defaultsOf(raw, schema.ID)
	if err != nil {
		return err
	}
	fields, err := fieldsOf(schema.Fields(), defaults)
	if err != nil {
		return err
	}
	markPromoted(fields, schema, meta.Schemas())
	t.Schema = &catalog.Schema{ID: schema.ID, Fields: fields, Identifier: identifierOf(schema)}
	if t.Specs, err = specsOf(meta, schema); err != nil {
		return err
	}
	t.Order, err = sortOrderOf(meta.SortOrder())
	return err
}

func identifierOf(schema *iceberg.Schema) []catalog.FieldID {
	var out []catalog.FieldID
	for _, id := range schema.IdentifierFieldIDs {
		out = append(out, catalog.FieldID(id))
	}
	slices.Sort(out)
	return out
}

// markPromoted marks the columns that another schema of the table has with another type.
func markPromoted(fields []catalog.Field, current *iceberg.Schema, schemas []*iceberg.Schema) {
	for i, f := range current.Fields() {
		for _, other := range schemas {
			if old, ok := other.FindFieldByID(f.ID); ok && !old.Type.Equals(f.Type) {
				fields[i].Promoted = true
			}
		}
	}
}

func fieldsOf(fields []iceberg.NestedField, defaults map[int]fieldDefaults) ([]catalog.Field, error) {
	out := make([]catalog.Field, len(fields))
	for i, f := range fields {
		typ, err := typeOf(f.Type, defaults)
		if err != nil {
			return nil, err
		}
		out[i] = catalog.Field{ID: catalog.FieldID(f.ID), Name: f.Name, Type: typ, Required: f.Required, Doc: f.Doc}
		if d := defaults[f.ID].initial; d != nil {
			if out[i].InitialDefault, err = d.value(typ); err != nil {
				return nil, errs.Wrap(errs.Corrupt, "read initial default of", f.Name, err)
			}
			out[i].HasDefault = true
		}
		if d := defaults[f.ID].write; d != nil {
			if out[i].WriteDefault, err = d.value(typ); err != nil {
				return nil, errs.Wrap(errs.Corrupt, "read write default of", f.Name, err)
			}
			out[i].HasWriteDefault = true
		}
	}
	return out, nil
}

func typeOf(t iceberg.Type, defaults map[int]fieldDefaults) (catalog.Type, error) {
	var inner []iceberg.NestedField
	var out catalog.Type
	switch t := t.(type) {
	case *iceberg.StructType:
		out.Nested, inner = catalog.Struct, t.FieldList
	case *iceberg.ListType:
		out.Nested, inner = catalog.List, []iceberg.NestedField{t.ElementField()}
	case *iceberg.MapType:
		out.Nested, inner = catalog.Map, []iceberg.NestedField{t.KeyField(), t.ValueField()}
	default:
		primitive, err := primitiveOf(t)
		return catalog.Type{Primitive: primitive}, err
	}
	var err error
	out.Fields, err = fieldsOf(inner, defaults)
	return out, err
}

// primitiveOf returns the primitive type; its Kind is None for a nested one.
func primitiveOf(t iceberg.Type) (transform.Type, error) {
	switch t := t.(type) {
	case iceberg.GeometryType:
		return transform.Type{Kind: transform.Geometry}, nil
	case iceberg.GeographyType:
		return transform.Type{Kind: transform.Geography}, nil
	case iceberg.NestedType:
		return transform.Type{}, nil
	default:
		return transform.ParseType(t.Type())
	}
}

func specsOf(meta table.Metadata, schema *iceberg.Schema) (map[catalog.SpecID]catalog.PartitionSpec, error) {
	schemas := newestFirst(meta, schema)
	specs := map[catalog.SpecID]catalog.PartitionSpec{}
	for _, spec := range meta.PartitionSpecs() {
		out := catalog.PartitionSpec{ID: catalog.SpecID(spec.ID())}
		for _, f := range spec.Fields() {
			field, err := partitionFieldOf(f, schemas)
			if err != nil {
				return nil, err
			}
			out.Fields = append(out.Fields, field)
		}
		specs[out.ID] = out
	}
	return specs, nil
}

func partitionFieldOf(f iceberg.PartitionField, schemas []*iceberg.Schema) (catalog.PartitionField, error) {
	parsed, err := transform.Parse(f.Transform.String())
	if err != nil {
		return catalog.PartitionField{}, errs.Wrap(errs.Corrupt, "read partition field", f.Name, err)
	}
	out := catalog.PartitionField{ID: catalog.PartitionFieldID(f.FieldID), Name: f.Name, Transform: parsed}
	for _, id := range f.SourceIDs {
		// iceberg-go says 0 for a void field that has no source any more. Columns have IDs from 1.
		if id > 0 {
			out.Sources = append(out.Sources, catalog.FieldID(id))
		}
	}
	if len(out.Sources) == 1 {
		out.SourceType, err = sourceType(int(out.Sources[0]), schemas)
	}
	return out, err
}

// newestFirst returns the table's schemas: the one that queries see, then the others by falling ID. Types only ever widen,
// so the first schema that has a column has it in a type as wide as in any file that the pinned snapshot can have.
func newestFirst(meta table.Metadata, current *iceberg.Schema) []*iceberg.Schema {
	schemas := slices.Clone(meta.Schemas())
	slices.SortFunc(schemas, func(a, b *iceberg.Schema) int {
		if (a.ID == current.ID) != (b.ID == current.ID) {
			if a.ID == current.ID {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.ID, a.ID)
	})
	return schemas
}

// newestField returns the column of the first schema that has it.
func newestField(id int, newestFirst []*iceberg.Schema) (iceberg.NestedField, bool) {
	for _, schema := range newestFirst {
		if f, ok := schema.FindFieldByID(id); ok {
			return f, true
		}
	}
	return iceberg.NestedField{}, false
}

// sourceType returns the column's type in the newest schema that has it, of Kind None if there is none.
func sourceType(id int, schemas []*iceberg.Schema) (transform.Type, error) {
	if f, ok := newestField(id, schemas); ok {
		return primitiveOf(f.Type)
	}
	return transform.Type{}, nil
}

func sortOrderOf(order table.SortOrder) (catalog.SortOrder, error) {
	out := catalog.SortOrder{ID: order.OrderID()}
	for _, f := range order.Fields() {
		parsed, err := transform.Parse(f.Transform.String())
		if err != nil {
			return out, errs.Wrap(errs.Corrupt, "read sort order", "", err)
		}
		if len(f.SourceIDs) != 1 {
			// A transform of several columns is carried, never evaluated.
			parsed = transform.Transform{Op: transform.OpUnknown, Text: f.Transform.String()}
		}
		out.Fields = append(out.Fields, catalog.SortField{
			Source:     catalog.FieldID(f.SourceID()),
			Transform:  parsed,
			Descending: f.Direction == table.SortDESC,
			NullsLast:  f.NullOrder == table.NullsLast,
		})
	}
	return out, nil
}
