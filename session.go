package tarn

import (
	"context"
	"maps"
	"runtime/debug"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/bind"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/dynamic"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/exec"
	"github.com/tarndb/tarn/internal/explain"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/internal/settings"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/internal/stub"
	"github.com/tarndb/tarn/internal/task"
)

// Session runs statements with its own settings. One goroutine uses it at a time.
type Session struct {
	engine   *Engine
	settings *settings.Set
	progress func(done, total int)
	moment   *stub.Moment // of the statement that runs
}

// Session starts a session with the engine's default settings.
func (e *Engine) Session() *Session { return &Session{engine: e, settings: e.settings.Clone()} }

// OnProgress sets a function that is told how many packs of a running statement are done. It is called from several
// goroutines.
func (s *Session) OnProgress(f func(done, total int)) { s.progress = f }

// Split cuts a script into its statements.
func (s *Session) Split(script string) ([]string, error) { return sql.Split(script) }

// Query runs one statement; args are the values of its parameters, written ? or $1. The rows must be closed; a statement
// without rows gives Rows without columns. ctx bounds the statement to its last row.
func (s *Session) Query(ctx context.Context, stmt string, args ...any) (rows *Rows, err error) {
	defer guard(stmt, &err)
	s.begin()
	parsed, err := sql.Parse(stmt)
	if err != nil {
		return nil, err
	}
	switch st := parsed.(type) {
	case sql.Query:
		return s.query(ctx, st, args)
	case sql.Explain:
		return s.explain(ctx, st, args)
	case sql.Insert:
		return s.insert(ctx, st, args)
	case sql.CreateTable:
		if st.As != nil {
			return s.createAs(ctx, st, args)
		}
	case sql.ChangeRows:
		return s.changeRows(ctx, st, args)
	}
	if len(args) > 0 {
		return nil, errs.New(errs.Invalid, "run", "statement", "there are %d arguments, and only queries and statements that insert or change rows have parameters", len(args))
	}
	switch st := parsed.(type) {
	case sql.Set:
		notice, err := s.settings.Set(st.Name, st.Value)
		s.engine.notice(notice)
		return noRows(), err
	case sql.Reset:
		if st.Name == "" {
			s.settings.ResetAll()
			return noRows(), nil
		}
		return noRows(), s.settings.Reset(st.Name)
	case sql.ShowSettings:
		return settingsRows(s.settings), nil
	case sql.Call:
		return s.call(ctx, st)
	}
	if rows, ok, err := s.engine.show(ctx, parsed); ok {
		return rows, err
	}
	if rows, ok, err := s.engine.define(ctx, parsed); ok {
		return rows, err
	}
	return nil, errs.New(errs.Internal, "run", "statement", "no way to run a %T", parsed)
}

// Exec runs one statement to its end, throws its rows away and returns its counters.
func (s *Session) Exec(ctx context.Context, stmt string, args ...any) (Counters, error) {
	rows, err := s.Query(ctx, stmt, args...)
	if err != nil {
		return Counters{}, err
	}
	defer rows.Close()
	err = drain(ctx, rows)
	return rows.Counters(), err
}

// ExplainOptions steer Explain.
type ExplainOptions struct {
	Analyze bool // run the query and add what was measured
	JSON    bool // for programs
}

// Explain returns a query's plan as text; args are as in Query.
func (s *Session) Explain(ctx context.Context, query string, opts ExplainOptions, args ...any) (text string, err error) {
	defer guard(query, &err)
	s.begin()
	parsed, err := sql.Parse(query)
	if err != nil {
		return "", err
	}
	switch st := parsed.(type) {
	case sql.Query, sql.Insert, sql.ChangeRows, sql.CreateTable:
		return s.explainText(ctx, sql.Explain{Of: st, Analyze: opts.Analyze, JSON: opts.JSON}, args)
	case sql.Explain:
		return s.explainText(ctx, st, args)
	}
	return "", errs.New(errs.Unsupported, "explain", "statement", "only queries, INSERT, UPDATE, DELETE and MERGE have a plan")
}

