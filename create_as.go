package tarn

import (
	"context"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/evolve"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/internal/write"
)

// createAs runs CREATE TABLE ... AS, CREATE OR REPLACE TABLE ... AS and REPLACE TABLE ... AS. The catalog takes the table, or its new
// definition, and its rows at once.
func (s *Session) createAs(ctx context.Context, st sql.CreateTable, args []any) (*Rows, error) {
	rows := noRows()
	rows.counts = inserted(0, 0)
	i, err := s.planCreateAs(ctx, st, true, args)
	if err == nil {
		defer i.close()
		rows.planned = i.plan
		rows.counts, err = s.runInsert(ctx, i, nil)
	}
	switch {
	case err == nil:
		return rows, nil
	case lake.IsTaken(err) && st.IfNotExists:
		rows.counts = inserted(0, 0)
		return rows, nil
	case lake.IsTaken(err) && st.OrReplace:
		return nil, errs.New(errs.Conflict, "replace table", catalog.Ident(st.Table).String(), "another writer made the table meanwhile").
			WithHint("run the statement again")
	}
	return nil, err
}

// planCreateAs plans the query of a table that is made by it. The query is bound by itself first: its columns are the table's.
func (s *Session) planCreateAs(ctx context.Context, st sql.CreateTable, isToRun bool, args []any) (*insertion, error) {
	out := &insertion{isNew: true, plan: &planned{tables: newTables(s.engine), layouts: map[*plan.Scan]*catalog.TableLayout{}}}
	err := s.fillCreateAs(ctx, out, st, isToRun, args)
	if err != nil {
		out.close()
		return nil, err
	}
	return out, nil
}

func (s *Session) fillCreateAs(ctx context.Context, out *insertion, st sql.CreateTable, isToRun bool, args []any) error {
	// Before the query is looked at: one that can't be bound is nobody's concern where the table is there and is to stay.
	replaced, err := s.replacedBy(ctx, out, st)
	if err != nil {
		return err
	}
	columns, err := s.describe(ctx, out.plan.tables, *st.As, args)
	if err != nil {
		return err
	}
	if st.Columns, err = columnsOfTable(columns); err != nil {
		return err
	}
	if err := s.refuseNulls(ctx, out.plan.tables, *st.As, columns, args); err != nil {
		return err
	}
	var table *catalog.Table
	if replaced != nil {
		table, err = out.owner.StageReplace(replaced, func(now evolve.State) (evolve.State, error) {
			next, err := evolve.Replace(now, st)
			return next, errs.Wrap(errs.Invalid, "replace table", replaced.Ident.String(), err)
		})
	} else {
		table, err = s.stageNew(ctx, out, st)
	}
	if err != nil {
		return err
	}
	if err := s.refuseStaged(replaced, table); err != nil {
		return err
	}
	if out.target, err = write.NewTarget(table); err != nil {
		return err
	}
	q := *st.As
	out.plan.wrapped = true
	if q.Text, err = out.target.RowsSQL(q.Text, columns, nil); err != nil {
		return err
	}
	return s.fill(ctx, out.plan, q, isToRun, args)
}

// refuseStaged refuses to make a table of rows that are to be staged: the table, or its new definition, would be there at once,
// and, as in Spark, without any rows until they are published.
func (s *Session) refuseStaged(before, after *catalog.Table) error {
	if s.settings.WAPID() == "" || !commit.Stages(after.Properties) && (before == nil || !commit.Stages(before.Properties)) {
		return nil
	}
	return errs.New(errs.Unsupported, "write to", after.Ident.String(), "a table's definition can't be staged, and the WAP ID %q is to stage its rows", s.settings.WAPID()).
		WithHint("RESET tarn.wap_id, or CREATE the table first and INSERT the rows")
}

// replacedBy returns the table that the statement replaces, as the query sees it if it reads from it; nil when a new one is to be made.
func (s *Session) replacedBy(ctx context.Context, out *insertion, st sql.CreateTable) (*catalog.Table, error) {
	c, t, err := s.engine.existing(ctx, st.Table)
	mayReplace := st.OrReplace || st.Replace
	switch {
	case err == nil && mayReplace:
		out.owner = c
		return out.plan.tables.resolve(ctx, meaning{catalog: c.Name(), id: t.Ident}, catalog.Version{})
	case st.Replace, !lake.IsNoTable(err) && mayReplace:
		return nil, err
	}
	var id catalog.Ident
	if out.owner, id, err = s.engine.newName(ctx, st.Table); err != nil {
		return nil, err
	}
	return nil, out.owner.CheckNew(ctx, id)
}

func (s *Session) stageNew(ctx context.Context, out *insertion, st sql.CreateTable) (*catalog.Table, error) {
	_, id, err := s.engine.newName(ctx, st.Table)
	if err != nil {
		return nil, err
	}
	state, err := evolve.Create(st)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, "create table", id.String(), err)
	}
	return out.owner.StageCreate(ctx, id, state)
}

// refuseNulls refuses columns of a query for which no type is known.
func (s *Session) refuseNulls(ctx context.Context, t *tables, q sql.Query, columns []duck.Column, args []any) error {
	text, err := write.NullsSQL(q.Text, columns)
	if err != nil || text == "" {
		return err
	}
	described, err := s.describing(ctx, t, q, args)(text)
	if err != nil {
		return err
	}
	return write.RefuseNulls(described)
}

// columnsOfTable returns the columns of the table that a query of those columns makes. As in Spark, all of them may be NULL.
func columnsOfTable(columns []duck.Column) ([]sql.Column, error) {
	out := make([]sql.Column, len(columns))
	for i, c := range columns {
		t, err := write.TypeOf(c.Name, c.Type, func() catalog.FieldID { return 0 }) // IDs are given where the table is defined
		if err != nil {
			return nil, err
		}
		out[i] = sql.Column{Path: []string{c.Name}, Type: evolve.DefinedType(t)}
	}
	return out, nil
}
