package write

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/exec"
	"github.com/tarndb/tarn/internal/task"
)

// keptFiles are the data files of one partition of the current spec of which some rows are kept.
type keptFiles struct {
	reader *exec.FileReader
	tuple  []value
	files  []task.File
}

// bytes are about how many are read: rows that are left out are few.
func (k *keptFiles) bytes() (sum int64) {
	for _, f := range k.files {
		sum += f.Ref.Bytes
	}
	return sum
}

// Rewrite has the rows of the data files that e has edits of written anew, without those edits and without what the deletes
// that apply to the files delete: copy on write. It returns the data files, all of which are to be removed. Finish writes the
// rows, those of a partition together with the new ones that were added to it. In format version 3 they keep their lineage, for
// which the job's target must be Changing. layout is a survey, not prepared, of the pinned snapshot that has the data files.
//
// Files that lie as the table's current spec says are copied partition by partition. The rows of others, and of those whose
// bounds contradict their partition, are parted like new ones.
func (j *Job) Rewrite(ctx context.Context, e *Edits, layout *catalog.TableLayout) ([]catalog.DataFile, error) {
	files, err := e.among(ctx, layout)
	if err != nil {
		return nil, err
	}
	left := slices.DeleteFunc(slices.Clone(files), func(f catalog.DataFile) bool {
		_, isDone := j.rewritten[f.Ref.Path]
		return isDone || e.Of(f.Ref.Path).Count() == f.Rows
	})
	if len(left) == 0 {
		return files, nil
	}
	return files, j.rewriteFiles(ctx, left, e, layout)
}

// rewriteFiles is Rewrite of data files that have other rows than those of e.
func (j *Job) rewriteFiles(ctx context.Context, left []catalog.DataFile, e *Edits, layout *catalog.TableLayout) error {
	columns := make([]catalog.FieldID, len(j.target.columns))
	for i, c := range j.target.columns {
		columns[i] = c.Field.ID
	}
	all := restricted(layout, left, func(*catalog.DeleteFile) bool { return true })
	prepared, err := j.catalog.Prepare(ctx, j.target.table, columns, all, j.dir)
	if err != nil {
		return err
	}
	in, read, err := task.FilesOf(ctx, columns, prepared)
	if err != nil {
		return err
	}
	for _, c := range j.target.columns {
		in.Names = append(in.Names, c.As)
	}
	routed, kept := j.sortOut(left, read)
	units := slices.Clone(routed)
	for _, k := range kept {
		units = append(units, k.files)
	}
	reader := exec.NewFileReader(in, units, e.Of)
	for _, k := range kept {
		k.reader = reader
	}
	j.kept, j.isMixed = kept, j.isMixed || len(routed) > 0
	for _, f := range left {
		j.rewritten[f.Ref.Path] = catalog.TupleKey(f.Spec, f.Partition)
	}
	return j.routeAll(ctx, reader, routed)
}

// sortOut tells the files, as they are read, apart that must be parted anew, each a unit, and those that are kept, by the keys of
// their tuples.
func (j *Job) sortOut(files []catalog.DataFile, read []task.File) (routed [][]task.File, kept map[string]*keptFiles) {
	kept = map[string]*keptFiles{}
	for i, f := range files {
		if f.Spec != j.target.table.DefaultSpec || f.Contradicts != 0 {
			routed = append(routed, read[i:i+1])
			continue
		}
		key := catalog.TupleKey(f.Spec, f.Partition)
		if kept[key] == nil {
			kept[key] = &keptFiles{tuple: f.Partition}
		}
		kept[key].files = append(kept[key].files, read[i])
	}
	return routed, kept
}

// partition is a text that tells partitions of the current spec apart.
func (j *Job) partition(tuple []value) string {
	return catalog.TupleKey(j.target.table.DefaultSpec, tuple)
}

// take returns the kept files of a tuple, once.
func (j *Job) take(tuple []value) *keptFiles {
	j.mu.Lock()
	defer j.mu.Unlock()
	key := j.partition(tuple)
	k := j.kept[key]
	delete(j.kept, key)
	return k
}

// items returns what is to be written of bins, with the kept files of their tuples. Those of other tuples are among them unless
// some tuples of the bins aren't known yet.
func (j *Job) items(b *bins) []item {
	items := slices.DeleteFunc(b.items(j.target), func(it item) bool {
		return !it.shared && j.without[j.partition(it.tuple)]
	})
	isWhole := b.depth == 0
	for i := range items {
		if items[i].shared {
			isWhole = false
		} else {
			items[i].kept = j.take(items[i].tuple)
		}
	}
	if isWhole {
		items = append(items, j.leftItems()...)
	}
	slices.SortStableFunc(items, byFallingBytes)
	return items
}

// leftItems returns the kept files that no item has.
func (j *Job) leftItems() []item {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []item
	for key, k := range j.kept {
		out = append(out, item{tuple: k.tuple, kept: k})
		delete(j.kept, key)
	}
	slices.SortStableFunc(out, byFallingBytes)
	return out
}

