package write

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/deletes"
	"github.com/tarndb/tarn/internal/errs"
)

// Edits are the rows of a table's data files that a statement changes or deletes, by their positions. The zero value has none, and
// no limit. They are safe for concurrent use.
type Edits struct {
	memory *editsMemory // nil: no limit

	mu    sync.Mutex
	files map[string]*fileEdits
}

// editsMemory is what all Edits of a job hold together, about, and may hold.
type editsMemory struct {
	held  atomic.Int64
	limit int64 // 0: none
}

// fileEdits are the edits of one data file.
type fileEdits struct {
	mu        sync.Mutex
	positions deletes.Positions
	rows      int64 // that were added
	bytes     int64 // that positions had when they were weighed last
	weighAt   int64 // the rows with which they are weighed next
}

const (
	// fileEditsBytes is about what a data file with edits takes besides their positions and its path.
	fileEditsBytes = 512
	// weighEvery is after how many more rows, at least, the positions of a file are weighed again: each time that takes a look at
	// 65,536 rows of the file for some nanoseconds.
	weighEvery = 1024
)

// NewEdits returns Edits without any. Those of a job together may take three fourths of the part of its memory that Go's heap has,
// where there is a limit.
func (j *Job) NewEdits() *Edits { return &Edits{memory: &j.edits} }

// Full returns an error of kind Resource once the edits take more memory than they may, which no more are to be added after.
func (e *Edits) Full() error {
	m := e.memory
	if m == nil || m.limit == 0 || m.held.Load() <= m.limit {
		return nil
	}
	return errs.New(errs.Resource, "change rows of", "table", "the places of the rows that are changed take more than %d MiB, their part of the memory limit", m.limit>>20).
		WithHint("raise --memory, or change fewer rows at once")
}

// Add adds positions, which are not negative, of rows of a data file, by its path as metadata spells it. It stops at the first
// that was added before, and returns that one and false.
func (e *Edits) Add(path string, positions ...int64) (repeated int64, ok bool) {
	f := e.file(path)
	f.mu.Lock()
	defer f.mu.Unlock()
	repeated, ok = f.positions.AddNew(positions...)
	if f.rows += int64(len(positions)); e.memory != nil && f.rows >= f.weighAt {
		before := f.bytes
		f.bytes = f.positions.Bytes()
		f.weighAt = f.rows + max(weighEvery, f.rows/4)
		e.memory.held.Add(f.bytes - before)
	}
	return repeated, ok
}

func (e *Edits) file(path string) *fileEdits {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.files == nil {
		e.files = map[string]*fileEdits{}
	}
	f, ok := e.files[path]
	if !ok {
		f = &fileEdits{weighAt: weighEvery}
		e.files[path] = f
		if e.memory != nil {
			e.memory.held.Add(fileEditsBytes + int64(len(path)))
		}
	}
	return f
}

// Of returns the rows of a data file; nil for none. It may be called once nothing is added any more.
func (e *Edits) Of(path string) *deletes.Positions {
	e.mu.Lock()
	defer e.mu.Unlock()
	if f, ok := e.files[path]; ok {
		return &f.positions
	}
	return nil
}

// Forget takes back the rows of a data file.
func (e *Edits) Forget(path string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if f, ok := e.files[path]; ok && e.memory != nil {
		e.memory.held.Add(-f.bytes - fileEditsBytes - int64(len(path)))
	}
	delete(e.files, path)
}

// Rows returns how many rows there are.
func (e *Edits) Rows() (sum int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, f := range e.files {
		sum += f.positions.Count()
	}
	return sum
}

// Files returns how many data files have some.
func (e *Edits) Files() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.files)
}

// errAllFound ends a listing early.
var errAllFound = errors.New("all are found")

// among returns the data files of a layout that have edits. Each must be there, and have the rows.
func (e *Edits) among(ctx context.Context, layout *catalog.TableLayout) ([]catalog.DataFile, error) {
	wanted := maps.Clone(e.files)
	if len(wanted) == 0 {
		return nil, nil
	}
	var out []catalog.DataFile
	err := layout.Files(ctx, func(f catalog.DataFile) error {
		edits, ok := wanted[f.Ref.Path]
		if !ok {
			return nil
		}
		if last := edits.positions.Last(); last >= f.Rows {
			return errs.New(errs.Internal, "change rows of", f.Ref.Path, "the row at position %d is to be changed, and it has %d rows", last, f.Rows)
		}
		delete(wanted, f.Ref.Path)
		if out = append(out, f); len(wanted) == 0 {
			return errAllFound
		}
		return nil
	})
	if err != nil && !errors.Is(err, errAllFound) {
		return nil, err
	}
	for path := range wanted {
		return nil, errs.New(errs.Internal, "change rows of", path, "rows of it are to be changed, and the survey doesn't have it")
	}
	return out, nil
}

// restricted returns a layout of some of its files, with only those of their delete files that keep is true of.
func restricted(layout *catalog.TableLayout, files []catalog.DataFile, keep func(*catalog.DeleteFile) bool) *catalog.TableLayout {
	out := &catalog.TableLayout{Table: layout.Table}
	places, shared := map[int]int{}, map[*int][]int{}
	files = slices.Clone(files)
	for i := range files {
		at := files[i].Deletes
		if len(at) == 0 {
			continue
		}
		list, ok := shared[&at[0]]
		for _, old := range at {
			if ok || !keep(&layout.Deletes[old]) {
				continue
			}
			place, known := places[old]
			if !known {
				place = len(out.Deletes)
				places[old] = place
				out.Deletes = append(out.Deletes, layout.Deletes[old])
			}
			list = append(list, place)
		}
		slices.Sort(list)
		shared[&at[0]], files[i].Deletes = list, list
	}
	out.Files = func(ctx context.Context, yield func(catalog.DataFile) error) error {
		for _, f := range files {
			if err := errors.Join(ctx.Err(), yield(f)); err != nil {
				return err
			}
		}
		return nil
	}
	return out
}
