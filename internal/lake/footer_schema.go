package lake

import (
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// checkSchema compares a file's schema with the columns wanted of it and returns those that it lacks. Fields are matched
// by ID, as the spec wants; names in files mean nothing at the top level.
func checkSchema(root *schema.GroupNode, columns []catalog.Field) ([]catalog.Field, error) {
	byID := map[int32]schema.Node{}
	for i := range root.NumFields() {
		n := root.Field(i)
		if n.FieldID() < 0 {
			continue
		}
		if other, ok := byID[n.FieldID()]; ok {
			return nil, errs.New(errs.Corrupt, "", "", "the columns %q and %q both have the field ID %d", other.Name(), n.Name(), n.FieldID())
		}
		byID[n.FieldID()] = n
	}
	if len(byID) == 0 {
		return nil, errs.New(errs.Unsupported, "", "", "its columns have no field IDs, and name mapping can't be used yet")
	}
	var absent []catalog.Field
	for _, column := range columns {
		n, ok := byID[int32(column.ID)]
		switch {
		case ok:
			if err := checkNode(n, column.Type); err != nil {
				return nil, errs.Wrap(errs.Internal, "column", catalog.QuoteIdent(column.Name), err)
			}
		case hasDefault(column):
			return nil, errs.New(errs.Unsupported, "column", catalog.QuoteIdent(column.Name),
				"the file was written before the column was added, and initial defaults can't be read yet")
		default:
			absent = append(absent, column)
		}
	}
	return absent, nil
}

// hasDefault says whether rows written before the field was added have a value in it, or in a field within it.
func hasDefault(f catalog.Field) bool {
	if f.HasDefault {
		return true
	}
	for _, inner := range f.Type.Fields {
		if hasDefault(inner) {
			return true
		}
	}
	return false
}

// checkNode says whether a scan that reads n gives values of the table's type t.
func checkNode(n schema.Node, t catalog.Type) error {
	if n.RepetitionType() == parquet.Repetitions.Repeated {
		return errs.New(errs.Unsupported, "", "", "it is a repeated field without a list around it, which can't be read yet")
	}
	if t.Nested == catalog.NotNested {
		return checkPrimitive(n, t.Primitive)
	}
	group, ok := n.(*schema.GroupNode)
	if !ok {
		return errs.New(errs.Corrupt, "", "", "the file has a primitive column where the table's is nested")
	}
	switch t.Nested {
	case catalog.List:
		return checkInner(repeatedFields(group, 1), t.Fields, false)
	case catalog.Map:
		return checkInner(repeatedFields(group, 2), t.Fields, false)
	}
	return checkInner(fieldsOfGroup(group), t.Fields, true)
}

// checkInner demands that the fields within a nested column are those of the table's current schema: the same IDs in the
// same order, under the same names in a struct. A file whose nested column has evolved since needs a projection of its
// own, which isn't made yet.
func checkInner(nodes []schema.Node, fields []catalog.Field, named bool) error {
	if len(nodes) != len(fields) {
		return nestedEvolution()
	}
	for i, f := range fields {
		if nodes[i].FieldID() != int32(f.ID) || named && nodes[i].Name() != f.Name {
			return nestedEvolution()
		}
		if err := checkNode(nodes[i], f.Type); err != nil {
			return err
		}
	}
	return nil
}

func nestedEvolution() error {
	return errs.New(errs.Unsupported, "", "",
		"its nested fields have changed since the file was written (nested evolution), which can't be read yet").
		WithHint("rewrite the table's files with its own engine")
}

// repeatedFields returns the n fields of the repeated group within a list or map in its standard, three-level form; nil
// for any other.
func repeatedFields(group *schema.GroupNode, n int) []schema.Node {
	if group.NumFields() != 1 || group.Field(0).RepetitionType() != parquet.Repetitions.Repeated {
		return nil
	}
	inner, ok := group.Field(0).(*schema.GroupNode)
	if !ok || inner.NumFields() != n {
		return nil
	}
	return fieldsOfGroup(inner)
}

func fieldsOfGroup(group *schema.GroupNode) []schema.Node {
	nodes := make([]schema.Node, group.NumFields())
	for i := range nodes {
		nodes[i] = group.Field(i)
	}
	return nodes
}

// checkPrimitive says whether the stored column is one of t or of a type that was promoted to t.
func checkPrimitive(n schema.Node, t transform.Type) error {
	switch t.Kind {
	case transform.Variant, transform.Geometry, transform.Geography, transform.Unknown, transform.None:
		return errs.New(errs.Unsupported, "", "", "columns of type %s can't be read yet", t)
	}
	p, ok := n.(*schema.PrimitiveNode)
	if !ok {
		return errs.New(errs.Corrupt, "", "", "the file has a nested column where the table's is of type %s", t)
	}
	stored := storedType{physical: p.PhysicalType(), logical: p.LogicalType(), length: p.TypeLength()}
	switch stored.fit(t) {
	case fits:
		return nil
	case unread:
		return errs.New(errs.Unsupported, "", "", "it is stored as %s, which can't be read as %s yet", stored, t)
	}
	return errs.New(errs.Corrupt, "", "", "it is stored as %s, which is no %s nor a type promoted to it", stored, t)
}
