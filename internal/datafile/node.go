package datafile

import (
	"strings"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

// noID is the ID of a field that has none in its file.
const noID catalog.FieldID = -1

// node is a field of a Parquet file, seen as Iceberg sees it: a list has one kid, its element, and a map two, its key and
// its value. The groups around them, which each writer names its own way, are gone.
type node struct {
	name   string
	id     catalog.FieldID
	nested catalog.NestedKind
	kids   []*node
	stored storedType      // of a primitive
	alias  catalog.FieldID // the ID of the repeated field in a list or map, which DuckDB takes for that of the column; or noID
	fault  error           // why the field, or one in it, can't be read
	odd    bool            // DuckDB misreads how a list in it is made: it must be rewritten
	breaks bool            // it, or a field in it, makes DuckDB refuse the whole file, whatever is read of it
}

func nodesOf(group *schema.GroupNode) []*node {
	nodes := make([]*node, group.NumFields())
	for i := range nodes {
		nodes[i] = nodeOf(group.Field(i), false)
	}
	return nodes
}

// nodeOf reads a field of a schema. One that is repeated is no field but a list's element, as the caller says then.
func nodeOf(n schema.Node, isElement bool) *node {
	out := &node{name: n.Name(), id: idOf(n), alias: noID}
	group, isGroup := n.(*schema.GroupNode)
	switch {
	case n.RepetitionType() == parquet.Repetitions.Repeated && !isElement:
		out.fault = errs.New(errs.Unsupported, "", "", "%q is a repeated field without a list around it, which no Iceberg table has", n.Name())
	case !isGroup:
		p := n.(*schema.PrimitiveNode)
		out.stored = storedType{physical: p.PhysicalType(), logical: p.LogicalType(), length: p.TypeLength()}
		if isNested(n) {
			out.fault = errs.New(errs.Corrupt, "", "", "%q is a list or map without an element", n.Name())
		}
	case n.ConvertedType() == schema.ConvertedTypes.List && !isElement:
		out.nested = catalog.List
		out.list(group)
	case isNested(n) && !isElement:
		out.nested = catalog.Map
		out.mapping(group)
	default:
		out.nested, out.kids = catalog.Struct, nodesOf(group)
		out.fault = clash(out.kids)
	}
	for _, kid := range out.kids {
		out.odd, out.breaks = out.odd || kid.odd, out.breaks || kid.breaks
		if out.fault == nil && out.nested != catalog.Struct { // a struct's fields matter only where they are wanted
			out.fault = kid.fault
		}
	}
	return out
}

func idOf(n schema.Node) catalog.FieldID { return max(catalog.FieldID(n.FieldID()), noID) }

func isNested(n schema.Node) bool {
	switch n.ConvertedType() {
	case schema.ConvertedTypes.List, schema.ConvertedTypes.Map, schema.ConvertedTypes.MapKeyValue:
		return true
	}
	return false
}

// list finds a list's element by Parquet's rules of backward compatibility. DuckDB takes a repeated group of one field for
// a mere wrapper, whatever its name, and so loses the struct that it may be.
func (n *node) list(group *schema.GroupNode) {
	wrapper, ok := repeatedField(group)
	if !ok {
		n.fault = errs.New(errs.Corrupt, "", "", "the list %q has no repeated field", n.name)
		return
	}
	n.alias = idOf(wrapper)
	inner, isGroup := wrapper.(*schema.GroupNode)
	isOld := isGroup && (inner.Name() == "array" || inner.Name() == n.name+"_tuple")
	switch {
	case isGroup && (inner.NumFields() == 0 || isNested(inner) || inner.Field(0).RepetitionType() == parquet.Repetitions.Repeated):
		n.fault = errs.New(errs.Unsupported, "", "", "the list %q is made in a way that can't be read", n.name)
	case !isGroup || inner.NumFields() > 1 || isOld:
		n.odd = isGroup && inner.NumFields() == 1
		n.kids = []*node{nodeOf(wrapper, true)}
	default:
		n.kids = []*node{nodeOf(inner.Field(0), false)}
	}
}

func (n *node) mapping(group *schema.GroupNode) {
	wrapper, ok := repeatedField(group)
	inner, isGroup := wrapper.(*schema.GroupNode)
	if !ok || !isGroup || inner.NumFields() != 2 {
		n.breaks = true
		n.fault = errs.New(errs.Corrupt, "", "", "the map %q has no repeated group of a key and a value", n.name)
		return
	}
	n.alias, n.kids = idOf(inner), nodesOf(inner)
}

// isAliased says whether DuckDB, which reads columns by their IDs, takes the column's for another one.
func (n *node) isAliased() bool { return n.alias != noID && n.alias != n.id }

func repeatedField(group *schema.GroupNode) (schema.Node, bool) {
	if group.NumFields() != 1 {
		return nil, false
	}
	return group.Field(0), group.Field(0).RepetitionType() == parquet.Repetitions.Repeated
}

// clash refuses fields of one group whose names differ in case only: DuckDB takes the names for one, and reads by names
// within structs.
func clash(fields []*node) error {
	names := map[string]string{}
	for _, f := range fields {
		lower := lowerASCII(f.name)
		if other, ok := names[lower]; ok {
			return errs.New(errs.Unsupported, "", "", "it has the fields %q and %q, whose names differ in case at most and can't be told apart", other, f.name)
		}
		names[lower] = f.name
	}
	return nil
}

// lowerASCII folds case as DuckDB does.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// haveIDs says whether any field, at any depth, has an ID.
func haveIDs(nodes []*node) bool {
	for _, n := range nodes {
		if n.id != noID || haveIDs(n.kids) {
			return true
		}
	}
	return false
}
