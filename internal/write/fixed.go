package write

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/datafile"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// Byte strings of one length have a type of their own in Parquet, and readers of a column of type fixed want it. DuckDB writes none,
// so that files with such columns are written once more, row group by row group, by another library.

// leafTypes returns the types of primitive columns, nested ones included, by their IDs.
func leafTypes(fields []catalog.Field, out map[string]transform.Type) map[string]transform.Type {
	for _, f := range fields {
		if f.Type.Nested == catalog.NotNested {
			out[strconv.Itoa(int(f.ID))] = f.Type.Primitive
		}
		leafTypes(f.Type.Fields, out)
	}
	return out
}

func hasFixed(fields []catalog.Field) bool {
	for _, t := range leafTypes(fields, map[string]transform.Type{}) {
		if t.Kind == transform.Fixed {
			return true
		}
	}
	return false
}

// fixLengths gives the columns of type fixed in a file that DuckDB wrote their length.
func (w *worker) fixLengths(ctx context.Context, file *duck.WrittenFile) (err error) {
	in, err := os.Open(file.Path)
	if err != nil {
		return errs.OfFile("read", file.Path, err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	path := file.Path + ".fixed"
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return errs.OfFile("write", path, err)
	}
	err = w.copyFixed(ctx, in, out)
	if closed := out.Close(); err == nil && !errors.Is(closed, os.ErrClosed) { // the Parquet writer closes it too
		err = errs.OfFile("write", path, closed)
	}
	if err == nil {
		err = errs.OfFile("write", path, os.Rename(path, file.Path))
	}
	if err != nil {
		return errors.Join(err, errs.OfFile("remove", path, os.Remove(path)), errs.OfFile("remove", file.Path, os.Remove(file.Path)))
	}
	info, err := os.Stat(file.Path)
	if err != nil {
		return errs.OfFile("write", file.Path, err)
	}
	file.Bytes = info.Size()
	return nil
}

func (w *worker) copyFixed(ctx context.Context, in, out *os.File) (err error) {
	t := w.job.target
	reader, err := pqfile.NewParquetReader(in)
	if err != nil {
		return errs.Wrap(errs.Internal, "read", in.Name(), err)
	}
	options := []parquet.WriterProperty{
		parquet.WithCreatedBy(Creator), parquet.WithCompression(parquetCodecs[t.props.codec]), parquet.WithStoreDecimalAsInteger(true), parquet.WithMaxRowGroupLength(max(reader.NumRows(), 1)),
	}
	if t.props.level != 0 {
		options = append(options, parquet.WithCompressionLevel(t.props.level))
	}
	var writer *pqarrow.FileWriter
	var schema *arrow.Schema
	for g := range reader.NumRowGroups() {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows, err := pqarrow.NewFileReader(reader, pqarrow.ArrowReadProperties{BatchSize: max(reader.RowGroup(g).NumRows(), 1)}, memory.DefaultAllocator)
		if err != nil {
			return errs.Wrap(errs.Internal, "read", in.Name(), err)
		}
		if writer == nil {
			read, err := rows.Schema()
			if err != nil {
				return errs.Wrap(errs.Internal, "read", in.Name(), err)
			}
			schema = arrow.NewSchema(fixedFields(read.Fields(), leafTypes(t.fileFields(), map[string]transform.Type{})), nil)
			if writer, err = pqarrow.NewFileWriter(schema, out, parquet.NewWriterProperties(options...), pqarrow.DefaultWriterProps()); err != nil {
				return errs.Wrap(errs.Internal, "write", out.Name(), err)
			}
		}
		if err := copyGroup(ctx, rows, g, schema, writer); err != nil {
			return errors.Join(errs.OfFile("write", out.Name(), err), writer.Close())
		}
	}
	if writer == nil { // without rows the file isn't kept
		return nil
	}
	return errs.OfFile("write", out.Name(), writer.Close())
}

func copyGroup(ctx context.Context, rows *pqarrow.FileReader, group int, schema *arrow.Schema, to *pqarrow.FileWriter) error {
	batches, err := rows.GetRecordReader(ctx, nil, []int{group})
	if err != nil {
		return err
	}
	defer batches.Release()
	for batches.Next() {
		batch := batches.RecordBatch()
		columns := make([]arrow.Array, batch.NumCols())
		for i := range columns {
			data, err := fixedData(schema.Field(i).Type, batch.Column(i).Data())
			if err != nil {
				return errs.Wrap(errs.Internal, "write column", schema.Field(i).Name, err)
			}
			columns[i] = array.MakeFromData(data)
		}
		if err := to.Write(array.NewRecordBatch(schema, columns, batch.NumRows())); err != nil {
			return err
		}
	}
	if err := batches.Err(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// fixedFields returns columns as they are to be written: fixed and UUID as such.
func fixedFields(fields []arrow.Field, types map[string]transform.Type) []arrow.Field {
	out := make([]arrow.Field, len(fields))
	for i, f := range fields {
		id, _ := f.Metadata.GetValue(datafile.ArrowIDKey)
		f.Metadata = arrow.NewMetadata([]string{datafile.ArrowIDKey}, []string{id})
		inner := func(fields ...arrow.Field) []arrow.Field { return fixedFields(fields, types) }
		switch t := f.Type.(type) {
		case *arrow.StructType:
			f.Type = arrow.StructOf(inner(t.Fields()...)...)
		case *arrow.ListType:
			f.Type = arrow.ListOfField(inner(t.ElemField())[0])
		case *arrow.MapType:
			entry := inner(t.KeyField(), t.ItemField())
			f.Type = arrow.MapOfFields(entry[0], entry[1])
		default:
			switch own := types[id]; own.Kind {
			case transform.Fixed:
				f.Type = &arrow.FixedSizeBinaryType{ByteWidth: own.Length}
			case transform.UUID:
				f.Type = extensions.NewUUIDType()
			}
		}
		out[i] = f
	}
	return out
}

// fixedData returns the same values as those of another type.
func fixedData(t arrow.DataType, data arrow.ArrayData) (arrow.ArrayData, error) {
	if fixed, ok := t.(*arrow.FixedSizeBinaryType); ok && data.DataType().ID() == arrow.BINARY {
		return fixedBytes(fixed, array.NewBinaryData(data))
	}
	var inner []arrow.DataType
	switch t := t.(type) {
	case *arrow.StructType:
		for _, f := range t.Fields() {
			inner = append(inner, f.Type)
		}
	case *arrow.ListType:
		inner = []arrow.DataType{t.Elem()}
	case *arrow.MapType:
		inner = []arrow.DataType{t.Elem()}
	}
	kids := make([]arrow.ArrayData, len(data.Children()))
	for i, kid := range data.Children() {
		var err error
		if kids[i], err = fixedData(inner[i], kid); err != nil {
			return nil, err
		}
	}
	return array.NewData(t, data.Len(), data.Buffers(), kids, data.NullN(), data.Offset()), nil
}

func fixedBytes(t *arrow.FixedSizeBinaryType, values *array.Binary) (arrow.ArrayData, error) {
	valid := make([]byte, bitutil.BytesForBits(int64(values.Len())))
	bytes := make([]byte, values.Len()*t.ByteWidth)
	for i := range values.Len() {
		if values.IsNull(i) {
			continue
		}
		v := values.Value(i)
		if len(v) != t.ByteWidth {
			return nil, errs.New(errs.Corrupt, "", "", "a value has %d bytes, and the column is fixed[%d]", len(v), t.ByteWidth)
		}
		bitutil.SetBit(valid, i)
		copy(bytes[i*t.ByteWidth:], v)
	}
	return array.NewData(t, values.Len(), []*memory.Buffer{memory.NewBufferBytes(valid), memory.NewBufferBytes(bytes)}, nil, values.NullN(), 0), nil
}
