package write

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/tarndb/tarn/internal/lake"
)

// CanResume says whether a Change that ended in a Conflict may go on for a newer version of its table, as target: all that was written is
// known by its partition, and the table asks for the same files.
func (j *Job) CanResume(target *Target) bool {
	a, b := j.target.table, target.table
	return j.isComplete && !j.isMixed && a.FormatVersion == b.FormatVersion && a.Location == b.Location && a.DefaultSpec == b.DefaultSpec &&
		reflect.DeepEqual(a.Schema, b.Schema) && reflect.DeepEqual(a.Specs, b.Specs) && reflect.DeepEqual(a.Order, b.Order) &&
		reflect.DeepEqual(a.Properties, b.Properties)
}

// PartitionOf returns the key of the partition that a data file's rows were written to anew; false says that they weren't.
func (j *Job) PartitionOf(path string) (key string, ok bool) {
	key, ok = j.rewritten[path]
	return key, ok
}

// Resume takes back what was written to partitions, by their keys, and of data files, by their paths, and begins to take rows for a
// newer version of the table. Change then writes what comes, and what edits say of data files of which nothing is written, and
// commits it together with the rest.
func (j *Job) Resume(ctx context.Context, target *Target, partitions, files map[string]bool) error {
	j.target = target
	var gone []string
	j.files = slices.DeleteFunc(j.files, func(f lake.NewDataFile) bool {
		isGone := partitions[j.partition(f.Partition)]
		if isGone {
			gone = append(gone, f.Ref.Path)
		}
		return isGone
	})
	for key := range partitions {
		delete(j.moved, key)
	}
	old, used := map[string]bool{}, map[string]bool{}
	for path := range files {
		if d, ok := j.deletes[path]; ok {
			old[d.Path] = true
		}
		delete(j.rewritten, path)
		delete(j.deletes, path)
	}
	for _, d := range j.deletes {
		used[d.Path] = true
	}
	for path := range old {
		if !used[path] { // vectors of other data files may lie in it
			gone = append(gone, path)
		}
	}
	if err := j.catalog.Discard(ctx, target.table, gone); err != nil {
		return err
	}
	isGone := map[string]bool{}
	for _, path := range gone {
		isGone[path] = true
	}
	j.paths = slices.DeleteFunc(j.paths, func(path string) bool { return isGone[path] })
	if j.bins == nil {
		return nil
	}
	err := j.bins.close()
	fresh, failed := j.newBins(j.first, 0)
	j.bins = fresh
	return errors.Join(err, failed)
}
