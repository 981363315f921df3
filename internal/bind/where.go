package bind

import (
	"context"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// bindWhere binds a WHERE condition: EXISTS and IN conjuncts become semi- and anti-joins above FROM, equalities go to the
// joins that they connect, and conditions on one table's columns go to its scan, to leave files out.
func (b *binder) bindWhere(ctx context.Context, q *bound, where sql.Node, env *cteEnv) error {
	var eqs []plan.Equality
	for _, c := range conjuncts(where) {
		semi, err := b.bindSemi(ctx, q, c, env)
		if err != nil {
			return err
		}
		if semi {
			continue
		}
		first := len(b.query.Scans)
		if err := b.bindExprs(ctx, q.scope, env, c); err != nil {
			return err
		}
		if hasSubquery(c) {
			b.addSubqueries(q, first)
			continue
		}
		if eq, ok := equality(c, q.scope, q.scope); ok {
			eqs = append(eqs, eq)
		}
		b.push(c, q.scope, q.rel)
	}
	pushEqualities(q.rel, eqs)
	b.noteWhole(q, where)
	return nil
}

func present(r plan.Rel) []plan.Rel {
	if r == nil {
		return nil
	}
	return []plan.Rel{r}
}

// bindSemi recognises [NOT] EXISTS (SELECT ...) and x IN (SELECT y ...) as conjuncts of WHERE. It returns false when c is
// neither; then nothing was bound.
//
// IN may be decided group by group only here: as a value, or under NOT, a NULL anywhere in the subquery's answer changes
// the outcome for every row, so SELECT ... WHERE x NOT IN (SELECT y FROM t) stays whole.
func (b *binder) bindSemi(ctx context.Context, q *bound, c sql.Node, env *cteEnv) (bool, error) {
	kind := plan.Semi
	if c.Type() == "OPERATOR_NOT" {
		if kids := c.List("children"); len(kids) == 1 && kids[0].Str("subquery_type") == "EXISTS" {
			kind, c = plan.Anti, kids[0]
		}
	}
	if c.Class() != "SUBQUERY" {
		return false, nil
	}
	in := c.Str("subquery_type") == "ANY" && c.Str("comparison_type") == "COMPARE_EQUAL"
	if !in && c.Str("subquery_type") != "EXISTS" {
		return false, nil
	}
	if q.rel == nil {
		return false, nil
	}
	if err := b.bindExprs(ctx, q.scope, env, c.Child("child")); err != nil {
		return false, err
	}
	query := c.Child("subquery").Child("node")
	inner, err := b.bindQuery(ctx, query, q.scope, env)
	if err != nil {
		return false, err
	}
	q.scope.lose(inner)
	j := &plan.Join{Kind: kind, Left: q.rel, Right: inner.rel, Text: "EXISTS"}
	if in {
		j.Text = "IN"
	}
	if kind == plan.Anti {
		j.Text = "NOT EXISTS"
	}
	if why := b.semiKeys(j, q, inner, query, c.Child("child")); why != "" {
		q.rel = &plan.Opaque{Why: why, Inputs: append(present(q.rel), present(inner.rel)...)}
		return true, nil
	}
	q.rel = j
	return true, nil
}

// semiKeys finds the equalities between the outer and the inner query; why tells when the subquery isn't plain enough.
func (b *binder) semiKeys(j *plan.Join, q, inner *bound, query, child sql.Node) (why string) {
	switch {
	case inner.rel == nil || inner.scope == nil:
		return "a subquery that isn't a plain SELECT from tables is run whole"
	case inner.whole != "":
		return inner.whole
	case b.isAggregated(query) || query.Child("qualify") != nil || hasLimit(query):
		return "a subquery with aggregates, windows or LIMIT is run whole"
	case inner.scope.far:
		return "a subquery that looks two levels out is run whole"
	}
	for _, c := range conjuncts(query.Child("where_clause")) {
		if eq, ok := correlation(c, q.scope, inner.scope); ok {
			j.On = append(j.On, eq)
		}
	}
	if child != nil {
		items := query.List("select_list")
		outerCol, ok := q.scope.column(child)
		if len(items) == 1 && ok {
			if innerCol, ok := inner.scope.column(items[0]); ok {
				j.On = append(j.On, plan.Equality{Left: outerCol, Right: innerCol})
			}
		}
	}
	return ""
}

// correlation recognises an equality between a column of the inner scope and one that only the outer scope has: the inner
// scope's names hide the outer ones, and so do the aliases of its select list.
func correlation(c sql.Node, outer, inner *scope) (plan.Equality, bool) {
	if c.Class() != "COMPARISON" {
		return plan.Equality{}, false
	}
	for _, sides := range [][2]string{{"left", "right"}, {"right", "left"}} {
		out, in := c.Child(sides[0]), c.Child(sides[1])
		if out.Class() != "COLUMN_REF" {
			continue
		}
		if _, hidden := inner.local(out); hidden || inner.isAlias(out) {
			continue
		}
		wrapped := sql.Node{"class": "COMPARISON", "type": c.Type(), "left": map[string]any(out), "right": map[string]any(in)}
		if eq, ok := equality(wrapped, outer, inner); ok {
			return eq, true
		}
	}
	return plan.Equality{}, false
}

// isAggregated says whether a SELECT groups or aggregates: then it gives rows that no input row stands for.
func (b *binder) isAggregated(query sql.Node) bool {
	s := &selectShape{node: query, aggregates: b.aggregates}
	return len(query.List("group_expressions")) > 0 || len(groupSets(query)) > 0 || query.Child("having") != nil ||
		query.Str("aggregate_handling") == "FORCE_AGGREGATES" || len(s.aggregateCalls(query)) > 0 || len(collect(query, "WINDOW")) > 0
}

func hasLimit(n sql.Node) bool {
	for _, m := range n.List("modifiers") {
		if m.Type() == "LIMIT_MODIFIER" || m.Type() == "LIMIT_PERCENT_MODIFIER" {
			return true
		}
	}
	return false
}
