package bind

import (
	"context"
	"slices"
	"strings"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// split writes a SELECT as two steps, for when its grouping, DISTINCT or windows reach beyond a group: aggregates that
// decompose exactly are computed in each pack and combined, anything else gets the rows that it needs. It returns nil
// when a name can't be carried from one step to the other.
func (b *binder) split(ctx context.Context, s *selectShape, blk *plan.Block, columns []plan.Column) (*plan.Split, error) {
	if s.grouped && len(s.windows) == 0 {
		sp, err := b.partial(ctx, s, blk, columns)
		if sp != nil && len(sp.Needs) > 0 {
			sp.Else, err = b.emit(ctx, s, blk, columns)
		}
		if sp != nil || err != nil {
			return sp, err
		}
	}
	return b.emit(ctx, s, blk, columns)
}

// twoSteps collects what the core query hands up and turns the upper query's expressions to it.
type twoSteps struct {
	b     *binder
	s     *selectShape
	items []sql.Node // the core's select list
	names []string
	lost  bool // something can't be carried
	needs []plan.Col
}

// carry returns a mention of a core column that holds e, adding it unless it is there.
func (t *twoSteps) carry(e sql.Node) sql.Node {
	for i, item := range t.items {
		if sql.Equal(item, e) {
			return columnRef(t.names[i])
		}
	}
	name := "tarn_x" + itoa(len(t.items))
	c := e.Clone()
	c["alias"] = name
	t.items, t.names = append(t.items, c), append(t.names, name)
	return columnRef(name)
}

func columnRef(name string) sql.Node {
	return sql.Node{"class": "COLUMN_REF", "type": "COLUMN_REF", "alias": "", "column_names": []any{name}}
}

// rewrite returns e with every part that swap knows replaced, from the outside in. swap returns nil for what stays.
func rewrite(v any, swap func(sql.Node) sql.Node) any {
	switch x := v.(type) {
	case sql.Node:
		return rewrite(map[string]any(x), swap)
	case map[string]any:
		if r := swap(x); r != nil {
			r["alias"] = sql.Node(x).Str("alias")
			return map[string]any(r)
		}
		m := make(map[string]any, len(x))
		for _, k := range sql.Node(x).Keys() { // in order: swap gives out names
			m[k] = rewrite(x[k], swap)
		}
		return m
	case []any:
		l := make([]any, len(x))
		for i, e := range x {
			l[i] = rewrite(e, swap)
		}
		return l
	}
	return v
}

// upper builds the second query: the SELECT over the core's rows, its expressions rewritten by swap. Its columns keep
// the names that the block's have.
func (t *twoSteps) upper(blk *plan.Block, columns []plan.Column, swap func(sql.Node) sql.Node) (sql.Node, bool) {
	items, ok := t.s.expand()
	if !ok || len(items) != len(columns) {
		return nil, false
	}
	n := t.s.node.Clone()
	list := make([]any, len(items))
	for i, item := range items {
		named := item.Clone()
		named["alias"] = columns[i].Name
		list[i] = rewrite(named, swap)
	}
	n["select_list"] = list
	n["from_table"] = map[string]any(viewRef(blk.CoreName(), "", nil))
	n["where_clause"] = nil
	for _, key := range []string{"having", "qualify"} {
		if c := n.Child(key); c != nil {
			t.lost = t.lost || t.mixesAlias(c)
			n[key] = rewrite(map[string]any(c), swap)
		}
	}
	t.rewriteOrder(n, swap)
	groups := []any{}
	for _, g := range t.s.groups {
		groups = append(groups, rewrite(map[string]any(g), swap))
	}
	n["group_expressions"] = groups
	if t.s.node.Str("aggregate_handling") == "FORCE_AGGREGATES" { // GROUP BY ALL names no set
		n["aggregate_handling"], n["group_sets"] = "STANDARD_HANDLING", oneSet(len(groups))
	}
	return n, !t.lost
}

// mixesAlias says whether an expression has a bare name that is both a column and an alias of the select list: HAVING and
// QUALIFY take the alias first, where rewriting would take the column.
func (t *twoSteps) mixesAlias(e sql.Node) bool {
	found := false
	e.Walk(func(n sql.Node) bool {
		if n.Class() == "COLUMN_REF" && t.isAlias(n) {
			_, column := t.s.scope.local(n)
			found = found || column
		}
		return !found
	})
	return found
}

// rewriteOrder rewrites ORDER BY; positions and aliases, which come before columns there, stay.
func (t *twoSteps) rewriteOrder(n sql.Node, swap func(sql.Node) sql.Node) {
	for _, m := range n.List("modifiers") {
		for _, o := range m.List("orders") {
			e := o.Child("expression")
			if _, position := ordinal(e); position || e.Class() == "STAR" && isOrderByAll(m, e) || e.Class() == "COLUMN_REF" && t.isAlias(e) {
				continue
			}
			o["expression"] = rewrite(map[string]any(e), swap)
		}
	}
}

// core builds the first query over the block's own FROM and WHERE.
func (t *twoSteps) core(groups []any) sql.Node {
	if len(t.items) == 0 { // count(*) over emitted rows needs the rows, if no column
		t.carry(sql.Node{"class": "CONSTANT", "type": "VALUE_CONSTANT", "alias": "", "value": map[string]any{
			"type": map[string]any{"id": "INTEGER", "type_info": nil}, "is_null": false, "value": 1}})
	}
	n := bareSelect(t.items...)
	n["from_table"] = t.s.node["from_table"]
	n["where_clause"] = t.s.node["where_clause"]
	if len(groups) > 0 {
		n["group_expressions"], n["group_sets"] = groups, oneSet(len(groups))
	}
	return n
}

// oneSet is the grouping set of all n expressions; none when there are no expressions.
func oneSet(n int) []any {
	if n == 0 {
		return []any{}
	}
	set := make([]any, n)
	for i := range set {
		set[i] = i
	}
	return []any{set}
}

// finish writes both queries and has DuckDB bind the upper one over the core: a split whose names or types come out
// otherwise than the block's is none.
func (t *twoSteps) finish(ctx context.Context, blk *plan.Block, columns []plan.Column, core, upper sql.Node, partial bool) (*plan.Split, error) {
	coreText, err := t.b.text(ctx, core)
	if err != nil {
		return nil, err
	}
	upperText, err := t.b.text(ctx, upper)
	if err != nil {
		return nil, err
	}
	if err := t.b.engine.StubView(ctx, blk.CoreName(), coreText); err != nil {
		return nil, nil //nolint:nilerr // the block runs whole instead
	}
	got, err := t.b.engine.Describe(ctx, upperText)
	if err != nil || !slices.Equal(got, columns) {
		return nil, nil //nolint:nilerr // likewise
	}
	if partial {
		blk.Facts, err = t.b.facts(ctx, t, blk, coreText)
	}
	return &plan.Split{Core: coreText, Upper: upperText, Partial: partial, Needs: t.needs}, err
}

// emit hands up every column that the upper query mentions.
func (b *binder) emit(ctx context.Context, s *selectShape, blk *plan.Block, columns []plan.Column) (*plan.Split, error) {
	t := &twoSteps{b: b, s: s}
	upper, ok := t.upper(blk, columns, t.swapColumn)
	if !ok {
		return nil, nil
	}
	return t.finish(ctx, blk, columns, t.core(nil), upper, false)
}

// swapColumn carries columns of the block's own scope. A subquery that looks into this scope can't be moved up.
func (t *twoSteps) swapColumn(n sql.Node) sql.Node {
	switch n.Class() {
	case "COLUMN_REF":
		if _, ok := t.s.scope.local(n); ok {
			return t.carry(n)
		}
		t.lost = t.lost || !t.isAlias(n)
	case "SUBQUERY", "LAMBDA", "STAR":
		t.lost = true
	}
	return nil
}

// isAlias says whether a name is one of the select list's aliases, which the upper query has too.
func (t *twoSteps) isAlias(n sql.Node) bool {
	parts := n.Strs("column_names")
	for _, item := range t.s.node.List("select_list") {
		if len(parts) == 1 && strings.EqualFold(item.Str("alias"), parts[0]) {
			return true
		}
	}
	return false
}

// same says whether two expressions are one: alike, or two spellings of one column.
func (t *twoSteps) same(a, b sql.Node) bool {
	ca, ok := t.s.scope.column(a)
	cb, ok2 := t.s.scope.column(b)
	return ok && ok2 && ca == cb || sql.Equal(a, b)
}

// partial aggregates in the core by the same grouping and combines above. It returns nil when an aggregate isn't on the
// list of those that decompose exactly.
func (b *binder) partial(ctx context.Context, s *selectShape, blk *plan.Block, columns []plan.Column) (*plan.Split, error) {
	t := &twoSteps{b: b, s: s}
	groups := make([]any, len(s.groups))
	for i, g := range s.groups {
		if hasSubquery(g) {
			return nil, nil
		}
		c := g.Clone()
		c["alias"] = ""
		groups[i] = map[string]any(c)
		t.carry(c)
	}
	finals := map[string]sql.Node{}
	for _, call := range s.aggregateCalls(s.node) {
		final, err := b.decompose(ctx, t, call)
		if err != nil || final == nil {
			return nil, err
		}
		finals[key(call)] = final
	}
	upper, ok := t.upper(blk, columns, func(n sql.Node) sql.Node {
		if s.isAggregate(n) {
			return finals[key(n)].Clone()
		}
		for _, g := range s.groups {
			if t.same(g, n) {
				return t.carry(g)
			}
		}
		if n.Class() == "COLUMN_REF" || n.Class() == "SUBQUERY" || n.Class() == "LAMBDA" || n.Class() == "STAR" {
			t.lost = t.lost || !t.isAlias(n)
		}
		return nil
	})
	if !ok {
		return nil, nil
	}
	sp, err := t.finish(ctx, blk, columns, t.core(groups), upper, true)
	if sp != nil {
		sp.Short, err = t.short(ctx, blk, groups)
	}
	return sp, err
}
