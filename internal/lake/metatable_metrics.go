package lake

import (
	"slices"
	"unicode/utf16"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/internal/survey"
	"github.com/tarndb/tarn/transform"
)

// leaf is a column that files have statistics of: a primitive one, by its full name.
type leaf struct {
	id   int
	name string
	typ  transform.Type
}

// readableMetrics makes the column that tells the statistics of each column of the table in the column's own type, sorted
// by the columns' names. Its fields get IDs that none of the others have.
func readableMetrics(fields []catalog.Field, others []metaColumn) metaColumn {
	leaves := leavesOf(fields, "")
	slices.SortFunc(leaves, func(a, b leaf) int { return slices.Compare(utf16.Encode([]rune(a.name)), utf16.Encode([]rune(b.name))) })
	var next catalog.FieldID
	for _, c := range others {
		next = max(next, maxFieldID([]catalog.Field{c.Field}))
	}
	id := func() catalog.FieldID { next++; return next }
	typ := catalog.Type{Nested: catalog.Struct}
	for _, l := range leaves {
		bound := writable(catalog.Type{Primitive: l.typ})
		typ.Fields = append(typ.Fields, catalog.Field{ID: id(), Name: l.name, Type: catalog.Type{Nested: catalog.Struct, Fields: []catalog.Field{
			{ID: id(), Name: "column_size", Type: longType},
			{ID: id(), Name: "value_count", Type: longType},
			{ID: id(), Name: "null_value_count", Type: longType},
			{ID: id(), Name: "nan_value_count", Type: longType},
			{ID: id(), Name: "lower_bound", Type: bound},
			{ID: id(), Name: "upper_bound", Type: bound},
		}}})
	}
	tellApart(typ.Fields, func(i int) int { return leaves[i].id })
	c := newColumn(id(), "readable_metrics", typ, func(r *entryRow) any { return metricsOf(leaves, r.Entry) })
	c.stats = true
	return c
}

func metricsOf(leaves []leaf, e *manifest.Entry) any {
	out := make([]any, len(leaves))
	for i, l := range leaves {
		out[i] = []any{
			found(e.ColumnSizes, l.id), found(e.ValueCounts, l.id), found(e.NullCounts, l.id), found(e.NaNCounts, l.id),
			l.bound(e.Lower), l.bound(e.Upper),
		}
	}
	return out
}

func found(m map[int]int64, id int) any {
	if n, ok := m[id]; ok {
		return n
	}
	return nil
}

// bound returns the column's bound, NULL for one that makes no sense.
func (l leaf) bound(bounds map[int][]byte) any {
	b, ok := bounds[l.id]
	switch {
	case !ok:
		return nil
	case !isWritable(l.typ):
		return b
	}
	v := survey.Bound(l.typ, b)
	if v == nil || !canTell(l.typ, v) {
		return nil
	}
	return v
}

// leavesOf returns the primitive columns below fields, whose names begin with prefix.
func leavesOf(fields []catalog.Field, prefix string) []leaf {
	var out []leaf
	for _, f := range fields {
		if f.Type.Nested == catalog.NotNested && f.Type.Primitive.Kind != transform.Variant {
			out = append(out, leaf{int(f.ID), prefix + f.Name, f.Type.Primitive})
		}
		out = append(out, leavesOf(f.Type.Fields, prefix+f.Name+".")...)
	}
	return out
}
