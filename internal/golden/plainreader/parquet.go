package plainreader

import (
	"context"
	"fmt"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/tarndb/tarn/internal/golden"
)

// readFile reads a whole Parquet file.
func (t *Table) readFile(ctx context.Context, f File) ([]golden.Row, error) {
	in, err := file.OpenParquetFile(t.Local(f.Path), false, file.WithReadProps(parquet.NewReaderProperties(memory.DefaultAllocator)))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	reader, err := pqarrow.NewFileReader(in, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	data, err := reader.ReadTable(ctx)
	if err != nil {
		return nil, err
	}
	defer data.Release()
	places, err := byFieldID(data.Schema())
	if err != nil {
		return nil, err
	}
	rows := make([]golden.Row, data.NumRows())
	for i := range rows {
		rows[i] = make(golden.Row, len(t.columns))
	}
	for c, col := range t.columns {
		at, ok := places[col.ID]
		if !ok {
			continue // written before the column was added
		}
		if err := fill(rows, c, data.Column(at)); err != nil {
			return nil, fmt.Errorf("column %s: %w", col.Name, err)
		}
	}
	return rows, nil
}

// byFieldID returns the place of each column of a file by its field ID.
func byFieldID(s *arrow.Schema) (map[int]int, error) {
	places := map[int]int{}
	for i, f := range s.Fields() {
		text, ok := f.Metadata.GetValue("PARQUET:field_id")
		id, err := strconv.Atoi(text)
		if !ok || err != nil || id < 0 {
			return nil, fmt.Errorf("%w: column %s has no field ID", ErrUnknown, f.Name)
		}
		places[id] = i
	}
	return places, nil
}

// fill sets one column of the rows.
func fill(rows []golden.Row, c int, col *arrow.Column) error {
	row := 0
	for _, chunk := range col.Data().Chunks() {
		for i := range chunk.Len() {
			v, err := golden.FromArrow(chunk, i)
			if err != nil {
				return err
			}
			rows[row][c] = v
			row++
		}
	}
	return nil
}
