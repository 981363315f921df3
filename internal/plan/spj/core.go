package spj

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/internal/plan"
)

// core adds a core that computes a block (or its FROM, for a split) by a choice of keys.
func (d *decider) core(b *plan.Block, c *choice, name, sql string, kind Kind) *Core {
	out := &Core{Block: b, Name: name, SQL: sql, Keys: c.keys, Tree: c.tree, Limit: -1, Kind: kind, Costs: c.costs}
	if kind == Partial || kind == Emitted {
		out.Views = relViews(nil, b.From)
	} else {
		out.Views = blockViews(nil, b)
		out.Views = out.Views[:len(out.Views)-1] // the core runs the text of its own block itself
	}
	out.findGroups(d.out.layouts)
	d.cut[b] = true
	d.out.Cores = append(d.out.Cores, out)
	return out
}

// blockViews appends the views of a block and of those inside it, inputs first.
func blockViews(views []View, b *plan.Block) []View {
	for _, u := range b.Union {
		views = blockViews(views, u)
	}
	return append(relViews(views, b.From), View{b.ViewName(), b.SQL})
}

func relViews(views []View, r plan.Rel) []View {
	switch r := r.(type) {
	case *plan.BlockRel:
		return blockViews(views, r.Block)
	case *plan.Join:
		return relViews(relViews(views, r.Left), r.Right)
	}
	return views
}

// final makes the last step of a query text: the views and scans that are left, inputs first.
func (d *decider) final(sql string) {
	f := &Final{SQL: sql}
	inCore := map[*plan.Scan]bool{}
	gone := map[string]bool{}
	for _, c := range d.out.Cores {
		c.Tree.Scans(func(k *ScanKeys) { inCore[k.Scan] = true })
		c.Tree.ScansEverywhere(func(s *plan.Scan) { inCore[s] = true })
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
		if d.opts.Mode == Off && b.Plain != "" {
			text = b.Plain
		}
		if s := d.splits[b]; s != nil {
			text = s.Upper
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
