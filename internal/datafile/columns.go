package datafile

import (
	"context"

	"github.com/apache/arrow-go/v18/parquet"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/namemapping"
	"github.com/tarndb/tarn/transform"
)

// ReadColumns returns the columns of a Parquet file as a table would have them that is made for it: without IDs, and all of them may
// be NULL. A column that no Iceberg type stands for is Unsupported.
func (r Reader) ReadColumns(ctx context.Context, path string) ([]catalog.Field, error) {
	const op = "read columns of"
	_, foot, err := r.readFooter(ctx, path)
	if err != nil {
		return nil, err
	}
	nodes := nodesOf(foot.schema)
	if err := clash(nodes); err != nil {
		return nil, errs.Wrap(errs.Unsupported, op, path, err)
	}
	fields, err := fieldsOf(nodes)
	return fields, errs.Wrap(errs.Unsupported, op, path, err)
}

func fieldsOf(nodes []*node) ([]catalog.Field, error) {
	out := make([]catalog.Field, len(nodes))
	for i, n := range nodes {
		t, err := n.ownType()
		if err != nil {
			return nil, errs.Wrap(errs.Unsupported, "field", catalog.ShownName(n.name), err)
		}
		out[i] = catalog.Field{Name: n.name, Type: t}
	}
	return out, nil
}

// ownType returns the type that the field has where no table says another.
func (n *node) ownType() (catalog.Type, error) {
	out := catalog.Type{Nested: n.nested}
	switch {
	case n.fault != nil:
		return out, n.fault
	case n.nested == catalog.NotNested:
		out.Primitive = n.stored.ownType()
		if out.Primitive.Kind == transform.None {
			return out, errs.New(errs.Unsupported, "", "", "it is stored as %s, for which Iceberg has no type that can be read", n.stored)
		}
		return out, nil
	case len(n.kids) == 0:
		return out, errs.New(errs.Unsupported, "", "", "it is a struct without fields")
	}
	var err error
	if out.Fields, err = fieldsOf(n.kids); err != nil {
		return out, err
	}
	for i, name := range namemapping.InnerNames(n.nested) {
		out.Fields[i].Name = name
		out.Fields[i].Required = name == "key"
	}
	return out, nil
}

// ownType is the type of the values, its Kind None where there is none. INT96 has no zone, and is an instant to Hive and Spark.
func (s storedType) ownType() transform.Type {
	t := s.typeFor(transform.Type{})
	if s.physical == parquet.Types.Int96 {
		t.Kind = transform.TimestampTZ
	}
	if s.fit(t) != fits {
		return transform.Type{}
	}
	return t
}
