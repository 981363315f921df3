package task

import (
	"container/heap"
	"slices"
	"sort"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/spj"
)

const (
	// smallestPack is the number of bytes of data files below which a statement of its own isn't worth its 3 ms of CPU, about
	// what DuckDB takes to read and join 1 MiB.
	smallestPack = 1 << 20
)

// pack makes the packs of a core of those of one group each: hot groups are divided, the others united into fewer by longest
// processing time first: groups in falling size, each to the pack that is smallest so far. Rows that are routed and belong to
// no group are spread over all.
func (c *Core) pack(opts Options) {
	whole, divided := c.divide(opts)
	n := c.packCount(whole, opts)
	bySize(whole)
	c.Packs = c.united(whole, n)
	bySize(c.Packs)
	c.Bins = 0
	for i := range c.Packs {
		c.Packs[i].Bin = c.Bins
		c.Bins++
	}
	for _, group := range divided {
		for i := range group {
			group[i].Bin = c.Bins
		}
		c.Packs = append(c.Packs, group...)
		c.Bins++
	}
	bySize(c.Packs)
}

// united returns n packs that have all groups of those given, which are in falling size.
func (c *Core) united(packs []Pack, n int) []Pack {
	if n == len(packs) {
		return packs
	}
	bins := make(bins, n)
	for i := range bins {
		bins[i] = &Pack{Inputs: make([][]File, len(c.Tables))}
	}
	for _, p := range packs {
		smallest := bins[0]
		smallest.unite(p)
		heap.Fix(&bins, 0)
	}
	out := make([]Pack, n)
	for i, b := range bins {
		sort.Ints(b.Groups)
		out[i] = *b
	}
	return out
}

// packCount returns how many packs to make of groups that are a pack each. Rows of no known group may lie in any number of
// groups: there are packs for them beyond those of the known ones, a few for each worker, or as many as are worth a statement.
func (c *Core) packCount(packs []Pack, opts Options) int {
	workers, most := int64(spj.PacksPerWorker*max(opts.Workers, 1)), int64(len(packs))
	if c.hasStrays() {
		most += workers
	}
	if opts.PackBytes == 0 {
		return int(most)
	}
	total := c.routedBytes()
	for _, p := range packs {
		total += c.joinedBytes(p)
	}
	worth := ceilDiv(total, smallestPack)
	if c.hasStrays() {
		most = max(most, worth)
	}
	return int(min(max(ceilDiv(total, opts.PackBytes), min(workers, worth), 1), most))
}

// joinedBytes are a pack's bytes of data files, those of a table of which few rows are joined by the part that these are: an estimate,
// since a pack of many keys makes no sieve.
func (c *Core) joinedBytes(p Pack) int64 {
	n := p.Bytes
	for i, t := range c.Tables {
		if t.isSifted() {
			n -= BytesOf(p.Inputs[i]) * (plan.SiftedRows - 1) / plan.SiftedRows
		}
	}
	return n
}

// isSifted says whether few of a table's rows are joined.
func (t *Table) isSifted() bool {
	return t.IsSifted || slices.ContainsFunc(t.Sieves, func(s Sieve) bool { return s.IsFew })
}

func (c *Core) routedBytes() int64 {
	var n int64
	for _, t := range c.Tables {
		n += BytesOf(t.Routed)
	}
	return n
}

// hasStrays says whether rows of no known group may be routed.
func (c *Core) hasStrays() bool {
	for _, t := range c.Tables {
		for _, matters := range t.Strays {
			if matters {
				return true
			}
		}
	}
	return false
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

func bySize(packs []Pack) {
	sort.SliceStable(packs, func(i, j int) bool { return packs[i].Bytes > packs[j].Bytes })
}

func (p *Pack) unite(q Pack) {
	p.Groups = append(p.Groups, q.Groups...)
	for i, files := range q.Inputs {
		p.Inputs[i] = append(p.Inputs[i], files...)
	}
	p.Bytes += q.Bytes
}

// bins is a heap of packs, the smallest first.
type bins []*Pack

func (b bins) Len() int           { return len(b) }
func (b bins) Less(i, j int) bool { return b[i].Bytes < b[j].Bytes }
func (b bins) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }
func (b *bins) Push(x any)        { *b = append(*b, x.(*Pack)) }
func (b *bins) Pop() any {
	last := len(*b) - 1
	p := (*b)[last]
	*b = (*b)[:last]
	return p
}
