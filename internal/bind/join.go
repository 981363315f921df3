package bind

import (
	"context"
	"maps"
	"strings"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

var joinKinds = map[string]plan.JoinKind{
	"INNER": plan.Inner, "LEFT": plan.Left, "RIGHT": plan.Right, "OUTER": plan.Full, "FULL": plan.Full,
	"SEMI": plan.Semi, "ANTI": plan.Anti,
}

// bindJoin binds both sides, then takes the equalities between plain columns out of ON or USING.
func (b *binder) bindJoin(ctx context.Context, n sql.Node, sc *scope, env *cteEnv) (plan.Rel, error) {
	isCross := n.Str("ref_type") == "CROSS"
	if err := b.keepNesting(ctx, n); err != nil {
		return nil, err
	}
	first, above := len(sc.sources), sc.merged
	left, l, err := b.bindSide(ctx, n.Child("left"), sc, env)
	if err != nil {
		return nil, err
	}
	right, r, err := b.bindSide(ctx, n.Child("right"), sc, env)
	if err != nil {
		return nil, err
	}
	if err := refuseNames(n, l, r); err != nil {
		return nil, err
	}
	kind, known := joinKinds[n.Str("join_type")]
	j := &plan.Join{Kind: kind, Left: left, Right: right}
	if sc.merged = mergedNames(above, l.merged, r.merged); j.IsFilter() {
		sc.merged = mergedNames(above, l.merged, nil)
	}
	switch refType := n.Str("ref_type"); {
	case refType == "NATURAL":
		return b.unnamed(sc, first, above, "NATURAL JOIN: write the columns with USING (...)", left, right), nil
	case !known || refType != "REGULAR":
		return b.unnamed(sc, first, above, strings.ToLower(refType+" "+n.Str("join_type"))+" joins are run whole", left, right), nil
	}
	if using := n.Strs("using_columns"); len(using) > 0 {
		if !b.using(j, using, sc, l, r) {
			return b.unnamed(sc, first, above, "a USING column can't be placed", left, right), nil
		}
	} else if cond := n.Child("condition"); cond != nil && !isCross {
		if err := b.on(ctx, j, cond, sc, l, r, env); err != nil {
			return nil, err
		}
	}
	if j.IsFilter() { // the right side's names end here
		sc.sources = sc.sources[:first+len(l.sources)]
	}
	return j, nil
}

// keepNesting sees to it that DuckDB's text of a join tree, which has no parentheses, means the same tree. ON and USING
// tell where a join ends. A cross join has neither: (a CROSS JOIN b) RIGHT JOIN c would become "a, b RIGHT JOIN c", which
// joins b with c first. So it becomes an inner join ON true; a natural or positional one must not hold a join on its
// right.
func (b *binder) keepNesting(ctx context.Context, n sql.Node) error {
	switch ref := n.Str("ref_type"); {
	case ref == "CROSS":
		yes, err := b.template(ctx, "true")
		if err != nil {
			return err
		}
		n["ref_type"], n["join_type"], n["condition"] = "REGULAR", "INNER", map[string]any(yes)
	case (ref == "NATURAL" || ref == "POSITIONAL") && n.Child("right").Type() == "JOIN":
		return errs.New(errs.Unsupported, "bind", ref+" JOIN", "a join in parentheses on its right isn't supported").
			WithHint("write (SELECT * FROM ...) AS name in its place, or USING (...)")
	}
	return nil
}

// bindSide binds one side of a join and returns the names that it has by itself.
func (b *binder) bindSide(ctx context.Context, n sql.Node, sc *scope, env *cteEnv) (plan.Rel, *scope, error) {
	above, first := sc.merged, len(sc.sources)
	sc.merged = maps.Clone(above)
	rel, err := b.bindFrom(ctx, n, sc, env)
	own := map[string]ref{}
	for name, c := range sc.merged {
		if a, ok := above[name]; !ok || a != c {
			own[name] = c
		}
	}
	return rel, &scope{sources: sc.sources[first:], merged: own}, err
}

// mergedNames unites the USING columns of both sides with those that were known above. A name that both sides have is
// ambiguous and belongs to none.
func mergedNames(above, l, r map[string]ref) map[string]ref {
	out := map[string]ref{}
	maps.Copy(out, above)
	maps.Copy(out, l)
	for name, c := range r {
		if _, both := l[name]; both {
			delete(out, name)
			continue
		}
		out[name] = c
	}
	return out
}

// unnamed gives up on the names of sources from first on, and on the USING columns but those from above: no plan may be made
// by what they lead to.
func (b *binder) unnamed(sc *scope, first int, above map[string]ref, why string, inputs ...plan.Rel) plan.Rel {
	for _, s := range sc.sources[first:] {
		s.paired = true
	}
	for name, r := range sc.merged {
		if r != above[name] {
			sc.merged[name] = ref{col: r.col, paired: true}
		}
	}
	rel := &plan.Opaque{Why: why}
	for _, in := range inputs {
		if in != nil {
			rel.Inputs = append(rel.Inputs, in)
		}
	}
	return rel
}

// using adds an equality per USING column. A bare mention of it means the preserved side's column; in a full join it is
// the coalesced one, a column of the join itself. Where a side's rows are paired by their places it adds none, as on does:
// over it conditions would leave rows of that side out. In q ASOF JOIN p ON ... JOIN d USING (day) WHERE day = 5, with day
// a column of p, the rows of q would get other partners.
func (b *binder) using(j *plan.Join, names []string, sc, l, r *scope) bool {
	j.Text = "USING (" + strings.Join(names, ", ") + ")"
	for _, name := range names {
		lc, _, ok := l.unqualified(name)
		rc, _, ok2 := r.unqualified(name)
		if !ok || !ok2 {
			return false
		}
		merged := lc
		switch j.Kind {
		case plan.Right:
			merged = rc
		case plan.Full:
			if j.Merged == nil {
				id := b.nextSource()
				j.Merged = &id
			}
			merged = ref{plan.Col{Source: *j.Merged, Index: len(j.On)}, lc.plain && rc.plain, lc.paired || rc.paired}
		}
		sc.merged[strings.ToLower(name)] = merged
		if lc.plain && rc.plain {
			j.On = append(j.On, plan.Equality{Left: lc.col, Right: rc.col})
		}
	}
	return true
}

// on takes a condition's equalities, pushes one-sided conditions to the scans that they may prune, and binds subqueries.
func (b *binder) on(ctx context.Context, j *plan.Join, cond sql.Node, sc, l, r *scope, env *cteEnv) error {
	text, err := b.exprText(ctx, cond)
	if err != nil {
		return err
	}
	j.Text = text
	if err := b.bindExprs(ctx, sc, env, cond); err != nil {
		return err
	}
	for _, c := range conjuncts(cond) {
		if eq, ok := equality(c, l, r); ok {
			j.On = append(j.On, eq)
			continue
		}
		if hasSubquery(c) {
			continue
		}
		b.pushOn(j, c, l, r)
	}
	return nil
}

// pushOn pushes an ON condition of one side's columns to that side's scans, where a row that fails it can't matter: both
// sides of an inner and a semi join, and the side that is only looked up in an outer or anti join. The preserved side's rows stay
// in the answer whatever ON says: SELECT * FROM l LEFT JOIN r ON l.k = r.k AND l.x = 1 keeps rows with l.x = 2.
func (b *binder) pushOn(j *plan.Join, c sql.Node, l, r *scope) {
	left, right := j.OnlyMatched()
	if left {
		b.push(c, l, j.Left)
	}
	if right {
		b.push(c, r, j.Right)
	}
}

// equality recognises "a = b" and "a IS NOT DISTINCT FROM b" between plain columns, one of each scope, in either order.
func equality(c sql.Node, l, r *scope) (plan.Equality, bool) {
	nullSafe := c.Type() == "COMPARE_NOT_DISTINCT_FROM"
	if c.Class() != "COMPARISON" || c.Type() != "COMPARE_EQUAL" && !nullSafe {
		return plan.Equality{}, false
	}
	a, z := c.Child("left"), c.Child("right")
	if lc, ok := l.column(a); ok {
		if rc, ok := r.column(z); ok {
			return plan.Equality{Left: lc, Right: rc, NullSafe: nullSafe}, true
		}
	}
	if lc, ok := l.column(z); ok {
		if rc, ok := r.column(a); ok {
			return plan.Equality{Left: lc, Right: rc, NullSafe: nullSafe}, true
		}
	}
	return plan.Equality{}, false
}

// conjuncts returns the terms of a conjunction.
func conjuncts(n sql.Node) []sql.Node {
	if n == nil {
		return nil
	}
	if n.Type() != "CONJUNCTION_AND" {
		return []sql.Node{n}
	}
	var out []sql.Node
	for _, c := range n.List("children") {
		out = append(out, conjuncts(c)...)
	}
	return out
}

func hasSubquery(n sql.Node) bool {
	found := false
	n.Walk(func(n sql.Node) bool {
		found = found || n.Class() == "SUBQUERY"
		return !found
	})
	return found
}

// pushEqualities hands equalities of WHERE to the joins that they connect. Moving a conjunct of WHERE below a join is
// right where the join keeps its columns' side whole: into both sides of an inner join and into the preserved side of
// the others. Below the other side it would be wrong: l LEFT JOIN (a, b) ON ... WHERE a.k = b.k drops rows that the join
// filled with NULL, and moved down would keep them.
func pushEqualities(rel plan.Rel, eqs []plan.Equality) {
	j, ok := rel.(*plan.Join)
	if !ok || len(eqs) == 0 {
		return
	}
	if j.Kind == plan.Inner {
		for _, eq := range eqs {
			switch {
			case provides(j.Left, eq.Left) && provides(j.Right, eq.Right):
				j.On = append(j.On, eq)
			case provides(j.Left, eq.Right) && provides(j.Right, eq.Left):
				j.On = append(j.On, plan.Equality{Left: eq.Right, Right: eq.Left, NullSafe: eq.NullSafe})
			}
		}
	}
	if j.Kind != plan.Right && j.Kind != plan.Full {
		pushEqualities(j.Left, eqs)
	}
	if j.Kind == plan.Inner || j.Kind == plan.Right {
		pushEqualities(j.Right, eqs)
	}
}

// provides says whether a column comes out of a relation.
func provides(rel plan.Rel, c plan.Col) bool {
	switch r := rel.(type) {
	case *plan.ScanRel:
		return r.Scan.Source == c.Source
	case *plan.BlockRel:
		return r.Source == c.Source
	case *plan.Join:
		if r.Merged != nil && *r.Merged == c.Source {
			return true
		}
		return provides(r.Left, c) || !r.IsFilter() && provides(r.Right, c)
	}
	return false
}