// guard turns a panic, which is a bug of ours, into an error with the statement attached.
func guard(stmt string, err *error) {
	if p := recover(); p != nil {
		*err = errs.New(errs.Internal, "run", stmt, "%v\n%s", p, debug.Stack()).
			WithHint("this is a bug in tarn; please report it with the statement")
	}
}

// planned is a query on its way: bound, surveyed, decided, cut into work.
type planned struct {
	tables   *tables
	query    *plan.Query
	layouts  map[*plan.Scan]*catalog.TableLayout
	surveyed map[*plan.Scan]*catalog.TableLayout // layouts before their files were prepared
	dynamic  []dynamic.Filter
	into     []spj.Into                    // the spec of the table that the rows are written to
	wrapped  bool                          // see bind.Wrapped
	deletes  bool                          // the query is of the rows that a DELETE deletes
	gone     lake.Gone                     // of a DELETE: data files that go as they are
	asked    map[*plan.Scan]catalog.Filter // what the statement's text asks of scans, without dynamic filters
	physical *spj.Physical
	graph    *task.Graph
}

// plan plans a query, which isToRun says will run.
func (s *Session) plan(ctx context.Context, q sql.Query, isToRun bool, args ...any) (*planned, error) {
	p := &planned{tables: newTables(s.engine), layouts: map[*plan.Scan]*catalog.TableLayout{}}
	err := s.fill(ctx, p, q, isToRun, args)
	if err != nil {
		p.tables.close()
		return nil, err
	}
	return p, nil
}

func (s *Session) fill(ctx context.Context, p *planned, q sql.Query, isToRun bool, args []any) error {
	conn, err := s.engine.binder.Connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	binds := bind.Bind
	if p.wrapped {
		binds = bind.Wrapped
	}
	if p.query, err = binds(ctx, s.binder(conn), p.tables, q, args...); err != nil {
		return err
	}
	opts := spj.Options{
		Mode: spj.Mode(s.settings.SPJ()), NoMetadata: !s.settings.MetadataAnswers(), Exchange: spj.Exchange(s.settings.Exchange()),
		BroadcastBytes: s.settings.BroadcastBytes(), Workers: s.threads(), MemoryBytes: s.memory(), Into: p.into,
	}
	p.asked = map[*plan.Scan]catalog.Filter{}
	for _, scan := range p.query.Scans {
		p.asked[scan] = scan.Filter
	}
	sums := spj.Wanted(p.query, opts)
	if err := s.findDynamic(ctx, p, sums, isToRun); err != nil {
		return err
	}
	for _, scan := range p.query.Scans {
		if p.layouts[scan] != nil {
			continue
		}
		if p.deletes && len(p.query.Scans) == 1 && scan.Whole != nil {
			p.layouts[scan], p.gone, err = p.tables.owner[scan.Table].SurveyRest(ctx, scan.Table, scan.Filter, *scan.Whole)
			err = errs.Lost(err)
		} else {
			p.layouts[scan], err = p.tables.survey(ctx, scan, sums)
		}
		if err != nil {
			return err
		}
	}
	if p.physical, err = spj.Plan(p.query, p.layouts, opts); err != nil {
		return err
	}
	// Before files are prepared: the footers of those that aren't needed aren't read.
	p.physical.Narrow(p.layouts)
	p.surveyed = maps.Clone(p.layouts)
	if err = p.tables.prepare(ctx, p.physical, p.layouts); err != nil {
		return err
	}
	p.graph, err = task.Build(ctx, p.physical, p.layouts, task.Options{
		PackBytes: s.settings.PackBytes(), Workers: s.threads(), MemoryBytes: s.memory(), Skew: task.Skew(s.settings.Skew()),
	})
	return err
}

// begin begins a statement.
func (s *Session) begin() { s.moment = &stub.Moment{} }

