package dynamic

import (
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/transform"
)

// toldColumns returns the columns of whose values the statistics are wanted with a survey of a scan: those that edges start
// at, if a filter on another column leaves files out. A filter on the column itself has been moved over the join already.
func (f *finder) toldColumns(s *plan.Scan) []catalog.FieldID {
	var out []catalog.FieldID
	for _, e := range f.edges {
		isOther := func(c plan.Condition) bool {
			return c.Filtered && slices.ContainsFunc(c.Columns, func(id catalog.FieldID) bool { return id != e.From.Field.ID })
		}
		if e.From.Scan == s && slices.ContainsFunc(s.Conditions, isOther) && !slices.Contains(out, e.From.Field.ID) {
			out = append(out, e.From.Field.ID)
		}
	}
	return out
}

// told returns a set that has all values of a column in the files of a layout, by what their manifests say of them; nil when
// that isn't certain or tells nothing.
//
// The bounds of all files give a range. Where all files are of partitions by the column itself, whose bounds say that each
// holds the one value of its partition, these values are the set. A partition alone is no proof: where a file without
// bounds lies about it, nobody would miss the rows of the other table that its own would have matched.
func told(l *catalog.TableLayout, c Column) *set {
	sum, known := l.Sums[c.Field.ID]
	t := c.Field.Type.Primitive
	switch {
	case !known, l.Repeats, c.Field.HasDefault, sum.NoCount != "", sum.NoBounds != "", sum.NonNull == 0:
		return nil
	case t.Kind == transform.UUID: // whose bounds are in one of two orders
		return nil
	}
	s := newSet(t)
	for _, g := range l.Groups {
		v, ok := partitionValue(c, g)
		if !ok {
			return &set{typ: t, lower: sum.Lower, upper: sum.Upper}
		}
		s.add(v)
	}
	return s
}

// partitionValue returns the one value that a column has in all rows of a partition's files.
func partitionValue(c Column, g catalog.GroupSum) (transform.Value, bool) {
	t := c.Field.Type.Primitive
	switch t.Kind {
	case transform.String, transform.Binary, transform.Fixed: // whose bounds may be cut, and prove nothing
		return nil, false
	}
	for i, p := range c.Scan.Table.Specs[g.Spec].Fields {
		isColumn := len(p.Sources) == 1 && p.Sources[0] == c.Field.ID && p.Transform.Op == transform.Identity && p.SourceType == t
		if isColumn && i < len(g.Partition) && i < 64 && g.Contradicts&(1<<i) == 0 {
			return g.Partition[i], true
		}
	}
	return nil, false
}

// tell makes a filter of what manifests tell of an edge's start, where other filters leave files of it out. It costs nothing, but
// another look at the manifests of the end if they were looked at before: then only where files are laid out by the column. It
// returns whether it did.
func (f *finder) tell(e edge) bool {
	l := f.layouts[e.From.Scan]
	pays := f.sizes[e.To.Scan] >= leastBytes && (f.layouts[e.To.Scan] == nil || isLaidOut(e.To))
	if l == nil || l.Counts.FilesPruned == 0 || !pays && f.opts.Mode != Force {
		return false
	}
	s := told(l, e.From)
	if s != nil {
		f.spread(Filter{From: e.From, To: e.To, State: Told, SourceBytes: l.Counts.Bytes}, s)
	}
	return s != nil
}
