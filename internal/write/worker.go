package write

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/exec"
)

// worker writes bins to files, one at a time, on a DuckDB instance of its own.
type worker struct {
	job     *Job
	threads int
	memory  int64 // its share; 0: no limit
	db      *duck.DB
	conn    *duck.Conn
}

// writeAll lets workers write the items.
func (j *Job) writeAll(ctx context.Context, items []item, workers, threads int, memory int64) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for i := range workers {
		exec.Work(group, func() error {
			w, done, err := j.hire(ctx, i, threads, memory)
			if err != nil {
				return err
			}
			defer done()
			for i := next.Add(1) - 1; int(i) < len(items); i = next.Add(1) - 1 {
				if err := w.item(ctx, &items[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// hire returns the i-th worker; done dismisses it.
func (j *Job) hire(ctx context.Context, i, threads int, memory int64) (w *worker, done func(), err error) {
	if i > 0 {
		w, err = j.openWorker(ctx, threads, memory)
		return w, func() { w.close() }, err
	}
	j.first.threads, j.first.memory = threads, memory
	set := fmt.Sprintf("SET threads = %d", threads)
	if memory > 0 {
		set += fmt.Sprintf("; SET memory_limit = '%dB'", memory)
	}
	return j.first, func() {}, j.first.conn.Exec(ctx, set)
}

func (j *Job) openWorker(ctx context.Context, threads int, memory int64) (*worker, error) {
	db, err := duck.Open(ctx, duck.Options{Threads: threads, MemoryBytes: memory, TempDir: j.dir})
	if err != nil {
		return nil, err
	}
	conn, err := db.Connect()
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &worker{job: j, threads: threads, memory: memory, db: db, conn: conn}, nil
}

func (w *worker) close() {
	w.conn.Close()
	_ = w.db.Close()
}

// item writes a bin and the files that are rewritten with it, and drops the bin's rows.
func (w *worker) item(ctx context.Context, it *item) (err error) {
	if it.kept != nil {
		return w.rewrite(ctx, it)
	}
	switch {
	case it.shared:
		err = w.partAgain(ctx, it)
	case it.part.Bytes <= w.job.target.props.targetBytes:
		_, err = w.file(ctx, w.binRows(it.bins.spill, it.bin, it.part), it.tuple, 0)
	default:
		err = w.files(ctx, it)
	}
	return errors.Join(err, it.bins.spill.Drop(it.bin))
}

// partAgain parts the rows of a shared bin by their tuples, and writes those.
func (w *worker) partAgain(ctx context.Context, it *item) (err error) {
	inner, err := w.job.newBins(w, it.bins.depth+1)
	if inner == nil {
		return err
	}
	defer func() { err = errors.Join(err, inner.close()) }()
	if err != nil {
		return err
	}
	rows, release := it.bins.spill.Read(it.bin)
	defer release()
	writer := inner.writer(w.job.target, w.job.holdBytes())
	defer writer.Close()
	if err := w.conn.Stream(ctx, w.job.target.tupleSQL(rows, nil), writer.Add); err != nil {
		return err
	}
	if err := writer.Flush(); err != nil {
		return err
	}
	items := w.job.items(inner)
	for i := range items {
		if err := w.item(ctx, &items[i]); err != nil {
			return err
		}
	}
	return nil
}

// files writes a bin that is too large for one file. Rows that are to be sorted are sorted as a whole, so that the files of a
// tuple don't overlap in the keys.
func (w *worker) files(ctx context.Context, it *item) (err error) {
	if len(w.job.target.keys) == 0 {
		return w.parts(ctx, it.bins.spill, it.bin, it.tuple)
	}
	from := w.binRows(it.bins.spill, it.bin, it.part)
	sorted, err := w.sorted(ctx, from)
	if sorted != nil {
		defer func() { err = errors.Join(err, sorted.Close()) }()
	}
	if err == nil {
		err = it.bins.spill.Drop(it.bin)
	}
	if err != nil {
		return err
	}
	return w.parts(ctx, sorted, 0, it.tuple)
}

// parts writes a bin, whose rows needn't be sorted, to files of the target size.
func (w *worker) parts(ctx context.Context, spill *duck.Spill, bin int, tuple []value) error {
	bytes, err := w.partBytes(ctx, spill, bin)
	if err != nil {
		return err
	}
	for i, part := range spill.Parts(bin, bytes) {
		from := w.binRows(spill, bin, part)
		from.isSorted = true
		if _, err := w.file(ctx, from, tuple, i); err != nil {
			return err
		}
	}
	return nil
}

// sorted returns a spill whose only bin has rows in the table's order. They are released.
func (w *worker) sorted(ctx context.Context, from *source) (*duck.Spill, error) {
	defer from.release()
	prefix, err := w.job.spillPrefix()
	if err != nil {
		return nil, err
	}
	sorted, err := w.conn.NewSpill(prefix, w.job.target.columns, 1)
	if err != nil {
		return sorted, err
	}
	writer := sorted.Writer(w.job.holdBytes())
	defer writer.Close()
	text := "SELECT r.* FROM (" + from.sql + ") AS r" + orderBy(w.job.target.keys)
	err = w.conn.Stream(ctx, text, func(ch *duck.Chunk) error {
		_, err := writer.Add(ch, make([]int32, ch.Rows()))
		return err
	})
	if err == nil {
		err = writer.Flush()
	}
	if rows := sorted.Whole(0).Rows; err == nil && !from.mayBe(rows) {
		err = from.wrongRows("sort rows", "", rows)
	}
	return sorted, err
}

// probeBytes are written to find out how much smaller rows are in a file.
const probeBytes = 32 << 20

// partBytes returns how many bytes of a bin's rows fill a file of the target size.
func (w *worker) partBytes(ctx context.Context, spill *duck.Spill, bin int) (int64, error) {
	target := w.job.target.props.targetBytes
	part := spill.Parts(bin, probeBytes)[0]
	from := w.binRows(spill, bin, part)
	defer from.release()
	path := filepath.Join(w.job.dir, fmt.Sprintf("probe-%d-%p.parquet", bin, w))
	written, err := w.copy(ctx, from, "", path)
	if err != nil {
		return 0, err
	}
	bytes := int64(float64(target) * float64(part.Bytes) / float64(max(written.Bytes, 1)))
	return max(bytes, 1), os.Remove(path)
}

// copy writes rows to a Parquet file.
func (w *worker) copy(ctx context.Context, from *source, orderBy, path string) (duck.WrittenFile, error) {
	t := w.job.target
	rows := t.props.rowGroupRows(from.rowBytes, w.groupMemory(!from.isBin || orderBy != ""))
	written, err := w.parquet(ctx, t.fileSQL(from.sql, orderBy), path, duck.CopyOptions{RowGroupRows: rows})
	if err != nil {
		return duck.WrittenFile{}, err
	}
	if len(written) != 1 {
		return duck.WrittenFile{}, errs.New(errs.Internal, "write data file", path, "one file was to be written, and DuckDB reports %v", written)
	}
	if !from.mayBe(written[0].Rows) {
		return duck.WrittenFile{}, from.wrongRows("write data file", path, written[0].Rows)
	}
	return written[0], nil
}

// groupMemory is how many bytes a row group may have; 0: any number. Each thread has one in memory whole, and about three times as
// much while its pages are made and compressed. What gives the rows needs memory too when it is more than a bin that is read.
func (w *worker) groupMemory(isWork bool) int64 {
	const alone, beside = 6, 12
	if isWork {
		return w.memory / int64(beside*w.threads)
	}
	return w.memory / int64(alone*w.threads)
}

// parquet writes rows as a file has them to a Parquet file, or several, as the table wants them but for what opts says.
func (w *worker) parquet(ctx context.Context, text, path string, opts duck.CopyOptions) ([]duck.WrittenFile, error) {
	t := w.job.target
	opts.Compression, opts.Level, opts.Ordered, opts.Trusted = t.props.codec, t.props.level, len(t.keys) > 0, true
	files, err := w.conn.CopyParquet(ctx, text, t.fileFields(), path, opts)
	if err != nil || !t.hasFixed {
		return files, err
	}
	for i := range files {
		if err := w.fixLengths(ctx, &files[i]); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// file writes a data file of a tuple, and returns how many rows it has; place counts those of the tuple from 0. The rows are
// released. Without any there is no file.
func (w *worker) file(ctx context.Context, from *source, tuple []value, place int) (int64, error) {
	defer from.release()
	t := w.job.target
	ref, err := w.job.newFile(ctx, tuple, place)
	if err != nil {
		return 0, err
	}
	order := ""
	if !from.isSorted {
		order = orderBy(t.keys)
	}
	made, err := w.copy(ctx, from, order, ref.Local)
	if _, gone := os.Stat(filepath.Dir(ref.Local)); err != nil && errors.Is(gone, os.ErrNotExist) {
		// Another writer that failed has removed the folder, which was empty.
		if err = w.job.catalog.MakeFolderOf(ctx, ref); err == nil {
			made, err = w.copy(ctx, from, order, ref.Local)
		}
	}
	if err != nil {
		return 0, err
	}
	return made.Rows, w.keep(ctx, ref, tuple, made.Rows)
}

// keep adds a file of so many rows to those of the job, with all that its manifest entry says, and removes one without rows.
func (w *worker) keep(ctx context.Context, ref catalog.FileRef, tuple []value, rows int64) error {
	t := w.job.target
	if rows == 0 {
		if err := os.Remove(ref.Local); !errors.Is(err, os.ErrNotExist) {
			return errs.Wrap(errs.Resource, "remove file without rows", ref.Path, err)
		}
		return nil
	}
	written, err := w.job.catalog.ReadWritten(ctx, t.table, ref, t.fileFields(), t.modes)
	if err != nil {
		return err
	}
	if err := w.fillMetrics(ctx, written); err != nil {
		return err
	}
	orderID, err := w.sortOrder(ctx, ref)
	if err != nil {
		return err
	}
	f, err := w.job.catalog.DataFile(t.table, written, tuple, orderID)
	if err == nil {
		w.job.add(f)
	}
	return err
}

// sortOrder returns the ID of the table's sort order if a file's rows are in it, else 0. The rows were sorted; this is whether
// they were written so.
func (w *worker) sortOrder(ctx context.Context, ref catalog.FileRef) (int, error) {
	t := w.job.target
	if len(t.keys) == 0 {
		return 0, nil
	}
	position, _ := catalog.MetadataColumn(t.table, catalog.PosID)
	columns := append([]duck.ScanColumn{{Field: position, As: "file_row_number"}}, t.columns...)
	rows, err := duck.ScanSQL(duck.Scan{Columns: columns, Files: []duck.ScanFile{{Ref: ref}}})
	if err != nil {
		return 0, err
	}
	texts, err := texts(ctx, w.conn, sortedSQL(rows, t.keys))
	if err != nil || len(texts) != 1 || texts[0][0] == nil || *texts[0][0] != "true" {
		return 0, err
	}
	return t.table.Order.ID, nil
}
