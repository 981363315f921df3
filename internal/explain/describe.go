package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/internal/task"
	"github.com/tarndb/tarn/internal/units"
	"github.com/tarndb/tarn/transform"
)

// New makes the report of a plan.
func New(p *spj.Physical, layouts map[*plan.Scan]*catalog.TableLayout, g *task.Graph) *Report {
	r := &Report{Cores: []Core{}, Whole: []Op{}, Aggregates: []Op{}, Dynamic: []Dynamic{}, Scans: []Scan{}}
	for i, c := range p.Cores {
		r.Cores = append(r.Cores, core(c, &g.Cores[i]))
	}
	for _, why := range p.Reasons {
		r.Whole = append(r.Whole, whole(why))
	}
	for _, a := range p.Answers {
		r.Aggregates = append(r.Aggregates, aggregate(a, layouts[a.Block.Facts.Scan]))
	}
	if p.Final != nil {
		r.Final = &Final{Does: finalText(p)}
	}
	for _, s := range p.Query.Scans {
		scan := Scan{Table: s.Table.Ident.String(), Alias: aliasOf(s), Version: version(s.Table), Counts: Counts(layouts[s].Counts)}
		r.Scans = append(r.Scans, scan)
	}
	return r
}

// aliasOf returns a scan's alias; "" when it is what the table is called anyway.
func aliasOf(s *plan.Scan) string {
	if s.Alias == s.Table.Ident[len(s.Table.Ident)-1] || isSuffix(s.Alias, s.Table.Version) {
		return ""
	}
	return s.Alias
}

func whole(r spj.Reason) Op {
	switch rel := r.Rel.(type) {
	case *plan.Join:
		return Op{Name: rel.Kind.String() + " join", Detail: rel.Text, Strategy: Hash, Reason: r.Text}
	case *plan.Opaque:
		return Op{Name: "query", Strategy: Hash, Reason: r.Text}
	}
	op := groupOps(r.On)[0]
	op.Strategy, op.Reason = Hash, r.Text
	return op
}

func aggregate(a spj.Answer, l *catalog.TableLayout) Op {
	op := Op{Name: "aggregate", Detail: a.Block.Facts.Text, Strategy: Data, Reason: a.Why}
	if a.SQL != "" {
		op.Strategy = Metadata
		op.Reason = "the statistics of " + units.Count(l.Counts.Files-l.Counts.FilesPruned, "data file") + " tell it; none is read"
	}
	return op
}

func core(c *spj.Core, t *task.Core) Core {
	out := Core{
		Rows: c.Kind.String(), Groups: len(t.Groups), Packs: len(t.Packs),
		Dropped: dropped(c, t), GroupBytes: spread(t), NullGroup: nullGroup(t),
		Routed: []Routed{}, Everywhere: []Table{}, Divided: divided(t), Costs: []Cost{}, Short: []string{},
	}
	for i, k := range c.Keys {
		out.Keys = append(out.Keys, k.Transform.SQL(keyColumns(c, i)))
	}
	for _, b := range c.Costs {
		out.Costs = append(out.Costs, Cost(b))
	}
	c.Tree.Scans(func(k *spj.ScanKeys) {
		out.NotShuffle += k.Total.Bytes - k.Routed.Bytes
		if k.Routed.Files > 0 {
			name := k.Scan.Table.Ident.String()
			out.Routed = append(out.Routed, Routed{Table{name, k.Routed.Files, k.Routed.Bytes}, Table{name, k.Total.Files, k.Total.Bytes}, k.Why})
			out.Stragglers += k.Routed.Files
			out.Exchanged += k.Routed.Bytes
		}
	})
	for _, table := range t.Tables {
		for _, s := range table.Short {
			out.Short = append(out.Short, table.Name+"."+nameOf(&table.Input, s.Field))
		}
		for _, s := range table.Sieves {
			from := &t.Tables[s.Table].Input
			out.Sieves = append(out.Sieves, Sieve{table.Name + "." + nameOf(&table.Input, s.Column), from.Name + "." + nameOf(from, s.Key)})
		}
		out.Bytes += table.Bytes
		if len(table.Sources) == 0 {
			out.Everywhere = append(out.Everywhere, Table{table.Name, table.Files, table.Bytes})
		}
	}
	out.NotShuffle -= t.Dropped.Bytes
	out.Bytes -= t.Dropped.Bytes
	out.Ops = append(relOps(c.Tree), blockOps(c)...)
	return out
}

// dropped tells apart which files nobody reads and which a look has read.
func dropped(c *spj.Core, t *task.Core) Dropped {
	out := Dropped{Groups: t.Dropped.Groups, Files: t.Dropped.Files, Bytes: t.Dropped.Bytes}
	table := 0
	c.Tree.Scans(func(k *spj.ScanKeys) {
		if k.Scan.Looked {
			sum := c.Dropped.Tables[table]
			out.LookedFiles, out.LookedBytes = out.LookedFiles+sum.Files, out.LookedBytes+sum.Bytes
		}
		table++
	})
	out.Files, out.Bytes = out.Files-out.LookedFiles, out.Bytes-out.LookedBytes
	return out
}

func nameOf(in *task.Input, id catalog.FieldID) string {
	for _, f := range in.Fields {
		if f.ID == id {
			return catalog.ShownName(f.Name)
		}
	}
	return ""
}

