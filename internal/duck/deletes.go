package duck

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tarndb/tarn/internal/deletes"
	"github.com/tarndb/tarn/internal/errs"
)

// RowSet is a set of rows of a data file. The zero value has none.
type RowSet struct {
	Positions *deletes.Positions // rows by where they lie in the file; nil: none
	Equality  []EqualityTest     // rows by their values
}

// EqualityTest says which rows of a file equality deletes apply to: those whose values are deleted, in one of the scopes, at
// a higher sequence number than the file's.
type EqualityTest struct {
	// Columns are the values that keys are made of, in this order: places in ScanFile.Equality of the file. The keys of Set
	// come from Chunk.EachKey over columns of the same types in the same order.
	Columns []int
	Set     *deletes.Values
	Scopes  []int
}

// FileDeletes says which rows of one data file a scan leaves out.
type FileDeletes struct {
	Deleted  RowSet
	Only     *RowSet // when it isn't nil, rows outside it are left out too: a scan of changes gives what a snapshot deleted
	Sequence int64   // the file's data sequence number
}

// DeletesSpec has, for each file of a scan in the order of Scan.Files, which of its rows are left out. What it points to
// stays the caller's, unchanged until the release, and may be shared between specs and instances.
type DeletesSpec struct {
	Files []FileDeletes
}

// deletions holds the registered specs by id, over all instances: DuckDB passes nothing but the number on.
var (
	deletions    sync.Map // int64 -> *deletion
	lastDeletion atomic.Int64
)

// deletion is a registered spec.
type deletion struct {
	DeletesSpec
	inC bool // tarn_kept_at knows those of its files that byPosition is true of
}

// RegisterDeletes makes a spec known, so that Scan.Deletes of a scan of this instance can name it. Release forgets it, once
// no statement that names it runs.
func (db *DB) RegisterDeletes(spec DeletesSpec) (id int64, release func(), err error) {
	for _, f := range spec.Files {
		tests := f.Deleted.Equality
		if f.Only != nil {
			tests = append(tests[:len(tests):len(tests)], f.Only.Equality...)
		}
		for _, t := range tests {
			if t.Set == nil || len(t.Columns) == 0 {
				return 0, nil, errs.New(errs.Internal, "register deletes", "", "an equality test of %d columns lacks its set", len(t.Columns))
			}
		}
	}
	id = lastDeletion.Add(1)
	inC, err := registerInC(id, spec.Files)
	if err != nil {
		return 0, nil, err
	}
	deletions.Store(id, &deletion{spec, inC})
	return id, func() { deletions.Delete(id); forgetInC(id) }, nil
}

// keptInC says whether tarn_kept_at knows all files of the part.
func (p *part) keptInC() bool {
	registered, ok := deletions.Load(p.Deletes)
	if !ok || !registered.(*deletion).inC {
		return false
	}
	files := registered.(*deletion).Files
	return !slices.ContainsFunc(p.places, func(place int) bool { return place >= len(files) || !files[place].byPosition() })
}
