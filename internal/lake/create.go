package lake

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
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

// CreateNamespace makes a namespace. It fails with Exists if there is one.
func (c *Catalog) CreateNamespace(ctx context.Context, namespace catalog.Ident) error {
	if len(namespace) == 0 {
		return errs.New(errs.Invalid, "create namespace", "", "it has no name")
	}
	return c.store.createNamespace(ctx, namespace)
}

// DropTable forgets a table and leaves its files where they are.
func (c *Catalog) DropTable(ctx context.Context, id catalog.Ident) error {
	return c.store.drop(ctx, id)
}

// CreateTable makes an empty table at WAREHOUSE/namespace/name, in a namespace that is there, and loads it.
func (c *Catalog) CreateTable(ctx context.Context, def NewTable) (*catalog.Table, error) {
	if len(def.Ident) < 2 {
		return nil, errs.New(errs.Invalid, "create table", def.Ident.String(), "a table's name needs a namespace")
	}
	if c.warehouse == "" {
		return nil, errs.New(errs.Invalid, "create table", def.Ident.String(), "the catalog %q has no warehouse to put it in", c.name).
			WithHint("give the catalog a warehouse folder")
	}
	if _, err := c.store.tables(ctx, def.Ident[:len(def.Ident)-1]); err != nil {
		return nil, err
	}
	meta, err := def.metadata(fileio.Under(c.warehouse, def.Ident...))
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, "create table", def.Ident.String(), err)
	}
	next, err := draftOf(meta)
	if err != nil {
		return nil, err
	}
	location, err := c.store.publish(ctx, def.Ident, "", next)
	if err != nil {
		return nil, err
	}
	return c.loadAt(ctx, def.Ident, location)
}

func (def NewTable) metadata(location string) (table.Metadata, error) {
	fields, err := icebergFields(def.Schema.Fields)
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
		name = column.Name + nameSuffix[f.Transform.Op]
	}
	return iceberg.PartitionField{SourceIDs: []int{int(column.ID)}, Name: name, Transform: parsed}, err
}

func hasColumn(s *catalog.Schema, name string) bool {
	return slices.ContainsFunc(s.Fields, func(f catalog.Field) bool { return f.Name == name })
}

// nameSuffix is what Iceberg's own engines put after the column's name to name a partition field.
var nameSuffix = map[transform.Op]string{
	transform.Bucket: "_bucket", transform.Truncate: "_trunc", transform.Void: "_null",
	transform.Year: "_year", transform.Month: "_month", transform.Day: "_day", transform.Hour: "_hour",
}

// draftOf writes metadata down as the table's properties want it.
func draftOf(meta table.Metadata) (draft, error) {
	body, err := json.Marshal(meta)
	if err != nil {
		return draft{}, errs.Wrap(errs.Internal, "write metadata", meta.Location(), err)
	}
	next := draft{folder: metadataFolder(meta), body: body, gzipped: meta.Properties()["write.metadata.compression-codec"] == "gzip"}
	if !next.gzipped {
		return next, nil
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err = w.Write(body); err == nil {
		err = w.Close()
	}
	next.body = packed.Bytes()
	return next, errs.Wrap(errs.Internal, "write metadata", meta.Location(), err)
}

func metadataFolder(meta table.Metadata) string {
	if folder := meta.Properties()["write.metadata.path"]; folder != "" {
		return folder
	}
	return fileio.Under(meta.Location(), "metadata")
}

func icebergFields(fields []catalog.Field) ([]iceberg.NestedField, error) {
	out := make([]iceberg.NestedField, len(fields))
	names := map[string]bool{}
	for i, f := range fields {
		if names[f.Name] || f.Name == "" {
			return nil, errs.New(errs.Invalid, "define column", f.Name, "the name is empty or given twice")
		}
		names[f.Name] = true
		if f.HasDefault {
			return nil, errs.New(errs.Unsupported, "define column", f.Name, "initial defaults can't be written yet")
		}
		t, err := icebergType(f.Type)
		if err != nil {
			return nil, err
		}
		out[i] = iceberg.NestedField{ID: int(f.ID), Name: f.Name, Type: t, Required: f.Required, Doc: f.Doc}
	}
	return out, nil
}

func icebergType(t catalog.Type) (iceberg.Type, error) {
	if t.Nested == catalog.NotNested {
		return icebergPrimitive(t.Primitive)
	}
	inner, err := icebergFields(t.Fields)
	if err != nil {
		return nil, err
	}
	switch {
	case t.Nested == catalog.Struct:
		return &iceberg.StructType{FieldList: inner}, nil
	case t.Nested == catalog.List && len(inner) == 1:
		return &iceberg.ListType{ElementID: inner[0].ID, Element: inner[0].Type, ElementRequired: inner[0].Required}, nil
	case t.Nested == catalog.Map && len(inner) == 2:
		return &iceberg.MapType{
			KeyID: inner[0].ID, KeyType: inner[0].Type, ValueID: inner[1].ID, ValueType: inner[1].Type, ValueRequired: inner[1].Required,
		}, nil
	}
	return nil, errs.New(errs.Internal, "define column", "", "a list needs one field and a map two, not %d", len(inner))
}

var icebergPrimitives = map[transform.Kind]iceberg.Type{
	transform.Boolean:       iceberg.PrimitiveTypes.Bool,
	transform.Int:           iceberg.PrimitiveTypes.Int32,
	transform.Long:          iceberg.PrimitiveTypes.Int64,
	transform.Float:         iceberg.PrimitiveTypes.Float32,
	transform.Double:        iceberg.PrimitiveTypes.Float64,
	transform.Date:          iceberg.PrimitiveTypes.Date,
	transform.Time:          iceberg.PrimitiveTypes.Time,
	transform.Timestamp:     iceberg.PrimitiveTypes.Timestamp,
	transform.TimestampTZ:   iceberg.PrimitiveTypes.TimestampTz,
	transform.TimestampNS:   iceberg.PrimitiveTypes.TimestampNs,
	transform.TimestampTZNS: iceberg.PrimitiveTypes.TimestampTzNs,
	transform.String:        iceberg.PrimitiveTypes.String,
	transform.UUID:          iceberg.PrimitiveTypes.UUID,
	transform.Binary:        iceberg.PrimitiveTypes.Binary,
}

func icebergPrimitive(t transform.Type) (iceberg.Type, error) {
	switch t.Kind {
	case transform.Decimal:
		return iceberg.DecimalTypeOf(t.Precision, t.Scale), nil
	case transform.Fixed:
		return iceberg.FixedTypeOf(t.Length), nil
	}
	if known, ok := icebergPrimitives[t.Kind]; ok {
		return known, nil
	}
	return nil, errs.New(errs.Unsupported, "define column", "", "columns of type %s can't be written yet", t)
}
