package spj

import (
	"slices"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/layout"
)

// treeBuilder turns a relation into a core's tree by keys: it follows the wanted slots down to the scans' columns.
type treeBuilder struct {
	*decider
	keys    []Key
	repeats bool // small tables may be read everywhere
}

// block builds a block's tree for the wanted slots of its property; nil when a side that lacks one can't be read everywhere.
func (t treeBuilder) block(b *plan.Block, want []int) *Node {
	p := t.decider.block(b)
	if b.Union == nil {
		n := t.rel(b.From, pick(p, want, 0))
		if n != nil && (b.Group != nil || b.Distinct || len(b.Windows) > 0) {
			n = n.whole()
		}
		return n
	}
	n := &Node{}
	for side, u := range b.Union {
		child := t.block(u, pick(p, want, side))
		if child == nil {
			return nil
		}
		n.Union = append(n.Union, child)
	}
	return n
}

// whole returns the node below an operator that must see all rows of its keys.
func (n *Node) whole() *Node {
	out := *n
	out.Whole = true
	return &out
}

// pick maps wanted slots to the slots of one input; those that it lacks are layout.Absent.
func pick(p layout.Property, want []int, side int) []int {
	out := make([]int, len(want))
	for i, w := range want {
		out[i] = p.Slots[w].From[side]
	}
	return out
}

func (t treeBuilder) rel(r plan.Rel, want []int) *Node {
	p := t.decider.rel(r)
	switch r := r.(type) {
	case *plan.ScanRel:
		return &Node{Scan: t.scan(r.Scan, p, want), Rel: r}
	case *plan.BlockRel:
		return t.block(r.Block, pick(p, want, 0))
	case *plan.Join:
		return t.join(r, p, want)
	}
	return nil
}

// join builds a join's tree. A side that may be read everywhere is, when it lacks a wanted slot, or when rows of it would
// have to be sent to their groups else.
func (t treeBuilder) join(j *plan.Join, p layout.Property, want []int) *Node {
	lw, rw := pick(p, want, 0), pick(p, want, 1)
	l, r := t.decider.rel(j.Left), t.decider.rel(j.Right)
	n := &Node{Kind: j.Kind, Rel: j}
	if !slices.Contains(lw, layout.Absent) {
		n.Left = t.rel(j.Left, lw)
	}
	if !slices.Contains(rw, layout.Absent) {
		n.Right = t.rel(j.Right, rw)
	}
	if t.repeats && r.Everywhere && layout.MayRepeatRight(j.Kind) && n.Left != nil && !n.Right.isInPlace() {
		n.Right = t.everywhere(j.Right)
	} else if t.repeats && l.Everywhere && layout.MayRepeatLeft(j.Kind) && n.Right != nil && !n.Left.isInPlace() {
		n.Left = t.everywhere(j.Left)
	}
	if n.Left == nil || n.Right == nil {
		return nil
	}
	for i := range want {
		matched := lw[i] != layout.Absent && rw[i] != layout.Absent
		n.Strict = append(n.Strict, matched && layout.IsStrict(j, l.Slots[lw[i]], r.Slots[rw[i]]))
	}
	return n
}

// isInPlace says whether no row of the tree needs to be sent to its group.
func (n *Node) isInPlace() bool {
	if n == nil {
		return false
	}
	in := true
	n.Scans(func(k *ScanKeys) { in = in && k.Routed.Files == 0 })
	return in
}

// everywhere returns the leaf of a relation that each pack reads whole.
func (t treeBuilder) everywhere(r plan.Rel) *Node {
	return &Node{Everywhere: scansOf(r, make([]*plan.Scan, 0)), Rel: r}
}

// scansOf appends the scans below a relation.
func scansOf(r plan.Rel, out []*plan.Scan) []*plan.Scan {
	switch r := r.(type) {
	case *plan.ScanRel:
		return append(out, r.Scan)
	case *plan.BlockRel:
		return scansOfBlock(r.Block, out)
	case *plan.Join:
		return scansOf(r.Right, scansOf(r.Left, out))
	case *plan.Opaque:
		for _, in := range r.Inputs {
			out = scansOf(in, out)
		}
	}
	return out
}

func scansOfBlock(b *plan.Block, out []*plan.Scan) []*plan.Scan {
	for _, u := range b.Union {
		out = scansOfBlock(u, out)
	}
	return scansOf(b.From, out)
}

// scan says which files of a scan lie in groups of the keys, and which don't.
func (t treeBuilder) scan(s *plan.Scan, p layout.Property, want []int) *ScanKeys {
	l := t.out.layouts[s]
	keys := make([]layout.ScanKey, len(want))
	for i, w := range want {
		keys[i] = layout.ScanKey{Column: p.Slots[w].Column, Transform: t.keys[i].Transform}
	}
	k := &ScanKeys{Scan: s, Conforms: layout.NewConformity(s.Table, keys)}
	for _, g := range l.Groups {
		k.Total.add(g.Files, g.Bytes)
		if !k.Conforms.Of(g.Spec, g.Partition, g.Contradicts).Conforms {
			k.Routed.add(g.Files, g.Bytes)
		}
	}
	return k
}

func (s *Sum) add(files int, bytes int64) {
	s.Files += files
	s.Bytes += bytes
}
