package property

import (
	"os"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/transform"
)

// replace puts a column's name in a text's places for it.
func replace(text, col string) string { return strings.ReplaceAll(text, "%s", col) }

// foreign adds a file of double and float columns that another library wrote, which leaves NaN out of the bounds.
func (l *lab) foreign(name string, tuple []transform.Value, columns [][]float64) {
	l.t.Helper()
	table := l.load(name)
	types := map[transform.Kind]arrow.DataType{
		transform.Double: arrow.PrimitiveTypes.Float64, transform.Float: arrow.PrimitiveTypes.Float32,
	}
	var fields []arrow.Field
	for _, f := range table.Schema.Fields {
		fields = append(fields, arrow.Field{
			Name: f.Name, Type: types[f.Type.Primitive.Kind], Nullable: true, Metadata: arrow.NewMetadata([]string{"PARQUET:field_id"}, []string{strconv.Itoa(int(f.ID))}),
		})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i, values := range columns {
		for _, v := range values {
			if d, ok := b.Field(i).(*array.Float64Builder); ok {
				d.Append(v)
			} else {
				b.Field(i).(*array.Float32Builder).Append(float32(v))
			}
		}
	}
	record := b.NewRecordBatch()
	defer record.Release()
	ref, err := l.catalog.NewDataFileRef(l.t.Context(), table, tuple)
	l.must(err)
	file, err := os.Create(ref.Local)
	l.must(err)
	w, err := pqarrow.NewFileWriter(record.Schema(), file, nil, pqarrow.DefaultWriterProps())
	l.must(err)
	l.must(w.Write(record))
	l.must(w.Close())
	f, err := l.catalog.DataFileFromParquet(l.t.Context(), table, ref, tuple)
	l.must(err)
	_, err = l.catalog.Append(l.t.Context(), table, []lake.NewDataFile{f})
	l.must(err)
}

// misplace adds a file of rows under a tuple, whatever their own values say, and gives the rows to the twin. The table
// must keep no bounds, or the lie is found at once. It returns the file's path.
func (l *lab) misplace(name string, tuple []transform.Value, rows ...string) string {
	l.t.Helper()
	table := l.load(name)
	l.exec("CREATE OR REPLACE TEMP TABLE batch AS SELECT * FROM %s LIMIT 0", name)
	l.exec("INSERT INTO batch VALUES %s", strings.Join(rows, ", "))
	ref, err := l.catalog.NewDataFileRef(l.t.Context(), table, tuple)
	l.must(err)
	_, err = l.conn.CopyParquet(l.t.Context(), "SELECT * FROM batch", table.Schema.Fields, ref.Local, duck.CopyOptions{})
	l.must(err)
	f, err := l.catalog.DataFileFromParquet(l.t.Context(), table, ref, tuple)
	l.must(err)
	_, err = l.catalog.Append(l.t.Context(), table, []lake.NewDataFile{f})
	l.must(err)
	l.exec("INSERT INTO %s SELECT * FROM batch", name)
	return ref.Path
}