// binder returns what binds queries of the statement that runs.
func (s *Session) binder(conn *duck.Conn) stub.Engine {
	return stub.Engine{Conn: conn, Moment: s.moment}
}

func (s *Session) threads() int {
	if n := s.settings.Threads(); n > 0 {
		return n
	}
	return s.engine.cfg.Threads
}

func (s *Session) memory() int64 {
	if n := s.settings.MemoryBytes(); n > 0 {
		return n
	}
	return s.engine.cfg.MemoryBytes
}

// start runs a planned query.
func (s *Session) start(ctx context.Context, p *planned) (*exec.Stream, error) {
	return exec.Run(ctx, p.graph, s.execOptions())
}

func (s *Session) execOptions() exec.Options {
	return exec.Options{
		Workers: s.threads(), MemoryBytes: s.memory(), TempDir: s.engine.temp.Path(),
		SkipKeyCheck: !s.settings.VerifyLayout(), Progress: s.progress,
	}
}

func (s *Session) query(ctx context.Context, q sql.Query, args []any) (*Rows, error) {
	p, err := s.plan(ctx, q, true, args...)
	if err != nil {
		return nil, err
	}
	stream, err := s.start(ctx, p)
	if err != nil {
		p.tables.close()
		return nil, errs.Reword(err, p.query.ForPeople)
	}
	return &Rows{columns: columnsOf(p.query.Output), source: stream, close: func() { stream.Close(); p.tables.close() }, planned: p}, nil
}

func (s *Session) explain(ctx context.Context, e sql.Explain, args []any) (*Rows, error) {
	text, err := s.explainText(ctx, e, args)
	if err != nil {
		return nil, err
	}
	return textRows("plan", text), nil
}

func (s *Session) explainText(ctx context.Context, e sql.Explain, args []any) (string, error) {
	switch of := e.Of.(type) {
	case sql.Insert:
		return s.explainInsertion(ctx, "INSERT", e, func() (*insertion, error) { return s.planInsert(ctx, of, e.Analyze, args) })
	case sql.CreateTable:
		if of.As != nil {
			return s.explainInsertion(ctx, "CREATE TABLE", e, func() (*insertion, error) { return s.planCreateAs(ctx, of, e.Analyze, args) })
		}
	case sql.ChangeRows:
		return s.explainChange(ctx, of, e, args)
	case sql.Query:
		return s.explainQuery(ctx, of, e, args)
	}
	return "", errs.New(errs.Internal, "explain", "statement", "no way to explain a %T", e.Of)
}

func (s *Session) explainQuery(ctx context.Context, q sql.Query, e sql.Explain, args []any) (string, error) {
	p, err := s.plan(ctx, q, e.Analyze, args...)
	if err != nil {
		return "", err
	}
	defer p.tables.close()
	report := p.report()
	if e.Analyze {
		if report.Run, err = s.measure(ctx, p.graph, nil); err != nil {
			return "", errs.Reword(err, p.query.ForPeople)
		}
	}
	return told(report, e), nil
}

// report tells of the plan.
func (p *planned) report() *explain.Report {
	r := explain.New(p.physical, p.layouts, p.graph)
	r.AddDynamic(p.dynamic, p.layouts)
	return r
}

// told writes a report in the form that is asked for.
func told(r *explain.Report, e sql.Explain) string {
	if e.JSON {
		return r.JSON()
	}
	return r.Text()
}

// run runs a graph whose rows a sink takes, and measures it where somebody wants to know.
func (s *Session) run(ctx context.Context, graph *task.Graph, sink exec.Sink, measured **explain.Run) error {
	if measured != nil {
		var err error
		*measured, err = s.measure(ctx, graph, sink)
		return err
	}
	opts := s.execOptions()
	opts.Sink = sink
	stream, err := exec.Run(ctx, graph, opts)
	if err != nil {
		return err
	}
	defer stream.Close()
	return drain(ctx, stream)
}
