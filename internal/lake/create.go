package lake

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/evolve"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/transform"
)

// NewTable describes a table to be made.
type NewTable struct {
	Ident catalog.Ident
	// Schema needs field IDs that are unique in it, nested fields' included. They serve to name the sources of Spec; the
	// table's own IDs are assigned anew.
	Schema *catalog.Schema
	// Spec's fields need Sources and Transform. An empty Name is made as Iceberg's own engines make it; IDs and source
	// types are ignored.
	Spec          []catalog.PartitionField
	Properties    map[string]string
	FormatVersion int // 0: 2
}

// CreateTable makes an empty table at WAREHOUSE/namespace/name, in a namespace that is there, and loads it.
func (c *Catalog) CreateTable(ctx context.Context, def NewTable) (*catalog.Table, error) {
	location, err := c.placeOf(ctx, def.Ident)
	if err != nil {
		return nil, err
	}
	meta, err := def.metadata(location)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, "create table", def.Ident.String(), err)
	}
	return c.makeTable(ctx, def.Ident, meta)
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

func (def NewTable) metadata(location string) (table.Metadata, error) {
	fields, err := newSchemaWriter(nil).fields(def.Schema.Fields)
	if err != nil {
		return nil, err
	}
	schema := iceberg.NewSchema(0, fields...)
	spec, err := def.partitionSpec()
	if err != nil {
		return nil, err
	}
	props := iceberg.Properties{}
	maps.Copy(props, def.Properties)
	if def.FormatVersion != 0 {
		props[table.PropertyFormatVersion] = strconv.Itoa(def.FormatVersion)
	}
	return table.NewMetadata(schema, &spec, table.UnsortedSortOrder, location, props)
}

func (def NewTable) partitionSpec() (iceberg.PartitionSpec, error) {
	var fields []iceberg.PartitionField
	names := map[string]bool{}
	for i, f := range def.Spec {
		out, err := def.partitionField(f)
		if err != nil {
			return iceberg.PartitionSpec{}, err
		}
		taken := names[out.Name] || hasColumn(def.Schema, out.Name) && f.Transform.Op != transform.Identity
		if taken {
			return iceberg.PartitionSpec{}, errs.New(errs.Invalid, "partition by", f.Transform.String(), "the name %q is taken", out.Name)
		}
		names[out.Name] = true
		out.FieldID = iceberg.PartitionDataIDStart + i
		fields = append(fields, out)
	}
	return iceberg.NewPartitionSpec(fields...), nil
}

func (def NewTable) partitionField(f catalog.PartitionField) (iceberg.PartitionField, error) {
	var none iceberg.PartitionField
	if len(f.Sources) != 1 || f.Transform.Op == transform.OpUnknown {
		return none, errs.New(errs.Unsupported, "partition by", f.Transform.String(), "only known transforms of one column can be written")
	}
	column, ok := def.Schema.Field(f.Sources[0])
	if !ok {
		return none, errs.New(errs.NotFound, "partition by", f.Transform.String(), "no top-level column has the field ID %d", f.Sources[0])
	}
	if !f.Transform.CanApply(column.Type.Primitive) {
		return none, errs.New(errs.Invalid, "partition by", f.Transform.SQL(column.Name), "the transform can't be applied to the column's type")
	}
	parsed, err := iceberg.ParseTransform(f.Transform.String())
	name := f.Name
	if name == "" {
		name = evolve.FieldName(column.Name, f.Transform)
	}
	return iceberg.PartitionField{SourceIDs: []int{int(column.ID)}, Name: name, Transform: parsed}, err
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
