package spj

import (
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/layout"
)

// Mode is the setting tarn.spj.
type Mode string

// The modes: Auto decides, Require turns the reason for not running group by group into an error, Off runs whole.
const (
	Auto    Mode = "auto"
	Require Mode = "require"
	Off     Mode = "off"
)

// Options steer Plan; the zero value means Auto.
type Options struct {
	Mode       Mode
	NoMetadata bool // count, min and max are computed from rows alone, as they are with Off
}

// Physical is a query's plan: cores, which run in packs, then the final step. Without a final step the one core's rows are
// the answer.
type Physical struct {
	Query *plan.Query
	Cores []*Core
	Final *Final // nil: the rows of Cores[0] stream to the client
	// Reasons has, for each join, grouping or window that runs whole, why it does.
	Reasons []Reason
	// Answers has the blocks that statistics of files answer, and those that they would but for what is said there.
	Answers []Answer
	layouts map[*plan.Scan]*catalog.TableLayout
}

// Core is a part of the query that runs group by group.
type Core struct {
	Block *plan.Block
	Name  string // the table that the rows are collected in
	SQL   string // what each pack runs
	Slots []layout.Slot
	Tree  *Node
	Views []View // the blocks inside, inputs first
	Limit int64  // rows that are enough, from all packs together; -1 when all are wanted
	Kind  Kind
}

// Kind says what the rows of a core are.
type Kind uint8

// Complete rows are the block's own; TopN ones are cut by LIMIT in each pack; Partial ones are aggregates to be combined;
// Emitted ones are what the upper query needs.
const (
	Complete Kind = iota
	TopN
	Partial
	Emitted
)

// String returns the kind as EXPLAIN prints it.
func (k Kind) String() string { return [...]string{"complete", "top-n", "partial", "emitted"}[k] }

// View is a name and the query behind it.
type View struct{ Name, SQL string }

// Final is the step that runs once: a query over views, scans read whole, and the tables of the cores.
type Final struct {
	SQL   string
	Views []View
	Scans []*plan.Scan
}

// Reason is why an operator runs whole.
type Reason struct {
	Rel  plan.Rel    // the join, or nil
	On   *plan.Block // the block whose grouping, DISTINCT or window it is, or nil
	Text string
}

// Node is a core's relation tree, as far as it decides which groups matter.
type Node struct {
	Scan  *ScanKeys // a leaf
	Kind  plan.JoinKind
	Left  *Node
	Right *Node
	// Strict tells for each of the core's slots whether the NULL group can't match in this join.
	Strict []bool
	Union  []*Node
	// OneRow marks an aggregate without GROUP BY; none is inside a core.
	Rel plan.Rel
}

// ScanKeys says where a scan's tuples hold the core's keys.
type ScanKeys struct {
	Scan  *plan.Scan
	Slots []layout.Slot // one per slot of the core: the column, and the field's place in each spec
}

// Alive says whether a group can give rows, when present tells which scans have files of it and null which of the core's
// slots are NULL in it. A group that isn't alive is dropped unread.
func (n *Node) Alive(present func(*plan.Scan) bool, null []bool) bool {
	if n.Scan != nil {
		return present(n.Scan.Scan)
	}
	if n.Union != nil {
		for _, u := range n.Union {
			if u.Alive(present, null) {
				return true
			}
		}
		return false
	}
	l, r := n.Left.Alive(present, null), n.Right.Alive(present, null)
	matches := l && r && !n.isNullGroup(null)
	switch n.Kind {
	case plan.Left, plan.Anti:
		return l
	case plan.Right:
		return r
	case plan.Full:
		return l || r
	}
	return matches
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

// Scans calls visit for each scan of the tree.
func (n *Node) Scans(visit func(*ScanKeys)) {
	if n == nil {
		return
	}
	if n.Scan != nil {
		visit(n.Scan)
	}
	n.Left.Scans(visit)
	n.Right.Scans(visit)
	for _, u := range n.Union {
		u.Scans(visit)
	}
}
