package spj

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/layout"
)

// core adds a core that computes a block (or its FROM, for a split) by the slots of p.
func (d *decider) core(b *plan.Block, p layout.Property, name, sql string, kind Kind) *Core {
	c := &Core{Block: b, Name: name, SQL: sql, Slots: p.Slots, Limit: -1, Kind: kind}
	want := make([]int, len(p.Slots))
	for i := range want {
		want[i] = i
	}
	build := builder{decider: d, core: c}
	if kind == Partial || kind == Emitted {
		c.Tree = build.rel(b.From, want)
	} else {
		c.Tree = build.block(b, want)
		build.dropView(b)
	}
	d.cut[b] = true
	d.out.Cores = append(d.out.Cores, c)
	return c
}

// builder turns a relation into a core's tree: it follows the wanted slots down to the scans' partition fields, and
// collects the blocks on the way, inputs first.
type builder struct {
	decider *decider
	core    *Core
}

// block builds a block's tree for the wanted slots of its property.
func (b *builder) block(blk *plan.Block, want []int) *Node {
	p := b.decider.block(blk)
	n := &Node{}
	if blk.Union != nil {
		for side, u := range blk.Union {
			n.Union = append(n.Union, b.block(u, pick(p, want, side)))
		}
	} else {
		n = b.rel(blk.From, pick(p, want, 0))
	}
	b.core.Views = append(b.core.Views, View{blk.ViewName(), blk.SQL})
	return n
}

// dropView takes out the view of the core's own block: the core runs its text itself.
func (b *builder) dropView(blk *plan.Block) {
	views := b.core.Views
	if n := len(views); n > 0 && views[n-1].Name == blk.ViewName() {
		b.core.Views = views[:n-1]
	}
}

// pick maps wanted slots to the slots of one input.
func pick(p layout.Property, want []int, side int) []int {
	out := make([]int, len(want))
	for i, w := range want {
		out[i] = p.Slots[w].From[side]
	}
	return out
}

func (b *builder) rel(r plan.Rel, want []int) *Node {
	p := b.decider.rel(r)
	switch r := r.(type) {
	case *plan.ScanRel:
		keys := &ScanKeys{Scan: r.Scan}
		for _, w := range want {
			keys.Slots = append(keys.Slots, p.Slots[w])
		}
		return &Node{Scan: keys, Rel: r}
	case *plan.BlockRel:
		n := b.block(r.Block, pick(p, want, 0))
		n.Rel = r
		return n
	case *plan.Join:
		lw, rw := pick(p, want, 0), pick(p, want, 1)
		n := &Node{Kind: r.Kind, Rel: r, Left: b.rel(r.Left, lw), Right: b.rel(r.Right, rw)}
		l, rp := b.decider.rel(r.Left), b.decider.rel(r.Right)
		for i := range want {
			n.Strict = append(n.Strict, layout.IsStrict(r, l.Slots[lw[i]], rp.Slots[rw[i]]))
		}
		return n
	}
	panic("spj: a relation without layout keys is inside a core") // a property with slots comes from these three alone
}

// final makes the last step of a query text: the views and scans that are left, inputs first.
func (d *decider) final(sql string) {
	f := &Final{SQL: sql}
	inCore := map[*plan.Scan]bool{}
	gone := map[string]bool{}
	for _, c := range d.out.Cores {
		c.Tree.Scans(func(k *ScanKeys) { inCore[k.Scan] = true })
		for _, v := range c.Views {
			gone[v.Name] = true
		}
		gone[c.Name] = true
	}
	for _, s := range d.out.Query.Scans {
		if !inCore[s] && d.out.IsRead(s) {
			f.Scans = append(f.Scans, s)
		}
	}
	for _, a := range d.out.Answers {
		if a.SQL != "" {
			f.Views = append(f.Views, View{a.Block.CoreName(), a.SQL})
		}
	}
	for _, b := range d.out.Query.Blocks {
		if b == d.out.Query.Root || gone[b.ViewName()] {
			continue
		}
		text := b.SQL
		if d.cut[b] {
			text = b.Split.Upper
		}
		f.Views = append(f.Views, View{b.ViewName(), text})
	}
	d.out.Final = f
}

// limited cuts the root's rows to the first n in order, the same way in each pack and, by ordered, in the end.
func limited(o *plan.Ordering, n int64) string {
	return fmt.Sprintf("SELECT * FROM (%s) AS tarn_ordered%s LIMIT %d", o.SQL, orderBy(o), n)
}

// ordered is the root's final step over the rows that its packs handed up, without the hidden sort columns.
func ordered(o *plan.Ordering, table string) string {
	columns := "*"
	if o.Hidden > 0 {
		names := make([]string, o.Hidden)
		for i := range names {
			names[i] = "tarn_o" + strconv.Itoa(i)
		}
		columns += " EXCLUDE (" + strings.Join(names, ", ") + ")"
	}
	return "SELECT " + columns + " FROM " + table + orderBy(o) + limitText(o)
}

func orderBy(o *plan.Ordering) string {
	if o.By == "" {
		return ""
	}
	return " ORDER BY " + o.By
}

func limitText(o *plan.Ordering) string {
	text := ""
	if o.Limit != nil {
		text += " LIMIT " + strconv.FormatInt(*o.Limit, 10)
	}
	if o.Offset > 0 {
		text += " OFFSET " + strconv.FormatInt(o.Offset, 10)
	}
	return text
}
