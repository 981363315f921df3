package spj

import (
	"cmp"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/layout"
	"github.com/tarndb/tarn/transform"
)

// choice is a set of keys for a core, and what running it by them comes to.
type choice struct {
	keys       []Key
	want       []int // the slots of the keys
	tree       *Node
	routed     Sum // of files whose rows are sent to their groups
	everywhere Sum // of files that each pack reads
	total      Sum // of all files, once
	groups     int
	placed     int   // fields of Options.Into that follow from the groups
	largest    int64 // bytes of the largest group
	cost       float64
	costs      []Cost
}

// input is what a core is to be made over: a block, or the FROM of one.
type input struct {
	decider  *decider
	block    *plan.Block
	isFrom   bool
	needs    []plan.Col // columns that must carry each key
	property layout.Property
	isPlaced bool // the rows are to lie as a table wants them, which is worth groups that nothing else is done by
}

func (in *input) tree(keys []Key, want []int, repeats bool) *Node {
	t := treeBuilder{in.decider, keys, repeats}
	if !in.isFrom {
		return t.block(in.block, want)
	}
	n := t.rel(in.block.From, want)
	if n != nil && n.Everywhere == nil && len(in.needs) > 0 {
		n = n.whole()
	}
	return n
}

// carriesNeeded says whether equal values of each needed column lie in one group of a slot. NULLs may lie in many, so that
// weak carriers will do.
func (in *input) carriesNeeded(s layout.Slot) bool {
	for _, c := range in.needs {
		if _, ok := s.Carriers[c]; !ok {
			return false
		}
	}
	return true
}

// choose returns the cheapest keys for a core over the input, or nil when there are none. It starts from the best key alone
// and adds others as long as that makes it cheaper: a file must lie in a group of each key, and whole groups unite, so that
// more keys never make more files conform but may make groups smaller.
func (in *input) choose() *choice {
	all := in.options()
	var best *choice
	for {
		better := best
		for _, o := range all {
			if best != nil && (len(best.want) == maxKeys || slices.Contains(best.want, o.slot)) {
				continue
			}
			for _, repeats := range []bool{false, true} {
				if repeats && !in.decider.repeats {
					continue
				}
				if c := in.evaluate(best, o, repeats); c != nil && c.isBetter(better) {
					better = c
				}
			}
		}
		if better == best {
			in.addAlso(best)
			return best
		}
		best = better
	}
}

// addAlso gives a choice's scans the columns of the slots that no key is of.
//
// Proof: the relation is the disjoint union over the groups of any functions of any of its slots, so that a group of the keys is it
// again over those of the others. A slot that some scan lacks is left out: that scan's rows would be needed in each part.
func (in *input) addAlso(c *choice) {
	if c == nil {
		return
	}
	for slot, s := range in.property.Slots {
		if !in.carriesNeeded(s) || slices.Contains(c.want, slot) {
			continue
		}
		columns := map[*plan.Scan]catalog.Field{}
		in.sources(slot, func(s *plan.Scan, column catalog.Field) { columns[s] = column })
		inAll := true
		c.tree.Scans(func(k *ScanKeys) {
			_, ok := columns[k.Scan]
			inAll = inAll && ok
		})
		if inAll {
			c.tree.Scans(func(k *ScanKeys) { k.Also = append(k.Also, columns[k.Scan]) })
		}
	}
}

// isBetter says whether c is cheaper than another choice, or as cheap with more of what is to be written in its place, or with
// more groups.
func (c *choice) isBetter(other *choice) bool {
	if other == nil || c.cost != other.cost {
		return other == nil || c.cost < other.cost
	}
	return cmp.Or(cmp.Compare(c.placed, other.placed), cmp.Compare(c.groups, other.groups)) > 0
}

// option is a slot and a transform for it.
type option struct {
	slot int
	key  Key
}

// options returns the transforms by which slots' values can be grouped: those of the files, and what each two of them reduce
// to, that are defined on all columns of the slot: a fixed can be equal to a binary and isn't truncated. When no file is laid out by any slot, all rows can be sent to groups of one.
func (in *input) options() []option {
	var out []option
	for slot, s := range in.property.Slots {
		if !in.carriesNeeded(s) {
			continue
		}
		typ := s.Class.Widest()
		var found []transform.Transform
		var types []transform.Type
		in.sources(slot, func(s *plan.Scan, column catalog.Field) {
			types = append(types, column.Type.Primitive)
			for _, t := range layout.Natives(in.decider.out.layouts[s], column) {
				if t.CanApply(typ) && !slices.Contains(found, t) {
					found = append(found, t)
				}
			}
		})
		for _, t := range withMeets(typ, found) {
			if !slices.ContainsFunc(types, func(typ transform.Type) bool { return !t.CanApply(typ) }) {
				out = append(out, option{slot, Key{t, keyType(t, s.Class)}})
			}
		}
	}
	first := slices.IndexFunc(in.property.Slots, func(s layout.Slot) bool { return in.carriesNeeded(s) })
	if len(out) == 0 && first >= 0 && in.decider.opts.Exchange != ExchangeOff {
		class := in.property.Slots[first].Class
		t := exchangeBy(class.Widest())
		out = append(out, option{first, Key{t, keyType(t, class)}})
	}
	return out
}

