package evolve

import (
	"strconv"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/transform"
)

// defaultsVersion is the format version that has default values and more types.
const defaultsVersion = 3

// idSource gives the fields of a definition their IDs; path is the field's full name.
type idSource func(path []string) catalog.FieldID

// newFields makes fields of a definition. IDs are given as Iceberg gives them: to all fields of a struct, then to what is
// within them.
func (d *draft) newFields(within []string, columns []sql.Column, id idSource) ([]catalog.Field, error) {
	out := make([]catalog.Field, len(columns))
	for i, c := range columns {
		name := c.Path[len(c.Path)-1]
		if err := checkName(out[:i], name, -1); err != nil {
			return nil, errs.Wrap(errs.Exists, "define column", dotted(append(within, name)), err)
		}
		out[i] = catalog.Field{ID: id(append(within, name)), Name: name, Required: c.NotNull, Doc: c.Comment}
	}
	for i, c := range columns {
		path := append(within[:len(within):len(within)], out[i].Name)
		if err := d.define(&out[i], path, c, id); err != nil {
			return nil, errs.Wrap(errs.Invalid, "define column", dotted(path), err)
		}
	}
	return out, nil
}

// define gives a field its type and its write default.
func (d *draft) define(f *catalog.Field, path []string, c sql.Column, id idSource) error {
	var err error
	if f.Type, err = d.newType(path, c.Type, id); err != nil {
		return err
	}
	if f.Type.Primitive.Kind == transform.Unknown && f.Required {
		return errs.New(errs.Invalid, "", "", "a column of type unknown holds nothing but NULL, so it can't be NOT NULL")
	}
	if c.Default == nil {
		return nil
	}
	f.WriteDefault, err = d.defaultOf(f.Type, *c.Default)
	if err == nil && f.WriteDefault == nil && f.Required {
		err = errs.New(errs.Invalid, "", "", "a column that is NOT NULL can't have the default NULL")
	}
	return err
}

func (d *draft) newType(path []string, t sql.DataType, id idSource) (catalog.Type, error) {
	var out catalog.Type
	var err error
	switch t.Name {
	case "struct":
		out.Nested = catalog.Struct
	case "list":
		out.Nested = catalog.List
	case "map":
		out.Nested = catalog.Map
	default:
		if out.Primitive, err = transform.ParseType(t.Name); err != nil {
			return out, errs.Wrap(errs.Invalid, "", "", err)
		}
		return out, d.checkType(out.Primitive)
	}
	out.Fields, err = d.newFields(path, t.Fields, id)
	return out, err
}

// DefinedType returns a type as a statement defines it.
func DefinedType(t catalog.Type) sql.DataType {
	names := map[catalog.NestedKind]string{catalog.Struct: "struct", catalog.List: "list", catalog.Map: "map"}
	if t.Nested == catalog.NotNested {
		return sql.DataType{Name: t.Primitive.String()}
	}
	out := sql.DataType{Name: names[t.Nested]}
	for _, f := range t.Fields {
		out.Fields = append(out.Fields, sql.Column{Path: []string{f.Name}, Type: DefinedType(f.Type), NotNull: f.Required})
	}
	return out
}

// checkType refuses types that the table's format version doesn't have.
func (d *draft) checkType(t transform.Type) error {
	switch t.Kind {
	case transform.TimestampNS, transform.TimestampTZNS, transform.Unknown, transform.Variant, transform.Geometry, transform.Geography:
		if d.FormatVersion < defaultsVersion {
			return errs.New(errs.Invalid, "", "", "tables of format version %d have no type %s", d.FormatVersion, t).WithHint("%s", upgradeHint)
		}
	}
	return nil
}

const upgradeHint = "TBLPROPERTIES ('format-version'='3') makes it a table that has"

// sqlNames are the names by which statements know types that they call otherwise than the Iceberg spec does.
var sqlNames = map[transform.Kind]string{
	transform.Long: "bigint", transform.Timestamp: "timestamp_ntz", transform.TimestampTZ: "timestamp", transform.Unknown: "void",
}

// TypeSQL writes a type as CREATE TABLE reads it, by Spark's names where Spark has one.
func TypeSQL(t catalog.Type) string {
	switch t.Nested {
	case catalog.List:
		return "array<" + TypeSQL(t.Fields[0].Type) + ">"
	case catalog.Map:
		return "map<" + TypeSQL(t.Fields[0].Type) + "," + TypeSQL(t.Fields[1].Type) + ">"
	case catalog.Struct:
		parts := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			parts[i] = catalog.ShownName(f.Name) + ":" + TypeSQL(f.Type) + fieldSuffix(f)
		}
		return "struct<" + strings.Join(parts, ",") + ">"
	}
	p := t.Primitive
	switch p.Kind {
	case transform.Decimal:
		return "decimal(" + strconv.Itoa(p.Precision) + "," + strconv.Itoa(p.Scale) + ")"
	case transform.Fixed:
		return "fixed(" + strconv.Itoa(p.Length) + ")"
	}
	if name, ok := sqlNames[p.Kind]; ok {
		return name
	}
	return p.String()
}

func fieldSuffix(f catalog.Field) string {
	out := ""
	if f.Required {
		out = " NOT NULL"
	}
	if f.Doc != "" {
		out += " COMMENT " + quote.Text(f.Doc)
	}
	return out
}