// divided tells of the groups that are not run as one pack among others.
func divided(t *task.Core) []string {
	out := []string{}
	for i := range t.Packs {
		p := &t.Packs[i]
		switch {
		case p.Slice != nil && p.Slice.Index == 0:
			out = append(out, fmt.Sprintf("group %s: files of %s in %s", groupText(t, p), t.Tables[p.Slice.Table].Name, units.Count(p.Slice.Of, "slice")))
		case p.Part.Of != 0 && p.Part.Index == 0:
			out = append(out, fmt.Sprintf("group %s: rows in %s by a hash of their keys", groupText(t, p), units.Count(p.Part.Of, "part")))
		case p.Alone:
			out = append(out, fmt.Sprintf("group %s: alone, with all threads", groupText(t, p)))
		}
	}
	return out
}

// groupText writes the values of a pack's one group.
func groupText(t *task.Core, p *task.Pack) string {
	var parts []string
	for k := range t.Keys {
		v, err := t.Value(p.Groups[0], k)
		if err != nil {
			return strconv.Itoa(p.Groups[0])
		}
		parts = append(parts, transform.FormatValue(t.Keys[k].Type, v))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// keyColumns names the columns that carry a key: one name when all tables have the same.
func keyColumns(c *spj.Core, key int) string {
	var names []string
	seen := map[string]bool{}
	c.Tree.Scans(func(k *spj.ScanKeys) {
		name := catalog.ShownName(k.Conforms.Keys[key].Column.Name)
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	})
	return strings.Join(names, "=")
}

// relOps lists the joins of a tree, the innermost first.
func relOps(n *spj.Node) []Op {
	if n == nil {
		return nil
	}
	out := append(relOps(n.Left), relOps(n.Right)...)
	for _, u := range n.Union {
		out = append(out, relOps(u)...)
	}
	j, ok := n.Rel.(*plan.Join)
	if !ok || n.Left == nil {
		return out
	}
	op := Op{Name: j.Kind.String() + " join", Detail: j.Text, Strategy: StoragePartitioned}
	if n.Left.Everywhere != nil || n.Right.Everywhere != nil {
		op.Strategy = Broadcast
	}
	return append(out, op)
}

// blockOps lists what the blocks of a core do to whole groups: those inside, and its own when that is complete.
func blockOps(c *spj.Core) []Op {
	var out []Op
	var visit func(b *plan.Block)
	visit = func(b *plan.Block) {
		for _, u := range b.Union {
			visit(u)
		}
		visitRel(b.From, visit)
		for _, o := range groupOps(b) {
			if o.Name == "window" && b.Plain != "" {
				o.Detail = "ReduceLatestRow"
			}
			out = append(out, o)
		}
	}
	if c.Kind == spj.Complete || c.Kind == spj.TopN {
		visit(c.Block)
	} else {
		visitRel(c.Block.From, visit)
	}
	for i := range out {
		out[i].Strategy = StoragePartitioned
	}
	return out
}

func visitRel(r plan.Rel, visit func(*plan.Block)) {
	switch r := r.(type) {
	case *plan.BlockRel:
		visit(r.Block)
	case *plan.Join:
		visitRel(r.Left, visit)
		visitRel(r.Right, visit)
	}
}

func groupOps(b *plan.Block) []Op {
	var out []Op
	if b.Group != nil {
		out = append(out, Op{Name: "group by", Detail: b.Group.Text})
	}
	for range b.Windows {
		out = append(out, Op{Name: "window"})
	}
	if b.Distinct {
		out = append(out, Op{Name: "distinct"})
	}
	return out
}

func nullGroup(t *task.Core) string {
	for i := range t.Groups {
		for _, v := range t.Groups[i].Values {
			if v == nil {
				return "read"
			}
		}
	}
	if t.Dropped.NullGroups > 0 {
		return "dropped, since NULL matches nothing"
	}
	return "none"
}

// spread returns the bytes of the smallest, the median and the largest group.
func spread(t *task.Core) [3]int64 {
	sizes := make([]int64, len(t.Groups))
	for i := range t.Tables {
		seen := map[string]bool{}
		for _, p := range t.Packs {
			for _, f := range p.Inputs[i] {
				if !seen[f.Ref.Path] {
					sizes[f.Group] += f.Ref.Bytes
				}
				seen[f.Ref.Path] = true
			}
		}
	}
	if len(sizes) == 0 {
		return [3]int64{}
	}
	slices.Sort(sizes)
	return [3]int64{sizes[0], sizes[len(sizes)/2], sizes[len(sizes)-1]}
}

func finalText(p *spj.Physical) string {
	if len(p.Cores) == 0 && len(p.Final.Scans) == 0 && len(p.Answers) > 0 {
		return "the rest of the query, over what the statistics tell"
	}
	if len(p.Cores) == 0 {
		return "the whole query, in one statement"
	}
	switch p.Cores[len(p.Cores)-1].Kind {
	case spj.Partial:
		return "combine partial aggregates"
	case spj.TopN:
		return "merge the packs' first rows"
	case spj.Complete:
		if p.Query.Root.Order != nil && p.Cores[len(p.Cores)-1].Block == p.Query.Root {
			if p.Query.Root.Order.By == "" {
				return "leave out the first rows"
			}
			return "put rows in order"
		}
	}
	return "the rest of the query, over the packs' rows"
}
