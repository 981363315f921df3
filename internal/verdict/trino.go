package verdict

import (
	"fmt"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/transform"
)

// trinoModel computes what Trino's planner does, as far as its source tells. Nothing has compared it with a running Trino.
type trinoModel struct {
	*facts
	rels   map[plan.Rel]spread
	blocks map[*plan.Block]spread
	out    map[*plan.Join]Verdict
}

func (f *facts) trino() []Verdict {
	m := &trinoModel{facts: f, rels: map[plan.Rel]spread{}, blocks: map[*plan.Block]spread{}, out: map[*plan.Join]Verdict{}}
	for _, b := range f.Query.Blocks {
		m.block(b)
	}
	out := make([]Verdict, len(f.joins))
	for i, j := range f.joins {
		out[i] = m.out[j]
		out[i].Engine = Trino
	}
	return out
}

func (m *trinoModel) rel(r plan.Rel) spread {
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
		m.out[r], p = m.join(r, m.rel(r.Left), m.rel(r.Right))
	case *plan.Opaque:
		for _, in := range r.Inputs {
			m.rel(in)
		}
		p.why = []Finding{{Rule: trinoKept, What: r.Why}}
	}
	m.rels[r] = p
	return p
}

// scan is the layout that the connector offers: the one spec that the table has ever had.
func (m *trinoModel) scan(s *plan.Scan) spread {
	name := s.Table.Ident.String()
	spec := s.Table.Spec()
	switch {
	case s.Table.Virtual || m.Layouts[s].Repeats:
		return spread{why: []Finding{{Rule: trinoPartition, What: mention(s) + " has no layout"}}}
	case len(s.Table.Specs) != 1:
		return spread{why: []Finding{{
			Rule: trinoSpecs, What: fmt.Sprintf("%s has had %d partition specs", name, len(s.Table.Specs)),
			Mend: fmt.Sprintf("CREATE TABLE ... WITH (partitioning = ...) AS SELECT * FROM %s: no ALTER TABLE makes Trino forget a spec", name),
		}}}
	case len(spec.Fields) == 0:
		return spread{why: []Finding{{Rule: trinoPartition, What: name + " is unpartitioned", Mend: "CREATE TABLE ... WITH (partitioning = ...) AS SELECT * FROM " + name}}}
	}
	out := claim{parts: len(m.Layouts[s].Groups)}
	for _, f := range spec.Fields {
		if len(f.Sources) != 1 || f.Transform.Op == transform.Void || f.Transform.Op == transform.OpUnknown {
			return spread{why: []Finding{{Rule: trinoPartition, What: fmt.Sprintf("%s has the transform %s", name, f.Transform)}}}
		}
		out.keys = append(out.keys, key{col: plan.Col{Source: s.Source, Index: int(f.Sources[0])}, transform: f.Transform, field: fieldText(s, f)})
	}
	return spread{claims: []claim{out}}
}

func (m *trinoModel) mentioned(r *plan.BlockRel) spread {
	return m.block(r.Block).onto(r, trinoKept)
}

func (m *trinoModel) block(b *plan.Block) spread {
	if p, ok := m.blocks[b]; ok {
		return p
	}
	var p spread
	for _, u := range b.Union {
		m.block(u)
	}
	switch {
	case len(b.Union) > 0:
		p.why = []Finding{{Rule: trinoKept, What: "a UNION ALL keeps no layout"}}
	case b.Whole != "":
		m.rel(b.From)
		p.why = []Finding{{Rule: trinoKept, What: b.Whole}}
	case b.Group != nil:
		p = m.grouped(b.Group.Keys, m.rel(b.From), "GROUP BY "+b.Group.Text)
	default:
		p = m.rel(b.From)
	}
	m.blocks[b] = p
	return p
}

func (m *trinoModel) grouped(keys []plan.Col, in spread, text string) spread {
	out := spread{why: in.why}
	for _, c := range in.claims {
		if c.covered(keys) {
			out.claims = append(out.claims, c)
		} else {
			out.why = append(out.why, Finding{Rule: trinoKept, What: text + " has not all columns of " + c.layoutText()})
		}
	}
	return out
}

