package lake

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/datafile"
	"github.com/tarndb/tarn/internal/errs"
)

// metaWriter writes rows of a metadata table to a Parquet file, with field IDs.
type metaWriter struct {
	path    string
	columns []metaColumn
	out     *pqarrow.FileWriter
	batch   *array.RecordBuilder
	inBatch int // rows
	bytes   int // in the batch, about
	rows    int64
}

// newMetaWriter makes a file in the folder of path whose name begins like it.
func newMetaWriter(path string, columns []metaColumn) (*metaWriter, error) {
	fields := make([]arrow.Field, len(columns))
	for i, c := range columns {
		f, err := arrowField(c.Field)
		if err != nil {
			return nil, err
		}
		fields[i] = f
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*.parquet")
	if err != nil {
		return nil, errs.OfFile("create", path, err)
	}
	schema := arrow.NewSchema(fields, nil)
	out, err := pqarrow.NewFileWriter(schema, file, datafile.WriterProperties(), pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, errors.Join(errs.Wrap(errs.Internal, "write metadata table", file.Name(), err), file.Close())
	}
	return &metaWriter{path: file.Name(), columns: columns, out: out, batch: array.NewRecordBuilder(memory.DefaultAllocator, schema)}, nil
}

func (w *metaWriter) add(row any) error {
	for i, c := range w.columns {
		n, err := appendMeta(w.batch.Field(i), c.value(row))
		if err != nil {
			return errs.Wrap(errs.Internal, "write column", c.Name, err)
		}
		w.bytes += n
	}
	w.inBatch++
	w.rows++
	if w.inBatch == datafile.GroupRows || w.bytes >= datafile.GroupBytes {
		return w.flush()
	}
	return nil
}

func (w *metaWriter) flush() error {
	rec := w.batch.NewRecordBatch()
	defer rec.Release()
	w.inBatch, w.bytes = 0, 0
	return w.fault(w.out.Write(rec))
}

func (w *metaWriter) fault(err error) error {
	if err == nil {
		return nil
	}
	return errs.OfFile("write", w.path, err)
}

// close finishes the file and says where it lies and how many rows it has.
func (w *metaWriter) close() (catalog.FileRef, int64, error) {
	if w.inBatch > 0 {
		if err := w.flush(); err != nil {
			return catalog.FileRef{}, 0, w.abandon(err)
		}
	}
	w.batch.Release()
	if err := w.fault(w.out.Close()); err != nil {
		return catalog.FileRef{}, 0, err
	}
	info, err := os.Stat(w.path)
	if err != nil {
		return catalog.FileRef{}, 0, w.fault(err)
	}
	return catalog.FileRef{Path: w.path, Local: w.path, Bytes: info.Size()}, w.rows, nil
}

// abandon gives the file up because of err. The temporary folder's owner removes it.
func (w *metaWriter) abandon(err error) error {
	w.batch.Release()
	_ = w.out.Close() // err says why the file isn't whole
	return err
}
