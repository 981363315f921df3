package tarn

import (
	"context"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/explain"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/internal/verdict"
)

// CheckReport says for each join of a query whether Tarn, Spark and Trino would run it without a shuffle, what that takes,
// and what mends it where they wouldn't.
type CheckReport = verdict.Report

// Check plans a query, runs nothing, and judges its joins.
func (s *Session) Check(ctx context.Context, query string) (report *CheckReport, err error) {
	defer guard(query, &err)
	s.begin()
	parsed, err := sql.Parse(query)
	if err != nil {
		return nil, err
	}
	q, ok := parsed.(sql.Query)
	if !ok {
		return nil, errs.New(errs.Unsupported, "check", "statement", "only queries have joins")
	}
	uses, err := s.uses(ctx, q)
	if err != nil {
		return nil, err
	}
	p, err := s.plan(ctx, q, false)
	if err != nil {
		return nil, err
	}
	defer p.tables.close()
	return verdict.Judge(verdict.Input{
		Query: p.query, Layouts: p.layouts, Plan: explain.New(p.physical, p.layouts, p.graph), Uses: uses,
	}), nil
}

// uses reads from a query's text which columns are used for what.
func (s *Session) uses(ctx context.Context, q sql.Query) (verdict.Uses, error) {
	conn, err := s.engine.binder.Connect()
	if err != nil {
		return verdict.Uses{}, err
	}
	defer conn.Close()
	ast, err := conn.SerializeSQL(ctx, q.Text)
	if err != nil {
		return verdict.Uses{}, err
	}
	tree, err := sql.DecodeTree(ast)
	if err != nil {
		return verdict.Uses{}, errs.Wrap(errs.Internal, "check", "statement", err)
	}
	return verdict.UsesOf(tree.Root()), nil
}