func (m *trinoModel) join(j *plan.Join, l, r spread) (Verdict, spread) {
	left, right, found := m.compare(j)
	v := Verdict{Shuffle: BothSides, Problems: found}
	fits := func(s spread, cols []plan.Col) *claim {
		for _, c := range s.claims {
			if c.covered(cols) {
				return &c
			}
		}
		return nil
	}
	a, b := fits(l, left), fits(r, right)
	switch {
	case len(found) > 0 && a == nil && b == nil:
	case a != nil && b != nil && same(*a, *b, left, right):
		v.Shuffle, v.Problems = None, nil
	case a != nil && b != nil:
		v.Shuffle = OneSide
		v.Problems = append(v.Problems, Finding{Rule: trinoSame, What: fmt.Sprintf("the layouts differ: [%s] and [%s]", a.layoutText(), b.layoutText()), Mend: "CREATE TABLE ... WITH (partitioning = ...) AS SELECT, with the other table's partitioning"})
	default:
		if a != nil || b != nil {
			v.Shuffle = OneSide
		}
		v.Problems = append(v.Problems, m.lacks(l, a, left)...)
		v.Problems = append(v.Problems, m.lacks(r, b, right)...)
	}
	v.Problems = distinct(v.Problems)
	return v, m.joined(j, l, r, v.Shuffle)
}

// compare returns the columns that are compared as they are.
func (m *trinoModel) compare(j *plan.Join) (left, right []plan.Col, found []Finding) {
	for _, eq := range j.On {
		_, lf, lok := m.origin(eq.Left)
		_, rf, rok := m.origin(eq.Right)
		switch {
		case eq.NullSafe:
			found = append(found, Finding{Rule: trinoEquality, What: "IS NOT DISTINCT FROM is no equality that Trino joins by", Mend: "compare by =, and join the rows with NULL keys apart"})
		case lok && rok && lf.Type.Primitive != rf.Type.Primitive:
			found = append(found, Finding{
				Rule: trinoTypes, What: fmt.Sprintf("%s is %s, %s is %s", catalog.ShownName(lf.Name), lf.Type, catalog.ShownName(rf.Name), rf.Type),
				Mend: "give both columns one type",
			})
		default:
			left, right = append(left, eq.Left), append(right, eq.Right)
		}
	}
	if len(left) == 0 && len(found) == 0 {
		found = []Finding{{Rule: trinoEquality, What: "there is no equality between plain columns of both sides in " + conditionText(j), Mend: "compare the columns of the layouts by ="}}
	}
	return left, right, found
}

// same says whether both layouts are one, field by field, over columns that are compared with each other.
func same(a, b claim, left, right []plan.Col) bool {
	if !meets(a.places(left), b.places(right)) {
		return false
	}
	return slices.EqualFunc(a.keys, b.keys, func(x, y key) bool { return x.transform == y.transform })
}

func (m *trinoModel) lacks(s spread, fits *claim, cols []plan.Col) []Finding {
	if fits != nil || len(cols) == 0 {
		return nil
	}
	if len(s.claims) == 0 {
		return s.why
	}
	return []Finding{{Rule: trinoJoined, What: "the condition doesn't compare all columns of " + s.claims[0].layoutText(), Mend: "compare them too, or leave them out of the table's partitioning"}}
}

// joined is how the result is divided: after a shuffle by whatever Trino chose, which is no layout.
func (m *trinoModel) joined(j *plan.Join, l, r spread, moved Shuffle) spread {
	if moved != None {
		return spread{why: []Finding{{Rule: trinoKept, What: "a join below shuffles its rows"}}}
	}
	switch m.kinds[j] {
	case plan.Inner:
		return spread{claims: slices.Concat(l.claims, r.claims)}
	case plan.Right:
		return r
	case plan.Full:
		return spread{why: []Finding{{Rule: trinoKept, What: "a full join keeps no layout"}}}
	}
	return l
}
