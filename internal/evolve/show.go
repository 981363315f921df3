package evolve

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/namemapping"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/transform"
)

// CreateScript returns the statements that make a table like the one that is there, without its rows and its history: CREATE
// TABLE, and ALTER TABLE for what that can't say. The location is left out unless it is given. A field whose transform isn't
// known is told in a comment, since no statement makes it.
func CreateScript(name string, s State, location string) []string {
	d := newDraft(s)
	var b strings.Builder
	b.WriteString("CREATE TABLE " + name + " (")
	for i, f := range d.fields {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n  " + catalog.ShownName(f.Name) + " " + TypeSQL(f.Type) + columnSuffix(f))
	}
	b.WriteString(")\nUSING iceberg")
	first, rest := d.splitSpec()
	if len(first) > 0 {
		b.WriteString("\nPARTITIONED BY (" + strings.Join(first, ", ") + ")")
	}
	if comment := s.Properties[commentKey]; comment != "" {
		b.WriteString("\nCOMMENT " + quote.Text(comment))
	}
	if location != "" {
		b.WriteString("\nLOCATION " + quote.Text(location))
	}
	b.WriteString("\nTBLPROPERTIES (\n  'format-version' = '" + strconv.Itoa(s.FormatVersion) + "'")
	for _, k := range slices.Sorted(maps.Keys(s.Properties)) {
		if k != commentKey && k != namemapping.Property { // the mapping has the IDs of this table's columns
			b.WriteString(",\n  " + quote.Text(k) + " = " + quote.Text(s.Properties[k]))
		}
	}
	b.WriteString(")")
	out := []string{b.String()}
	for _, change := range slices.Concat(rest, d.orderSQL(), d.identifierSQL()) {
		out = append(out, "ALTER TABLE "+name+" "+change)
	}
	return out
}

func columnSuffix(f catalog.Field) string {
	out := ""
	if f.Required {
		out = " NOT NULL"
	}
	if f.WriteDefault != nil {
		out += " DEFAULT " + literalSQL(f.Type.Primitive, f.WriteDefault)
	}
	if f.Doc != "" {
		out += " COMMENT " + quote.Text(f.Doc)
	}
	return out
}

func literalSQL(t transform.Type, v transform.Value) string {
	text := transform.FormatValue(t, v)
	switch t.Kind {
	case transform.Boolean, transform.Int, transform.Long, transform.Float, transform.Double, transform.Decimal:
		return text
	case transform.Binary, transform.Fixed:
		return "X" + quote.Text(text)
	}
	return quote.Text(text)
}

// splitSpec returns the terms of the first fields of the spec, as long as they have the names that CREATE TABLE gives them,
// and the changes that add the others.
func (d *draft) splitSpec() (first, rest []string) {
	for _, f := range d.Spec().Fields {
		if f.Transform.Op == transform.Void || len(f.Sources) == 0 {
			continue
		}
		path := d.path(f.Sources[0])
		term := f.Transform.SQL(dotted(path))
		switch {
		case f.Transform.Op == transform.OpUnknown || len(f.Sources) > 1:
			rest = append(rest, "-- partitioned by "+term)
		case len(rest) == 0 && f.Name == FieldName(strings.Join(path, "."), f.Transform):
			first = append(first, term)
		default:
			rest = append(rest, "ADD PARTITION FIELD "+term+" AS "+catalog.ShownName(f.Name))
		}
	}
	return first, rest
}

func (d *draft) orderSQL() []string {
	terms := OrderSQL(d.State)
	switch {
	case len(terms) == 0:
		return nil
	case d.Properties[distributionMode] == "range":
		return []string{"WRITE ORDERED BY " + strings.Join(terms, ", ")}
	}
	return []string{"WRITE LOCALLY ORDERED BY " + strings.Join(terms, ", ")}
}

// OrderSQL writes the fields of the current sort order.
func OrderSQL(s State) []string {
	var out []string
	schema := s.Schema()
	for _, f := range s.Order().Fields {
		path := schema.Path(f.Source)
		text := f.Transform.SQL(dotted(path)) + map[bool]string{false: " ASC", true: " DESC"}[f.Descending]
		out = append(out, text+map[bool]string{false: " NULLS FIRST", true: " NULLS LAST"}[f.NullsLast])
	}
	return out
}

// IdentifierNames returns the full names of the identifier fields.
func IdentifierNames(s State) []string {
	var out []string
	schema := s.Schema()
	for _, id := range schema.Identifier {
		if path := schema.Path(id); path != nil {
			out = append(out, dotted(path))
		}
	}
	return out
}

func (d *draft) identifierSQL() []string {
	names := IdentifierNames(d.State)
	if len(names) == 0 {
		return nil
	}
	return []string{"SET IDENTIFIER FIELDS " + strings.Join(names, ", ")}
}
