package tarn

import (
	"context"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/bind"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/exec"
	"github.com/tarndb/tarn/internal/explain"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/internal/task"
	"github.com/tarndb/tarn/internal/write"
)

// insertion is an INSERT on its way: its table, and the plan of the rows as the table takes them.
type insertion struct {
	target *write.Target
	owner  *lake.Catalog
	plan   *planned
	change write.Change
	isNew  bool // the table is staged: it is made with its rows
}

func (i *insertion) close() { i.plan.tables.close() }

// planInsert plans an INSERT. The query is bound by itself first, so that its errors are the user's and the types of its columns
// are known; then it is planned as the rows that are written.
func (s *Session) planInsert(ctx context.Context, in sql.Insert, isToRun bool, args []any) (*insertion, error) {
	out := &insertion{plan: &planned{tables: newTables(s.engine), layouts: map[*plan.Scan]*catalog.TableLayout{}}}
	err := s.fillInsert(ctx, out, in, isToRun, args)
	if err != nil {
		out.close()
		return nil, err
	}
	return out, nil
}

func (s *Session) fillInsert(ctx context.Context, out *insertion, in sql.Insert, isToRun bool, args []any) error {
	table, err := out.plan.tables.Resolve(ctx, in.Into.Table, catalog.Version{})
	if err != nil {
		return err
	}
	at := table.Version.At
	if out.change.Branch = at.Ref; !at.IsCurrent() && at.Kind != catalog.Branch {
		return errs.New(errs.Invalid, "insert into", catalog.Ident(in.Into.Table).String(), "it is %s of the table, and rows can be inserted into branches only", at)
	}
	out.owner = out.plan.tables.owner[table]
	if out.change.WAPID, err = s.wapID(out.owner, table, out.change.Branch); err != nil {
		return err
	}
	if out.target, err = write.NewTarget(table); err != nil {
		return err
	}
	fixed, err := fixedColumns(table, in.Into)
	if err != nil {
		return err
	}
	if err := s.fillReplace(ctx, out, in.Into, fixed); err != nil {
		return err
	}
	columns, err := s.describe(ctx, out.plan.tables, in.Query, args)
	if err != nil {
		return err
	}
	q, columns, into, err := withFixed(table, in, columns, fixed)
	if err != nil {
		return err
	}
	out.plan.wrapped = true
	q.Text, err = write.Told(q.Text, columns, s.describing(ctx, out.plan.tables, q, args), func(columns []duck.Column) (string, error) {
		return out.target.RowsSQL(q.Text, columns, into)
	})
	if err != nil {
		return err
	}
	out.plan.into = out.target.Into()
	return s.fill(ctx, out.plan, q, isToRun, args)
}

// wapID returns the ID under which what is written to a table is staged, if the table has it staged; it goes to no branch then.
func (s *Session) wapID(owner *lake.Catalog, t *catalog.Table, branch string) (string, error) {
	id := s.settings.WAPID()
	if id == "" || !commit.Stages(t.Properties) {
		return id, nil
	}
	if branch != "" {
		return "", errs.New(errs.Invalid, "write to", t.Ident.String(), "what is staged under the WAP ID %q goes to no branch, and the statement names %q", id, branch).
			WithHint("RESET tarn.wap_id")
	}
	return id, owner.CheckWAPID(t, id)
}

// describe binds a query for its columns alone.
func (s *Session) describe(ctx context.Context, t *tables, q sql.Query, args []any) ([]duck.Column, error) {
	conn, err := s.engine.binder.Connect()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	bound, err := bind.Bind(ctx, s.binder(conn), t, q, args...)
	if err != nil {
		return nil, err
	}
	columns := make([]duck.Column, len(bound.Output))
	for i, c := range bound.Output {
		columns[i] = duck.Column(c)
	}
	return columns, nil
}

// describing describes queries that are made of one.
func (s *Session) describing(ctx context.Context, t *tables, q sql.Query, args []any) func(text string) ([]duck.Column, error) {
	return func(text string) ([]duck.Column, error) {
		q.Text = text
		return s.describe(ctx, t, q, args)
	}
}

// insert runs an INSERT to its end.
func (s *Session) insert(ctx context.Context, in sql.Insert, args []any) (*Rows, error) {
	i, err := s.planInsert(ctx, in, true, args)
	if err != nil {
		return nil, err
	}
	defer i.close()
	rows := noRows()
	rows.planned = i.plan
	rows.counts, err = s.runInsert(ctx, i, nil)
	return rows, err
}

// runInsert runs what was planned, and measures its query where somebody wants to know. A table that is made with its rows is made
// without any, too.
func (s *Session) runInsert(ctx context.Context, i *insertion, measured **explain.Run) ([]Count, error) {
	job, err := write.Start(ctx, i.owner, i.target, write.Options{
		Workers: s.threads(), MemoryBytes: s.memory(), TempDir: s.engine.temp.Path(),
	})
	if err != nil {
		return nil, err
	}
	defer job.Close()
	_, err = job.CommitAs(ctx, i.change, func() error { return s.run(ctx, i.plan.graph, jobSink{job}, measured) })
	if err == nil && i.isNew && job.Files() == 0 {
		err = i.owner.PublishStaged(ctx, i.target.Table())
	}
	if err != nil {
		return nil, errs.Reword(err, i.plan.query.ForPeople)
	}
	return inserted(job.Rows(), int64(job.Files())), nil
}

// inserted is what a statement that inserts rows counts.
func inserted(rows, files int64) []Count {
	return []Count{{Name: "rows-inserted", Value: rows}, {Name: "files-added", Value: files}}
}

// jobSink gives a run's rows to a job.
type jobSink struct{ *write.Job }

func (s jobSink) Writer(*task.Pack) exec.SinkWriter { return s.Job.Writer() }

// explainInsertion tells how an INSERT or a CREATE TABLE ... AS would run, or how it ran.
func (s *Session) explainInsertion(ctx context.Context, statement string, e sql.Explain, plan func() (*insertion, error)) (string, error) {
	i, err := plan()
	if err != nil {
		return "", err
	}
	defer i.close()
	report := i.plan.report()
	report.Write = &explain.Write{
		Statement: statement, Table: i.target.Table().Ident.String(), Replaces: i.change.Replaces(), Files: filesOf(i.target, i.plan.physical),
	}
	if e.Analyze {
		counts, err := s.runInsert(ctx, i, &report.Run)
		if err != nil {
			return "", err
		}
		report.Write.Counts = countsTold(counts)
	}
	return told(report, e), nil
}

// filesOf tells how the rows of a plan become files of a table; nil: those of a plan that is told otherwise.
func filesOf(t *write.Target, rows *spj.Physical) *explain.Files {
	p := t.Plan(rows)
	return &explain.Files{Codec: p.Codec, TargetBytes: p.TargetBytes, Distribution: p.Distribution, Order: p.SortOrder}
}

func countsTold(counts []Count) []explain.Count {
	out := make([]explain.Count, len(counts))
	for i, c := range counts {
		out[i] = explain.Count(c)
	}
	return out
}
