package property

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/write"
	"github.com/tarndb/tarn/transform"
)

func isFixed(f catalog.Field) bool { return f.Type.Primitive.Kind == transform.Fixed }

// appendFixed appends the rows of the batch to a table with columns of type fixed, which DuckDB can't write: another library
// copies what DuckDB writes into a table like it with columns of type binary.
func (l *lab) appendFixed(table *catalog.Table) {
	l.t.Helper()
	ctx := l.t.Context()
	l.shadows++
	shadow := lake.NewTable{Ident: catalog.Ident{"shadows", strconv.Itoa(l.shadows)}, Schema: &catalog.Schema{}, Spec: slices.Clone(table.Spec().Fields), FormatVersion: table.FormatVersion}
	for _, f := range table.Schema.Fields {
		if isFixed(f) {
			f.Type.Primitive = transform.Type{Kind: transform.Binary}
		}
		shadow.Schema.Fields = append(shadow.Schema.Fields, f)
	}
	for i := range shadow.Spec {
		shadow.Spec[i].Name = "p" + strconv.Itoa(i)
	}
	if l.shadows == 1 {
		l.must(l.catalog.CreateNamespace(ctx, shadow.Ident[:1]))
	}
	made, err := l.catalog.CreateTable(ctx, shadow)
	l.must(err)
	_, err = write.Append(ctx, l.conn, l.catalog, made, "SELECT * FROM batch")
	l.must(err)
	made = l.load(strings.Join(shadow.Ident, "."))
	survey, err := l.catalog.Survey(ctx, made, catalog.Filter{})
	l.must(err)
	var files []lake.NewDataFile
	l.must(survey.Files(ctx, func(f catalog.DataFile) error {
		tuple := slices.Clone(f.Partition)
		ref, err := l.catalog.NewDataFileRef(ctx, table, tuple)
		l.must(err)
		l.must(os.MkdirAll(filepath.Dir(ref.Local), 0o755))
		l.copyFixed(table.Schema.Fields, f.Ref.Local, ref.Local)
		copied, err := l.catalog.DataFileFromParquet(ctx, table, ref, tuple)
		files = append(files, copied)
		return err
	}))
	_, err = l.catalog.Append(ctx, table, files)
	l.must(err)
}

// copyFixed copies a file of the fields' columns, those of type fixed written as such, and all under the fields' IDs.
func (l *lab) copyFixed(schema []catalog.Field, from, to string) {
	l.t.Helper()
	in, err := os.Open(from)
	l.must(err)
	defer in.Close()
	rows, err := pqarrow.ReadTable(l.t.Context(), in, parquet.NewReaderProperties(memory.DefaultAllocator), pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	l.must(err)
	defer rows.Release()
	var fields []arrow.Field
	var columns []arrow.Column
	for i, f := range schema {
		field, chunks := rows.Schema().Field(i), rows.Column(i).Data()
		if isFixed(f) {
			chunks = fixedChunks(chunks, f.Type.Primitive.Length)
			field.Type = chunks.DataType()
		}
		field.Metadata = arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{strconv.Itoa(int(f.ID))})
		fields, columns = append(fields, field), append(columns, *arrow.NewColumn(field, chunks))
	}
	out, err := os.Create(to)
	l.must(err)
	w, err := pqarrow.NewFileWriter(arrow.NewSchema(fields, nil), out, nil, pqarrow.DefaultWriterProps())
	l.must(err)
	l.must(w.WriteTable(array.NewTable(arrow.NewSchema(fields, nil), columns, rows.NumRows()), max(rows.NumRows(), 1)))
	l.must(w.Close())
}

func fixedChunks(in *arrow.Chunked, length int) *arrow.Chunked {
	b := array.NewFixedSizeBinaryBuilder(memory.DefaultAllocator, &arrow.FixedSizeBinaryType{ByteWidth: length})
	for _, chunk := range in.Chunks() {
		bytes := chunk.(*array.Binary)
		for i := range bytes.Len() {
			if bytes.IsNull(i) {
				b.AppendNull()
			} else {
				b.Append(bytes.Value(i))
			}
		}
	}
	return arrow.NewChunked(&arrow.FixedSizeBinaryType{ByteWidth: length}, []arrow.Array{b.NewArray()})
}