// routeAll adds the rows of units of one file to the bins.
func (j *Job) routeAll(ctx context.Context, reader *exec.FileReader, units [][]task.File) error {
	if len(units) == 0 {
		return nil
	}
	workers, memory := j.share(min(j.opts.workers(), len(units)))
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for i := range workers {
		exec.Work(group, func() error {
			w, done, err := j.hire(ctx, i, 1, memory)
			if err != nil {
				return err
			}
			defer done()
			for i := next.Add(1) - 1; int(i) < len(units); i = next.Add(1) - 1 {
				if err := w.route(ctx, reader, units[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// route adds the rows of a unit to the bins.
func (w *worker) route(ctx context.Context, reader *exec.FileReader, unit []task.File) error {
	open, err := reader.Open(ctx, w.conn, unit)
	if err != nil {
		return err
	}
	defer open.Close()
	from, err := w.keptRows(open, span{end: unit[0].Rows}, nil)
	if err != nil {
		return err
	}
	defer from.release()
	writer := w.job.Writer()
	defer writer.Close()
	var rows int64
	err = w.conn.Stream(ctx, w.job.target.tupleSQL(from.sql, nil), func(ch *duck.Chunk) error {
		rows += int64(ch.Rows())
		return writer.Add(ch)
	})
	if err == nil {
		err = writer.Flush()
	}
	if err == nil && !from.mayBe(rows) {
		err = from.wrongRows("read data file", unit[0].Ref.Path, rows)
	}
	w.job.move("", rows)
	return err
}

// move counts rows of a partition by its key, or of any.
func (j *Job) move(partition string, rows int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.moved[partition] += rows
}

// Moved returns how many rows of the table were written anew as they are.
func (j *Job) Moved() (sum int64) {
	for _, rows := range j.moved {
		sum += rows
	}
	return sum
}

// Rewritten returns how many data files were written anew.
func (j *Job) Rewritten() int { return len(j.rewritten) }

// rewrite writes the kept files of an item, with its bin.
func (w *worker) rewrite(ctx context.Context, it *item) (err error) {
	open, err := it.kept.reader.Open(ctx, w.conn, it.kept.files)
	if err != nil {
		return err
	}
	defer open.Close()
	if it.bins != nil {
		defer func() { err = errors.Join(err, it.bins.spill.Drop(it.bin)) }()
	}
	outputs := w.plan(it, open)
	if len(outputs) > 1 && len(w.job.target.keys) > 0 {
		return w.rewriteSorted(ctx, it, open, outputs)
	}
	for i, o := range outputs {
		from, err := w.sourceOf(it, open, o)
		if err != nil {
			return err
		}
		rows, err := w.file(ctx, from, it.tuple, i)
		if err != nil {
			return misplaced(err)
		}
		w.job.move(w.job.partition(it.tuple), rows-o.newRows())
	}
	return nil
}

// rewriteSorted writes an item that is too large for one file: it is sorted as a whole.
func (w *worker) rewriteSorted(ctx context.Context, it *item, open *exec.OpenFiles, outputs []output) (err error) {
	var all output
	for _, o := range outputs {
		all.spans, all.parts = append(all.spans, o.spans...), append(all.parts, o.parts...)
	}
	from, err := w.sourceOf(it, open, all)
	if err != nil {
		return err
	}
	sorted, err := w.sorted(ctx, from)
	if sorted != nil {
		defer func() { err = errors.Join(err, sorted.Close()) }()
	}
	if err != nil {
		return misplaced(err)
	}
	w.job.move(w.job.partition(it.tuple), sorted.Rows(0)-all.newRows())
	return w.parts(ctx, sorted, 0, it.tuple)
}

// sourceOf is the source of an output's rows.
func (w *worker) sourceOf(it *item, open *exec.OpenFiles, o output) (*source, error) {
	var all []*source
	for _, s := range o.spans {
		from, err := w.keptRows(open, s, it.tuple)
		if err != nil {
			for _, s := range all {
				s.release()
			}
			return nil, err
		}
		from.rowBytes = it.rowBytes(len(w.job.target.columns))
		all = append(all, from)
	}
	for _, part := range o.parts {
		all = append(all, w.binRows(it.bins.spill, it.bin, part))
	}
	return united(all), nil
}

// keptRows is the source of the rows of a span that are left. They must be of the tuple, unless it is nil.
func (w *worker) keptRows(open *exec.OpenFiles, s span, tuple []value) (*source, error) {
	scan, release, err := open.Scan(w.db, s.first, s.last+1)
	if err != nil {
		return nil, err
	}
	out := &source{isSorted: len(w.job.target.keys) == 0}
	for file := s.first; file <= s.last; file++ {
		to := open.Rows(file)
		if s.first == s.last {
			to = s.end
		}
		rows, isExact := open.Left(file, s.begin, to)
		out.rows += rows
		out.isAtMost = out.isAtMost || !isExact
	}
	if s.first == s.last && (s.begin > 0 || s.end < open.Rows(s.first)) {
		scan.From, scan.To = s.begin, s.end
	}
	checks, unregister, err := w.checks(open, s, tuple)
	if err != nil {
		release()
		return nil, err
	}
	scan.Checks = checks
	out.release = func() { release(); unregister() }
	if out.sql, err = duck.ScanSQL(scan); err != nil {
		out.release()
	}
	return out, err
}

// rowBytes are about how many a row of the kept files takes in memory: what is compressed grows, and no column takes less than
// what DuckDB has for a number.
func (it *item) rowBytes(columns int) int64 {
	const growth, number = 4, 8
	var bytes, rows int64
	for _, f := range it.kept.files {
		bytes, rows = bytes+f.Ref.Bytes, rows+f.Rows
	}
	return growth*bytes/max(rows, 1) + number*int64(columns)
}
