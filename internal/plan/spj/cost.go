package spj

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/units"
)

// The strategies of joins and groupings. A scan alone has none.
const (
	StoragePartitioned = "storage-partitioned"
	Broadcast          = "broadcast" // of a join one side of which each pack reads whole
	Hash               = "hash"
)

// Cost is what one way to run a part of the query comes to, in bytes: reading a byte of data files, decoding it and handing
// it to the query's operators costs one.
type Cost struct {
	Strategy string
	Bytes    int64
}

// The weights, measured by bench/join over two-column scans of Parquet: they decide between ways that are right alike.
const (
	// routeWeight is the cost of sending a byte's rows to their groups: they are read, hashed, written and read again.
	routeWeight = 3
	// repeatWeight is the cost for each pack of a byte that all of them read: its rows are hashed once more.
	repeatWeight = 1
	// hashWeight is what a byte costs more in a hash join of all rows than in one of a group, whose table fits the cache.
	hashWeight = 0.6
	// groupWeight is likewise of GROUP BY, DISTINCT and windows, which keep all rows or keys at once.
	groupWeight = 1.5
	// leastBytes are the data files below which sending rows anywhere isn't worth its statements, some milliseconds each.
	leastBytes = 16 << 20
	// MemoryPerByte is about how many bytes of memory a byte of Parquet takes in a hash table.
	MemoryPerByte = 4
)

// price returns what a choice costs. A group that is larger than a worker's share leaves the others idle at the end.
func (c *choice) price(opts Options) float64 {
	workers := float64(max(opts.Workers, 1))
	share := float64(c.total.Bytes) / workers
	lost := max(0, float64(c.largest)-share) * workers
	packs := min(PacksPerWorker*workers, float64(max(c.groups, 1)))
	return float64(c.total.Bytes) + routeWeight*float64(c.routed.Bytes) + repeatWeight*packs*float64(c.everywhere.Bytes) + lost
}

// PacksPerWorker is how many packs each worker should get at least: with fewer, the last pack leaves the others idle; with
// more, small statements cost more than they spread.
const PacksPerWorker = 4

// weigh says why a choice isn't worth it; "" when it is. What lies in place always is: reading whole groups together costs
// nothing.
func (in *input) weigh(c *choice) string {
	opts := in.decider.opts
	if c.routed.Files == 0 && c.everywhere.Files == 0 {
		return ""
	}
	whole := in.wholeCost(c)
	c.costs = []Cost{{StoragePartitioned, int64(c.cost)}, {Hash, int64(whole)}}
	why := ""
	switch {
	case opts.Exchange == ExchangeForce:
	case opts.Exchange == ExchangeOff && c.routed.Files > 0:
		why = "tarn.exchange is off"
	case c.total.Bytes < leastBytes && opts.Exchange != ExchangeOff:
		why = units.Bytes(c.total.Bytes) + " are too few to be worth sending rows to their groups"
	case in.wholeMemory(c) > usableMemory(opts):
	case c.cost > whole:
		why = fmt.Sprintf("sending %s of %s to their groups would cost as much as reading %s, one hash join as reading %s",
			units.Bytes(c.routed.Bytes), units.Bytes(c.total.Bytes), units.Bytes(int64(c.cost)), units.Bytes(int64(whole)))
	}
	if why != "" {
		why = strings.Join(append(c.whys(), why), "; ")
	}
	return why
}

// isWorth says whether a core does anything by groups: a join of two sides that are both read by groups, or an operator that
// sees all rows of its keys there.
func (n *Node) isWorth() bool {
	switch {
	case n == nil:
		return false
	case n.Whole, n.Left != nil && n.Left.Everywhere == nil && n.Right.Everywhere == nil:
		return true
	}
	return n.Left.isWorth() || n.Right.isWorth() || slices.ContainsFunc(n.Union, (*Node).isWorth)
}

// wholeCost is what the input costs as one statement over all files.
func (in *input) wholeCost(c *choice) float64 {
	weight := 1 + hashWeight
	if c.tree.hasWhole() {
		weight += groupWeight
	}
	return weight * float64(c.total.Bytes)
}

// wholeMemory is about what one statement over all files holds at once, in bytes: of joins all but the largest table.
func (in *input) wholeMemory(c *choice) int64 {
	held := c.total.Bytes
	if !c.tree.hasWhole() {
		var largest int64
		for _, s := range in.scans() {
			largest = max(largest, in.decider.out.layouts[s].Counts.Bytes)
		}
		held -= largest
	}
	return MemoryPerByte * held
}

func (in *input) scans() []*plan.Scan {
	if in.isFrom {
		return scansOf(in.block.From, nil)
	}
	return scansOfBlock(in.block, nil)
}

// hasWhole says whether an operator sees all rows of its keys.
func (n *Node) hasWhole() bool {
	return n != nil && (n.Whole || n.Left.hasWhole() || n.Right.hasWhole() || slices.ContainsFunc(n.Union, (*Node).hasWhole))
}

// usableMemory is the part of the limit that a statement over all files can fill before it spills.
func usableMemory(opts Options) int64 {
	if opts.MemoryBytes == 0 {
		return 1 << 62
	}
	return opts.MemoryBytes / 2
}
