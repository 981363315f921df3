package spj

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/layout"
)

// Plan decides. layouts has the survey of every scan. With Require it returns an Unsupported error when a join or a
// grouping must run whole.
func Plan(q *plan.Query, layouts map[*plan.Scan]*catalog.TableLayout, opts Options) (*Physical, error) {
	d := &decider{
		out: &Physical{Query: q, layouts: layouts}, opts: opts,
		rels: map[plan.Rel]layout.Property{}, blocks: map[*plan.Block]layout.Property{}, cut: map[*plan.Block]bool{}, splits: map[*plan.Block]*plan.Split{},
	}
	d.root()
	if err := d.liar(); err != nil {
		return nil, err
	}
	if len(opts.Into) > 0 && d.out.Placed == nil && d.out.Unplaced == "" {
		d.out.Unplaced = "the rows don't come out of groups"
	}
	if opts.Mode == Require && len(d.out.Reasons) > 0 {
		return nil, requireError(d.out.Reasons)
	}
	return d.out, nil
}

// liar refuses a core over a file that is known to hold rows of other groups, by its bounds or by a look at its rows: in a group that is dropped nobody would
// read it, and its rows would be lost without a word.
func (d *decider) liar() error {
	var err error
	for _, c := range d.out.Cores {
		c.Tree.Scans(func(k *ScanKeys) {
			for _, g := range d.out.layouts[k.Scan].Groups {
				v := k.Conforms.Of(g.Spec, g.Partition, g.Contradicts)
				if v.Conforms && k.Scan.Lie != nil {
					err = k.Scan.Lie
					return
				}
				if v.Lies == 0 {
					continue
				}
				err = errs.New(errs.Corrupt, "plan", g.Liars[v.Lies-1], "the file's bounds contradict its %s: rows of it belong in other groups",
					layout.FieldText(k.Scan.Table, k.Scan.Table.Specs[g.Spec].Fields[v.Lies-1])).
					WithHint("rewrite the file with a writer that follows the table's spec; SET tarn.spj = 'off' and SET tarn.dynamic_filter = 'off' read it as it is")
			}
		})
	}
	return err
}

func requireError(reasons []Reason) error {
	texts := make([]string, len(reasons))
	for i, r := range reasons {
		texts[i] = r.Text
	}
	return errs.New(errs.Unsupported, "plan", "tarn.spj = 'require'", "the query can't run group by group: %s", strings.Join(texts, "; ")).
		WithHint("EXPLAIN shows each join; SET tarn.spj = 'auto' runs it anyway")
}

type decider struct {
	out  *Physical
	opts Options

	repeats bool // some relation may be read everywhere
	rels    map[plan.Rel]layout.Property
	blocks  map[*plan.Block]layout.Property
	cut     map[*plan.Block]bool        // blocks whose rows come from a core
	splits  map[*plan.Block]*plan.Split // how blocks that run in two steps do
}

// rel returns a relation's property, computed once.
func (d *decider) rel(r plan.Rel) layout.Property {
	if p, ok := d.rels[r]; ok {
		return p
	}
	p := d.relProperty(r)
	d.rels[r] = p
	return p
}

func (d *decider) relProperty(r plan.Rel) layout.Property {
	var p layout.Property
	switch r := r.(type) {
	case *plan.ScanRel:
		p = layout.ForScan(r.Scan, d.out.layouts[r.Scan])
		p.Everywhere = !d.out.layouts[r.Scan].Repeats && !r.Scan.Table.Virtual // whose size nobody knows yet
	case *plan.BlockRel:
		p = layout.OfRel(r.Source, d.block(r.Block))
	case *plan.Join:
		p = layout.ForJoin(r, d.rel(r.Left), d.rel(r.Right))
	case *plan.Opaque:
		p = layout.Property{Why: r.Why}
	default:
		p = layout.Property{Why: "a query that reads no table has no layout", Everywhere: true}
	}
	p.Everywhere = p.Everywhere && d.opts.BroadcastBytes > 0 && d.bytes(r) <= d.opts.BroadcastBytes
	d.repeats = d.repeats || p.Everywhere
	return p
}

// bytes sums up the data files below a relation.
func (d *decider) bytes(r plan.Rel) int64 {
	var n int64
	for _, s := range scansOf(r, nil) {
		n += d.out.layouts[s].Counts.Bytes
	}
	return n
}

