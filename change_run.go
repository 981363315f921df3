package tarn

import (
	"context"
	"errors"

	"github.com/tarndb/tarn/internal/dml"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/explain"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/internal/task"
	"github.com/tarndb/tarn/internal/write"
)

// changeRun is what a statement that changes rows has done so far: in the only run, as a rule, or in one that met a conflict and in those
// after it.
type changeRun struct {
	session *Session
	job     *write.Job // nil: nothing yet
	sink    *dml.Sink
	graph   *task.Graph // what is run of the plan
	again   int         // groups that ran again since the last whole run
	wasted  bool        // what the job wrote is no part of the table
}

// begin makes ready for a run of a plan: of the groups that another change touched, where the rest of what was done stays right, or
// else of all.
func (r *changeRun) begin(ctx context.Context, c *rowChange) error {
	if r.job != nil {
		graph, groups, ok, err := r.sink.Again(ctx, c.target, c.plan.graph, c.plan.physical.ReadsTablesAlone())
		if ok && err == nil {
			r.graph, r.again = graph, r.again+groups
			return nil
		}
		if err = errors.Join(err, r.close(ctx)); err != nil {
			return err
		}
	}
	s := r.session
	job, err := write.Start(ctx, c.owner, c.target, write.Options{
		Workers: s.threads(), MemoryBytes: s.memory(), TempDir: s.engine.temp.Path(), Unverified: !s.settings.VerifyLayout(),
	})
	if err == nil {
		r.job, r.sink, r.graph, r.again = job, dml.NewSink(c.statement, c.target, job, c.plan.graph), c.plan.graph, 0
	}
	return err
}

// run runs what begin made ready, and measures its query where somebody wants to know.
func (r *changeRun) run(ctx context.Context, c *rowChange, st sql.ChangeRows, measured **explain.Run) ([]Count, error) {
	s, job := r.session, r.job
	done, err := job.Change(ctx, c.how, r.sink.Edits(), c.layout, func() error { return s.run(ctx, r.graph, r.sink, measured) })
	r.wasted = errs.KindOf(err) == errs.Conflict
	var repeated *dml.RepeatedError
	if errors.As(err, &repeated) {
		err = s.repeated(ctx, c, st, repeated)
	}
	if err != nil {
		return nil, errs.Reword(err, c.plan.query.ForPeople)
	}
	rows, edits := r.sink.Counts(), r.sink.Edits().Rows()
	groups := 0
	for _, core := range c.plan.graph.Cores {
		groups += len(core.Groups)
	}
	return []Count{
		{"rows-inserted", rows.Inserted}, {"rows-updated", rows.Updated}, {"rows-deleted", edits - rows.Updated + c.plan.gone.Rows},
		{"rows-copied", job.Moved()}, {"files-added", int64(job.Files())}, {"files-removed", int64(len(done.Removed))},
		{"files-rewritten", int64(job.Rewritten())}, {"delete-files-added", int64(len(done.Deletes.Added))},
		{"delete-files-removed", int64(len(done.Deletes.Removed))}, {"groups-touched", int64(groups)}, {"groups-run-again", int64(r.again)},
	}, nil
}

// close ends what was begun. What a conflict left is removed.
func (r *changeRun) close(ctx context.Context) (err error) {
	if r.job == nil {
		return nil
	}
	if r.wasted {
		err = r.job.Discard(ctx)
	}
	r.job.Close()
	r.job, r.wasted = nil, false
	return err
}
