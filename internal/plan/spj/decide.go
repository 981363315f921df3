package spj

import (
	"cmp"
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
		out: &Physical{Query: q, layouts: layouts}, off: opts.Mode == Off, noMetadata: opts.NoMetadata,
		rels: map[plan.Rel]layout.Property{}, blocks: map[*plan.Block]layout.Property{}, cut: map[*plan.Block]bool{},
	}
	d.root()
	if err := liar(d.out.Cores); err != nil {
		return nil, err
	}
	if opts.Mode == Require && len(d.out.Reasons) > 0 {
		return nil, requireError(d.out.Reasons)
	}
	return d.out, nil
}

// liar refuses a core over a file that is known to hold rows of other groups: in a group that is dropped nobody would
// read it, and its rows would be lost without a word.
func liar(cores []*Core) error {
	var err error
	for _, c := range cores {
		c.Tree.Scans(func(k *ScanKeys) {
			for _, s := range k.Slots {
				if s.Liar != "" {
					err = errs.New(errs.Corrupt, "plan", s.Liar, "the file's bounds contradict its %s: rows of it belong in other groups", s).
						WithHint("rewrite the file with a writer that follows the table's spec; SET tarn.spj = 'off' reads it as it is")
				}
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
	out *Physical
	off bool
	// noMetadata is set when no block may be answered by statistics of files.
	noMetadata bool

	rels   map[plan.Rel]layout.Property
	blocks map[*plan.Block]layout.Property
	cut    map[*plan.Block]bool // blocks whose rows come from a core
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
	switch r := r.(type) {
	case *plan.ScanRel:
		return layout.ForScan(r.Scan, d.out.layouts[r.Scan])
	case *plan.BlockRel:
		return layout.OfRel(r.Source, d.block(r.Block))
	case *plan.Join:
		return layout.ForJoin(r, d.rel(r.Left), d.rel(r.Right))
	case *plan.Opaque:
		return layout.Property{Why: r.Why}
	}
	return layout.Property{Why: "a query that reads no table has no layout"}
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
	}
	d.blocks[b] = p
	return p
}

// root decides the statement's own query: it streams when its core's rows are the answer, else a final step follows.
func (d *decider) root() {
	b := d.out.Query.Root
	if d.off {
		d.explainAll(b, "tarn.spj is off")
		d.final(d.out.Query.SQL)
		return
	}
	p := d.block(b)
	if len(p.Slots) > 0 && worthBlock(b) {
		d.completeRoot(b, p)
		return
	}
	if d.AnswerFromMetadata(b) || d.split(b) {
		d.final(b.Split.Upper)
		return
	}
	d.inside(b)
	d.final(d.out.Query.SQL)
}

// completeRoot runs the root in packs. ORDER BY needs one merge of what the packs hand up; with LIMIT each hands up no
// more than the limit's rows. A bare LIMIT without OFFSET stops as soon as there are enough.
func (d *decider) completeRoot(b *plan.Block, p layout.Property) {
	core := d.core(b, p, b.ViewName(), b.SQL, Complete)
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

// split runs a block in two steps when its FROM has keys and joins, and says why the block isn't complete in a group.
func (d *decider) split(b *plan.Block) bool {
	if b.Whole != "" || b.Split == nil || !hasJoin(b.From) {
		return false
	}
	p := d.rel(b.From)
	if len(p.Slots) == 0 {
		return false
	}
	kind := Emitted
	if b.Split.Partial {
		kind = Partial
	}
	d.core(b, p, b.CoreName(), b.Split.Core, kind)
	return true
}

// inside looks for cores among the inputs of a block that runs whole, and notes why its own operators do.
func (d *decider) inside(b *plan.Block) {
	if b.Union != nil {
		for _, u := range b.Union {
			d.child(u)
		}
		return
	}
	d.insideRel(b.From, cmp.Or(b.Whole, "a name above the join can't be carried from packs to the final step"))
	if (b.Group != nil || b.Distinct || len(b.Windows) > 0) && b.From != nil && !hasJoin(b.From) {
		if p := d.block(b); p.Why != "" && groupable(b) {
			d.out.Reasons = append(d.out.Reasons, Reason{On: b, Text: p.Why})
		}
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
		d.out.Reasons = append(d.out.Reasons, Reason{Rel: r, Text: cmp.Or(d.rel(r).Why, above)})
		if d.rel(r).Why != "" {
			above = "the join that it feeds runs whole"
		}
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
	if p := d.block(b); len(p.Slots) > 0 && worthBlock(b) {
		d.core(b, p, b.ViewName(), b.SQL, Complete)
		return
	}
	if !d.AnswerFromMetadata(b) && !d.split(b) {
		d.inside(b)
	}
}

// worthBlock says whether running a block in groups saves anything: a join, a grouping, a DISTINCT or a window does; a
// mere scan doesn't.
func worthBlock(b *plan.Block) bool {
	if b.Group != nil || b.Distinct || len(b.Windows) > 0 || hasJoin(b.From) {
		return true
	}
	for _, u := range b.Union {
		if worthBlock(u) {
			return true
		}
	}
	rel, ok := b.From.(*plan.BlockRel)
	return ok && worthBlock(rel.Block)
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
