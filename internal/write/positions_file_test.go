package write

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/tarndb/tarn/internal/deletes"
)

// TestPositionsFile reads back what files of one, of some and of many batches and row groups have, value by value, and the bounds of
// each row group.
func TestPositionsFile(t *testing.T) {
	const path = "file:///a/b.parquet"
	for _, count := range []int64{1, 2, positionBatch, positionBatch + 1, positionBatch + 2, positionGroupRows + 1, positionGroupRows + positionBatch + 2} {
		var positions deletes.Positions
		for i := range count {
			positions.AddNew(3 * i)
		}
		var out bytes.Buffer
		if _, err := writePositionsFile(&out, path, &positions, properties{codec: "zstd"}); err != nil {
			t.Fatal(err)
		}
		file, err := pqfile.NewParquetReader(bytes.NewReader(out.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		var next int64
		for g := range file.NumRowGroups() {
			group, first := file.RowGroup(g), next
			paths, at := make([]parquet.ByteArray, group.NumRows()), make([]int64, group.NumRows())
			readAll(t, group, 0, func(r pqfile.ColumnChunkReader, from int) (int64, int, error) {
				return r.(*pqfile.ByteArrayColumnChunkReader).ReadBatch(int64(len(paths)-from), paths[from:], nil, nil)
			})
			readAll(t, group, 1, func(r pqfile.ColumnChunkReader, from int) (int64, int, error) {
				return r.(*pqfile.Int64ColumnChunkReader).ReadBatch(int64(len(at)-from), at[from:], nil, nil)
			})
			for i := range paths {
				if string(paths[i]) != path || at[i] != 3*next {
					t.Fatalf("of %d positions the %d-th is %d of %q", count, next, at[i], paths[i])
				}
				next++
			}
			low, high := bounds[*metadata.ByteArrayStatistics](t, group, 0), bounds[*metadata.Int64Statistics](t, group, 1)
			if string(low.Min()) != path || string(low.Max()) != path || high.Min() != 3*first || high.Max() != 3*(next-1) {
				t.Errorf("of %d positions the bounds of row group %d are %q to %q and %d to %d", count, g, low.Min(), low.Max(), high.Min(), high.Max())
			}
		}
		if next != count {
			t.Errorf("%d positions of %d are there", next, count)
		}
	}
}

// readAll reads a column of a row group to its end.
func readAll(t *testing.T, group *pqfile.RowGroupReader, column int, read func(r pqfile.ColumnChunkReader, from int) (int64, int, error)) {
	t.Helper()
	r, err := group.Column(column)
	if err != nil {
		t.Fatal(err)
	}
	for from := 0; int64(from) < group.NumRows(); {
		n, _, err := read(r, from)
		if err != nil || n == 0 {
			t.Fatalf("column %d ends after %d of %d rows: %v", column, from, group.NumRows(), err)
		}
		from += int(n)
	}
}

// bounds returns the statistics of a column of a row group, which has bounds and no NULL.
func bounds[T metadata.TypedStatistics](t *testing.T, group *pqfile.RowGroupReader, column int) T {
	t.Helper()
	chunk, err := group.MetaData().ColumnChunk(column)
	if err != nil {
		t.Fatal(err)
	}
	s, err := chunk.Statistics()
	if err != nil || s == nil || !s.HasMinMax() || !s.HasNullCount() || s.NullCount() != 0 {
		t.Fatalf("column %d has the statistics %v: %v", column, s, err)
	}
	return s.(T)
}
