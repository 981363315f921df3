package bind

import (
	"context"
	"strings"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// bound is what binding a query node finds out.
type bound struct {
	scope      *scope   // of a SELECT
	rel        plan.Rel // FROM and the semi-joins of WHERE; of set operations an Opaque with the inputs
	union      []*plan.Block
	correlated bool
	unresolved string // why not all of its names could be placed; "" when they could
	whole      string // why the query can't be run in parts; "" when nothing here stands against it
}

// reservedPrefix starts the names of the views and columns that texts mention.
const reservedPrefix = "tarn_"

// bindQuery binds a query node in place. outer is the scope that it may be correlated with.
func (b *binder) bindQuery(ctx context.Context, n sql.Node, outer *scope, env *cteEnv) (*bound, error) {
	env, kept, err := b.bindWith(ctx, n, outer, env)
	if err != nil {
		return nil, err
	}
	var q *bound
	switch n.Type() {
	case "SELECT_NODE":
		q, err = b.bindSelect(ctx, n, outer, env)
	case "SET_OPERATION_NODE":
		q, err = b.bindSetOperation(ctx, n, outer, env)
	default:
		rel := &plan.Opaque{Why: "a recursive query is run whole"}
		for _, key := range []string{"left", "right", "query", "child"} {
			if c := n.Child(key); c != nil && err == nil {
				err = b.bindInside(ctx, c, outer, &cteEnv{name: n.Str("cte_name"), next: env}, rel)
			}
		}
		q = &bound{rel: rel, whole: rel.Why, unresolved: rel.Why}
	}
	if err != nil {
		return nil, err
	}
	if kept != "" {
		q.whole, q.unresolved = kept, kept
	}
	return q, nil
}

// bindWith takes a query's WITH entries out of the text, to be put in where they are mentioned. Entries whose mentions
// must share one computation stay: recursive and volatile ones, and those that are mentioned more than once and whose rows
// depend on the order in which rows happen to come; kept says why. MATERIALIZED is advice about speed, which the parse tree
// doesn't keep.
func (b *binder) bindWith(ctx context.Context, n sql.Node, outer *scope, env *cteEnv) (*cteEnv, string, error) {
	entries := n.Child("cte_map").List("map")
	if len(entries) == 0 {
		return env, "", nil
	}
	kept := ""
	var stay []any
	for _, e := range entries {
		name, v := e.Str("key"), e.Child("value")
		if strings.HasPrefix(strings.ToLower(name), reservedPrefix) {
			return nil, "", errs.New(errs.Unsupported, "bind", "WITH "+name, "names that start with %s are the engine's own", reservedPrefix)
		}
		query := v.Child("query").Child("node")
		why := isVolatile(query)
		switch {
		case query.Type() == "RECURSIVE_CTE_NODE":
			why = "WITH RECURSIVE " + name + " is computed whole"
		case why == "" && b.mentions[strings.ToLower(name)] > 1 && b.mayVary(query, env):
			why = "WITH " + name + " is mentioned more than once, and computed anew it might come out otherwise"
		}
		if why == "" {
			env = &cteEnv{name: name, cte: &cte{query, v.Strs("aliases"), env, b.mayVary(query, env)}, next: env}
			continue
		}
		own := env
		if query.Type() == "RECURSIVE_CTE_NODE" {
			own = &cteEnv{name: name, next: env}
		}
		if _, err := b.bindQuery(ctx, query, outer, own); err != nil {
			return nil, "", err
		}
		env = &cteEnv{name: name, next: env}
		stay, kept = append(stay, map[string]any(e)), why
	}
	if stay == nil {
		stay = []any{}
	}
	n["cte_map"] = map[string]any{"map": stay}
	return env, kept, nil
}

// subqueryReason is why a block with a subquery that isn't a semi-join runs whole.
const subqueryReason = "a subquery that isn't a plain EXISTS or IN conjunct of WHERE needs rows of all groups"

// settled are the aggregates whose value doesn't depend on the order of rows, for every type.
var settled = map[string]bool{
	"count": true, "count_star": true, "min": true, "max": true, "bool_and": true, "bool_or": true,
}

// mayVary says whether computing a query twice may give different rows: which rows a LIMIT takes among equals, which a
// window numbers first, what list() or a sum of floats makes of another order. With it,
// WITH x AS (SELECT k, s FROM t ORDER BY s LIMIT 10) SELECT count(*) FROM x a JOIN x b USING (k) might not be 10.
func (b *binder) mayVary(query sql.Node, env *cteEnv) bool {
	varies := false
	query.Walk(func(n sql.Node) bool {
		name := strings.ToLower(n.Str("function_name"))
		switch {
		case hasLimit(n), n.Class() == "WINDOW", n.Type() == "DISTINCT_MODIFIER" && len(n.List("distinct_on_targets")) > 0,
			n.Class() == "FUNCTION" && b.aggregates[name] && !settled[name]:
			varies = true
		case n.Type() == "BASE_TABLE" && n.Str("schema_name") == "":
			e, ok := env.lookup(n.Str("table_name"))
			varies = ok && e.cte != nil && e.cte.varies
		}
		return !varies
	})
	return varies
}

// bindSelect binds FROM, then every expression.
func (b *binder) bindSelect(ctx context.Context, n sql.Node, outer *scope, env *cteEnv) (*bound, error) {
	if err := b.nameSubqueries(ctx, n); err != nil {
		return nil, err
	}
	sc := &scope{outer: outer, aliases: map[string]bool{}}
	for _, item := range n.List("select_list") {
		if a := item.Str("alias"); a != "" {
			sc.aliases[strings.ToLower(a)] = true
		}
	}
	rel, err := b.bindFrom(ctx, n.Child("from_table"), sc, env)
	if err != nil {
		return nil, err
	}
	q := &bound{scope: sc, rel: rel}
	var exprs []sql.Node
	for _, key := range []string{"select_list", "group_expressions"} {
		exprs = append(exprs, n.List(key)...)
	}
	exprs = append(exprs, n.Child("having"), n.Child("qualify"))
	exprs = append(exprs, n.List("modifiers")...)
	first := len(b.query.Scans)
	if err := b.bindExprs(ctx, sc, env, exprs...); err != nil {
		return nil, err
	}
	if inside := b.query.Scans[first:]; len(inside) > 0 {
		whole := &plan.Opaque{Why: subqueryReason, Inputs: present(q.rel)}
		for _, s := range inside {
			whole.Inputs = append(whole.Inputs, &plan.ScanRel{Scan: s})
		}
		q.rel = whole
	}
	if err := b.bindWhere(ctx, q, n.Child("where_clause"), env); err != nil {
		return nil, err
	}
	if q.unresolved = unresolvedName(sc, n); q.unresolved == "" {
		q.unresolved = sc.lost
	}
	q.correlated = sc.correlated
	q.whole = wholeReason(n)
	if sc.subquery && q.whole == "" { // its tables are no part of FROM, so that no pack would have their rows
		q.whole = subqueryReason
	}
	return q, nil
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
		item["alias"] = strings.TrimPrefix(text, "SELECT ")
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

// lose notes that a query whose text stays inside the block's has a name that can't be placed, or that only the WITH clause
// around can tell: then the block's text can't become a view either. A recursive query has no scope of its own.
func (sc *scope) lose(inner *bound) {
	if sc != nil && sc.lost == "" {
		sc.lost = inner.unresolved
	}
}

// bindName shortens a long name, notes correlation, and folds a clock reading that no column hides.
func (b *binder) bindName(ctx context.Context, sc *scope, n sql.Node) error {
	if sc.places(n) {
		return nil
	}
	if parts := n.Strs("column_names"); len(parts) == 1 && bareClocks[strings.ToLower(parts[0])] {
		return b.fold(ctx, n, strings.ToLower(parts[0]))
	}
	return nil
}

// unresolvedName returns why a SELECT's names aren't all known: a name that is neither a column of its own or an outer
// scope nor an alias of its select list. In ORDER BY the name of a bare output column will do too.
func unresolvedName(sc *scope, n sql.Node) string {
	aliases, outputs := map[string]bool{}, map[string]bool{}
	for _, item := range n.List("select_list") {
		aliases[strings.ToLower(item.Str("alias"))] = true
		if parts := item.Strs("column_names"); item.Class() == "COLUMN_REF" {
			outputs[strings.ToLower(parts[len(parts)-1])] = true
		}
	}
	bad := ""
	check := func(known ...map[string]bool) func(sql.Node) bool {
		return func(c sql.Node) bool {
			if c.Class() == "SUBQUERY" || c.Class() == "LAMBDA" || bad != "" {
				return false // a subquery's names were seen to in its own scope; correlation is noted there
			}
			if c.Class() != "COLUMN_REF" {
				return true
			}
			if !sc.places(c) && !isKnown(c.Strs("column_names"), known) {
				bad = "the name " + strings.Join(c.Strs("column_names"), ".") + " can't be placed"
			}
			return true
		}
	}
	for _, key := range []string{"select_list", "group_expressions"} {
		for _, e := range n.List(key) {
			e.Walk(check(aliases))
		}
	}
	for _, m := range n.List("modifiers") {
		m.Walk(check(aliases, outputs))
	}
	for _, key := range []string{"where_clause", "having", "qualify"} {
		n.Child(key).Walk(check(aliases))
	}
	return bad
}

func isKnown(parts []string, known []map[string]bool) bool {
	for _, k := range known {
		if len(parts) == 1 && k[strings.ToLower(parts[0])] {
			return true
		}
	}
	return false
}

// wholeReason returns what in a SELECT's own text keeps it from being run in parts.
func wholeReason(n sql.Node) string {
	own := n.Clone()
	own["from_table"] = nodes(conditions(n.Child("from_table"))) // blocks answer for themselves
	if why := isVolatile(own); why != "" {
		return why
	}
	if len(groupSets(n)) > 1 {
		return "GROUPING SETS need rows of all groups"
	}
	for _, m := range n.List("modifiers") {
		if m.Type() == "LIMIT_PERCENT_MODIFIER" {
			return "LIMIT in percent needs the number of all rows"
		}
		if m.Type() == "DISTINCT_MODIFIER" && len(m.List("distinct_on_targets")) > 0 {
			return "DISTINCT ON picks rows by their order"
		}
	}
	return ""
}

// conditions returns the ON conditions of a FROM clause's joins.
func conditions(from sql.Node) []sql.Node {
	if from.Type() != "JOIN" {
		return nil
	}
	out := append(conditions(from.Child("left")), conditions(from.Child("right"))...)
	if c := from.Child("condition"); c != nil {
		out = append(out, c)
	}
	return out
}

func groupSets(n sql.Node) []any {
	sets, _ := n["group_sets"].([]any)
	return sets
}

// bindSetOperation puts each side into a block of its own.
func (b *binder) bindSetOperation(ctx context.Context, n sql.Node, outer *scope, env *cteEnv) (*bound, error) {
	q := &bound{}
	rel := &plan.Opaque{Why: "a set operation compares rows of all groups"}
	all := n.Str("setop_type") == "UNION" && n.Bool("setop_all")
	for _, side := range []string{"left", "right"} {
		c := n.Child(side)
		bq, err := b.bindQuery(ctx, c, outer, env)
		if err != nil {
			return nil, err
		}
		if bq.unresolved != "" || bq.correlated {
			q.correlated = q.correlated || bq.correlated
			if q.unresolved == "" {
				q.unresolved = bq.unresolved
			}
			if bq.rel != nil {
				rel.Inputs = append(rel.Inputs, bq.rel)
			}
			all = false
			continue
		}
		blk, err := b.block(ctx, c, bq)
		if err != nil {
			return nil, err
		}
		view, err := b.selectAll(ctx, blk.ViewName())
		if err != nil {
			return nil, err
		}
		become(c, view)
		q.union = append(q.union, blk)
		rel.Inputs = append(rel.Inputs, &plan.BlockRel{Source: b.nextSource(), Block: blk})
	}
	q.rel = rel
	if !all {
		q.union, q.whole = nil, rel.Why
	}
	return q, nil
}

// selectAll returns SELECT * FROM view.
func (b *binder) selectAll(ctx context.Context, view string) (sql.Node, error) {
	n, err := b.parse(ctx, "SELECT * FROM "+view)
	return n, err
}
