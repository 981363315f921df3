package datafile

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/avro"
	"github.com/tarndb/tarn/internal/deletes"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// deletedRowID is the field ID of the column of position delete files that may repeat the deleted row. The spec deprecates
// it.
const deletedRowID = 2147483544

// Positions reads position delete files and deletion vectors of one table. One goroutine uses it at a time.
type Positions struct {
	prepare  *preparation
	judge    *judge
	withRows bool
}

// Positions returns a reader of position deletes. Files in Avro are rewritten in the folder dir. withRows says that the deleted
// rows are wanted, too, which files may repeat: those that do are Unsupported then.
func (r Reader) Positions(t *catalog.Table, dir string, withRows bool) *Positions {
	j := newJudge(t, catalog.PositionDeleteColumns())
	j.strict = true
	return &Positions{prepare: &preparation{reader: r, copies: newCopier(r, dir)}, judge: j, withRows: withRows}
}

// Each calls add for each position that a position delete file or a deletion vector deletes, with the path of the data file,
// in the order of the file. An error of add ends it.
func (r *Positions) Each(ctx context.Context, d catalog.DeleteFile, add func(path string, position int64) error) error {
	if d.Kind == catalog.DeletionVector {
		return r.vector(ctx, d, add)
	}
	return named("read delete file", d.Ref.Path, r.file(ctx, d, add))
}

func (r *Positions) vector(ctx context.Context, d catalog.DeleteFile, add func(string, int64) error) (err error) {
	f, err := r.prepare.reader.Files.Open(ctx, d.Ref.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if d.Offset+d.Length > f.Size() {
		return errs.New(errs.Corrupt, "read delete file", d.Ref.Path, "it is cut short: %d bytes of %d", f.Size(), d.Offset+d.Length)
	}
	blob := make([]byte, d.Length)
	if _, err := f.ReadAt(blob, d.Offset); err != nil && !errors.Is(err, io.EOF) {
		return errs.OfFile("read", d.Ref.Path, err)
	}
	positions, err := deletes.DecodeVectorOf(blob, d.Rows)
	if err != nil {
		return errs.Wrap(errs.Corrupt, "read delete file", d.Ref.Path, err)
	}
	for position := range positions.All() {
		if err := add(d.Target, position); err != nil {
			return err
		}
	}
	return nil
}

func (r *Positions) file(ctx context.Context, d catalog.DeleteFile, add func(string, int64) error) (err error) {
	how, err := r.prepare.readingOf(ctx, r.judge, "read delete file", source{d.Ref, d.Format, d.Rows})
	if err != nil {
		return err
	}
	if err := r.refuseRows(ctx, d); err != nil {
		return err
	}
	fio, path := r.prepare.reader.Files, d.Ref.Path
	if how.copied {
		fio, path = fileio.Disk{}, r.prepare.copies.path(r.judge, path)
	}
	f, err := fio.Open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var own error // which isn't about the file's bytes
	err = fileio.Parse("read delete file", d.Ref.Path, func() error {
		return readPositions(ctx, f, func(path string, position int64) error {
			own = add(path, position)
			return own
		})
	})
	if own != nil {
		return own
	}
	return err
}

// refuseRows fails if the deleted rows are wanted and the file has them.
func (r *Positions) refuseRows(ctx context.Context, d catalog.DeleteFile) error {
	if !r.withRows {
		return nil
	}
	has, err := r.hasRows(ctx, d)
	if err != nil || !has {
		return err
	}
	return errs.New(errs.Unsupported, "", "", "its column row can't be read").WithHint("name the columns that are wanted, without row")
}

func (r *Positions) hasRows(ctx context.Context, d catalog.DeleteFile) (has bool, err error) {
	if d.Format == catalog.Parquet {
		foot, err := r.prepare.reader.footer(ctx, d.Ref)
		return err == nil && leafOf(foot.schema, deletedRowID) >= 0, err
	}
	err = fileio.ReadAvro(ctx, r.prepare.reader.Files, "read delete file", d.Ref.Path, 0, func(f *avro.Reader) error {
		record, err := f.Schema()
		has = err == nil && slices.ContainsFunc(record.Fields, func(f avro.Field) bool { return f.ID == deletedRowID })
		return err
	})
	return has, errs.Wrap(errs.Corrupt, "", "", err)
}

// readPositions reads a Parquet file of position deletes.
func readPositions(ctx context.Context, f fileio.File, add func(path string, position int64) error) error {
	r, err := pqfile.NewParquetReader(io.NewSectionReader(f, 0, f.Size()))
	if err != nil {
		return err
	}
	columns := r.MetaData().Schema
	leaves := []int{leafOf(columns.Root(), catalog.DeletePathID), leafOf(columns.Root(), catalog.DeletePosID)}
	reader, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: GroupRows / 4}, memory.DefaultAllocator)
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
