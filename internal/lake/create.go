package lake

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/evolve"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/transform"
)

// NewTable describes a table to be made, for those who have a schema and no statement.
type NewTable struct {
	Ident catalog.Ident
	// Schema needs field IDs that are unique in it, nested fields' included. They become the table's own.
	Schema *catalog.Schema
	// Spec's fields need Sources and Transform. An empty Name is made as Iceberg's own engines make it; IDs and source
	// types are ignored.
	Spec          []catalog.PartitionField
	Properties    map[string]string
	FormatVersion int // 0: 2
}

// CreateTable is Create of a table that no statement defined.
func (c *Catalog) CreateTable(ctx context.Context, def NewTable) (*catalog.Table, error) {
	s, err := def.state()
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, "create table", def.Ident.String(), err)
	}
	return c.Create(ctx, def.Ident, s)
}

// placeOf returns where a new table goes, and checks that its namespace is there.
func (c *Catalog) placeOf(ctx context.Context, id catalog.Ident) (string, error) {
	if len(id) < 2 {
		return "", errs.New(errs.Invalid, "create table", id.String(), "a table's name needs a namespace")
	}
	if c.warehouse == "" {
		return "", errs.New(errs.Invalid, "create table", id.String(), "the catalog %q has no warehouse to put it in", c.name).
			WithHint("give the catalog a warehouse folder")
	}
	_, err := c.store.tables(ctx, id[:len(id)-1])
	return c.PlaceOf(id), err
}

// PlaceOf returns where the catalog would put a table of the name; "" when it has no warehouse.
func (c *Catalog) PlaceOf(id catalog.Ident) string {
	if c.warehouse == "" {
		return ""
	}
	return fileio.Under(c.warehouse, id...)
}

// makeTable publishes a new table's first version.
func (c *Catalog) makeTable(ctx context.Context, id catalog.Ident, meta table.Metadata) (*catalog.Table, error) {
	made, err := c.publishOrLook(ctx, "create table", id, nil, meta)
	if err != nil {
		return nil, err
	}
	return made.table(id, made.meta.CurrentSchema())
}

func (def NewTable) state() (evolve.State, error) {
	s := evolve.State{
		FormatVersion: cmp.Or(def.FormatVersion, 2), Schemas: []catalog.Schema{{Fields: def.Schema.Fields}}, LastColumnID: lastID(def.Schema.Fields),
		LastPartitionID: iceberg.PartitionDataIDStart - 1, Orders: []catalog.SortOrder{{}}, Properties: maps.Clone(def.Properties),
	}
	spec := catalog.PartitionSpec{}
	for _, f := range def.Spec {
		f, err := def.partitionField(f, spec.Fields)
		if err != nil {
			return s, err
		}
		s.LastPartitionID++
		f.ID = s.LastPartitionID
		spec.Fields = append(spec.Fields, f)
	}
	s.Specs = []catalog.PartitionSpec{spec}
	return s, nil
}

func lastID(fields []catalog.Field) catalog.FieldID {
	last := catalog.FieldID(0)
	for _, f := range fields {
		last = max(last, f.ID, lastID(f.Type.Fields))
	}
	return last
}

// partitionField checks a field that comes after others, and names it.
func (def NewTable) partitionField(f catalog.PartitionField, before []catalog.PartitionField) (catalog.PartitionField, error) {
	if len(f.Sources) != 1 || f.Transform.Op == transform.OpUnknown {
		return f, errs.New(errs.Unsupported, "partition by", f.Transform.String(), "only known transforms of one column can be written")
	}
	column, ok := def.Schema.Field(f.Sources[0])
	if !ok {
		return f, errs.New(errs.NotFound, "partition by", f.Transform.String(), "no top-level column has the field ID %d", f.Sources[0])
	}
	if !f.Transform.CanApply(column.Type.Primitive) {
		return f, errs.New(errs.Invalid, "partition by", f.Transform.SQL(column.Name), "the transform can't be applied to the column's type")
	}
	f.Name = cmp.Or(f.Name, evolve.FieldName(column.Name, f.Transform))
	isTaken := slices.ContainsFunc(before, func(o catalog.PartitionField) bool { return o.Name == f.Name })
	if isTaken || hasColumn(def.Schema, f.Name) && f.Transform.Op != transform.Identity {
		return f, errs.New(errs.Invalid, "partition by", f.Transform.String(), "the name %q is taken", f.Name)
	}
	return f, nil
}

func hasColumn(s *catalog.Schema, name string) bool {
	return slices.ContainsFunc(s.Fields, func(f catalog.Field) bool { return f.Name == name })
}

func metadataFolder(meta table.Metadata) string {
	if folder := meta.Properties()["write.metadata.path"]; folder != "" {
		return folder
	}
	return fileio.Under(meta.Location(), "metadata")
}
