package bind

import (
	"context"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// binder carries one statement's state through the recursion; it isn't kept.
type binder struct {
	engine     Engine
	resolver   Resolver
	query      *plan.Query
	sources    plan.SourceID
	names      nameUse
	loaded     map[string]*catalog.Table
	scanOf     map[plan.SourceID]*plan.Scan
	unread     map[*plan.Scan]*source // scans whose stubs aren't made yet
	blockOf    map[plan.SourceID]*plan.Block
	rankings   map[*plan.Block]*ranking
	usages     map[*plan.Block]*usage
	conditions []condition
	shown      map[string]string   // the engine's own names of columns and functions -> those that people know
	wrapped    bool                // see Wrapped
	places     bool                // see sql.Query
	cased      bool                // a table has columns whose names differ only in case
	alike      [2]string           // expressions of one GROUP BY that do; "" when there are none
	exprs      map[string]sql.Node // parsed templates
	folded     map[string]sql.Node // the values of clock readings

	longNames  map[string][]string // of sql.Query
	aggregates map[string]bool
	args       []any
	used       int            // the highest number of a parameter
	mentions   map[string]int // how often bare names stand for tables
}

// Bind binds a query; args are the values of its parameters, in order. Every table is loaded once, so that all its
// mentions see one version.
func Bind(ctx context.Context, engine Engine, resolver Resolver, q sql.Query, args ...any) (*plan.Query, error) {
	return newBinder(engine, resolver, q, args).bind(ctx, q.Text)
}

// Wrapped is Bind of a query that was bound by itself and has text of the engine's own around it now, which may call functions that
// statements may not.
func Wrapped(ctx context.Context, engine Engine, resolver Resolver, q sql.Query, args ...any) (*plan.Query, error) {
	b := newBinder(engine, resolver, q, args)
	b.wrapped = true
	return b.bind(ctx, q.Text)
}

func newBinder(engine Engine, resolver Resolver, q sql.Query, args []any) *binder {
	b := &binder{
		engine: engine, resolver: resolver, args: args, query: &plan.Query{}, longNames: q.Names, places: q.Places,
		loaded: map[string]*catalog.Table{}, scanOf: map[plan.SourceID]*plan.Scan{},
		unread: map[*plan.Scan]*source{}, shown: map[string]string{}, rankings: map[*plan.Block]*ranking{}, usages: map[*plan.Block]*usage{},
		blockOf: map[plan.SourceID]*plan.Block{}, exprs: map[string]sql.Node{}, folded: map[string]sql.Node{},
	}
	b.query.Shown = b.shown
	return b
}

func (b *binder) bind(ctx context.Context, text string) (out *plan.Query, err error) {
	defer func() { err = errs.Reword(err, b.query.ForPeople) }()
	root, err := b.parse(ctx, text)
	if err != nil {
		return nil, err
	}
	b.alike[0], b.alike[1] = sql.GroupsAlike(text)
	if b.aggregates, err = b.engine.Aggregates(ctx); err != nil {
		return nil, err
	}
	if err := b.prepare(ctx, root); err != nil {
		return nil, err
	}
	if b.used != len(b.args) {
		return nil, errs.New(errs.Invalid, "bind", "arguments", "there are %d for %d parameters", len(b.args), b.used)
	}
	b.names, b.mentions, b.query.Avoid = b.collectNames(root), countMentions(root), avoid(root)
	bound, err := b.bindQuery(ctx, root, nil, nil)
	if err != nil {
		return nil, err
	}
	if b.query.SQL, err = b.text(ctx, root); err != nil {
		return nil, err
	}
	if b.query.Output, err = b.engine.Describe(ctx, b.query.SQL); err != nil {
		return nil, err
	}
	if b.query.Root, err = b.rootBlock(ctx, root, bound); err == nil {
		for i, label := range bound.labels {
			b.query.Output[i].Name = label
		}
	}
	b.transferFilters()
	if err == nil {
		err = b.writeConditions(ctx)
	}
	if err == nil {
		err = b.reduce(ctx)
	}
	return b.query, err
}

// parse returns the tree of a query's text.
func (b *binder) parse(ctx context.Context, text string) (sql.Node, error) {
	ast, err := b.engine.SerializeSQL(ctx, text)
	if err != nil {
		return nil, err
	}
	tree, err := sql.DecodeTree(ast)
	if err != nil {
		return nil, errs.Wrap(errs.Unsupported, "parse", "the statement, which must be exactly one query", err)
	}
	return tree.Root(), nil
}

// text returns a query node's SQL.
func (b *binder) text(ctx context.Context, query sql.Node) (string, error) {
	ast, err := sql.Encode(query)
	if err != nil {
		return "", errs.Wrap(errs.Internal, "render", "query", err)
	}
	return b.engine.DeserializeSQL(ctx, ast)
}

// template returns a fresh copy of a parsed expression.
func (b *binder) template(ctx context.Context, expr string) (sql.Node, error) {
	if n, ok := b.exprs[expr]; ok {
		return n.Clone(), nil
	}
	root, err := b.parse(ctx, "SELECT "+expr)
	if err != nil {
		return nil, err
	}
	n := root.List("select_list")[0]
	b.exprs[expr] = n
	return n.Clone(), nil
}

func (b *binder) nextSource() plan.SourceID {
	id := b.sources
	b.sources++
	return id
}

// load pins a table once per statement.
func (b *binder) load(key string, get func() (*catalog.Table, error)) (*catalog.Table, error) {
	if t, ok := b.loaded[key]; ok {
		return t, nil
	}
	t, err := get()
	if err == nil {
		b.loaded[key] = t
	}
	return t, err
}

// nameUse is which column names a statement may use: all of them when it has a star, else the names that stand in it.
// It may say too many, never too few.
type nameUse struct {
	all   bool
	names map[string]bool
	using map[string]bool // those of USING, as they are spelled
}

func (u nameUse) uses(name string) bool { return u.all || u.names[strings.ToLower(name)] }

func (b *binder) collectNames(root sql.Node) nameUse {
	u := nameUse{names: map[string]bool{}, using: map[string]bool{}}
	relations := b.relationNames(root)
	root.Walk(func(n sql.Node) bool {
		switch {
		case n.Class() == "STAR", n.Str("ref_type") == "NATURAL", len(n.Strs("column_name_alias")) > 0:
			u.all = true
		case n.Class() == "COLUMN_REF":
			parts := n.Strs("column_names")
			for _, p := range parts {
				u.names[strings.ToLower(p)] = true
			}
			if relations[strings.ToLower(parts[len(parts)-1])] { // a whole row: SELECT o FROM orders o
				u.all = true
			}
		}
		if n.Type() == "SET_OPERATION_NODE" && n.Bool("setop_by_name") || n.Str("setop_type") == "UNION_BY_NAME" {
			u.all = true
		}
		for _, k := range n.Strs("using_columns") {
			u.names[strings.ToLower(k)], u.using[k] = true, true
		}
		return true
	})
	return u
}

// relationNames returns the names of all tables, derived tables and WITH entries, and their aliases, in lower case.
func (b *binder) relationNames(root sql.Node) map[string]bool {
	names := map[string]bool{}
	root.Walk(func(n sql.Node) bool {
		for _, key := range []string{"table_name", "key"} {
			name := n.Str(key)
			if parts := b.longNames[name]; parts != nil {
				name = parts[len(parts)-1]
			}
			if name != "" {
				names[strings.ToLower(name)] = true
			}
		}
		if alias := n.Str("alias"); alias != "" && n.Class() == "" {
			names[strings.ToLower(alias)] = true
		}
		return true
	})
	return names
}

// countMentions counts the bare names that stand for tables or WITH entries, in lower case.
func countMentions(root sql.Node) map[string]int {
	count := map[string]int{}
	root.Walk(func(n sql.Node) bool {
		if n.Type() == "BASE_TABLE" && n.Str("schema_name") == "" {
			count[strings.ToLower(n.Str("table_name"))]++
		}
		return true
	})
	return count
}
