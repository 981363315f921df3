package task

import (
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/spj"
)

// plainTree returns the tree of the plan with tables by their places.
func (g *grouping) plainTree(n *spj.Node) *Tree {
	if n == nil {
		return nil
	}
	out := &Tree{Kind: n.Kind, Left: g.plainTree(n.Left), Right: g.plainTree(n.Right), Strict: n.Strict, Whole: n.Whole}
	if n.Scan != nil {
		for i, k := range g.scans {
			if k == n.Scan {
				out.Table = i
			}
		}
	}
	if n.Everywhere != nil {
		out.Everywhere = []int{}
	}
	for _, s := range n.Everywhere {
		for i, known := range g.everywhere {
			if known == s {
				out.Everywhere = append(out.Everywhere, len(g.scans)+i)
			}
		}
	}
	for _, u := range n.Union {
		out.Union = append(out.Union, g.plainTree(u))
	}
	return out
}

// isLeaf says whether the tree is a table that is read by groups.
func (t *Tree) isLeaf() bool { return t.Left == nil && t.Union == nil && t.Everywhere == nil }

// MayDivide says whether a table's rows of one group may be divided among packs that each have all rows of the others.
//
// Proof: the core is then a function that adds up over any division of the table: each join on the way to the top gives each
// row of that side its matches, and decides by itself whether it comes out. A side that a join preserves would have its rows
// without a match once per pack; an operator that sees all rows of its keys would see some in each pack; and the other sides
// of a union would come out once per pack.
func (t *Tree) MayDivide(table int) bool {
	switch {
	case t.Whole:
		return false
	case t.isLeaf():
		return t.Table == table
	case t.Left == nil:
		return false
	case t.Left.has(table):
		return t.Kind != plan.Right && t.Kind != plan.Full && t.Left.MayDivide(table)
	}
	return (t.Kind == plan.Inner || t.Kind == plan.Right) && t.Right.MayDivide(table)
}

// has says whether a table is below.
func (t *Tree) has(table int) bool {
	switch {
	case t.isLeaf():
		return t.Table == table
	case t.Left != nil:
		return t.Left.has(table) || t.Right.has(table)
	}
	for _, u := range t.Union {
		if u.has(table) {
			return true
		}
	}
	return false
}
