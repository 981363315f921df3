package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/transform"
)

// side is one input of a join as Spark sees it.
type side struct {
	spread
	cols []plan.Col // the columns of the equalities; nowhere for one that Spark changes before it compares
	best *claim     // the first claim that satisfies the join
	rel  plan.Rel
}

// join decides what is shuffled, and how the result is divided.
func (m *sparkModel) join(j *plan.Join, left, right spread) (Verdict, spread) {
	v := Verdict{Shuffle: BothSides}
	if refused := slices.DeleteFunc(slices.Concat(left.why, right.why), func(f Finding) bool { return f.Rule != sparkReadable }); len(refused) > 0 {
		return Verdict{Shuffle: Refused, Problems: distinct(refused)}, spread{why: refused}
	}
	if len(j.On) == 0 {
		v.Problems = []Finding{{Rule: sparkEquality, What: "there is no equality between plain columns of both sides in " + conditionText(j), Mend: "compare the columns of the layouts by ="}}
		return v, spread{why: v.Problems}
	}
	l, r := side{spread: left, rel: j.Left}, side{spread: right, rel: j.Right}
	changed := m.compare(j, &l, &r)
	m.choose(&l)
	m.choose(&r)
	var found []Finding
	if l.best != nil && r.best != nil {
		if found = m.differ(j, &l, &r); len(found) == 0 {
			v.Shuffle = None
			m.reduce(j, &l, &r)
			return v, m.joined(j, l, r)
		}
	} else {
		found = slices.Concat(changed, m.lacks(&l, &r), m.lacks(&r, &l))
	}
	v.Problems = distinct(found)
	v.Shuffle = m.shuffle(&l, &r)
	return v, m.joined(j, l, r)
}

func conditionText(j *plan.Join) string {
	if j.Text == "" {
		return "a cross join"
	}
	return j.Text
}

// compare fills in the columns of the equalities, and returns what Spark changes before it compares.
func (m *sparkModel) compare(j *plan.Join, l, r *side) []Finding {
	var out []Finding
	for _, eq := range j.On {
		a, b := eq.Left, eq.Right
		ls, lf, lok := m.origin(a)
		rs, rf, rok := m.origin(b)
		switch {
		case eq.NullSafe:
			a, b = nowhere, nowhere
			out = append(out, Finding{Rule: sparkNullSafe, What: "Spark compares the columns of IS NOT DISTINCT FROM as expressions, which have no layout", Mend: "compare by =, and join the rows with NULL keys apart"})
		case lok && isFloat(lf) || rok && isFloat(rf):
			a, b = nowhere, nowhere
			out = append(out, Finding{Rule: sparkFloat, What: "Spark normalises float and double keys before it compares them", Mend: "join by a decimal or an integer"})
		case lok && rok && sparkType(lf.Type.Primitive) != sparkType(rf.Type.Primitive):
			var f Finding
			a, b, f = cast(a, b, ls, rs, lf, rf)
			out = append(out, f)
		}
		l.cols, r.cols = append(l.cols, a), append(r.cols, b)
	}
	return out
}

func isFloat(f catalog.Field) bool {
	return f.Type.Primitive.Kind == transform.Float || f.Type.Primitive.Kind == transform.Double
}

// sparkType is a type as Spark has it: it knows uuid as string and fixed as binary.
func sparkType(t transform.Type) transform.Type {
	switch t.Kind {
	case transform.UUID:
		return transform.Type{Kind: transform.String}
	case transform.Fixed:
		return transform.Type{Kind: transform.Binary}
	}
	return t
}

// cast tells which side Spark casts: an int to the other side's long; else both count as cast.
func cast(a, b plan.Col, ls, rs *plan.Scan, lf, rf catalog.Field) (plan.Col, plan.Col, Finding) {
	f := Finding{Rule: sparkTypes, What: fmt.Sprintf("%s of %s is %s, %s of %s is %s: Spark casts, and what is cast has no layout",
		catalog.ShownName(lf.Name), ls.Table.Ident, lf.Type, catalog.ShownName(rf.Name), rs.Table.Ident, rf.Type)}
	lk, rk := lf.Type.Primitive.Kind, rf.Type.Primitive.Kind
	switch {
	case lk == transform.Int && rk == transform.Long:
		f.Mend = widen(ls, lf)
		return nowhere, b, f
	case lk == transform.Long && rk == transform.Int:
		f.Mend = widen(rs, rf)
		return a, nowhere, f
	}
	f.Mend = "give both columns one type"
	return nowhere, nowhere, f
}

// widen is right for a bucketed column: int and long values have one hash.
func widen(s *plan.Scan, f catalog.Field) string {
	return fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s TYPE bigint", s.Table.Ident, catalog.ShownName(f.Name))
}

// choose takes the first claim that satisfies the join. Where all joined columns must be in the layout, one that doesn't
// have all of them doesn't.
func (m *sparkModel) choose(s *side) {
	for _, c := range s.claims {
		if !m.satisfies(c, s.cols) || !c.hash && !m.on[anyClusterKeys] && len(c.keys) != len(s.cols) {
			continue
		}
		if !c.hash && m.on[allowSubset] {
			c = projected(c, s.cols)
		}
		s.best = &c
		return
	}
}

