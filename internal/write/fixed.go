package write

import (
	"context"
	"errors"
	"os"

	"github.com/apache/arrow-go/v18/parquet"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// Byte strings of one length have a type of their own in Parquet, and readers of a column of type fixed want it. DuckDB writes none,
// so that files with such columns are written once more by another library: column by column of each row group, value by value with the
// levels that say where in nested columns they are, so that no more than a page of what is read is in memory.

// fixedLengths returns the lengths of columns of type fixed, nested ones included, by their IDs.
func fixedLengths(fields []catalog.Field, out map[int32]int) map[int32]int {
	for _, f := range fields {
		if f.Type.Nested == catalog.NotNested && f.Type.Primitive.Kind == transform.Fixed {
			out[int32(f.ID)] = f.Type.Primitive.Length
		}
		fixedLengths(f.Type.Fields, out)
	}
	return out
}

func hasFixed(fields []catalog.Field) bool { return len(fixedLengths(fields, map[int32]int{})) > 0 }

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
	props := parquet.NewReaderProperties(nil)
	props.BufferedStreamEnabled = true // else a column of a row group is read whole
	reader, err := pqfile.NewParquetReader(in, pqfile.WithReadProps(props))
	if err != nil {
		return errs.Wrap(errs.Internal, "read", in.Name(), err)
	}
	t := w.job.target
	options := []parquet.WriterProperty{parquet.WithCreatedBy(Creator), parquet.WithCompression(parquetCodecs[t.props.codec])}
	if t.props.level != 0 {
		options = append(options, parquet.WithCompressionLevel(t.props.level))
	}
	root, err := fixedRoot(reader.MetaData().Schema.Root(), fixedLengths(t.fileFields(), map[int32]int{}))
	if err != nil {
		return errs.Wrap(errs.Internal, "write", out.Name(), err)
	}
	writer, err := pqfile.NewParquetWriterWithError(out, root, pqfile.WithWriterProps(parquet.NewWriterProperties(options...)))
	if err != nil {
		return errs.OfFile("write", out.Name(), err)
	}
	for g := range reader.NumRowGroups() {
		if err := copyGroup(ctx, reader.RowGroup(g), writer); err != nil {
			return errors.Join(errs.OfFile("write", out.Name(), err), writer.Close())
		}
	}
	return errs.OfFile("write", out.Name(), writer.Close())
}

// fixedRoot returns a file's schema with the lengths of columns, by their field IDs.
func fixedRoot(root *schema.GroupNode, lengths map[int32]int) (*schema.GroupNode, error) {
	node, err := fixedNode(root, lengths)
	if err != nil {
		return nil, err
	}
	group, ok := node.(*schema.GroupNode)
	if !ok {
		return nil, errs.New(errs.Internal, "", "", "a file's schema is no group")
	}
	return group, nil
}

func fixedNode(node schema.Node, lengths map[int32]int) (schema.Node, error) {
	group, isGroup := node.(*schema.GroupNode)
	if !isGroup {
		length, isFixed := lengths[node.FieldID()]
		if leaf, ok := node.(*schema.PrimitiveNode); !isFixed || !ok || leaf.PhysicalType() != parquet.Types.ByteArray {
			return node, nil
		}
		return schema.NewPrimitiveNode(node.Name(), node.RepetitionType(), parquet.Types.FixedLenByteArray, node.FieldID(), int32(length))
	}
	fields := make(schema.FieldList, group.NumFields())
	for i := range fields {
		var err error
		if fields[i], err = fixedNode(group.Field(i), lengths); err != nil {
			return nil, err
		}
	}
	if group.LogicalType().IsNone() {
		return schema.NewGroupNode(group.Name(), group.RepetitionType(), fields, group.FieldID())
	}
	return schema.NewGroupNodeLogical(group.Name(), group.RepetitionType(), fields, group.LogicalType(), group.FieldID())
}

