package verdict

import (
	"slices"

	"github.com/tarndb/tarn/internal/plan"
)

// sparkModel computes what Spark's planner does with a query under some settings, bottom-up as EnsureRequirements does it:
// each relation has claims of how it is divided, and a join or a grouping that none of them satisfies is shuffled.
type sparkModel struct {
	*facts
	on       [5]bool           // which of sparkSettings are as wanted
	compared map[plan.Col]bool // columns of scans in equalities of joins and keys of groupings
	rels     map[plan.Rel]spread
	blocks   map[*plan.Block]spread
	out      map[*plan.Join]Verdict
	hazards  []hazard
}

// hazard is what Spark gets wrong under a setting: an answer with rows missing, or none, is no way to avoid a shuffle.
type hazard struct {
	Finding
	setting int
}

// spark judges the joins with those settings that they need, and lists these.
func (f *facts) spark() ([]Verdict, []Setting) {
	compared := f.compared()
	run := func(on [5]bool) *sparkModel {
		m := &sparkModel{facts: f, on: on, compared: compared, rels: map[plan.Rel]spread{}, blocks: map[*plan.Block]spread{}, out: map[*plan.Join]Verdict{}}
		for _, b := range f.Query.Blocks {
			m.block(b)
		}
		return m
	}
	on := [5]bool{true, true, true, true, true}
	best := run(on)
	var risky []*sparkModel
	for len(best.hazards) > 0 {
		risky = append(risky, best)
		for _, h := range best.hazards {
			on[h.setting] = false
		}
		best = run(on)
	}
	for i := len(on) - 1; i >= 0; i-- {
		less := on
		less[i] = false
		if on[i] && len(f.worse(run(less), best)) == 0 {
			on = less
		}
	}
	needed := make([]map[*plan.Join]bool, len(on))
	for i := range on {
		if less := on; on[i] {
			less[i] = false
			needed[i] = f.worse(run(less), best)
		}
	}
	out := make([]Verdict, len(f.joins))
	for i, j := range f.joins {
		v := best.out[j]
		v.Engine = Spark
		for s := range on {
			if needed[s][j] {
				v.Settings = append(v.Settings, sparkSettings[s].Name)
			}
		}
		for _, m := range risky {
			for _, h := range m.hazards {
				if rank[m.out[j].Shuffle] < rank[v.Shuffle] {
					v.Problems = append(v.Problems, h.Finding)
				}
			}
		}
		v.Notes = append(v.Notes, f.sparkBroadcast(j)...)
		out[i] = v
	}
	return out, settingsOf(on)
}

func settingsOf(on [5]bool) []Setting {
	out := []Setting{}
	for i, s := range sparkSettings {
		if on[i] {
			out = append(out, Setting{Name: s.Name, Value: s.Want, Default: s.Default, Rule: s.Rule, Why: s.Why, Statement: setStatement(i)})
		}
	}
	return out
}

// compared collects the columns of scans that joins compare or groupings divide by: Spark reads them whatever the text's
// names say.
func (f *facts) compared() map[plan.Col]bool {
	out := map[plan.Col]bool{}
	add := func(c plan.Col) {
		if s, field, ok := f.origin(c); ok {
			out[plan.Col{Source: s.Source, Index: int(field.ID)}] = true
		}
	}
	for _, j := range f.joins {
		for _, eq := range j.On {
			add(eq.Left)
			add(eq.Right)
		}
	}
	for _, b := range f.Query.Blocks {
		if b.Group != nil {
			for _, k := range b.Group.Keys {
				add(k)
			}
		}
	}
	return out
}

var rank = map[Shuffle]int{None: 0, OneSide: 1, BothSides: 2, Refused: 3}

// worse returns the joins that shuffle more in m than in best.
func (f *facts) worse(m, best *sparkModel) map[*plan.Join]bool {
	out := map[*plan.Join]bool{}
	for _, j := range f.joins {
		if rank[m.out[j].Shuffle] > rank[best.out[j].Shuffle] {
			out[j] = true
		}
	}
	return out
}

