package lake

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// readPositions reads a Parquet file of position deletes.
func readPositions(ctx context.Context, f fileio.File, add func(path string, position int64) error) error {
	r, err := pqfile.NewParquetReader(io.NewSectionReader(f, 0, f.Size()))
	if err != nil {
		return err
	}
	columns := r.MetaData().Schema
	leaves := []int{leafOf(columns.Root(), catalog.DeletePathID), leafOf(columns.Root(), catalog.DeletePosID)}
	reader, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: copyGroupRows / 4}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	batches, err := reader.GetRecordReader(ctx, leaves, nil)
	if err != nil {
		return err
	}
	defer batches.Release()
	for batches.Next() {
		if err := addPositions(batches.RecordBatch(), columns.Column(leaves[0]).Name(), add); err != nil {
			return err
		}
	}
	if err := batches.Err(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// leafOf returns the place of the column with the field ID among the leaves of a file, or -1 when it has none.
func leafOf(root *schema.GroupNode, id catalog.FieldID) int {
	at := 0
	for i := range root.NumFields() {
		if root.Field(i).FieldID() == int32(id) {
			return at
		}
		at += countLeaves(root.Field(i))
	}
	return -1
}

func addPositions(batch arrow.RecordBatch, pathColumn string, add func(path string, position int64) error) error {
	paths, positions := batch.Column(0), batch.Column(1)
	if batch.ColumnName(0) != pathColumn { // columns come in the file's order
		paths, positions = positions, paths
	}
	for i := range int(batch.NumRows()) {
		path, okPath := textAt(paths, i)
		position, okPosition := longAt(positions, i)
		if !okPath || !okPosition || position < 0 {
			return errs.New(errs.Corrupt, "", "", "row %d of a batch has no path or no position", i)
		}
		if err := add(path, position); err != nil {
			return err
		}
	}
	return nil
}

func textAt(a arrow.Array, i int) (string, bool) {
	if a.IsNull(i) {
		return "", false
	}
	switch a := a.(type) {
	case *array.Binary:
		return string(a.Value(i)), true
	case *array.LargeBinary:
		return string(a.Value(i)), true
	case array.StringLike:
		return a.Value(i), true
	case *array.Dictionary:
		return textAt(a.Dictionary(), a.GetValueIndex(i))
	}
	return "", false
}

func longAt(a arrow.Array, i int) (int64, bool) {
	if a.IsNull(i) {
		return 0, false
	}
	switch a := a.(type) {
	case *array.Int64:
		return a.Value(i), true
	case *array.Int32:
		return int64(a.Value(i)), true
	}
	return 0, false
}
