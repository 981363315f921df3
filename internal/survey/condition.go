package survey

import (
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/manifest"
)

// Condition is a filter made ready for the files of a table's partition specs, for those who look for the files
// that it may be about outside a survey. It is true where it can't prove that there is no wanted row.
type Condition struct {
	specs map[catalog.SpecID]condition
	wants manifest.StatColumns
}

// NewCondition makes a filter ready.
func NewCondition(f catalog.Filter, specs map[catalog.SpecID]catalog.PartitionSpec) *Condition {
	c := &Condition{specs: map[catalog.SpecID]condition{}}
	for id, spec := range specs {
		c.specs[id] = prepare(f, spec, manifest.TupleTypes(spec))
	}
	c.wants.IDs = columnsOf(f, nil)
	return c
}

// Wants says which columns' statistics MayHold looks at.
func (c *Condition) Wants() manifest.StatColumns { return c.wants }

// MayHold says whether a data file may hold wanted rows.
func (c *Condition) MayHold(e *manifest.Entry) bool {
	prepared, ok := c.specs[e.Spec]
	return !ok || prepared.mayInFile(e.Partition, statsOf(e))
}

// MayHoldInPartition says whether rows of the partition may be wanted.
func (c *Condition) MayHoldInPartition(e *manifest.Entry) bool {
	prepared, ok := c.specs[e.Spec]
	return !ok || prepared.mayInPartition(e.Partition)
}

// Deletes finds which of some delete files apply to a data file, by the spec's rules of scope and sequence number.
type Deletes struct{ index *deleteIndex }

// NewDeletes takes the entries of delete files of a table that has the specs. An entry that doesn't say what it deletes is
// Corrupt, and so are two deletion vectors of one data file.
func NewDeletes(entries []*manifest.Entry, specs map[catalog.SpecID]catalog.PartitionSpec) (*Deletes, error) {
	var files []liveDelete
	for _, e := range entries {
		d, err := deleteOf(e)
		if err != nil {
			return nil, err
		}
		d.global = isUnpartitioned(specs[e.Spec])
		files = append(files, d)
	}
	index, err := newDeleteIndex(files)
	return &Deletes{index}, err
}

// Of returns the paths of the delete files that apply to a data file, of those that compare values only where equality is true.
func (x *Deletes) Of(f *catalog.DataFile, equality bool) []string {
	found := x.index.find(f)
	if !equality {
		found.global, found.equalities = 0, 0
	}
	var paths []string
	for _, i := range x.index.places(found) {
		paths = append(paths, x.index.files[i].Ref.Path)
	}
	return paths
}
