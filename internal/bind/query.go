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
	usage      *usage // of a SELECT
	correlated bool
	unresolved string   // why not all of its names could be placed; "" when they could
	whole      string   // why the query can't be run in parts; "" when nothing here stands against it
	names      []string // of a set operation, its columns' names when DuckDB gives others; nil when it doesn't
	labels     []string // of a set operation whose first side is behind a view, that side's names: a view has none of them twice
}

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
	kept, stay := "", []any{}
	for _, e := range entries {
		name, v := e.Str("key"), e.Child("value")
		if plan.IsOwn(name) {
			return nil, "", errs.New(errs.Unsupported, "bind", "WITH "+name, "names that start with %s are the engine's own", plan.Prefix)
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
		if err := b.refuseCased(query, "WITH "+name); err != nil {
			return nil, "", err
		}
		env = &cteEnv{name: name, next: env}
		stay, kept = append(stay, map[string]any(e)), why
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

// lose notes that a query whose text stays inside the block's has a name that can't be placed, or that only the WITH clause
// around can tell: then the block's text can't become a view either. A recursive query has no scope of its own.
func (sc *scope) lose(inner *bound) {
	if sc != nil && sc.lost == "" {
		sc.lost = inner.unresolved
	}
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
			if !isKnown(c.Strs("column_names"), known) && !sc.places(c) {
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
