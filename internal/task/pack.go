package task

import (
	"container/heap"
	"sort"
)

// packsPerWorker is how many packs each worker should get at least: with fewer, the last pack leaves the others idle;
// with more, small statements cost more than they spread.
const packsPerWorker = 4

// smallestPack is the number of bytes of data files below which a statement of its own isn't worth its 3 ms of CPU, about
// what DuckDB takes to read and join 1 MiB.
const smallestPack = 1 << 20

// pack unites the packs of one group each into fewer, by longest processing time first: groups in falling size, each to
// the pack that is smallest so far. A group is never divided.
func (c *Core) pack(opts Options) {
	n := packCount(c.Packs, opts)
	if n < len(c.Packs) {
		bySize(c.Packs)
		bins := make(bins, n)
		for i := range bins {
			bins[i] = &Pack{Inputs: make([][]File, len(c.Tables))}
		}
		for _, p := range c.Packs {
			smallest := bins[0]
			smallest.unite(p)
			heap.Fix(&bins, 0)
		}
		c.Packs = c.Packs[:0]
		for _, b := range bins {
			sort.Ints(b.Groups)
			c.Packs = append(c.Packs, *b)
		}
	}
	bySize(c.Packs)
}

// packCount returns how many packs to make of groups that are a pack each.
func packCount(packs []Pack, opts Options) int {
	if opts.PackBytes == 0 {
		return len(packs)
	}
	var total int64
	for _, p := range packs {
		total += p.Bytes
	}
	n := ceilDiv(total, opts.PackBytes)
	spread := min(int64(packsPerWorker*max(opts.Workers, 1)), ceilDiv(total, smallestPack))
	return int(min(max(n, spread, 1), int64(len(packs))))
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