// projected leaves out the keys whose columns aren't joined.
func projected(c claim, cols []plan.Col) claim {
	if c.covered(cols) {
		return c
	}
	out := claim{parts: c.parts, pinned: c.pinned}
	for _, k := range c.keys {
		if slices.Contains(cols, k.col) {
			out.keys = append(out.keys, k)
		}
	}
	return out
}

// lacks says why a side has no claim for the join, and what would give it the other side's layout.
func (m *sparkModel) lacks(s, other *side) []Finding {
	if s.best != nil {
		return nil
	}
	if len(s.claims) == 0 {
		out := slices.Clone(s.why)
		for i := range out {
			if out[i].Mend == "" && out[i].Rule == sparkPartition {
				out[i].Mend = m.addField(s, other)
			}
		}
		return out
	}
	if slices.Contains(s.cols, nowhere) {
		return nil // what Spark changes is told already
	}
	c := s.claims[0]
	switch {
	case c.hash:
		return []Finding{{Rule: sparkKept, What: "a side comes shuffled by other columns from a join or a grouping below"}}
	case !c.touches(s.cols):
		return append(slices.Clone(s.why), Finding{Rule: sparkJoined, What: "the condition doesn't compare the columns of " + c.layoutText(), Mend: m.addField(s, other)})
	case !m.satisfies(c, s.cols):
		return []Finding{{Rule: sparkSubset, What: "the condition doesn't compare all columns of " + c.layoutText(), Mend: setStatement(allowSubset)}}
	}
	return []Finding{{Rule: sparkAllKeys, What: "the condition compares more columns than those of " + c.layoutText(), Mend: setStatement(anyClusterKeys)}}
}

// addField is the statement that gives a scan the other side's layout.
func (m *sparkModel) addField(s, other *side) string {
	scan, ok := s.rel.(*plan.ScanRel)
	if !ok {
		return ""
	}
	if len(other.claims) == 0 || other.claims[0].hash {
		return "partition both tables by bucket(N, ...) of a column that is compared, with one N, and rewrite their files"
	}
	var adds []string
	for _, k := range other.claims[0].keys {
		at := slices.Index(other.cols, k.col)
		if at < 0 || s.cols[at] == nowhere {
			return ""
		}
		_, f, ok := m.origin(s.cols[at])
		if !ok {
			return ""
		}
		adds = append(adds, fmt.Sprintf("ALTER TABLE %s ADD PARTITION FIELD %s", scan.Scan.Table.Ident, k.transform.SQL(catalog.ShownName(f.Name))))
	}
	return strings.Join(append(adds, rewrite(scan.Scan.Table)), "; ")
}

// shuffle decides how much is shuffled when both sides don't fit. Whatever is left as it is gives the other side its layout.
func (m *sparkModel) shuffle(l, r *side) Shuffle {
	var keep, move *side
	for _, s := range []*side{l, r} {
		if s.best != nil && m.canLead(s) && (keep == nil || s.best.parts > keep.best.parts) {
			keep = s
		}
	}
	if keep == nil {
		l.claims, r.claims = []claim{hashed(l.cols)}, []claim{hashed(r.cols)}
		return BothSides
	}
	if move = l; keep == l {
		move = r
	}
	keep.best.pinned = !keep.best.hash
	led := claim{hash: keep.best.hash, parts: keep.best.parts, values: keep.best.values, pinned: keep.best.pinned}
	for i, at := range keep.best.places(keep.cols) {
		k := keep.best.keys[i]
		k.col = move.cols[at[0]]
		led.keys = append(led.keys, k)
	}
	kept := []claim{*keep.best}
	for _, c := range keep.claims {
		if len(c.keys) == len(keep.best.keys) && c.keys[0].col != keep.best.keys[0].col {
			c.pinned = keep.best.pinned
			kept = append(kept, c)
		}
	}
	keep.claims, move.claims = kept, []claim{led}
	return OneSide
}

// canLead says whether a side's claim may be given to the other one.
func (m *sparkModel) canLead(s *side) bool {
	if s.best.hash {
		return m.on[anyClusterKeys] || len(s.best.keys) == len(s.cols)
	}
	return m.on[shuffleOneSide]
}

// joined is how the result is divided: as the sides that the join keeps whole.
func (m *sparkModel) joined(j *plan.Join, l, r side) spread {
	why := slices.Concat(l.why, r.why)
	switch m.kinds[j] {
	case plan.Inner:
		return spread{claims: slices.Concat(l.claims, r.claims), why: why}
	case plan.Right:
		return spread{claims: r.claims, why: why}
	case plan.Full:
		return spread{why: []Finding{{Rule: sparkKept, What: "a full join keeps no layout"}}}
	}
	return spread{claims: l.claims, why: why}
}

func distinct(in []Finding) []Finding {
	var out []Finding
	for _, f := range in {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}
