package spj

import (
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/transform"
)

// Mode is the setting tarn.spj.
type Mode string

// The modes: Auto decides, Require turns the reason for not running group by group into an error, Off runs whole.
const (
	Auto    Mode = "auto"
	Require Mode = "require"
	Off     Mode = "off"
)

// Exchange is the setting tarn.exchange.
type Exchange string

// The modes: ExchangeAuto sends rows to their groups and reads small tables everywhere where that costs less than running
// whole, ExchangeForce wherever it is possible, ExchangeOff nowhere.
const (
	ExchangeAuto  Exchange = "auto"
	ExchangeForce Exchange = "force"
	ExchangeOff   Exchange = "off"
)

// Options steer Plan; the zero value means Auto with nothing read everywhere.
type Options struct {
	Mode           Mode
	NoMetadata     bool     // count, min and max are computed from rows alone, as they are with Off
	Exchange       Exchange // "" is ExchangeAuto
	BroadcastBytes int64    // relations of up to so many bytes of data files may be read everywhere
	Workers        int      // packs that run at once; at least 1
	MemoryBytes    int64    // of the whole process; 0: no limit
	Into           []Into   // the spec of the table that the rows are written to; none when there is no such table, or it has no fields
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
	// Placed, not nil, says that each group's rows are of one partition tuple of the table that they are written to. Else
	// Unplaced says why they aren't, when there is such a table.
	Placed   Placed
	Unplaced string
	layouts  map[*plan.Scan]*catalog.TableLayout
}

// Core is a part of the query that runs group by group.
type Core struct {
	Block *plan.Block
	Name  string      // the table that the rows are collected in
	SQL   string      // what each pack runs
	Short *plan.Short // what it runs instead while texts are short; nil: nothing else
	Keys  []Key
	Tree  *Node
	Views []View // the blocks inside, inputs first
	Limit int64  // rows that are enough, from all packs together; -1 when all are wanted
	Kind  Kind
	Costs []Cost // of this and of what else could be done, when rows are routed or tables read everywhere
	// Strays tells, where rows are routed, of those of no group that a file lies in whether they can matter: the first index has a
	// bit for each key that is NULL, the second is the table's place in Tree.Scans.
	Strays  [][]bool
	Dropped Dropped
	groups  groupSet
}

// Key is a layout key of a core: the transform that all of its tables' rows are grouped by.
type Key struct {
	Transform transform.Transform
	Type      transform.Type // in which group values are written, the same for all tables
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
