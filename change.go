package tarn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/bind"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/dml"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/dynamic"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/explain"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/internal/write"
)

// rowChange is a DELETE, an UPDATE or a MERGE on its way: its table, and the plan of what it does to which row.
type rowChange struct {
	statement *dml.Statement
	target    *write.Target
	owner     *lake.Catalog
	plan      *planned
	mode      dml.Mode
	how       write.RowChange
	layout    *catalog.TableLayout // a survey, not prepared, that has all data files with rows that may change
}

func (c *rowChange) close() { c.plan.tables.close() }

// changeRows runs a DELETE, an UPDATE or a MERGE to its end.
func (s *Session) changeRows(ctx context.Context, st sql.ChangeRows, args []any) (*Rows, error) {
	rows := noRows()
	c, counts, err := s.change(ctx, st, args, nil)
	if err == nil {
		rows.planned, rows.counts = c.plan, counts
	}
	return rows, err
}

// change plans a statement that changes rows, and runs it. Where the change of another writer is in the way it begins anew, on the
// table as it is by then, with what that change touched or with all. What is returned is closed.
func (s *Session) change(ctx context.Context, st sql.ChangeRows, args []any, measured **explain.Run) (c *rowChange, counts []Count, err error) {
	if c, err = s.planChange(ctx, st, true, args); err != nil {
		return nil, nil, err
	}
	retry, err := commit.RetryOf(c.target.Table().Properties)
	if err != nil {
		c.close()
		return nil, nil, err
	}
	tries := retry.Begin()
	run := &changeRun{session: s}
	defer func() { err = errors.Join(err, run.close(ctx)) }()
	err = tries.Do(ctx, func(n int) (again bool, err error) {
		if n > 0 {
			if c, err = s.planChange(ctx, st, true, args); err != nil {
				return false, err
			}
		}
		defer c.close()
		c.how.Tries, c.how.Resumes = tries, true
		if err = run.begin(ctx, c); err == nil {
			counts, err = run.run(ctx, c, st, measured)
		}
		return errs.KindOf(err) == errs.Conflict, err
	})
	return c, counts, err
}

