package write

import (
	"context"
	"errors"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/exec"
)

// RowChange says how rows of the table are changed.
type RowChange struct {
	Copies    bool   // copy on write; else merge on read
	Branch    string // "" is main; the table is pinned to its head
	WAPID     string // stages the snapshot, see commit.Change
	Isolation commit.Isolation
	// Reads, ReadsOthers and Tries are as in commit.Change.
	Reads       catalog.Filter
	ReadsOthers bool
	Tries       *commit.Tries
	// Resumes says that after a Conflict what was written stays, for Resume or Discard.
	Resumes bool
	// Whole are data files that go as they are: all their rows are deleted. None of them has edits.
	Whole []catalog.DataFile
}

// RowsChanged is what a change of rows was.
type RowsChanged struct {
	Snapshot catalog.SnapshotID // 0: there was nothing to change
	Deletes  DeletesWritten     // of merge on read
	Removed  []catalog.DataFile // Whole, and what was rewritten
}

// Change calls add, which adds all new rows and all edits, and commits both as one snapshot: the rows that e has go, the new ones
// come. layout is as WriteDeletes and Rewrite want it. Without any there is no snapshot. After a failure no new file is left, but
// after CommitUnknown all are.
func (j *Job) Change(ctx context.Context, how RowChange, e *Edits, layout *catalog.TableLayout, add func() error) (done RowsChanged, err error) {
	defer func() {
		kind := errs.KindOf(err)
		resumes := how.Resumes && kind == errs.Conflict
		if err != nil && kind != errs.CommitUnknown && !resumes {
			err = errors.Join(err, j.Discard(ctx))
		}
	}()
	j.isComplete = false
	if err := add(); err != nil {
		return done, err
	}
	change := commit.Change{
		Kind: commit.RowDelta, Branch: how.Branch, WAPID: how.WAPID, Isolation: how.Isolation,
		Reads: how.Reads, ReadsOthers: how.ReadsOthers, Tries: how.Tries,
	}
	if how.Copies {
		change.Kind = commit.Overwrite
	}
	if done, err = j.edit(ctx, how, e, layout); err != nil {
		return done, err
	}
	files, err := j.Finish(ctx)
	if err != nil || len(files)+len(done.Removed)+len(done.Deletes.Added) == 0 {
		return done, err
	}
	for _, f := range files {
		change.Add = append(change.Add, f.File)
	}
	change.Remove, change.AddDeletes, change.RemoveDeletes = done.Removed, done.Deletes.Added, done.Deletes.Removed
	j.isComplete = true
	result, err := j.catalog.Commit(ctx, j.target.table, change)
	done.Snapshot = result.Snapshot
	return done, err
}

// edit does what is to be done to the data files that have edits, within the memory limit, but for writing the rows that are left.
func (j *Job) edit(ctx context.Context, how RowChange, e *Edits, layout *catalog.TableLayout) (done RowsChanged, err error) {
	ctx, stop := exec.WatchMemory(ctx, j.opts.MemoryBytes)
	defer func() { err = stop(err) }()
	if !how.Copies {
		done.Removed = how.Whole
		done.Deletes, err = j.WriteDeletes(ctx, e, layout)
		return done, err
	}
	rewritten, err := j.Rewrite(ctx, e, layout)
	done.Removed = slices.Concat(how.Whole, rewritten)
	return done, err
}
