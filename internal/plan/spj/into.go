package spj

import (
	"fmt"
	"strings"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/layout"
	"github.com/tarndb/tarn/transform"
)

// Into is a field of the spec of the table that a query's rows are written to: a transform of a column of the one derived
// table in the root's FROM.
type Into struct {
	Column    int // its place there
	Name      string
	Type      transform.Type
	Transform transform.Transform
}

// Placed tells how the partition tuple of all rows that a group gives follows from the group's values: for each field of
// Options.Into which key it follows from, and how.
type Placed []PlacedField

// PlacedField is the part of one field.
type PlacedField struct {
	Key    int
	Type   transform.Type // of the result
	native transform.Type // of the key's value, as the column's own transform gives it
	reduce func(transform.Value) transform.Value
}

// Tuple returns the tuple of a group with the values; false when one would leave its type, as truncated values at its end do.
func (p Placed) Tuple(values []transform.Value) ([]transform.Value, bool) {
	out := make([]transform.Value, len(p))
	for i, f := range p {
		v := values[f.Key]
		if v == nil {
			continue
		}
		if n, ok := v.(int64); ok && (f.native.Kind == transform.Int || f.native.Kind == transform.Date) {
			v = int32(n) // groups write integers as long
		}
		if out[i] = f.reduce(v); !transform.Holds(f.Type, out[i]) {
			return nil, false
		}
	}
	return out, true
}

// placeRows finds out whether the rows of a core that is the whole query lie, group by group, where the table that they are
// written to wants them: then they needn't be parted. Its rule is called PlaceRows.
//
// Proof: a slot's strong carrier is a column whose key's transform is, in each row, the row's group. So when each field of the
// spec is a transform of such a column that its key's transform reduces to, the field's value is the same in all rows of a
// group, and follows from the group's. It would be wrong of a column that isn't the key's own, as in
//
//	INSERT INTO t SELECT o.k + 1 FROM o JOIN c ON o.k = c.k
//
// of a weak carrier, which may be NULL in rows of any group, as c.k in o LEFT JOIN c ON o.k = c.k, and where rows are sent to
// bins, since there a pack may have rows of groups that nobody knows of before.
func (d *decider) placeRows(b *plan.Block, c *choice) (Placed, string) {
	if c.routed.Files > 0 {
		return nil, "some files lie in none of the groups, and their rows are sent to them"
	}
	rel, ok := b.From.(*plan.BlockRel)
	if !ok || b.Union != nil || b.Order != nil {
		return nil, "the rows don't come out of the groups alone"
	}
	var out Placed
	for _, into := range d.opts.Into {
		f, ok := d.placeField(b, rel, c, into)
		if !ok {
			return nil, fmt.Sprintf("%s doesn't follow from the groups, which are of %s", into.Transform.SQL(into.Name), keyList(c))
		}
		out = append(out, f)
	}
	return out, ""
}

// placedAnyway returns the choice by which the root's rows lie where they are wanted, of a query that has nothing else to do by
// groups; nil when there is none.
func (d *decider) placedAnyway(b *plan.Block) *choice {
	if b != d.out.Query.Root || len(d.opts.Into) == 0 {
		return nil
	}
	c, why := d.weighed(&input{decider: d, block: b, property: d.block(b), isPlaced: true})
	if c == nil {
		if b.Whole == "" {
			d.out.Unplaced = why
		}
		return nil
	}
	placed, why := d.placeRows(b, c)
	if placed == nil {
		d.out.Unplaced = why
		return nil
	}
	return c
}

// placedFields counts the fields of the table that is written to that follow from a choice's groups.
func (in *input) placedFields(c *choice) (n int) {
	rel, ok := in.block.From.(*plan.BlockRel)
	if in.isFrom || !ok || in.block != in.decider.out.Query.Root {
		return 0
	}
	for _, into := range in.decider.opts.Into {
		if _, ok := in.decider.placeField(in.block, rel, c, into); ok {
			n++
		}
	}
	return n
}

func (d *decider) placeField(b *plan.Block, rel *plan.BlockRel, c *choice, into Into) (PlacedField, bool) {
	slots := d.block(b).Slots
	for k, w := range c.want {
		below := d.rel(rel).Slots[slots[w].From[0]]
		if below.Carriers[plan.Col{Source: rel.Source, Index: into.Column}] != layout.Strong {
			continue
		}
		key := c.keys[k].Transform
		if reduce, ok := transform.Reduce(into.Type, key, into.Transform); ok {
			return PlacedField{k, into.Transform.ResultType(into.Type), key.ResultType(into.Type), reduce}, true
		}
	}
	return PlacedField{}, false
}

func keyList(c *choice) string {
	var names []string
	c.tree.Scans(func(s *ScanKeys) {
		if names == nil {
			for _, k := range s.Conforms.Keys {
				names = append(names, k.String())
			}
		}
	})
	return strings.Join(names, ", ")
}
