package task

import (
	"slices"
	"sort"

	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/transform"
)

// Skew is the setting tarn.skew: what is done with groups that are much larger than others.
type Skew string

// SkewAuto chooses by the join tree and the sizes, SkewOff keeps groups whole. The others do one thing to every group that
// allows it: divide one table's files among packs, divide all rows by a hash of their keys, run the group alone.
const (
	SkewAuto   Skew = "auto"
	SkewOff    Skew = "off"
	SkewSlice  Skew = "slice"
	SkewBucket Skew = "bucket"
	SkewAlone  Skew = "alone"
)

const (
	// forcedParts is how many packs a group is divided into by the settings that divide every group.
	forcedParts = 3
	// mostParts bounds the packs of one group that each read all of its files.
	mostParts = 64
)

// divide parts the packs of one group each into those that stay whole and those of divided groups.
func (c *Core) divide(opts Options) (whole []Pack, divided [][]Pack) {
	var total int64
	for _, p := range c.Packs {
		total += p.Bytes
	}
	for _, p := range c.Packs {
		if parts := c.divideGroup(p, total, opts); parts != nil {
			divided = append(divided, parts)
		} else {
			whole = append(whole, p)
		}
	}
	return whole, divided
}

// divideGroup returns the packs of one group, or nil when it stays as it is.
//
// A group that is more than a worker's share keeps one busy while the others wait. Dividing one table's files costs the
// other tables' being read more often, and is legal by MayDivide alone; running the group alone with all threads is always
// legal. A group that all of the memory can't hold is divided by a hash of its keys, unless its key has one value there.
func (c *Core) divideGroup(p Pack, total int64, opts Options) []Pack {
	workers := int64(max(opts.Workers, 1))
	switch opts.Skew {
	case SkewOff:
		return nil
	case SkewSlice:
		return c.slice(p, forcedParts)
	case SkewBucket:
		return c.parts(p, forcedParts)
	case SkewAlone:
		p.Alone = true
		return []Pack{p}
	}
	if need := spj.MemoryPerByte * p.Bytes; opts.MemoryBytes > 0 && need > opts.MemoryBytes && c.hasManyValues() {
		return c.parts(p, int(min(ceilDiv(need, opts.MemoryBytes/2), mostParts)))
	}
	if workers == 1 || p.Bytes < spj.PacksPerWorker*smallestPack || p.Bytes*workers <= total {
		return nil
	}
	if out := c.slice(p, int(ceilDiv(p.Bytes*workers*spj.PacksPerWorker, total))); out != nil {
		return out
	}
	p.Alone = true
	return []Pack{p}
}

// hasManyValues says whether rows of one group may differ in what parts are told by.
func (c *Core) hasManyValues() bool {
	if len(c.Tables[0].Also) > 0 {
		return true
	}
	for _, s := range c.Tables[0].Sources {
		if s.Transform.Op != transform.Identity {
			return true
		}
	}
	return false
}

// slice divides the files of one table among n packs; nil when no table may be divided or has several files.
func (c *Core) slice(p Pack, n int) []Pack {
	table := -1
	for t, files := range p.Inputs {
		if len(files) > 1 && c.Tree.MayDivide(t) && (table < 0 || BytesOf(files) > BytesOf(p.Inputs[table])) {
			table = t
		}
	}
	if table < 0 {
		return nil
	}
	n = min(max(n, 2), len(p.Inputs[table]))
	files := slices.Clone(p.Inputs[table])
	sort.SliceStable(files, func(i, j int) bool { return files[i].Ref.Bytes > files[j].Ref.Bytes })
	out := make([]Pack, n)
	for i := range out {
		out[i] = Pack{Groups: p.Groups, Inputs: slices.Clone(p.Inputs), Slice: &Slice{Table: table, Index: i, Of: n}}
		out[i].Inputs[table] = nil
		out[i].Bytes = p.Bytes - BytesOf(files)
	}
	for _, f := range files {
		smallest := 0
		for i := range out {
			if out[i].Bytes < out[smallest].Bytes {
				smallest = i
			}
		}
		out[smallest].Inputs[table] = append(out[smallest].Inputs[table], f)
		out[smallest].Bytes += f.Ref.Bytes
	}
	return out
}

// parts divides a group's rows by a hash of their keys, and of what else must be equal in rows that have to do with each other, among n packs that each read all of its files.
//
// Proof: such rows have one hash, so that what is true of the group's rows is true of each part's.
func (c *Core) parts(p Pack, n int) []Pack {
	out := make([]Pack, max(n, 2))
	for i := range out {
		out[i] = p
		out[i].Part = Part{Index: i, Of: len(out)}
	}
	return out
}
