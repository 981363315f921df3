package task

import (
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/transform"
)

// sieveRows are the rows of a table in a pack below which a sieve isn't worth the 3 ms of CPU of another statement.
const sieveRows = 100_000

// sieves gives the tables of the core the sieves of their scans whose other tables are read by the same groups.
//
// Proof. A pack runs the core's text over its rows of the tables. Both scans are below the core's block, each has one place there, and
// an edge is of a join whose one side has the one scan and whose other side has the other: so that join is a part of the text. What
// dynamic.edges proves of it holds over any rows of the tables, and so over the pack's: rows of the one whose values no row of the
// other has in the pack find no match in that join, and don't come out of it by themselves.
//
// It would be wrong
//   - of a table that each pack reads whole or of which rows are routed, if only the files of a pack were looked at: what matches may lie
//     in a bin. Such a table gives no sieve.
//   - of a row that isn't in the group that its file says, where the check of its keys comes too late: its match is in another pack.
//     Of MERGE ... WHEN NOT MATCHED THEN INSERT such a row would become two, where it must be an error. So a sieve looks at nothing but the
//     value that was checked, and a table whose keys are of other columns too has none.
//   - by rows of the other table that aren't in the group that their files say, which is why they are checked too.
//   - by the rows of a slice of the other table, if it were divided where its joins don't add up; MayDivide sees to that.
func (g *grouping) sieves() {
	for i, k := range g.scans {
		t := &g.core.Tables[i]
		for _, s := range k.Scan.Sieves {
			from := slices.IndexFunc(g.scans, func(o *spj.ScanKeys) bool { return o.Scan == s.From })
			isOther := func(src Source) bool { return src.Field != s.Column }
			if from < 0 || len(g.core.Tables[from].Routed) > 0 || slices.ContainsFunc(t.Sources, isOther) {
				continue
			}
			out := Sieve{Table: from, Key: s.Key, Column: s.Column, IsFew: s.IsFew, LeastRows: sieveRows}
			if s.IsForced {
				out.LeastRows = 0
			}
			t.Sieves = append(t.Sieves, out)
		}
	}
}

// checkSieves checks a table's sieves: that the other table is read by groups too and has all of its rows in packs, that the columns are
// integers, that only a checked column is looked at, and that where both tables meet rows of the table don't come out by themselves.
func checkSieves(c *Core, at int) error {
	t := &c.Tables[at]
	for _, s := range t.Sieves {
		if s.Table < 0 || s.Table >= len(c.Tables) || s.Table == at {
			return broken(t.Name, "rows are left out by those of table %d", s.Table)
		}
		other := &c.Tables[s.Table]
		switch {
		case len(other.Sources) == 0 || len(other.Routed) > 0 || len(t.Sources) == 0:
			return broken(t.Name, "rows are left out by those that a pack has of %s, which has more", other.Name)
		case !isInteger(&t.Input, s.Column) || !isInteger(&other.Input, s.Key):
			return broken(t.Name, "rows are left out by values of %s that are no integers", other.Name)
		case slices.ContainsFunc(t.Sources, func(src Source) bool { return src.Field != s.Column }):
			return broken(t.Name, "rows are left out by a column before another is checked")
		case !onlyMatched(c.Tree, at, s.Table):
			return broken(t.Name, "rows are left out that come out without a match in %s", other.Name)
		}
	}
	return nil
}

func isInteger(in *Input, id catalog.FieldID) bool {
	i := slices.IndexFunc(in.Fields, func(f catalog.Field) bool { return f.ID == id })
	return i >= 0 && (in.Fields[i].Type.Primitive.Kind == transform.Int || in.Fields[i].Type.Primitive.Kind == transform.Long)
}

// onlyMatched says whether the join below which both tables are for the last time gives a row of a table only together with others.
func onlyMatched(t *Tree, table, other int) bool {
	if t.Left == nil {
		return slices.ContainsFunc(t.Union, func(u *Tree) bool { return u.has(table) && u.has(other) && onlyMatched(u, table, other) })
	}
	switch isLeft, otherLeft := t.Left.has(table), t.Left.has(other); {
	case isLeft && otherLeft:
		return onlyMatched(t.Left, table, other)
	case isLeft:
		return t.Right.has(other) && (t.Kind == plan.Inner || t.Kind == plan.Right || t.Kind == plan.Semi)
	case otherLeft:
		return t.Right.has(table) && t.Kind != plan.Right && t.Kind != plan.Full
	}
	return onlyMatched(t.Right, table, other)
}
