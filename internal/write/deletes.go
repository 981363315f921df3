package write

import (
	"context"
	"io"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/deletes"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/exec"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/internal/task"
)

// Creator is who made a file, as files say it.
const Creator = "Tarn"

// puffinBytes is from how many bytes of vectors on a Puffin file is written and the next one begun: they lie in memory until
// then. Readers fetch the vectors that they need by their offsets, so that it doesn't matter to them.
const puffinBytes = 8 << 20

// DeletesWritten are delete files that were written, and those that they take the place of.
type DeletesWritten struct {
	Added   []manifest.File
	Removed []catalog.DeleteFile
}

// WriteDeletes writes delete files for the rows of e, one for each data file: merge on read. In format version 3 they are
// deletion vectors, and have the positions of all deletes that apply to the file; in version 2 they are files of position
// deletes, and have those of the other delete files of that data file alone. Which take whose place is the spec's, "Delete
// Formats". layout is a survey, not prepared, of the pinned snapshot that has the data files. Equality deletes and deletes of
// whole partitions stay, as they may be of other files too.
func (j *Job) WriteDeletes(ctx context.Context, e *Edits, layout *catalog.TableLayout) (DeletesWritten, error) {
	t := j.target.table
	files, err := e.among(ctx, layout)
	if err != nil || len(files) == 0 {
		return DeletesWritten{}, err
	}
	w := &deletesWriter{job: j, writesVectors: t.FormatVersion >= 3}
	if t.FormatVersion < 2 {
		return DeletesWritten{}, errs.New(errs.Unsupported, "write delete files of", t.Ident.String(), "format version %d has none", t.FormatVersion).
			WithHint("set write.delete.mode, write.update.mode and write.merge.mode to copy-on-write, or upgrade the table")
	}
	all := restricted(layout, files, w.merges)
	for i := range all.Deletes {
		if w.replaces(&all.Deletes[i]) {
			w.removed = append(w.removed, all.Deletes[i])
		}
	}
	fresh := slices.DeleteFunc(slices.Clone(files), func(f catalog.DataFile) bool {
		_, isDone := j.deletes[f.Ref.Path]
		return isDone
	})
	if len(fresh) > 0 {
		if err := w.all(ctx, e, restricted(layout, fresh, w.merges), fresh); err != nil {
			return DeletesWritten{}, err
		}
	}
	out := DeletesWritten{Removed: w.removed}
	for _, f := range files {
		out.Added = append(out.Added, j.deletes[f.Ref.Path])
	}
	return out, nil
}

// positionsReader returns a reader of the positions of a layout's deletes, and its files: none is read itself.
func (j *Job) positionsReader(ctx context.Context, layout *catalog.TableLayout, e *Edits) (*exec.FileReader, [][]task.File, error) {
	none := *layout
	none.Files = func(context.Context, func(catalog.DataFile) error) error { return nil }
	prepared, err := j.catalog.Prepare(ctx, j.target.table, nil, &none, j.dir)
	if err != nil {
		return nil, nil, err
	}
	withFiles := *prepared
	withFiles.Files = layout.Files
	in, files, err := task.FilesOf(ctx, nil, &withFiles)
	if err != nil {
		return nil, nil, err
	}
	units := make([][]task.File, len(files))
	for i := range files {
		units[i] = files[i : i+1]
	}
	return exec.NewFileReader(in, units, e.Of), units, nil
}

// deletesWriter writes the delete files of one WriteDeletes.
type deletesWriter struct {
	job           *Job
	worker        *worker
	writesVectors bool
	puffin        deletes.Puffin
	vectors       []catalog.DeleteFile // those of puffin
	removed       []catalog.DeleteFile
}

// all writes what deletes rows of data files, which are those of the layout.
func (w *deletesWriter) all(ctx context.Context, e *Edits, layout *catalog.TableLayout, files []catalog.DataFile) (err error) {
	_, memory := w.job.share(1)
	var done func()
	if w.worker, done, err = w.job.hire(ctx, 0, 1, memory); err != nil {
		return err
	}
	defer done()
	reader, units, err := w.job.positionsReader(ctx, layout, e)
	if err != nil {
		return err
	}
	for i := range files {
		if err := w.file(ctx, reader, units[i], &files[i]); err != nil {
			return err
		}
	}
	return w.finish(ctx)
}

// merges says whether a delete file's positions go into the new ones.
func (w *deletesWriter) merges(d *catalog.DeleteFile) bool {
	return d.Kind != catalog.EqualityDeletes && (w.writesVectors || d.Target != "")
}

// replaces says whether a delete file of which the positions are merged is removed: it is of that data file alone.
func (w *deletesWriter) replaces(d *catalog.DeleteFile) bool { return d.Target != "" }

// file writes what deletes rows of a data file.
func (w *deletesWriter) file(ctx context.Context, reader *exec.FileReader, unit []task.File, f *catalog.DataFile) error {
	open, err := reader.Open(ctx, w.worker.conn, unit)
	if err != nil {
		return err
	}
	defer open.Close()
	return w.add(ctx, f, open.Deleted(0))
}

// add writes what deletes rows of a data file by their positions.
func (w *deletesWriter) add(ctx context.Context, f *catalog.DataFile, positions *deletes.Positions) error {
	d := catalog.DeleteFile{
		Kind: catalog.DeletionVector, Spec: f.Spec, Partition: f.Partition, Rows: positions.Count(), Target: f.Ref.Path,
	}
	if !w.writesVectors {
		d.Kind = catalog.PositionDeletes
		return w.positions(ctx, d, positions)
	}
	var err error
	if d.Offset, d.Length, err = w.puffin.Add(d.Target, positions); err != nil {
		return errs.Wrap(errs.Internal, "write deletion vector of", d.Target, err)
	}
	w.vectors = append(w.vectors, d)
	if w.puffin.Bytes() < puffinBytes {
		return nil
	}
	return w.finish(ctx)
}

// finish writes the vectors that aren't written yet.
func (w *deletesWriter) finish(ctx context.Context) error {
	if len(w.vectors) == 0 {
		return nil
	}
	t := w.job.target.table
	ref, err := w.job.newFileOf(ctx, t.Spec(), nil, "00001-deletes.puffin")
	if err != nil {
		return err
	}
	data, err := w.puffin.Finish(Creator)
	if err != nil {
		return errs.Wrap(errs.Internal, "write deletion vectors", ref.Path, err)
	}
	if ref, err = w.job.catalog.WriteFile(ctx, ref, data); err != nil {
		return err
	}
	for _, d := range w.vectors {
		d.Ref = ref
		w.job.deletes[d.Target] = commit.DeleteFile(d)
	}
	w.puffin, w.vectors = deletes.Puffin{}, nil
	return nil
}

// positions writes a file of position deletes of one data file.
func (w *deletesWriter) positions(ctx context.Context, d catalog.DeleteFile, positions *deletes.Positions) error {
	t := w.job.target.table
	ref, err := w.job.newFileOf(ctx, t.Specs[d.Spec], d.Partition, "00001-deletes.parquet")
	if err != nil {
		return err
	}
	var m *positionMetrics
	d.Ref, err = w.job.catalog.StreamFile(ctx, ref, func(to io.Writer) (err error) {
		m, err = writePositionsFile(to, d.Target, positions, w.job.target.props)
		return err
	})
	if err != nil {
		return err
	}
	f := commit.DeleteFile(d)
	f.ColumnSizes, f.ValueCounts, f.NullCounts, f.Lower, f.Upper, f.SplitOffsets = m.sizes, m.values, m.nulls, m.lower, m.upper, m.splits
	w.job.deletes[d.Target] = f
	return nil
}
