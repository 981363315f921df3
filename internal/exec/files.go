package exec

import (
	"context"

	"github.com/tarndb/tarn/internal/deletes"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/task"
)

// FileReader reads data files outside of a graph, for those who write anew what is left of them: the rows that neither the
// deletes that apply to a file nor somebody's edits have. It is safe for concurrent use.
type FileReader struct {
	in    *task.Input
	store *deleteStore
	edits func(path string) *deletes.Positions
}

// NewFileReader returns a reader of units of files, each of which is read once: what a delete file says is let go after the
// last unit that needs it. edits returns which rows of a file, by its path as metadata spells it, are left out besides; nil
// for none. They no longer change.
func NewFileReader(in *task.Input, units [][]task.File, edits func(path string) *deletes.Positions) *FileReader {
	r := &FileReader{in: in, edits: edits, store: &deleteStore{parts: map[string]*deletePart{}, keys: map[*task.Delete]string{}}}
	for _, files := range units {
		r.store.count(in, files)
	}
	return r
}

// Scan returns the scan of a unit's rows on an instance. Release, which is never nil, is to be called when no statement reads
// it any more. It also ends the unit's need of its deletes.
func (r *FileReader) Scan(ctx context.Context, db *duck.DB, conn *duck.Conn, unit []task.File) (scan duck.Scan, release func(), err error) {
	forget := func() {}
	release = func() { forget(); r.store.release(r.in, needed(unit)) }
	spec, err := r.store.spec(ctx, conn, r.in, unit)
	if err != nil {
		return scan, release, err
	}
	some := len(needed(unit)) > 0
	for i := range unit {
		if more := r.edits(unit[i].Ref.Path); more != nil {
			addPositions(&spec.Files[i].Deleted, more)
			some = true
		}
	}
	if scan, err = scanOf(r.in, unit); err != nil || !some {
		return scan, release, err
	}
	id, unregister, err := db.RegisterDeletes(spec)
	if err != nil {
		return scan, release, err
	}
	scan.Deletes, forget = id, unregister
	return scan, release, nil
}

// addPositions adds rows to a set whose positions others have.
func addPositions(set *duck.RowSet, more *deletes.Positions) {
	if set.Positions == nil {
		set.Positions = more
		return
	}
	union := &deletes.Positions{}
	union.Union(set.Positions)
	union.Union(more)
	set.Positions = union
}

// Positions returns the rows of a unit of one file that are left out by their positions, edits among them, in a set of the
// caller's own. It also ends the unit's need of its deletes.
func (r *FileReader) Positions(ctx context.Context, conn *duck.Conn, f task.File) (*deletes.Positions, error) {
	unit := []task.File{f}
	defer r.store.release(r.in, needed(unit))
	out := &deletes.Positions{}
	spec, err := r.store.spec(ctx, conn, r.in, unit)
	if err != nil {
		return nil, err
	}
	if len(spec.Files[0].Deleted.Equality) > 0 {
		return nil, errs.New(errs.Internal, "read deletes of", f.Ref.Path, "some of them compare values")
	}
	for _, set := range []*deletes.Positions{spec.Files[0].Deleted.Positions, r.edits(f.Ref.Path)} {
		if set != nil {
			out.Union(set)
		}
	}
	return out, nil
}