// withMeets adds what each two transforms reduce to, until nothing new comes.
func withMeets(typ transform.Type, found []transform.Transform) []transform.Transform {
	for i := 0; i < len(found); i++ {
		for k := range i {
			if m, ok := transform.Meet(typ, found[i], found[k]); ok && !slices.Contains(found, m) && len(found) < maxTransforms {
				found = append(found, m)
			}
		}
	}
	return found
}

const (
	// maxKeys bounds the keys of a core. Whole groups unite without the others. What becomes of rows that are sent is found out for
	// each pattern of NULL keys, 4096 of them.
	maxKeys = 12
	// maxTransforms bounds the transforms that are weighed for one key: a table with more specs than that is routed by those
	// of its newest ones.
	maxTransforms = 24
	// exchangeBuckets is how many buckets rows are sent to that no file is laid out for: more than any machine has packs.
	exchangeBuckets = 4096
)

// exchangeBy returns the transform by which rows are sent to groups when no file is laid out by their column.
func exchangeBy(typ transform.Type) transform.Transform {
	t := transform.Transform{Op: transform.Bucket, N: exchangeBuckets}
	if !t.CanApply(typ) {
		t = transform.Transform{Op: transform.Identity}
	}
	return t
}

// keyType is the type in which a core's group values are written. Slots match by class, whose types write integers in 4 or
// 8 bytes: long holds both.
func keyType(t transform.Transform, class layout.Class) transform.Type {
	typ := t.ResultType(class.Widest())
	if typ.Kind == transform.Int {
		typ.Kind = transform.Long
	}
	return typ
}

// evaluate returns the choice of the keys of base and one more, with small tables read everywhere or not; nil when they can't
// be had together, or nothing would be done by groups.
func (in *input) evaluate(base *choice, o option, repeats bool) *choice {
	c := &choice{keys: []Key{o.key}, want: []int{o.slot}}
	if base != nil {
		at, _ := slices.BinarySearch(base.want, o.slot)
		c.want = slices.Insert(slices.Clone(base.want), at, o.slot)
		c.keys = slices.Insert(slices.Clone(base.keys), at, o.key)
	}
	if c.tree = in.tree(c.keys, c.want, repeats); c.tree == nil || !in.isPlaced && !c.tree.isWorth() {
		return nil
	}
	c.measure(in.decider.out.layouts)
	c.cost = c.price(in.decider.opts)
	c.placed = in.placedFields(c)
	return c
}

// measure sums up what a choice's tree reads.
func (c *choice) measure(layouts map[*plan.Scan]*catalog.TableLayout) {
	sizes := map[string]int64{}
	c.tree.Scans(func(k *ScanKeys) {
		c.total.add(k.Total.Files, k.Total.Bytes)
		c.routed.add(k.Routed.Files, k.Routed.Bytes)
		for _, g := range layouts[k.Scan].Groups {
			v := k.Conforms.Of(g.Spec, g.Partition, g.Contradicts)
			if !v.Conforms {
				continue
			}
			sizes[groupKey(c.keys, v.Values)] += g.Bytes
		}
	})
	c.tree.ScansEverywhere(func(s *plan.Scan) {
		counts := layouts[s].Counts
		c.total.add(counts.Files-counts.FilesPruned, counts.Bytes)
		c.everywhere.add(counts.Files-counts.FilesPruned, counts.Bytes)
	})
	c.groups = len(sizes)
	for _, bytes := range sizes {
		c.largest = max(c.largest, bytes)
	}
}

// sources calls use for each scan's column that holds a slot's value.
func (in *input) sources(slot int, use func(*plan.Scan, catalog.Field)) {
	if in.isFrom {
		in.decider.relSources(in.block.From, slot, use)
		return
	}
	in.decider.blockSources(in.block, slot, use)
}

func (d *decider) blockSources(b *plan.Block, slot int, use func(*plan.Scan, catalog.Field)) {
	from := d.block(b).Slots[slot].From
	if b.Union == nil {
		d.relSources(b.From, from[0], use)
		return
	}
	for side, u := range b.Union {
		d.blockSources(u, from[side], use)
	}
}

func (d *decider) relSources(r plan.Rel, slot int, use func(*plan.Scan, catalog.Field)) {
	if slot == layout.Absent {
		return
	}
	s := d.rel(r).Slots[slot]
	switch r := r.(type) {
	case *plan.ScanRel:
		use(r.Scan, s.Column)
	case *plan.BlockRel:
		d.blockSources(r.Block, s.From[0], use)
	case *plan.Join:
		d.relSources(r.Left, s.From[0], use)
		d.relSources(r.Right, s.From[1], use)
	}
}
