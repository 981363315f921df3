package output

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/tarndb/tarn/internal/errs"
)

// rowGroupRows is DuckDB's own row group size: readers get their parallelism and pruning from it, and the writer holds
// one row group in memory.
const rowGroupRows = 122_880

// columnarWriter writes one result as a Parquet or an Arrow file.
type columnarWriter struct {
	format string
	w      io.Writer
	header header
	sink   batchSink // nil until the schema is known
	begun  bool
}

// batchSink is what the two file formats' writers have in common.
type batchSink interface {
	WriteBatch(arrow.RecordBatch) error
	Close() error
}

func (w *columnarWriter) Begin(columns []Column) error {
	if w.begun {
		return errs.New(errs.Invalid, "write", "a "+w.format+" file", "it holds one result, and this is the second").
			WithHint("run the statements one at a time, each with its own file")
	}
	w.begun, w.header = true, newHeader(columns)
	return nil
}

func (w *columnarWriter) Write(batch arrow.RecordBatch) error {
	ready, err := w.prepare(batch)
	if err != nil {
		return err
	}
	defer ready.Release()
	if err := w.open(ready.Schema()); err != nil {
		return err
	}
	return errs.Wrap(errs.Resource, "write", "a "+w.format+" file", w.sink.WriteBatch(ready))
}

func (w *columnarWriter) End() error {
	if w.sink != nil {
		return nil
	}
	schema, err := emptySchema(w.header)
	if err != nil {
		return err
	}
	return w.open(schema)
}

func (w *columnarWriter) Done([]Count) error { return nil }

func (w *columnarWriter) Close() error {
	if w.sink == nil {
		return nil
	}
	return errs.Wrap(errs.Resource, "write", "a "+w.format+" file", w.sink.Close())
}

// prepare gives a batch the form that a file keeps: unique names, uuids as such, and no integer beyond 38 digits.
func (w *columnarWriter) prepare(batch arrow.RecordBatch) (arrow.RecordBatch, error) {
	names := uniqueNames(w.header.columns)
	fields := make([]arrow.Field, batch.NumCols())
	arrays := make([]arrow.Array, batch.NumCols())
	defer func() {
		for _, a := range arrays {
			if a != nil {
				a.Release()
			}
		}
	}()
	for j := range arrays {
		column, err := fileColumn(w.header.types[j], batch.Column(j))
		if err == nil {
			err = checkType(w.format, w.header.types[j], column.DataType())
		}
		if err != nil {
			return nil, errs.Wrap(errs.Unsupported, "write column", names[j], err)
		}
		arrays[j] = column
		fields[j] = arrow.Field{Name: names[j], Type: column.DataType(), Nullable: true}
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, batch.NumRows()), nil
}

func (w *columnarWriter) open(schema *arrow.Schema) error {
	if w.sink != nil {
		return nil
	}
	var err error
	if w.format == Arrow {
		w.sink, err = newArrowFile(w.w, schema)
	} else {
		w.sink, err = newParquetFile(w.w, schema)
	}
	return errs.Wrap(errs.Unsupported, "write", "a "+w.format+" file", err)
}

type parquetFile struct{ *pqarrow.FileWriter }

// onlyWriter hides Close, which pqarrow would call on the caller's writer.
type onlyWriter struct{ io.Writer }

func newParquetFile(w io.Writer, schema *arrow.Schema) (batchSink, error) {
	props := parquet.NewWriterProperties(
		parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithMaxRowGroupLength(rowGroupRows),
		parquet.WithVersion(parquet.V2_LATEST),
	)
	f, err := pqarrow.NewFileWriter(schema, onlyWriter{w}, props, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return nil, err
	}
	return parquetFile{f}, nil
}

// WriteBatch gathers small batches into one row group.
func (f parquetFile) WriteBatch(batch arrow.RecordBatch) error { return f.WriteBuffered(batch) }

type arrowFile struct{ *ipc.FileWriter }

func newArrowFile(w io.Writer, schema *arrow.Schema) (batchSink, error) {
	f, err := ipc.NewFileWriter(w, ipc.WithSchema(schema), ipc.WithZstd())
	if err != nil {
		return nil, err
	}
	return arrowFile{f}, nil
}

func (f arrowFile) WriteBatch(batch arrow.RecordBatch) error { return f.Write(batch) }
