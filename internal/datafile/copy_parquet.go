package datafile

import (
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/transform"
)

// parquet copies a Parquet file that a scan would misread.
func (c *copier) parquet(ctx context.Context, j *judge, s source) (footer, error) {
	return c.copied(ctx, j, s, func(in fileio.File, to string) (int64, error) {
		r, err := pqfile.NewParquetReader(io.NewSectionReader(in, 0, in.Size()))
		if err != nil {
			return 0, err
		}
		root := r.MetaData().Schema.Root()
		nodes := nodesOf(root)
		isBare := !haveIDs(nodes)
		if len(j.wants) > 0 && isBare {
			if err := j.identify(nodes); err != nil {
				return 0, err
			}
		}
		var kept []*node
		var leaves []int
		at := 0
		for i, n := range nodes {
			count := countLeaves(root.Field(i))
			if n.fault == nil && isWanted(j.wants, n.id) {
				kept = append(kept, n)
				for leaf := range count {
					leaves = append(leaves, at+leaf)
				}
			}
			at += count
		}
		if len(kept) == 0 {
			return copyCount(ctx, r.NumRows(), isBare, to)
		}
		return copyColumns(ctx, r, leaves, relabeler{kept, j.wants}, isBare, to)
	})
}

func countLeaves(n schema.Node) int {
	group, ok := n.(*schema.GroupNode)
	if !ok {
		return 1
	}
	count := 0
	for i := range group.NumFields() {
		count += countLeaves(group.Field(i))
	}
	return count
}

func copyColumns(ctx context.Context, r *pqfile.Reader, leaves []int, label relabeler, isBare bool, to string) (rows int64, err error) {
	columns, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: GroupRows / 4}, memory.DefaultAllocator)
	if err != nil {
		return 0, err
	}
	batches, err := columns.GetRecordReader(ctx, leaves, nil)
	if err != nil {
		return 0, err
	}
	defer batches.Release()
	out := label.schema(batches.Schema())
	w, err := newCopyWriter(to, out, isBare)
	if err != nil {
		return 0, err
	}
	defer func() { err = w.close(err) }()
	for batches.Next() {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := w.add(relabeled(out, batches.RecordBatch())); err != nil {
			return 0, err
		}
	}
	if err := batches.Err(); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	return w.rows, nil
}

// copyCount writes a copy of rows of which no column is wanted.
func copyCount(ctx context.Context, rows int64, isBare bool, to string) (written int64, err error) {
	only := arrow.NewSchema([]arrow.Field{{Name: "row", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}}, nil)
	w, err := newCopyWriter(to, only, isBare)
	if err != nil {
		return 0, err
	}
	defer func() { err = w.close(err) }()
	b := array.NewRecordBuilder(memory.DefaultAllocator, only)
	defer b.Release()
	for w.rows < rows {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		b.Field(0).AppendNulls(int(min(rows-w.rows, GroupRows)))
		if err := w.add(b.NewRecordBatch()); err != nil {
			return 0, err
		}
	}
	return w.rows, nil
}

// relabeler gives columns the field IDs of their nodes, and the types that their bytes are values of.
type relabeler struct {
	nodes []*node
	wants []catalog.Field
}

func (l relabeler) schema(s *arrow.Schema) *arrow.Schema {
	fields := make([]arrow.Field, s.NumFields())
	for i, n := range l.nodes {
		fields[i] = relabelField(s.Field(i), n, fieldByID(l.wants, n.id))
	}
	return arrow.NewSchema(fields, nil)
}

func relabelField(f arrow.Field, n *node, want *catalog.Field) arrow.Field {
	f.Metadata = arrow.Metadata{}
	if n.id != noID {
		f.Metadata = ArrowID(n.id)
	}
	inner := func(i int, f arrow.Field) arrow.Field { return relabelField(f, n.kids[i], n.wantOf(i, want)) }
	switch t := f.Type.(type) {
	case *arrow.StructType:
		fields := t.Fields()
		for i := range fields {
			fields[i] = inner(i, fields[i])
		}
		f.Type = arrow.StructOf(fields...)
	case *arrow.ListType:
		f.Type = arrow.ListOfField(inner(0, t.ElemField()))
	case *arrow.MapType:
		f.Type = arrow.MapOfFields(inner(0, t.KeyField()), inner(1, t.ItemField()))
	default:
		if want != nil {
			f.Type = relabelLeaf(f.Type, n.stored, want.Type.Primitive)
		}
	}
	return f
}

// ArrowIDKey is the key, in the metadata of an Arrow field, of the field ID that a Parquet reader found and that a writer takes.
const ArrowIDKey = "PARQUET:field_id"

// ArrowID returns the metadata of an Arrow field that a Parquet writer makes the field's ID of.
func ArrowID(id catalog.FieldID) arrow.Metadata {
	return arrow.NewMetadata([]string{ArrowIDKey}, []string{strconv.Itoa(int(id))})
}

func relabelLeaf(t arrow.DataType, stored storedType, want transform.Type) arrow.DataType {
	if ts, ok := t.(*arrow.TimestampType); ok && stored.fit(want) == fits && want.IsTimestamp() {
		zone := ""
		if want.Kind == transform.TimestampTZ || want.Kind == transform.TimestampTZNS {
			zone = "UTC"
		}
		return &arrow.TimestampType{Unit: ts.Unit, TimeZone: zone}
	}
	if !stored.relabels(want) {
		return t
	}
	switch want.Kind {
	case transform.String:
		return arrow.BinaryTypes.String
	case transform.Binary:
		return arrow.BinaryTypes.Binary
	}
	return extensions.NewUUIDType()
}

// relabeled returns the same values under another schema.
func relabeled(s *arrow.Schema, batch arrow.RecordBatch) arrow.RecordBatch {
	columns := make([]arrow.Array, batch.NumCols())
	for i := range columns {
		columns[i] = array.MakeFromData(retyped(s.Field(i).Type, batch.Column(i).Data()))
	}
	return array.NewRecordBatch(s, columns, batch.NumRows())
}

func retyped(t arrow.DataType, data arrow.ArrayData) arrow.ArrayData {
	inner := innerTypes(t)
	kids := make([]arrow.ArrayData, len(data.Children()))
	for i, kid := range data.Children() {
		kids[i] = retyped(inner[i], kid)
	}
	return array.NewData(t, data.Len(), data.Buffers(), kids, data.NullN(), data.Offset())
}

func innerTypes(t arrow.DataType) []arrow.DataType {
	switch t := t.(type) {
	case *arrow.StructType:
		types := make([]arrow.DataType, t.NumFields())
		for i := range types {
			types[i] = t.Field(i).Type
		}
		return types
	case *arrow.ListType:
		return []arrow.DataType{t.Elem()}
	case *arrow.MapType:
		return []arrow.DataType{t.Elem()}
	}
	return nil
}
