package bind

import (
	"context"
	"slices"
	"strings"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// bindSelect binds FROM, then every expression.
func (b *binder) bindSelect(ctx context.Context, n sql.Node, outer *scope, env *cteEnv) (*bound, error) {
	if err := b.nameSubqueries(ctx, n); err != nil {
		return nil, err
	}
	sc := newScope(n, outer)
	own := len(b.query.Scans)
	rel, err := b.bindFrom(ctx, n.Child("from_table"), sc, env)
	if err != nil {
		return nil, err
	}
	q := &bound{scope: sc, rel: rel}
	first := len(b.query.Scans)
	if err := b.nameItems(ctx, n, sc); err != nil {
		return nil, err
	}
	if err := b.bindSelectExprs(ctx, n, sc, env); err != nil {
		return nil, err
	}
	b.addSubqueries(q, first)
	if err := b.bindWhere(ctx, q, n.Child("where_clause"), env); err != nil {
		return nil, err
	}
	if err := b.finishNames(n, sc); err != nil {
		return nil, err
	}
	if err := b.stub(ctx, own); err != nil {
		return nil, err
	}
	if q.unresolved = unresolvedName(sc, n); q.unresolved == "" {
		q.unresolved = sc.lost
	}
	q.correlated, q.usage = sc.correlated, newUsage(n, sc)
	q.whole = wholeReason(n)
	if sc.subquery && q.whole == "" { // its tables are no part of FROM, so that no pack would have their rows
		q.whole = subqueryReason
	}
	return q, nil
}

// addSubqueries makes the scans from the first on, which subqueries of expressions read, inputs of the query.
func (b *binder) addSubqueries(q *bound, first int) {
	inside := b.query.Scans[first:]
	if len(inside) == 0 {
		return
	}
	rel := &plan.Opaque{Why: subqueryReason, Inputs: present(q.rel)}
	for _, s := range inside {
		rel.Inputs = append(rel.Inputs, &plan.ScanRel{Scan: s})
	}
	q.rel = rel
}

// newScope returns the scope of a SELECT, which knows no names but its aliases yet.
func newScope(n sql.Node, outer *scope) *scope {
	sc := &scope{outer: outer, aliases: map[string]bool{}}
	for _, item := range n.List("select_list") {
		if a := item.Str("alias"); a != "" {
			sc.aliases[strings.ToLower(a)] = true
		}
	}
	return sc
}

// nameSubqueries names the items that hold a subquery by their own text, as DuckDB does, before the text comes to mention
// views.
func (b *binder) nameSubqueries(ctx context.Context, n sql.Node) error {
	for _, item := range n.List("select_list") {
		if item.Str("alias") != "" || item.Class() == "STAR" || !hasSubquery(item) {
			continue
		}
		text, err := b.text(ctx, bareSelect(item.Clone()))
		if err != nil {
			return err
		}
		item["alias"] = b.spelled(strings.TrimPrefix(text, "SELECT "))
	}
	return nil
}

// bindExprs binds the subqueries inside expressions and folds the bare clock readings among their names.
func (b *binder) bindExprs(ctx context.Context, sc *scope, env *cteEnv, exprs ...sql.Node) error {
	var failed error
	for _, e := range exprs {
		e.Walk(func(n sql.Node) bool {
			if failed != nil {
				return false
			}
			switch n.Class() {
			case "SUBQUERY":
				sc.subquery = true
				if failed = b.bindExprs(ctx, sc, env, n.Child("child")); failed == nil {
					var inner *bound
					if inner, failed = b.bindQuery(ctx, n.Child("subquery").Child("node"), sc, env); failed == nil {
						sc.lose(inner)
					}
				}
				return false
			case "COLUMN_REF":
				failed = b.bindName(ctx, sc, n)
			}
			return true
		})
	}
	return failed
}

// bindName shortens a long name, notes correlation, and folds a clock reading that no column hides.
func (b *binder) bindName(ctx context.Context, sc *scope, n sql.Node) error {
	if sc.aliasesFirst && sc.isAlias(n) {
		return nil
	}
	if err := sc.refuse(n); err != nil {
		return err
	}
	if sc.places(n) {
		return nil
	}
	parts := n.Strs("column_names")
	if len(parts) == 1 && bareClocks[strings.ToLower(parts[0])] {
		return b.fold(ctx, n, strings.ToLower(parts[0]))
	}
	for up := sc; up != nil && len(parts) == 1; up = up.outer { // it may be a whole row
		up.rows = append(up.rows, parts[0])
	}
	return nil
}

// bindSelectExprs binds a SELECT's expressions apart from FROM and WHERE. A bare name that is an alias of the select list
// means the item in HAVING and QUALIFY, and where it is all of an expression to order by, whatever columns there are.
func (b *binder) bindSelectExprs(ctx context.Context, n sql.Node, sc *scope, env *cteEnv) error {
	columnsFirst := slices.Concat(n.List("select_list"), n.List("group_expressions"))
	aliasesFirst := []sql.Node{n.Child("having"), n.Child("qualify")}
	for _, m := range n.List("modifiers") {
		keys := m.List("distinct_on_targets")
		for _, o := range m.List("orders") {
			keys = append(keys, o.Child("expression"))
		}
		for _, k := range keys {
			if !sc.isAlias(k) {
				columnsFirst = append(columnsFirst, k)
			}
		}
		for _, key := range []string{"limit", "offset"} {
			columnsFirst = append(columnsFirst, m.Child(key))
		}
	}
	if err := b.bindExprs(ctx, sc, env, columnsFirst...); err != nil {
		return err
	}
	sc.aliasesFirst = true
	defer func() { sc.aliasesFirst = false }()
	return b.bindExprs(ctx, sc, env, aliasesFirst...)
}
