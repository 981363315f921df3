package duck

import (
	"context"
	"slices"
	"strings"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
)

// DuckDB's optimizers rewrite a plan that its binder made from the statement. At times one of them leaves a plan behind that
// can't be carried out, and preparing a valid statement ends in an internal error. Such a statement is prepared again with
// fewer of them, which can't change its rows:
//
//   - The binder's plan already says what the statement means: names and types, the order of its operators, where NULLs come
//     from, DISTINCT and LIMIT are all in it. None of DuckDB's optimizers is needed to carry it out; DuckDB runs its own
//     tests with all of them off and compares.
//   - Each optimizer turns a plan into one with the same rows. It may count on what another does for speed, never for
//     meaning, since each can be switched off by itself.
//   - So every subset gives the rows of the binder's plan, or those that SQL allows as well: an order where none is asked
//     for, one of several rows under LIMIT, the last digits of a sum of floats. The optimizers of Avoid, which break the
//     second point, are off in every retry as they are before it.
//   - The instance is as good as before: preparing only reads the catalog, and DuckDB rolls its transaction back.

// retreats are the sets of optimizers that are switched off one after the other until a statement can be prepared, and made
// ready; what follows the last when it is prepared is none at all. Less is lost by the earlier ones.
var retreats = [][]string{
	// It gives filters, joins and orders lists of the columns to pass on, by their positions below, and those are what a later
	// rewrite of the operator below makes wrong: an anti join that finds no match gives way to its left side, which has more
	// columns. Without it a few columns are carried further than they are needed.
	{"column_lifetime"},
	// It takes a filter for a comparison when it wants to know whether a column may be NULL, and BETWEEN is none. Without it
	// the first rows of each key are numbered before the others are thrown away.
	{"column_lifetime", "top_n_window_elimination"},
	// All that runs once unused columns are gone from the plan. Scans still read only what is needed, and joins are still
	// made of products and filters, without which many a statement would not end.
	{
		"duplicate_groups", "common_subexpressions", "column_lifetime", "build_side_probe_side", "common_subplan",
		"limit_pushdown", "row_group_pruner", "sampling_pushdown", "top_n", "late_materialization", "statistics_propagation",
		"top_n_window_elimination", "common_aggregate", "reorder_filter", "join_filter_pushdown",
	},
}

// Avoid switches optimizers off, by DuckDB's names, for all statements to come on any connection of the instance. It
// replaces what an earlier call switched off. DuckDB has this setting for whole instances only.
func (c *Conn) Avoid(ctx context.Context, optimizers []string) error {
	c.db.planning.Lock()
	defer c.db.planning.Unlock()
	if err := c.disable(ctx, optimizers); err != nil {
		return err
	}
	c.db.avoided = slices.Clone(optimizers)
	return nil
}

// disable switches optimizers off, and all others on. The caller holds planning: DuckDB reads its setting without a lock.
func (c *Conn) disable(ctx context.Context, optimizers []string) error {
	return c.run(ctx, "SET disabled_optimizers = "+quote.Text(strings.Join(optimizers, ",")))
}

// prepare prepares one statement. That a retry fails too is no news: the first error says what DuckDB could not do.
func (c *Conn) prepare(ctx context.Context, sql string) (bindings.PreparedStatement, error) {
	stmt, err := withRetreats(ctx, c, func() (bindings.PreparedStatement, error) { return c.plan(ctx, sql) })
	if isFault(err) {
		if again, failed := c.planPlainly(ctx, sql); failed == nil {
			return again, nil
		}
	}
	return stmt, c.blame(ctx, sql, err)
}

// ready makes a prepared statement ready to run, by one of the bindings' ways of it. DuckDB plans a statement over files once
// more here, and may fail where preparing it did not.
func (c *Conn) ready(ctx context.Context, stmt bindings.PreparedStatement, way readying) (bindings.PendingResult, error) {
	return withRetreats(ctx, c, func() (bindings.PendingResult, error) { return c.readyOnce(ctx, stmt, way) })
}

type readying func(bindings.PreparedStatement, *bindings.PendingResult) bindings.State

// isFault says whether err is a fault of DuckDB's, or our own, and not of what it was given.
func isFault(err error) bool { return err != nil && errs.KindOf(err) == errs.Internal }

// withRetreats does what plans a statement: as the settings are, and when DuckDB makes a fault, with fewer and fewer
// optimizers. If one could not be switched on again, later statements would be slower, not wrong.
func withRetreats[T any](ctx context.Context, c *Conn, plan func() (T, error)) (T, error) {
	c.db.planning.RLock()
	out, err := plan()
	c.db.planning.RUnlock()
	if !isFault(err) {
		return out, err
	}
	if again, ok := replan(ctx, c, plan); ok {
		return again, nil
	}
	if ctx.Err() != nil {
		err = canceled(ctx)
	}
	return out, err
}

// replan plans with fewer and fewer optimizers, and says whether one of its tries went well. It sets them on another connection: what
// plan began on its own would end with the next statement there.
func replan[T any](ctx context.Context, c *Conn, plan func() (T, error)) (out T, ok bool) {
	other, err := c.db.Connect()
	if err != nil {
		return out, false
	}
	defer other.Close()
	c.db.planning.Lock()
	defer c.db.planning.Unlock()
	defer func() { _ = other.disable(context.WithoutCancel(ctx), c.db.avoided) }()
	for _, off := range retreats {
		if err := other.disable(ctx, slices.Concat(c.db.avoided, off)); err != nil {
			return out, false
		}
		if out, err = plan(); err == nil {
			return out, true
		}
	}
	return out, false
}

// planPlainly prepares a statement without any optimizer, for this connection alone.
func (c *Conn) planPlainly(ctx context.Context, sql string) (none bindings.PreparedStatement, _ error) {
	c.db.planning.Lock()
	defer c.db.planning.Unlock()
	if err := c.run(ctx, "PRAGMA disable_optimizer"); err != nil {
		return none, err
	}
	defer func() { _ = c.run(context.WithoutCancel(ctx), "PRAGMA enable_optimizer") }()
	return c.plan(ctx, sql)
}

// readyOnce is ready as the settings are. The caller holds planning.
func (c *Conn) readyOnce(ctx context.Context, stmt bindings.PreparedStatement, way readying) (bindings.PendingResult, error) {
	var (
		pending bindings.PendingResult
		state   bindings.State
	)
	if err := c.interruptible(ctx, func() { state = way(stmt, &pending) }); err != nil {
		return pending, err
	}
	if state == bindings.StateError {
		err := faultOf(ctx, "run", bindings.PendingError(pending))
		bindings.DestroyPending(&pending)
		return pending, err
	}
	return pending, nil
}

// plan prepares a statement as the settings are. The caller holds planning.
func (c *Conn) plan(ctx context.Context, sql string) (bindings.PreparedStatement, error) {
	var (
		stmt  bindings.PreparedStatement
		state bindings.State
	)
	if err := c.interruptible(ctx, func() { state = bindings.Prepare(c.handle, sql, &stmt) }); err != nil {
		return stmt, err
	}
	if state == bindings.StateError {
		err := faultOf(ctx, "prepare", bindings.PrepareError(stmt))
		bindings.DestroyPrepare(&stmt)
		return stmt, err
	}
	return stmt, nil
}
