package task

import (
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/transform"
)

// packByTuple makes a pack of all groups whose rows are of one partition tuple of the table that they are written to, so that
// what a pack gives is one file. Rows of a group without a tuple are parted as any others, by a pack of the group. A hot one runs alone, with all threads: divided, it would give several files. What even all of
// the memory can't hold is divided all the same, and its rows are parted too.
func (c *Core) packByTuple(placed spj.Placed, opts Options) error {
	byTuple := map[string]int{}
	var packs []Pack
	for _, p := range c.Packs {
		values := make([]transform.Value, len(c.Keys))
		for k := range values {
			var err error
			if values[k], err = c.Value(p.Groups[0], k); err != nil {
				return err
			}
		}
		of, ok := placed.Tuple(values)
		if !ok {
			packs = append(packs, p)
			continue
		}
		tuple, key, err := encodeTuple(placed, of)
		if err != nil {
			return err
		}
		if at, ok := byTuple[key]; ok {
			packs[at].unite(p)
			continue
		}
		byTuple[key] = len(packs)
		p.Tuple = tuple
		packs = append(packs, p)
	}
	var total int64
	for _, p := range packs {
		total += p.Bytes
	}
	c.Packs, c.Bins = nil, len(packs)
	for bin, p := range packs {
		p.Bin = bin
		c.Packs = append(c.Packs, c.placedPacks(p, total, opts)...)
	}
	bySize(c.Packs)
	return nil
}

func encodeTuple(placed spj.Placed, values []transform.Value) (tuple [][]byte, key string, err error) {
	var text []byte
	for i, f := range placed {
		enc, err := catalog.EncodeValue(f.Type, values[i])
		if err != nil {
			return nil, "", err
		}
		tuple, text = append(tuple, enc), transform.AppendKey(text, f.Type, values[i])
	}
	return tuple, string(text), nil
}

// placedPacks returns the packs of what has one tuple.
func (c *Core) placedPacks(p Pack, total int64, opts Options) []Pack {
	parts := []Pack{p}
	if len(p.Groups) == 1 {
		if divided := c.divideGroup(p, total, opts); divided != nil {
			parts = divided
		}
	}
	if len(parts) == 1 {
		return parts
	}
	if parts[0].Slice != nil {
		p.Alone = true
		return []Pack{p}
	}
	for i := range parts {
		parts[i].Tuple = nil
	}
	return parts
}
