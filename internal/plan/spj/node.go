package spj

import (
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/layout"
)

// Node is a core's relation tree, as far as it decides which groups matter.
type Node struct {
	Scan  *ScanKeys // a leaf
	Kind  plan.JoinKind
	Left  *Node
	Right *Node
	// Strict tells for each of the core's keys whether the NULL group can't match in this join.
	Strict []bool
	Union  []*Node
	// Everywhere, not nil, are the scans of a leaf that each pack reads whole.
	Everywhere []*plan.Scan
	// Whole says that an operator on top of the node must see all rows of each of its keys in one pack.
	Whole bool
	Rel   plan.Rel
}

// ScanKeys says where a scan's rows have the core's keys, and what of its files lies in no one group.
type ScanKeys struct {
	Scan     *plan.Scan
	Conforms *layout.Conformity
	// Also are columns besides those of the keys by whose values, all of them together, the core's rows fall apart as by the
	// keys': those of one place of all scans have one value in all rows that have to do with each other.
	Also   []catalog.Field
	Routed Sum    // the files whose rows are sent to their groups one by one
	Total  Sum    // all files
	Why    string // why files are routed, and what would mend it
}

// Sum counts data files and their bytes.
type Sum struct {
	Files int
	Bytes int64
}

// Alive says whether a group can give rows, when present tells which scans may have rows of it and null which of the core's
// keys are NULL in it. A group that isn't alive is dropped unread. A relation that is read everywhere counts as present.
func (n *Node) Alive(present func(*plan.Scan) bool, null []bool) bool {
	switch {
	case n.Scan != nil:
		return present(n.Scan.Scan)
	case n.Everywhere != nil:
		return true
	case n.Union != nil:
		for _, u := range n.Union {
			if u.Alive(present, null) {
				return true
			}
		}
		return false
	}
	l, r := n.Left.Alive(present, null), n.Right.Alive(present, null)
	switch n.Kind {
	case plan.Left, plan.Anti:
		return l
	case plan.Right:
		return r
	case plan.Full:
		return l || r
	}
	return l && r && !n.isNullGroup(null)
}

// isNullGroup says whether the join can have no match in the group, since a key compared by "=" is NULL there.
func (n *Node) isNullGroup(null []bool) bool {
	for i, isNull := range null {
		if isNull && n.Strict[i] {
			return true
		}
	}
	return false
}

// Needed calls read for each scan whose files of the group can matter to the answer. A side that can't match and isn't
// preserved is left out; so is everything below a part that isn't alive.
func (n *Node) Needed(present func(*plan.Scan) bool, null []bool, read func(*plan.Scan)) {
	if !n.Alive(present, null) {
		return
	}
	if n.Scan != nil {
		read(n.Scan.Scan)
		return
	}
	for _, u := range n.Union {
		u.Needed(present, null, read)
	}
	if n.Left == nil {
		return
	}
	l, r := n.Left.Alive(present, null), n.Right.Alive(present, null)
	matches := l && r && !n.isNullGroup(null)
	if matches || n.Kind == plan.Left || n.Kind == plan.Anti || n.Kind == plan.Full {
		n.Left.Needed(present, null, read)
	}
	if matches || n.Kind == plan.Right || n.Kind == plan.Full {
		n.Right.Needed(present, null, read)
	}
}

// needed returns by their places which scans are needed, when present tells which may have rows.
func (n *Node) needed(null []bool, index map[*plan.Scan]int, present func(place int) bool) []bool {
	out := make([]bool, len(index))
	n.Needed(func(s *plan.Scan) bool { return present(index[s]) }, null, func(s *plan.Scan) { out[index[s]] = true })
	return out
}

// Scans calls visit for each scan of the tree that is read by groups.
func (n *Node) Scans(visit func(*ScanKeys)) {
	n.leaves(func(leaf *Node) {
		if leaf.Scan != nil {
			visit(leaf.Scan)
		}
	})
}

// ScansEverywhere calls visit for each scan of the tree that each pack reads whole.
func (n *Node) ScansEverywhere(visit func(*plan.Scan)) {
	n.leaves(func(leaf *Node) {
		for _, s := range leaf.Everywhere {
			visit(s)
		}
	})
}

func (n *Node) leaves(visit func(*Node)) {
	switch {
	case n == nil:
	case n.Scan != nil || n.Everywhere != nil:
		visit(n)
	default:
		n.Left.leaves(visit)
		n.Right.leaves(visit)
		for _, u := range n.Union {
			u.leaves(visit)
		}
	}
}