func (d *decider) block(b *plan.Block) layout.Property {
	if p, ok := d.blocks[b]; ok {
		return p
	}
	var p layout.Property
	switch {
	case b.Whole != "":
		p = layout.Property{Why: b.Whole}
	case b.Union != nil:
		sides := make([]layout.Property, len(b.Union))
		for i, u := range b.Union {
			sides[i] = d.block(u)
		}
		p = layout.ForUnion(sides)
	default:
		p = layout.ForBlock(b, d.rel(b.From))
		p.Everywhere = p.Everywhere && isRepeatable(b)
	}
	d.blocks[b] = p
	return p
}

// isRepeatable says whether a block gives the same rows each time that it is computed: windows break ties, and aggregates
// such as any_value or a sum of floats depend on the order of rows, in one pack in another way than in the next.
func isRepeatable(b *plan.Block) bool {
	return len(b.Windows) == 0 && (b.Group == nil || b.Split != nil && b.Split.Partial)
}

// root decides the statement's own query: it streams when its core's rows are the answer, else a final step follows.
func (d *decider) root() {
	b := d.out.Query.Root
	if d.opts.Mode == Off {
		d.explainAll(b, "tarn.spj is off")
		d.final(d.out.Query.SQL)
		return
	}
	p := d.plan(b)
	switch {
	case p.whole != nil:
		d.completeRoot(b, p.whole)
	case d.AnswerFromMetadata(b):
		d.final(b.Split.Upper)
	case p.from != nil:
		d.split(b, p)
		d.final(p.split.Upper)
	default:
		d.inside(b, p)
		d.final(d.out.Query.SQL)
	}
}

// plans are the ways to run a block by groups that are worth it, and why the others aren't.
type plans struct {
	whole, from *choice     // of the whole block, of its FROM; at most one of them
	split       *plan.Split // how to go on from FROM
	why         string      // why neither
}

// plan chooses how to run a block: complete in its groups, or in two steps when its FROM can run by groups. A way by
// which all rows are read where they lie comes first, then the cheaper one.
func (d *decider) plan(b *plan.Block) plans {
	var out plans
	var whole, from *choice
	if worthBlock(b) {
		whole, out.why = d.weighed(&input{decider: d, block: b, property: d.block(b)})
	}
	if whole == nil {
		whole = d.placedAnyway(b)
	}
	for split := b.Split; b.Whole == "" && split != nil && from == nil; split = split.Else {
		if len(split.Needs) == 0 && !worthRel(b.From) {
			break
		}
		var why string
		from, why = d.weighed(&input{decider: d, block: b, isFrom: true, needs: split.Needs, property: d.rel(b.From)})
		out.split = split
		if len(split.Needs) == 0 && (!groupable(b) || out.why == "") {
			out.why = cmp.Or(why, out.why)
		}
	}
	switch {
	case whole != nil && from != nil && from.routed.Bytes < whole.routed.Bytes && from.cost < whole.cost:
		out.from = from
	case whole != nil:
		out.whole = whole
	default:
		out.from = from
	}
	return out
}

// weighed returns the best choice for an input when it is worth running, else why not.
func (d *decider) weighed(in *input) (*choice, string) {
	if len(in.property.Slots) == 0 {
		return nil, in.property.Why
	}
	c := in.choose()
	if c == nil {
		return nil, cmp.Or(in.property.Why, in.noKeys())
	}
	in.explainRouted(c)
	if why := in.weigh(c); why != "" {
		return nil, why
	}
	return c, ""
}

// completeRoot runs the root in packs. ORDER BY needs one merge of what the packs hand up; with LIMIT each hands up no
// more than the limit's rows. A bare LIMIT without OFFSET stops as soon as there are enough.
func (d *decider) completeRoot(b *plan.Block, c *choice) {
	core := d.core(b, c, b.ViewName(), b.SQL, Complete)
	if len(d.opts.Into) > 0 {
		d.out.Placed, d.out.Unplaced = d.placeRows(b, c)
	}
	o := b.Order
	if o == nil {
		return
	}
	core.SQL = o.SQL
	if o.Limit != nil && *o.Limit+o.Offset >= 0 {
		core.Kind = TopN
		core.SQL = limited(o, *o.Limit+o.Offset)
		if o.By == "" {
			core.Limit = *o.Limit + o.Offset
		}
	}
	d.final(ordered(o, core.Name))
}

