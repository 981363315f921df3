package exec

import (
	"context"

	"github.com/tarndb/tarn/internal/deletes"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/task"
)

// FileReader reads data files outside of a graph, for those who write anew what is left of them: the rows that neither the
// deletes that apply to a file nor somebody's edits have. It is safe for concurrent use.
type FileReader struct {
	in    *task.Input
	store *deleteStore
	edits func(path string) *deletes.Positions
}

// NewFileReader returns a reader of units of files, each of which is opened once: what a delete file says is let go when the
// last unit that needs it is closed. edits returns which rows of a file, by its path as metadata spells it, are left out
// besides; nil for none. They no longer change.
func NewFileReader(in *task.Input, units [][]task.File, edits func(path string) *deletes.Positions) *FileReader {
	r := &FileReader{in: in, edits: edits, store: &deleteStore{parts: map[string]*deletePart{}, keys: map[*task.Delete]string{}}}
	for _, files := range units {
		r.store.count(in, files)
	}
	return r
}

// OpenFiles are the files of a unit, with what is known of their deletes. They serve one goroutine, and must be closed.
type OpenFiles struct {
	reader *FileReader
	files  []task.File
	left   []duck.FileDeletes
}

// Open reads the deletes of a unit, on conn.
func (r *FileReader) Open(ctx context.Context, conn *duck.Conn, unit []task.File) (*OpenFiles, error) {
	o := &OpenFiles{reader: r, files: unit}
	spec, err := r.store.spec(ctx, conn, r.in, unit)
	if err != nil {
		o.Close()
		return nil, err
	}
	o.left = spec.Files
	for i := range unit {
		if more := r.edits(unit[i].Ref.Path); more != nil {
			addPositions(&o.left[i].Deleted, more)
		}
	}
	return o, nil
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

// Close lets go of the deletes.
func (o *OpenFiles) Close() { o.reader.store.release(o.reader.in, needed(o.files)) }

// Scan returns the scan of the rows of the files from first on and before end that are left, on an instance. Release, which
// is never nil, is to be called when no statement reads it any more.
func (o *OpenFiles) Scan(db *duck.DB, first, end int) (scan duck.Scan, release func(), err error) {
	none := func() {}
	if scan, err = scanOf(o.reader.in, o.files[first:end]); err != nil {
		return scan, none, err
	}
	spec := duck.DeletesSpec{Files: o.left[first:end]}
	some := false
	for _, f := range spec.Files {
		some = some || f.Deleted.Positions != nil || len(f.Deleted.Equality) > 0
	}
	if !some {
		return scan, none, nil
	}
	id, release, err := db.RegisterDeletes(spec)
	if err != nil {
		return scan, none, err
	}
	scan.Deletes = id
	return scan, release, nil
}

// Left returns how many of a file's rows from from on and before to are left. It is the most that there may be, and isExact is
// false, where some are deleted by their values.
func (o *OpenFiles) Left(file int, from, to int64) (rows int64, isExact bool) {
	deleted := &o.left[file].Deleted
	rows = to - from
	if deleted.Positions != nil {
		rows -= deleted.Positions.CountIn(from, to)
	}
	return rows, len(deleted.Equality) == 0
}

// Deleted returns the rows of a file that are left out by their positions; nil for none. The set isn't the caller's.
func (o *OpenFiles) Deleted(file int) *deletes.Positions { return o.left[file].Deleted.Positions }

// Rows returns how many rows a file has, deleted ones included.
func (o *OpenFiles) Rows(file int) int64 { return o.files[file].Rows }

// Path returns a file's path, as metadata spells it.
func (o *OpenFiles) Path(file int) string { return o.files[file].Ref.Path }
