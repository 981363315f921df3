package write

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/deletes"
	"github.com/tarndb/tarn/internal/errs"
)

// Edits are the rows of a table's data files that a statement changes or deletes, by their positions. The zero value has none.
// They are safe for concurrent use.
type Edits struct {
	mu    sync.Mutex
	files map[string]*fileEdits
}

// fileEdits are the edits of one data file.
type fileEdits struct {
	mu        sync.Mutex
	positions deletes.Positions
}

// Add adds positions, which are not negative, of rows of a data file, by its path as metadata spells it. It stops at the first
// that was added before, and returns that one and false.
func (e *Edits) Add(path string, positions ...int64) (repeated int64, ok bool) {
	f := e.file(path)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.positions.AddNew(positions...)
}

func (e *Edits) file(path string) *fileEdits {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.files == nil {
		e.files = map[string]*fileEdits{}
	}
	f, ok := e.files[path]
	if !ok {
		f = &fileEdits{}
		e.files[path] = f
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
