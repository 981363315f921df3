package write

import (
	"context"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/exec"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/manifest"
)

// keepOthers completes a dynamic overwrite where data files of older partition specs may hold rows of the partitions that are
// replaced and others: those files are removed whole, and the other rows in them written anew, each to its partition by the
// current spec. They keep their lineage.
func (j *Job) keepOthers(ctx context.Context, change *commit.Change) error {
	files, layout, err := j.partly(ctx, change.Replace)
	if err != nil || len(files) == 0 {
		return err
	}
	target, err := j.target.Changing()
	if err != nil {
		return err
	}
	j.Close() // its rows are written, and the memory is the second job's
	kept, err := j.keptOf(ctx, target, files, layout, change.Add)
	if err != nil {
		return err
	}
	for _, f := range kept {
		change.Add = append(change.Add, f.File)
	}
	// What is added to other partitions meanwhile is in nobody's way: the rows are kept as they were.
	change.Remove, change.Reads = files, catalog.Filter{Op: catalog.AlwaysFalse}
	return nil
}

// keptOf writes the rows of files anew that are in no partition of those that were added, by a job of its own.
func (j *Job) keptOf(ctx context.Context, target *Target, files []catalog.DataFile, layout *catalog.TableLayout, added []manifest.File) ([]lake.NewDataFile, error) {
	k, err := Start(ctx, j.catalog, target, j.opts)
	if err != nil {
		return nil, err
	}
	defer k.Close()
	defer func() { // whose files are this job's to discard
		j.mu.Lock()
		defer j.mu.Unlock()
		j.paths, j.prefixes = append(j.paths, k.paths...), append(j.prefixes, k.prefixes...)
	}()
	k.without = map[string]bool{}
	for _, f := range added {
		k.without[k.partition(f.Partition)] = true
	}
	watched, stop := exec.WatchMemory(ctx, j.opts.MemoryBytes)
	if err := stop(k.rewriteFiles(watched, files, &Edits{}, layout)); err != nil {
		return nil, err
	}
	return k.Finish(ctx)
}

// partly returns the data files of which some rows lie in a region, as far as their partitions tell, and others don't, and the survey
// that has them.
func (j *Job) partly(ctx context.Context, in *commit.Region) (files []catalog.DataFile, layout *catalog.TableLayout, err error) {
	t := j.target.table
	if len(t.Specs) < 2 || t.Snapshot == nil {
		return nil, nil, nil
	}
	if layout, err = j.catalog.Survey(ctx, t, catalog.Filter{}); err != nil {
		return nil, nil, err
	}
	err = layout.Files(ctx, func(f catalog.DataFile) error {
		if in.Extent(t.Specs[f.Spec], f.Partition) == commit.Part {
			files = append(files, f)
		}
		return nil
	})
	return files, layout, err
}