func copyGroup(ctx context.Context, from *pqfile.RowGroupReader, file *pqfile.Writer) error {
	to, err := file.AppendRowGroupChecked()
	if err != nil {
		return err
	}
	for i := range from.NumColumns() {
		if err := ctx.Err(); err != nil {
			return err
		}
		column, err := from.Column(i)
		if err != nil {
			return err
		}
		next, err := to.NextColumn()
		if err == nil {
			err = copyColumn(column, next)
		}
		if err != nil {
			return errs.Wrap(errs.Internal, "write column", column.Descriptor().Path(), err)
		}
	}
	return to.Close()
}

// copyColumn copies a column of a row group, and ends it.
func copyColumn(from pqfile.ColumnChunkReader, to pqfile.ColumnChunkWriter) (err error) {
	switch from := from.(type) {
	case *pqfile.BooleanColumnChunkReader:
		err = copyValues(from, to.(*pqfile.BooleanColumnChunkWriter), same[bool])
	case *pqfile.Int32ColumnChunkReader:
		err = copyValues(from, to.(*pqfile.Int32ColumnChunkWriter), same[int32])
	case *pqfile.Int64ColumnChunkReader:
		err = copyValues(from, to.(*pqfile.Int64ColumnChunkWriter), same[int64])
	case *pqfile.Float32ColumnChunkReader:
		err = copyValues(from, to.(*pqfile.Float32ColumnChunkWriter), same[float32])
	case *pqfile.Float64ColumnChunkReader:
		err = copyValues(from, to.(*pqfile.Float64ColumnChunkWriter), same[float64])
	case *pqfile.FixedLenByteArrayColumnChunkReader:
		err = copyValues(from, to.(*pqfile.FixedLenByteArrayColumnChunkWriter), same[parquet.FixedLenByteArray])
	case *pqfile.ByteArrayColumnChunkReader:
		switch to := to.(type) {
		case *pqfile.ByteArrayColumnChunkWriter:
			err = copyValues(from, to, same[parquet.ByteArray])
		case *pqfile.FixedLenByteArrayColumnChunkWriter:
			err = copyValues(from, to, ofLength(to.Descr().TypeLength()))
		}
	default:
		err = errs.New(errs.Internal, "", "", "DuckDB writes no columns of type %s", from.Type())
	}
	return errors.Join(err, to.Close())
}

// copiedValues are copied at once.
const copiedValues = 4096

func copyValues[From, To any](
	from interface {
		pqfile.ColumnChunkReader
		ReadBatchInPage(n int64, values []From, def, rep []int16) (int64, int, error)
	},
	to interface {
		WriteBatch(values []To, def, rep []int16) (int64, error)
	},
	as func([]From) ([]To, error),
) error {
	values, def, rep := make([]From, copiedValues), make([]int16, copiedValues), make([]int16, copiedValues)
	for from.HasNext() {
		levels, n, err := from.ReadBatchInPage(copiedValues, values, def, rep)
		if err != nil {
			return err
		}
		if levels == 0 {
			return errs.New(errs.Internal, "", "", "a page ends before its values do")
		}
		out, err := as(values[:n])
		if err != nil {
			return err
		}
		if _, err := to.WriteBatch(out, def[:levels], rep[:levels]); err != nil {
			return err
		}
	}
	return from.Err()
}

func same[T any](values []T) ([]T, error) { return values, nil }

// ofLength returns what takes byte strings for those of a length.
func ofLength(length int) func([]parquet.ByteArray) ([]parquet.FixedLenByteArray, error) {
	out := make([]parquet.FixedLenByteArray, copiedValues)
	return func(values []parquet.ByteArray) ([]parquet.FixedLenByteArray, error) {
		for i, v := range values {
			if len(v) != length {
				return nil, errs.New(errs.Corrupt, "", "", "a value has %d bytes, and the column is fixed[%d]", len(v), length)
			}
			out[i] = parquet.FixedLenByteArray(v)
		}
		return out[:len(values)], nil
	}
}
