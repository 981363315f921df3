package plantest

import (
	"context"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/catalog/testcat"
	"github.com/tarndb/tarn/internal/bind"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/explain"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/internal/stub"
	"github.com/tarndb/tarn/internal/task"
)

// Tables are what a Planner plans over.
type Tables interface {
	catalog.Catalog
	catalog.Surveyor
}

// Planner plans queries over a catalog, which tests may add to.
type Planner struct {
	Catalog *testcat.Catalog // nil when the tables are others
	tables  Tables
	db      *duck.DB
}

// Options steer the stages. The zero value is: tarn.spj = 'auto', no table read everywhere, one group per pack.
type Options struct {
	SPJ            spj.Mode
	Exchange       spj.Exchange
	BroadcastBytes int64
	Task           task.Options
}

func (o Options) spj() spj.Options {
	return spj.Options{Mode: o.SPJ, Exchange: o.Exchange, BroadcastBytes: o.BroadcastBytes, Workers: o.Task.Workers, MemoryBytes: o.Task.MemoryBytes}
}

// Planned is a query with what each stage made of it.
type Planned struct {
	Query    *plan.Query
	Layouts  map[*plan.Scan]*catalog.TableLayout
	Physical *spj.Physical
	Graph    *task.Graph
	Report   *explain.Report
	Tree     sql.Node // the query as it was parsed
}

// New returns a planner over the tables of a testcat text, closed when the test ends.
func New(t testing.TB, tables string) *Planner {
	t.Helper()
	c, err := testcat.New(tables)
	if err != nil {
		t.Fatal(err)
	}
	p := Over(t, c)
	p.Catalog = c
	return p
}

// Over returns a planner over any tables, closed when the test ends.
func Over(t testing.TB, tables Tables) *Planner {
	t.Helper()
	db, err := duck.Open(t.Context(), duck.Options{Threads: 1, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Planner{tables: tables, db: db}
}

// Plan plans the text of a query.
func (p *Planner) Plan(ctx context.Context, query string, opts Options) (*Planned, error) {
	parsed, err := sql.Parse(query)
	if err != nil {
		return nil, err
	}
	q, ok := parsed.(sql.Query)
	if !ok {
		return nil, errs.New(errs.Unsupported, "plan", "statement", "only queries have a plan")
	}
	conn, err := p.db.Connect()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	out := &Planned{Layouts: map[*plan.Scan]*catalog.TableLayout{}}
	if out.Tree, err = tree(ctx, conn, q.Text); err != nil {
		return nil, err
	}
	if out.Query, err = bind.Bind(ctx, stub.Engine{Conn: conn, Moment: &stub.Moment{}}, resolver{p.tables}, q); err != nil {
		return nil, err
	}
	return out, p.decide(ctx, out, opts)
}

func tree(ctx context.Context, conn *duck.Conn, text string) (sql.Node, error) {
	ast, err := conn.SerializeSQL(ctx, text)
	if err != nil {
		return nil, err
	}
	t, err := sql.DecodeTree(ast)
	if err != nil {
		return nil, err
	}
	return t.Root(), nil
}

// decide does what comes after binding.
func (p *Planner) decide(ctx context.Context, out *Planned, opts Options) error {
	var err error
	sums := spj.Wanted(out.Query, opts.spj())
	for _, s := range out.Query.Scans {
		if columns, wanted := sums[s]; wanted {
			out.Layouts[s], err = p.tables.SurveySums(ctx, s.Table, s.Filter, columns)
		} else {
			out.Layouts[s], err = p.tables.Survey(ctx, s.Table, s.Filter)
		}
		if err != nil {
			return err
		}
	}
	again, err := out.Again(ctx, opts)
	if err == nil {
		*out = *again
	}
	return err
}

// Again plans from the same bound query and the same surveys.
func (p *Planned) Again(ctx context.Context, opts Options) (*Planned, error) {
	out := &Planned{Query: p.Query, Layouts: p.Layouts, Tree: p.Tree}
	var err error
	if out.Physical, err = spj.Plan(out.Query, out.Layouts, opts.spj()); err != nil {
		return nil, err
	}
	if out.Graph, err = task.Build(ctx, out.Physical, out.Layouts, opts.Task); err != nil {
		return nil, err
	}
	out.Report = explain.New(out.Physical, out.Layouts, out.Graph)
	return out, nil
}

// MustPlan is Plan for queries that a test knows to be right.
func (p *Planner) MustPlan(t testing.TB, query string, opts Options) *Planned {
	t.Helper()
	out, err := p.Plan(t.Context(), query, opts)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return out
}

// resolver finds the tables of a catalog; no table has a path.
type resolver struct{ Tables }

func (r resolver) Resolve(ctx context.Context, parts []string, v catalog.Version) (*catalog.Table, error) {
	return r.LoadTable(ctx, parts, v)
}

func (r resolver) ResolvePath(_ context.Context, path string, _ catalog.Version) (*catalog.Table, error) {
	return nil, errs.New(errs.NotFound, "open table", path, "test tables have no path")
}
