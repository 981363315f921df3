package dynamic

import (
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/layout"
)

// Column is a column of a scan.
type Column struct {
	Scan  *plan.Scan
	Field catalog.Field
}

func (c Column) is(other Column) bool { return c.Scan == other.Scan && c.Field.ID == other.Field.ID }

// edge says that a row of To's scan matters only if its column has a value that the column of a row of From's has which
// satisfies all that is asked of From's scan.
type edge struct{ From, To Column }

// edges returns all edges of a query, those of inner blocks and joins first.
//
// Proof. Let a join say l = r, and let only those rows of its right side matter that it finds a row on its left for. Take
// away a row of r's scan whose value no row of l's scan has. Where the row comes out below the join, r has its value there,
// or another row's, or the NULL of an outer join in between: what is taken away, or put in its place, are rows whose r is
// that value or NULL. No value of l equals it: l is a value of its scan's, or NULL. So the join finds nothing for these
// rows, before as after, and none of them matters. This holds whatever the tables' rows are, so that such steps may follow
// each other, over rows that earlier ones left, and over those that satisfy a scan's conditions: each of those holds of the
// rows that matter, for any rows of the other tables.
//
// It would be wrong
//   - of a side whose rows come out without a match: of SELECT * FROM l LEFT JOIN r ON l.k = r.k no row of l may go, of a FULL
//     JOIN no row at all, and of WHERE NOT EXISTS none of the outer query. What NOT EXISTS looks through may go.
//   - for l IS NOT DISTINCT FROM r: the NULLs that an outer join puts in may match then, and values(l) doesn't have them.
//   - for NOT IN and for IN as a value, which are no joins here: a NULL anywhere, or no row at all, changes what they say.
//   - below a LIMIT, a window or a set operation, which look at other rows: plan.Block.Passes says where the way to r ends. The
//     way to l doesn't end at a window, whose rows are rows of its input: fewer values of l would do as well.
//   - where = compares what was cast, or what isn't equal in bytes: '1' = 1, 1.0 = 1.00, 0.0 = -0.0, NaN = NaN. The two
//     columns must be of one layout.Class, whose types compare exactly.
//   - for a subquery that looks out of itself in any other way than by such equalities: bind leaves it opaque.
//
// The joins of a block that runs whole are left alone: what keeps it whole, such as a volatile function, a LIMIT or a name that
// can't be placed, may make rows matter that its joins don't show. Each scan is of its own version of its table, and gives that version's values.
func edges(q *plan.Query) []edge {
	w := ways{scans: map[plan.SourceID]*plan.Scan{}, blocks: map[plan.SourceID]*plan.Block{}}
	for _, s := range q.Scans {
		w.scans[s.Source] = s
	}
	for _, b := range q.Blocks {
		w.note(b.From)
	}
	var out []edge
	for _, b := range q.Blocks {
		if b.Whole == "" {
			out = w.edges(out, b.From)
		}
	}
	return out
}

// ways leads from the columns of blocks to those of scans.
type ways struct {
	scans  map[plan.SourceID]*plan.Scan
	blocks map[plan.SourceID]*plan.Block
}

func (w *ways) note(r plan.Rel) {
	switch r := r.(type) {
	case *plan.BlockRel:
		w.blocks[r.Source] = r.Block
	case *plan.Join:
		w.note(r.Left)
		w.note(r.Right)
	}
}

func (w *ways) edges(out []edge, r plan.Rel) []edge {
	j, ok := r.(*plan.Join)
	if !ok {
		return out
	}
	out = w.edges(w.edges(out, j.Left), j.Right)
	left, right := j.OnlyMatched()
	for _, eq := range j.On {
		if eq.NullSafe {
			continue
		}
		if right {
			out = w.add(out, eq.Left, eq.Right)
		}
		if left {
			out = w.add(out, eq.Right, eq.Left)
		}
	}
	return out
}

func (w *ways) add(out []edge, from, to plan.Col) []edge {
	source, ok := w.source(from)
	target, ok2 := w.target(to)
	if !ok || !ok2 || source.Scan == target.Scan {
		return out
	}
	a, ok := layout.ClassOf(source.Field.Type.Primitive)
	b, ok2 := layout.ClassOf(target.Field.Type.Primitive)
	if !ok || !ok2 || a != b || slices.ContainsFunc(out, func(e edge) bool { return e.From.is(source) && e.To.is(target) }) {
		return out
	}
	return append(out, edge{source, target})
}

// source returns the column of a scan that has all values of a column but NULL.
func (w *ways) source(c plan.Col) (Column, bool) {
	if b := w.blocks[c.Source]; b != nil {
		if b.Union != nil || b.Output[c.Index].Col == nil {
			return Column{}, false
		}
		return w.source(*b.Output[c.Index].Col)
	}
	return w.ofScan(c)
}

// target returns the column of a scan on which a condition on a column may as well stand.
func (w *ways) target(c plan.Col) (Column, bool) {
	if b := w.blocks[c.Source]; b != nil {
		in, ok := b.Passes(c.Index)
		if !ok {
			return Column{}, false
		}
		return w.target(in)
	}
	return w.ofScan(c)
}

func (w *ways) ofScan(c plan.Col) (Column, bool) {
	s := w.scans[c.Source]
	if s == nil || s.Table.Virtual { // whose size nobody knows, and whose rows have no files to leave out
		return Column{}, false
	}
	f, ok := s.Table.Schema.Field(catalog.FieldID(c.Index))
	return Column{s, f}, ok
}
