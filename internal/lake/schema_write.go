package lake

import (
	"github.com/apache/iceberg-go"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// schemaWriter makes iceberg-go's schemas.
type schemaWriter struct {
	older []*iceberg.Schema // those of the table, for what catalog.Type doesn't say of a type
}

func newSchemaWriter(older []*iceberg.Schema) schemaWriter { return schemaWriter{older} }

func (w schemaWriter) schema(s catalog.Schema) (*iceberg.Schema, error) {
	fields, err := w.fields(s.Fields)
	if err != nil {
		return nil, err
	}
	identifier := []int{}
	for _, id := range s.Identifier {
		identifier = append(identifier, int(id))
	}
	return iceberg.NewSchemaWithIdentifiers(s.ID, identifier, fields...), nil
}

func (w schemaWriter) fields(fields []catalog.Field) ([]iceberg.NestedField, error) {
	out := make([]iceberg.NestedField, len(fields))
	names := map[string]bool{}
	for i, f := range fields {
		if names[f.Name] || f.Name == "" {
			return nil, errs.New(errs.Invalid, "define column", f.Name, "the name is empty or given twice")
		}
		names[f.Name] = true
		var err error
		if out[i], err = w.field(f); err != nil {
			return nil, errs.Wrap(errs.Invalid, "define column", f.Name, err)
		}
	}
	return out, nil
}

func (w schemaWriter) field(f catalog.Field) (iceberg.NestedField, error) {
	out := iceberg.NestedField{ID: int(f.ID), Name: f.Name, Required: f.Required, Doc: f.Doc}
	var err error
	if out.Type, err = w.typeOf(f); err != nil {
		return out, err
	}
	if f.HasDefault && f.Type.Nested != catalog.NotNested {
		if f.Type.Nested != catalog.Struct {
			return out, errs.New(errs.Unsupported, "", "", "the defaults of lists and maps can't be written")
		}
		out.InitialDefault = struct{}{} // the only one that the spec allows for a struct
		return out, nil
	}
	if f.HasDefault {
		if out.InitialDefault, err = defaultJSON(f.Type.Primitive, f.InitialDefault); err != nil {
			return out, err
		}
	}
	if f.WriteDefault != nil {
		out.WriteDefault, err = defaultJSON(f.Type.Primitive, f.WriteDefault)
	}
	return out, err
}

func (w schemaWriter) typeOf(f catalog.Field) (iceberg.Type, error) {
	t := f.Type
	if t.Nested == catalog.NotNested {
		return w.primitive(f)
	}
	inner, err := w.fields(t.Fields)
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
	return nil, errs.New(errs.Internal, "", "", "a list needs one field and a map two, not %d", len(inner))
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
	transform.Unknown:       iceberg.UnknownType{},
	transform.Variant:       iceberg.VariantType{},
}

// primitive returns the type of a primitive field. A geometry or geography keeps the coordinate system that the table has
// for it; a new one is in the default system.
func (w schemaWriter) primitive(f catalog.Field) (iceberg.Type, error) {
	switch t := f.Type.Primitive; t.Kind {
	case transform.Decimal:
		return iceberg.DecimalTypeOf(t.Precision, t.Scale), nil
	case transform.Fixed:
		return iceberg.FixedTypeOf(t.Length), nil
	case transform.Geometry, transform.Geography:
		for _, s := range w.older {
			if old, ok := s.FindFieldByID(int(f.ID)); ok {
				return old.Type, nil
			}
		}
		if t.Kind == transform.Geometry {
			return iceberg.GeometryTypeOf(iceberg.DefaultGeoCRS)
		}
		return iceberg.GeographyTypeOf(iceberg.DefaultGeoCRS, "spherical")
	default:
		if known, ok := icebergPrimitives[t.Kind]; ok {
			return known, nil
		}
		return nil, errs.New(errs.Internal, "", "", "%s is no type of a column", t)
	}
}