// rel returns how a relation's rows are divided, computed once.
func (m *sparkModel) rel(r plan.Rel) spread {
	if p, ok := m.rels[r]; ok {
		return p
	}
	var p spread
	switch r := r.(type) {
	case *plan.ScanRel:
		p = m.scan(r.Scan)
	case *plan.BlockRel:
		p = m.mentioned(r)
	case *plan.Join:
		var v Verdict
		v, p = m.join(r, m.rel(r.Left), m.rel(r.Right))
		m.out[r] = v
	case *plan.Opaque:
		for _, in := range r.Inputs {
			m.rel(in)
		}
		p.why = []Finding{{Rule: sparkKept, What: r.Why}}
	}
	m.rels[r] = p
	return p
}

// mentioned is what a block's user sees of its claims.
func (m *sparkModel) mentioned(r *plan.BlockRel) spread {
	return m.block(r.Block).onto(r, sparkKept)
}

func (m *sparkModel) block(b *plan.Block) spread {
	if p, ok := m.blocks[b]; ok {
		return p
	}
	p := m.blockOf(b)
	m.blocks[b] = p
	return p
}

func (m *sparkModel) blockOf(b *plan.Block) spread {
	if len(b.Union) > 0 {
		return m.united(b)
	}
	p := m.rel(b.From)
	if b.Whole != "" {
		return spread{why: []Finding{{Rule: sparkKept, What: b.Whole}}}
	}
	if b.Group != nil {
		p = m.grouped(b.Group.Keys, p, "GROUP BY "+b.Group.Text)
	}
	for _, w := range b.Windows {
		p = m.windowed(w, p)
	}
	if b.Distinct {
		var cols []plan.Col
		for _, o := range b.Output {
			if o.Col != nil {
				cols = append(cols, *o.Col)
			}
		}
		p = m.grouped(cols, p, "DISTINCT")
	}
	return p
}

// united keeps a layout that all sides of a UNION ALL have in the same columns, with the same parts.
func (m *sparkModel) united(b *plan.Block) spread {
	var out []claim
	for i, u := range b.Union {
		var own []claim
		for _, c := range m.block(u).claims {
			if c, ok := c.onto(&plan.BlockRel{Block: u}); ok && !c.hash {
				own = append(own, c)
			}
		}
		if i > 0 {
			own = slices.DeleteFunc(out, func(c claim) bool { return !slices.ContainsFunc(own, c.isLike) })
		}
		out = own
	}
	if len(out) > 0 {
		return spread{claims: out}
	}
	return spread{why: []Finding{{
		Rule: sparkKept, What: "a UNION ALL keeps a layout only if all its sides have the same one, with the same partition values",
		Mend: "join each side by itself, and unite the results",
	}}}
}

// isLike says whether both claims divide rows into the same parts, by the same columns.
func (c claim) isLike(d claim) bool {
	return slices.Equal(c.values, d.values) && slices.EqualFunc(c.keys, d.keys, func(a, b key) bool { return a.col == b.col && a.transform == b.transform })
}

// grouped keeps the claims whose columns are all among the keys. Else the rows are shuffled by the keys; a grouping without
// keys gives one row.
func (m *sparkModel) grouped(keys []plan.Col, in spread, text string) spread {
	var kept []claim
	for _, c := range in.claims {
		if c.covered(keys) {
			kept = append(kept, c)
		}
	}
	if len(kept) > 0 {
		return spread{claims: kept, why: in.why}
	}
	why := in.why
	if len(in.claims) > 0 {
		why = []Finding{{Rule: sparkKept, What: text + " has not all columns of " + in.claims[0].layoutText() + ", so its rows are shuffled"}}
	}
	if len(keys) == 0 {
		return spread{why: why}
	}
	return spread{claims: []claim{hashed(keys)}, why: why}
}

// windowed is grouped for a window's PARTITION BY, which hands on all columns.
func (m *sparkModel) windowed(keys []plan.Col, in spread) spread {
	for _, c := range in.claims {
		if m.satisfies(c, keys) {
			return in
		}
	}
	if len(keys) == 0 {
		return spread{why: in.why}
	}
	return spread{claims: []claim{hashed(keys)}, why: in.why}
}

// satisfies says whether the claim divides rows so that equal values of cols come together, as Spark has it.
func (m *sparkModel) satisfies(c claim, cols []plan.Col) bool {
	if !c.hash && m.on[allowSubset] {
		return c.touches(cols)
	}
	return c.covered(cols)
}
