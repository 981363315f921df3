package datafile

import (
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// match is what comparing a file's columns with the wanted ones has found.
type match struct {
	differs bool              // fields within a column aren't as the table says
	rewrite bool              // DuckDB would misread the file, but a copy of it can be read
	lacks   []catalog.FieldID // fields within columns that the file doesn't have
}

// column says whether a scan that reads n, by a shape if need be, gives values of the field wanted.
func (m *match) column(n *node, want catalog.Field) error {
	m.rewrite = m.rewrite || n.odd
	differs := m.differs
	err := m.field(n, want)
	if want.Type.Nested == catalog.NotNested {
		m.differs = differs // a column is widened as it is read
	}
	return err
}

func (m *match) field(n *node, want catalog.Field) error {
	switch {
	case n.fault != nil:
		return n.fault
	case n.nested != want.Type.Nested:
		return errs.New(errs.Corrupt, "", "", "the file has a %s where the table's type is %s", n.kind(), want.Type)
	case n.nested == catalog.NotNested:
		return m.primitive(n, want.Type.Primitive)
	case n.nested == catalog.Struct:
		return m.structure(n.kids, want.Type.Fields)
	}
	for i, kid := range n.kids { // told by their places: a list has one element, and some writers give it no ID
		inner := want.Type.Fields[i]
		if kid.id != noID && kid.id != inner.ID {
			return errs.New(errs.Corrupt, "", "", "its field %q has the ID %d, where the table has %d", kid.name, kid.id, inner.ID)
		}
		if err := m.field(kid, inner); err != nil {
			return err
		}
	}
	return nil
}

func (m *match) structure(kids []*node, fields []catalog.Field) error {
	byID, err := index(kids)
	if err != nil {
		return err
	}
	m.differs = m.differs || len(kids) != len(fields)
	for i, f := range fields {
		kid, ok := byID[f.ID]
		if !ok || f.Type.Primitive.Kind == transform.Unknown {
			m.differs = true
			m.lacks = append(m.lacks, f.ID)
			continue
		}
		if i >= len(kids) || kids[i] != kid || kid.name != f.Name {
			m.differs = true
		}
		if err := m.field(kid, f); err != nil {
			return errs.Wrap(errs.Internal, "field", catalog.ShownName(f.Name), err)
		}
	}
	return nil
}

func (m *match) primitive(n *node, want transform.Type) error {
	switch fit := n.stored.fit(want); {
	case fit == fits:
		m.differs = m.differs || n.stored.typeFor(want) != want
		return nil
	case fit == unread && n.stored.relabels(want):
		m.rewrite = true
		return nil
	case fit == unread:
		return errs.New(errs.Unsupported, "", "", "it is stored as %s, which can't be read as %s", n.stored, want)
	}
	return errs.New(errs.Corrupt, "", "", "it is stored as %s, which is no %s nor a type promoted to it", n.stored, want)
}

func (n *node) kind() string {
	return [...]string{"primitive column", "struct", "list", "map"}[n.nested]
}

// index returns the fields of one group by their IDs, which must differ.
func index(nodes []*node) (map[catalog.FieldID]*node, error) {
	byID := make(map[catalog.FieldID]*node, len(nodes))
	for _, n := range nodes {
		if n.id == noID {
			continue
		}
		if other, ok := byID[n.id]; ok {
			return nil, errs.New(errs.Corrupt, "", "", "the columns %q and %q both have the field ID %d", other.name, n.name, n.id)
		}
		byID[n.id] = n
	}
	return byID, nil
}

// describe returns the node as a field of a shape. want, which may be nil, decides where the file leaves its type open. It
// is false for what no scan can read; within a struct such a field is left out, as one without an ID is.
func (n *node) describe(want *catalog.Field) (catalog.Field, bool) {
	out := catalog.Field{ID: n.id, Name: n.name, Type: catalog.Type{Nested: n.nested}}
	if want != nil {
		out.ID = want.ID
	}
	if n.nested == catalog.NotNested {
		var t transform.Type
		if want != nil {
			t = want.Type.Primitive
		}
		out.Type.Primitive = n.stored.typeFor(t)
		return out, t.Kind != transform.Unknown && out.Type.Primitive.Kind != transform.None
	}
	if n.fault != nil {
		return out, false
	}
	for i, kid := range n.kids {
		f, ok := kid.describe(n.wantOf(i, want))
		switch {
		case n.nested != catalog.Struct && !ok:
			return out, false
		case n.nested != catalog.Struct || ok && kid.id != noID:
			out.Type.Fields = append(out.Type.Fields, f)
		}
	}
	return out, len(out.Type.Fields) > 0
}

// wantOf returns what is wanted of the node's kid at a place, nil when nothing is.
func (n *node) wantOf(i int, want *catalog.Field) *catalog.Field {
	if want == nil {
		return nil
	}
	if n.nested != catalog.Struct {
		return &want.Type.Fields[i]
	}
	return fieldByID(want.Type.Fields, n.kids[i].id)
}