// planChange plans a statement that changes rows. Its query is bound by itself first, so that its errors are the user's and the
// types of its columns are known; then it is planned with its columns as the table's.
func (s *Session) planChange(ctx context.Context, st sql.ChangeRows, isToRun bool, args []any) (*rowChange, error) {
	c := &rowChange{plan: &planned{tables: newTables(s.engine), layouts: map[*plan.Scan]*catalog.TableLayout{}}}
	err := s.fillChange(ctx, c, st, isToRun, args)
	if errs.KindOf(err) == errs.Syntax {
		err = s.placed(ctx, st, err)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (s *Session) fillChange(ctx context.Context, c *rowChange, st sql.ChangeRows, isToRun bool, args []any) error {
	table, err := c.plan.tables.Resolve(ctx, st.Rows().Table, catalog.Version{})
	if err != nil {
		return err
	}
	if err := s.checkExpressions(ctx, st); err != nil {
		return err
	}
	c.owner, c.how.Branch = c.plan.tables.owner[table], table.Version.At.Ref
	if c.how.WAPID, err = s.wapID(c.owner, table, c.how.Branch); err != nil {
		return err
	}
	c.statement, err = dml.New(st, table, dml.Sources{
		Names:       func(of dml.Scope) ([]string, error) { return s.namesOf(ctx, c.plan.tables, of, args) },
		HasSubquery: func(f sql.Fragment) (bool, error) { return s.hasSubquery(ctx, f) },
	})
	if err != nil {
		return err
	}
	if c.mode, err = dml.ModeOf(table, c.statement.Op, s.settings.RowChangeMode()); err != nil {
		return err
	}
	c.how.Copies = c.mode == dml.CopyOnWrite
	if c.how.Isolation, err = dml.IsolationOf(table, c.statement.Op); err != nil {
		return err
	}
	var unwritable error
	if c.target, unwritable, err = c.newTarget(table); err != nil {
		return err
	}
	for _, scope := range c.statement.Scopes {
		if _, err := s.namesOf(ctx, c.plan.tables, scope, args); err != nil {
			return err
		}
	}
	q, err := sql.ParseQuery(c.statement.Query)
	if err != nil {
		return err
	}
	q.Places = true
	columns, err := s.describe(ctx, c.plan.tables, q, args)
	if err != nil {
		return err
	}
	c.plan.wrapped = true
	q.Text, err = write.Told(q.Text, columns, s.describing(ctx, c.plan.tables, q, args), func(columns []duck.Column) (string, error) {
		return c.statement.Assign(c.target, q.Text, columns)
	})
	if err != nil {
		return err
	}
	_, c.plan.deletes = st.(sql.Delete)
	if err := s.fill(ctx, c.plan, q, isToRun, args); err != nil {
		return err
	}
	return c.settle(table, unwritable)
}

// settle notes what the plan says of how rows are changed. unwritable is why no files can be copied; nil where they can.
func (c *rowChange) settle(table *catalog.Table, unwritable error) error {
	c.how.Whole = c.plan.gone.Files
	if err := c.setReads(table); err != nil {
		return err
	}
	if !c.how.Copies {
		return c.target.CheckDeletes(c.layout)
	}
	if len(c.layout.Groups) > 0 {
		return unwritable
	}
	return nil
}

// newTarget looks at the table. A statement that makes no rows needs no more of it than that rows can be deleted, unless it copies files:
// unwritable then says why it can't.
func (c *rowChange) newTarget(table *catalog.Table) (t *write.Target, unwritable, err error) {
	if t, err = write.NewTarget(table); err == nil {
		t, err = t.Changing()
	}
	if err == nil || c.statement.Writes() {
		return t, nil, err
	}
	unwritable = err
	t, err = write.NewDeleting(table)
	return t, unwritable, err
}

// checkExpressions refuses parts of the statement that would mean something else in a SELECT, and conditions of a MERGE that may
// come out otherwise each time.
func (s *Session) checkExpressions(ctx context.Context, st sql.ChangeRows) error {
	conn, err := s.engine.binder.Connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, f := range st.Fragments() {
		if f.Plain {
			continue
		}
		if !f.IsExpression() {
			q, err := sql.ParseQuery(f.Alone())
			if err == nil {
				err = bind.OnlyTables(ctx, s.binder(conn), q)
			}
			if err != nil {
				return err
			}
			continue
		}
		e, err := s.rowWise(ctx, conn, f)
		if err != nil {
			return err
		}
		if m, ok := st.(sql.Merge); ok && e.Volatile != "" && m.Decides(f) {
			return errs.New(errs.Unsupported, "bind", "condition of MERGE", "%s", e.Volatile).WithHint("compute it in the source")
		}
	}
	return nil
}

// hasSubquery says whether there is one in an expression.
func (s *Session) hasSubquery(ctx context.Context, f sql.Fragment) (bool, error) {
	conn, err := s.engine.binder.Connect()
	if err != nil {
		return false, err
	}
	defer conn.Close()
	e, err := s.rowWise(ctx, conn, f)
	return e.Subquery, err
}

// rowWise reads a part of a statement that must be one expression of a row by itself, whatever text it is put into.
func (s *Session) rowWise(ctx context.Context, conn *duck.Conn, f sql.Fragment) (bind.Expression, error) {
	q, err := sql.ParseQuery(f.Alone())
	if err != nil {
		return bind.Expression{}, err
	}
	return bind.RowWise(ctx, s.binder(conn), q)
}

// setReads notes what the statement reads of the table: by its layout the files with edits are found, and by its filter what
// changes of others would be in the way.
func (c *rowChange) setReads(table *catalog.Table) error {
	scans := make([]dml.Scan, len(c.plan.query.Scans))
	for i, scan := range c.plan.query.Scans {
		isFrom := func(f dynamic.Filter) bool { return f.From.Scan == scan && f.State != dynamic.Rejected }
		scans[i] = dml.Scan{Table: scan.Table, Filter: scan.Filter, Asked: c.plan.asked[scan], FromOwn: slices.ContainsFunc(c.plan.dynamic, isFrom)}
	}
	reads, ok := c.statement.ReadsOf(table, scans)
	if !ok {
		return errs.New(errs.Internal, "change rows of", table.Ident.String(), "the plan doesn't read it")
	}
	c.layout = c.plan.surveyed[c.plan.query.Scans[reads.First]]
	c.how.Reads, c.how.ReadsOthers = reads.Filter, reads.Others
	return nil
}

// namesOf returns the names of a query's columns.
func (s *Session) namesOf(ctx context.Context, t *tables, of dml.Scope, args []any) ([]string, error) {
	q, err := sql.ParseQuery(of.Query)
	if err != nil {
		return nil, err
	}
	columns, err := s.describe(ctx, t, q, args[:min(of.Parameters, len(args))])
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names, err
}

// placed returns the syntax error of a part of the statement, which the query that was made of it has at another place.
func (s *Session) placed(ctx context.Context, st sql.ChangeRows, err error) error {
	conn, failed := s.engine.binder.Connect()
	if failed != nil {
		return err
	}
	defer conn.Close()
	for _, f := range st.Fragments() {
		q, own := sql.ParseQuery(f.Alone())
		if own == nil {
			_, own = conn.SerializeSQL(ctx, q.Text)
		}
		if own != nil {
			return own
		}
	}
	return err
}

// shownColumns are how many columns of a row an error shows.
const shownColumns = 16

// repeated is the error of a row that more than one row would change, which it looks up and shows.
func (s *Session) repeated(ctx context.Context, c *rowChange, st sql.ChangeRows, at *dml.RepeatedError) error {
	table := c.target.Table()
	what := "a row of the table is matched by more than one row of the source"
	hint := "group the source by its key, or choose one row of each key"
	if c.statement.Op == "UPDATE" {
		what, hint = "a row of the table is joined with more than one row of FROM", "group them by their key, or choose one row of each key"
	}
	if row := s.rowAt(ctx, st.Rows(), table, at); row != "" {
		what += ": " + row
	}
	return errs.New(errs.Invalid, strings.ToLower(c.statement.Op)+" rows of", table.Ident.String(), "%s", what).WithHint("%s", hint)
}

// rowAt returns the row at a place, or "" where it can't be read.
func (s *Session) rowAt(ctx context.Context, target sql.Target, table *catalog.Table, at *dml.RepeatedError) string {
	var parts []string
	for _, f := range table.Schema.Fields[:min(len(table.Schema.Fields), shownColumns)] {
		name := catalog.ShownName(f.Name)
		parts = append(parts, fmt.Sprintf("%s || coalesce(left(CAST(%s AS VARCHAR), 60), 'NULL')", quote.Text(name+" = "), quote.Name(f.Name)))
	}
	text := fmt.Sprintf("SELECT concat_ws(', ', %s) FROM %s WHERE _file = $1 AND _pos = $2", strings.Join(parts, ", "), target.Name)
	rows, err := s.Query(ctx, text, at.File, at.Position)
	if err != nil {
		return ""
	}
	defer rows.Close()
	batch, err := rows.Next(ctx)
	if err != nil || batch.NumRows() == 0 {
		return ""
	}
	defer batch.Release()
	return strings.Clone(batch.Column(0).ValueStr(0)) // which lies in the memory of the batch
}

// explainChange tells how a statement that changes rows would run, or how it ran.
func (s *Session) explainChange(ctx context.Context, st sql.ChangeRows, e sql.Explain, args []any) (string, error) {
	var run *explain.Run
	var counts []Count
	var c *rowChange
	var err error
	if e.Analyze {
		c, counts, err = s.change(ctx, st, args, &run)
	} else if c, err = s.planChange(ctx, st, false, args); err == nil {
		c.close()
	}
	if err != nil {
		return "", err
	}
	report := c.plan.report()
	report.Run = run
	report.Write = &explain.Write{Statement: c.statement.Op, Table: c.target.Table().Ident.String(), Change: c.told(), Counts: countsTold(counts)}
	if c.statement.Writes() || c.how.Copies && len(c.layout.Groups) > 0 {
		report.Write.Files = filesOf(c.target, nil)
	}
	return told(report, e), nil
}

// told tells how rows that are there are changed.
func (c *rowChange) told() *explain.Change {
	out := &explain.Change{Mode: string(c.mode), Isolation: "serializable", Reads: "any", Once: c.statement.Checks()}
	switch {
	case c.how.Isolation == commit.Snapshot:
		out.Isolation, out.Reads = "snapshot", "none"
	case c.how.Reads.Op != catalog.AlwaysTrue:
		out.Reads = "those that its conditions on the table can't rule out"
	}
	out.Gone.Name, out.Gone.Files = c.target.Table().Ident.String(), len(c.plan.gone.Files)
	for _, f := range c.plan.gone.Files {
		out.Gone.Bytes += f.Ref.Bytes
	}
	return out
}