// split runs a block in two steps: its FROM by groups, then the rest.
func (d *decider) split(b *plan.Block, p plans) {
	kind := Emitted
	if p.split.Partial {
		kind = Partial
	}
	d.splits[b] = p.split
	d.core(b, p.from, b.CoreName(), p.split.Core, kind).Short = p.split.Short
}

// inside looks for cores among the inputs of a block that runs whole, and notes why its own operators do.
func (d *decider) inside(b *plan.Block, p plans) {
	if b.Union != nil {
		for _, u := range b.Union {
			d.child(u)
		}
		return
	}
	d.insideRel(b.From, cmp.Or(p.why, b.Whole, "a name above the join can't be carried from packs to the final step"))
	if groupable(b) && b.From != nil && !hasJoin(b.From) && p.why != "" {
		d.out.Reasons = append(d.out.Reasons, Reason{On: b, Text: p.why})
	}
}

// groupable says whether the block groups by something that a layout could serve: a global aggregate doesn't.
func groupable(b *plan.Block) bool {
	return b.Distinct || len(b.Windows) > 0 || b.Group != nil && len(b.Group.Keys) > 0
}

// insideRel notes why the joins of a block that runs whole do; above is the block's own reason, for joins that could run
// group by group by themselves.
func (d *decider) insideRel(r plan.Rel, above string) {
	switch r := r.(type) {
	case *plan.BlockRel:
		d.child(r.Block)
	case *plan.Join:
		why := d.rel(r).Why
		if len(d.rel(r).Slots) > 0 {
			why = ""
		}
		d.out.Reasons = append(d.out.Reasons, Reason{Rel: r, Text: cmp.Or(why, above)})
		above = "the join that it feeds runs whole"
		d.insideRel(r.Left, above)
		d.insideRel(r.Right, above)
	case *plan.Opaque:
		if len(r.Inputs) > 1 || len(r.Inputs) == 1 && hasJoin(r.Inputs[0]) {
			d.out.Reasons = append(d.out.Reasons, Reason{Rel: r, Text: r.Why})
		}
		for _, in := range r.Inputs {
			d.insideRel(in, cmp.Or(r.Why, above))
		}
	}
}

// child decides a block below one that runs whole.
func (d *decider) child(b *plan.Block) {
	if d.cut[b] {
		return
	}
	p := d.plan(b)
	switch {
	case p.whole != nil:
		d.core(b, p.whole, b.ViewName(), b.SQL, Complete)
	case d.AnswerFromMetadata(b):
	case p.from != nil:
		d.split(b, p)
	default:
		d.inside(b, p)
	}
}

// worthBlock says whether running a block in groups saves anything: a join, a grouping, a DISTINCT or a window does; a
// mere scan doesn't.
func worthBlock(b *plan.Block) bool {
	return b.Group != nil || b.Distinct || len(b.Windows) > 0 || slices.ContainsFunc(b.Union, worthBlock) || worthRel(b.From)
}

// worthRel says the same of a block's FROM.
func worthRel(r plan.Rel) bool {
	rel, ok := r.(*plan.BlockRel)
	return ok && worthBlock(rel.Block) || hasJoin(r)
}

func hasJoin(r plan.Rel) bool {
	switch r := r.(type) {
	case *plan.Join:
		return true
	case *plan.BlockRel:
		return hasJoinBlock(r.Block)
	case *plan.Opaque:
		for _, in := range r.Inputs {
			if hasJoin(in) {
				return true
			}
		}
	}
	return false
}

func hasJoinBlock(b *plan.Block) bool {
	for _, u := range b.Union {
		if hasJoinBlock(u) {
			return true
		}
	}
	return hasJoin(b.From)
}

// explainAll notes one reason for every join and grouping.
func (d *decider) explainAll(b *plan.Block, why string) {
	for _, u := range b.Union {
		d.explainAll(u, why)
	}
	if b.Union == nil {
		d.explainRel(b.From, why)
	}
	if groupable(b) && !hasJoin(b.From) && b.From != nil {
		d.out.Reasons = append(d.out.Reasons, Reason{On: b, Text: why})
	}
}

func (d *decider) explainRel(r plan.Rel, why string) {
	switch r := r.(type) {
	case *plan.BlockRel:
		d.explainAll(r.Block, why)
	case *plan.Join:
		d.out.Reasons = append(d.out.Reasons, Reason{Rel: r, Text: why})
		d.explainRel(r.Left, why)
		d.explainRel(r.Right, why)
	case *plan.Opaque:
		for _, in := range r.Inputs {
			d.explainRel(in, why)
		}
	}
}
