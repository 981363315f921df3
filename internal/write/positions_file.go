package write

import (
	"bytes"
	"iter"
	"slices"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/deletes"
	"github.com/tarndb/tarn/transform"
)

// positionMetrics are the metrics of a file of position deletes. Both bounds of the paths are whole: where they are the same,
// readers see that the file is of one data file.
type positionMetrics struct {
	sizes, values, nulls map[int]int64
	lower, upper         map[int][]byte
	splits               []int64
}

// positionGroupRows are the rows of a row group of position deletes.
const positionGroupRows = 1 << 20

// positionsFile returns a Parquet file of position deletes of one data file (spec, "Position Delete Files"), in their order.
func positionsFile(path string, positions *deletes.Positions, props properties) ([]byte, *positionMetrics, error) {
	root, err := schema.NewGroupNode("table", parquet.Repetitions.Required, schema.FieldList{
		schema.MustPrimitive(schema.NewPrimitiveNodeLogical("file_path", parquet.Repetitions.Required, schema.StringLogicalType{},
			parquet.Types.ByteArray, -1, int32(catalog.DeletePathID))),
		schema.NewInt64Node("pos", parquet.Repetitions.Required, int32(catalog.DeletePosID)),
	}, -1)
	if err != nil {
		return nil, nil, err
	}
	kind := metadata.NewKeyValueMetadata()
	if err := kind.Append("delete-type", "position"); err != nil {
		return nil, nil, err
	}
	var buf bytes.Buffer
	out := pqfile.NewParquetWriter(&buf, root, pqfile.WithWriteMetadata(kind), pqfile.WithWriterProps(parquet.NewWriterProperties(
		parquet.WithCreatedBy(Creator), parquet.WithCompression(parquetCodecs[props.codec]), parquet.WithDictionaryFor("pos", false),
	)))
	next, stop := iter.Pull(positions.All())
	defer stop()
	count := positions.Count()
	for left := count; left > 0 && err == nil; left -= positionGroupRows {
		err = writePositions(out, path, min(left, positionGroupRows), next)
	}
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, nil, err
	}
	m, err := positionMetricsOf(path, positions, buf.Bytes())
	return buf.Bytes(), m, err
}

// parquetCodecs are the codecs that COPY knows, as the library calls them.
var parquetCodecs = map[string]compress.Compression{
	"zstd": compress.Codecs.Zstd, "gzip": compress.Codecs.Gzip, "snappy": compress.Codecs.Snappy, "brotli": compress.Codecs.Brotli,
	"lz4_raw": compress.Codecs.Lz4Raw, "uncompressed": compress.Codecs.Uncompressed,
}

// writePositions writes a row group.
func writePositions(out *pqfile.Writer, path string, rows int64, next func() (int64, bool)) error {
	const batch = 8192
	group, err := out.AppendRowGroupChecked()
	if err != nil {
		return err
	}
	column, err := group.NextColumn()
	if err != nil {
		return err
	}
	paths := slices.Repeat([]parquet.ByteArray{parquet.ByteArray(path)}, int(min(rows, batch)))
	for left := rows; left > 0 && err == nil; left -= batch {
		_, err = column.(*pqfile.ByteArrayColumnChunkWriter).WriteBatch(paths[:min(left, batch)], nil, nil)
	}
	if err != nil {
		return err
	}
	if column, err = group.NextColumn(); err != nil {
		return err
	}
	values := make([]int64, 0, batch)
	for left := rows; left > 0 && err == nil; left -= batch {
		for values = values[:0]; int64(len(values)) < min(left, batch); {
			at, _ := next()
			values = append(values, at)
		}
		_, err = column.(*pqfile.Int64ColumnChunkWriter).WriteBatch(values, nil, nil)
	}
	if err != nil {
		return err
	}
	return group.Close()
}

// positionMetricsOf returns the metrics of a file of at least one position.
func positionMetricsOf(path string, positions *deletes.Positions, file []byte) (*positionMetrics, error) {
	const pathID, posID = int(catalog.DeletePathID), int(catalog.DeletePosID)
	read, err := pqfile.NewParquetReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	count := positions.Count()
	m := &positionMetrics{
		sizes: map[int]int64{}, values: map[int]int64{pathID: count, posID: count}, nulls: map[int]int64{pathID: 0, posID: 0},
		lower: map[int][]byte{pathID: []byte(path)}, upper: map[int][]byte{pathID: []byte(path)},
	}
	for g := range read.NumRowGroups() {
		for i, id := range []int{pathID, posID} {
			chunk, err := read.MetaData().RowGroup(g).ColumnChunk(i)
			if err != nil {
				return nil, err
			}
			m.sizes[id] += chunk.TotalCompressedSize()
			if i == 0 {
				m.splits = append(m.splits, chunkStart(chunk))
			}
		}
	}
	long := transform.Type{Kind: transform.Long}
	if m.lower[posID], err = transform.EncodeBound(long, positions.First()); err == nil {
		m.upper[posID], err = transform.EncodeBound(long, positions.Last())
	}
	return m, err
}

// chunkStart returns where a column chunk's bytes begin.
func chunkStart(chunk *metadata.ColumnChunkMetaData) int64 {
	if chunk.HasDictionaryPage() && chunk.DictionaryPageOffset() > 0 {
		return min(chunk.DictionaryPageOffset(), chunk.DataPageOffset())
	}
	return chunk.DataPageOffset()
}
