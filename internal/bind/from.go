package bind

import (
	"context"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// cte is a WITH entry that is put in where it is mentioned, under the entries that it can see itself.
type cte struct {
	query   sql.Node
	aliases []string
	env     *cteEnv
	varies  bool // computed anew it might come out otherwise
}

// cteEnv is a chain of WITH entries, the innermost first. An entry without a cte is one that stays in the text.
type cteEnv struct {
	name string
	cte  *cte
	next *cteEnv
}

func (e *cteEnv) lookup(name string) (*cteEnv, bool) {
	for ; e != nil; e = e.next {
		if strings.EqualFold(e.name, name) {
			return e, true
		}
	}
	return nil, false
}

// bindFrom binds a FROM clause: it adds its sources to the scope and turns mentions of tables into mentions of views, in
// place. Semantics of each kind of join follow the relation's type; what has no place in plan is Opaque with the reason.
func (b *binder) bindFrom(ctx context.Context, n sql.Node, sc *scope, env *cteEnv) (plan.Rel, error) {
	switch n.Type() {
	case "EMPTY":
		return nil, nil
	case "BASE_TABLE":
		return b.bindTable(ctx, n, sc, env)
	case "SUBQUERY":
		return b.bindDerived(ctx, n, n.Child("subquery").Child("node"), n.Strs("column_name_alias"), sc, env)
	case "JOIN":
		return b.bindJoin(ctx, n, sc, env)
	case "TABLE_FUNCTION":
		return b.bindTableFunction(ctx, n, sc, env)
	}
	return b.opaque(ctx, n, sc, env, strings.ToLower(n.Type())+" isn't a table")
}

// opaque leaves a part of FROM to DuckDB, with the tables inside bound.
func (b *binder) opaque(ctx context.Context, n sql.Node, sc *scope, env *cteEnv, why string) (plan.Rel, error) {
	sc.sources = append(sc.sources, &source{alias: n.Str("alias"), unknown: true})
	rel := &plan.Opaque{Why: why}
	err := b.bindInside(ctx, n, sc, env, rel)
	return rel, err
}

// bindInside binds the queries and tables anywhere below n, for their views only.
func (b *binder) bindInside(ctx context.Context, n sql.Node, sc *scope, env *cteEnv, rel *plan.Opaque) error {
	var failed error
	looksAround := sc != nil && (n.Type() == "TABLE_FUNCTION" || n.Type() == "EXPRESSION_LIST")
	isTop := true
	n.Walk(func(c sql.Node) bool {
		if failed != nil {
			return false
		}
		wasTop := isTop
		isTop = false
		switch c.Type() {
		case "TABLE_FUNCTION":
			if wasTop {
				return true
			}
			var r plan.Rel
			if r, failed = b.bindTableFunction(ctx, c, &scope{}, env); failed == nil {
				rel.Inputs = append(rel.Inputs, present(r)...)
			}
			return false
		case "SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE":
			var q *bound
			if q, failed = b.bindQuery(ctx, c, sc, env); failed == nil {
				sc.lose(q)
				rel.Inputs = append(rel.Inputs, present(q.rel)...)
			}
			return false
		case "COLUMN_REF":
			if looksAround { // unnest(t.list)
				failed = b.bindName(ctx, sc, c)
			}
		case "BASE_TABLE":
			var r plan.Rel
			own := &scope{}
			if r, failed = b.bindTable(ctx, c, own, env); failed == nil {
				sc.lose(&bound{unresolved: own.lost})
				rel.Inputs = append(rel.Inputs, present(r)...)
			}
			return false
		}
		return true
	})
	return failed
}

// bindTable binds the mention of a CTE or of a table.
func (b *binder) bindTable(ctx context.Context, n sql.Node, sc *scope, env *cteEnv) (plan.Rel, error) {
	name, at := n.Str("table_name"), n.Child("at_clause")
	parts := b.tableParts(n)
	if len(parts) == 1 {
		e, isEntry := env.lookup(name)
		isFile := readerOf(name) != noReader
		switch {
		case (isEntry || isFile) && at != nil:
			return nil, errs.New(errs.Invalid, "bind", name, "it is no table and has no versions")
		case isEntry:
			return b.bindCTE(ctx, n, e, sc)
		case isFile:
			return b.bindFile(ctx, n, sc, env)
		}
	}
	v, err := b.version(ctx, at)
	if err != nil {
		return nil, errs.Wrap(errs.Internal, "find the version of", strings.Join(parts, "."), err)
	}
	t, err := b.load(strings.Join(parts, "\x00")+"\x00"+v.Key(), func() (*catalog.Table, error) {
		if len(parts) == 1 && strings.ContainsAny(name, "/\\") {
			return b.resolver.ResolvePath(ctx, name, v)
		}
		return b.resolver.Resolve(ctx, parts, v)
	})
	if err != nil {
		return nil, err
	}
	return b.bindScan(n, t, parts, sc)
}

// bindScan turns n into a mention of the table's view.
func (b *binder) bindScan(n sql.Node, t *catalog.Table, parts []string, sc *scope) (plan.Rel, error) {
	if n.Child("sample") != nil {
		return nil, errs.New(errs.Unsupported, "bind", t.Ident.String(), "TABLESAMPLE isn't supported on a table").
			WithHint("sample a subquery: (SELECT * FROM t) USING SAMPLE ...")
	}
	alias, qualifier := n.Str("alias"), []string(nil)
	if alias == "" {
		alias, qualifier = parts[len(parts)-1], parts[:len(parts)-1]
	}
	src := &source{alias: alias, qualifier: qualifier}
	s, err := b.scan(t, src)
	if err != nil {
		return nil, err
	}
	renamed := n.Strs("column_name_alias")
	for i := range min(len(renamed), len(src.visible())) {
		src.columns[i].name, src.columns[i].as = renamed[i], renamed[i]
	}
	sc.sources = append(sc.sources, src)
	become(n, viewRef(s.ViewName(), alias, renamed))
	return &plan.ScanRel{Scan: s}, nil
}

// viewRef returns the mention of a view under an alias.
func viewRef(view, alias string, columns []string) sql.Node {
	names := make([]any, len(columns))
	for i, c := range columns {
		names[i] = c
	}
	return sql.Node{
		"type": "BASE_TABLE", "alias": alias, "sample": nil, "schema_name": "", "catalog_name": "", "table_name": view,
		"column_name_alias": names, "at_clause": nil,
	}
}

// tableParts returns the parts of a table's name.
func (b *binder) tableParts(n sql.Node) []string {
	if parts, ok := b.longNames[n.Str("table_name")]; ok {
		return parts
	}
	var parts []string
	for _, k := range []string{"catalog_name", "schema_name", "table_name"} {
		if s := n.Str(k); s != "" {
			parts = append(parts, s)
		}
	}
	return parts
}

// spelled puts the names of tables back into a text in which others stand for them.
func (b *binder) spelled(text string) string {
	for name, parts := range b.longNames {
		text = strings.ReplaceAll(text, name, catalog.Ident(parts).String())
	}
	return text
}

// bindCTE puts a CTE's query in the place of its mention. Each mention is a derived table of its own, which is right as
// long as all come out the same: whoever made the entry has seen to that.
func (b *binder) bindCTE(ctx context.Context, n sql.Node, e *cteEnv, sc *scope) (plan.Rel, error) {
	alias := n.Str("alias")
	if alias == "" {
		alias = n.Str("table_name")
	}
	if e.cte == nil {
		sc.sources = append(sc.sources, &source{alias: alias, unknown: true})
		rel := &plan.Opaque{Why: "WITH " + e.name + " is computed once for all of its mentions"}
		sc.lost = rel.Why // a view couldn't see it
		return rel, nil
	}
	columns := n.Strs("column_name_alias")
	if len(columns) == 0 {
		columns = e.cte.aliases
	}
	become(n, derivedTable(e.cte.query.Clone(), alias, columns, n["sample"]))
	return b.bindDerived(ctx, n, n.Child("subquery").Child("node"), columns, sc, e.cte.env)
}

func anys(in []string) []any {
	out := make([]any, len(in))
	for i, s := range in {
		out[i] = s
	}
	return out
}

// bindTableFunction binds iceberg('path'); the other table functions that allow lets through are DuckDB's own.
func (b *binder) bindTableFunction(ctx context.Context, n sql.Node, sc *scope, env *cteEnv) (plan.Rel, error) {
	f := n.Child("function")
	if strings.EqualFold(f.Str("function_name"), "iceberg") {
		args := f.List("children")
		if len(args) != 1 || args[0].Type() != "VALUE_CONSTANT" {
			return nil, errs.New(errs.Syntax, "bind", "iceberg()", "it takes one string: the path of a table folder or a metadata file")
		}
		path := args[0].Child("value").Str("value")
		t, err := b.load("\x00"+path, func() (*catalog.Table, error) {
			return b.resolver.ResolvePath(ctx, path, catalog.Version{})
		})
		if err != nil {
			return nil, err
		}
		return b.bindScan(n, t, []string{"iceberg"}, sc)
	}
	name := f.Str("function_name")
	rel, err := b.opaque(ctx, n, sc, env, name+"() has no layout")
	if err == nil {
		err = b.bindFileFunction(ctx, n, name)
	}
	return rel, err
}
