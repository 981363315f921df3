package lake

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/avro"
	"github.com/tarndb/tarn/internal/deletes"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
)

// positionRow is one position that a delete file deletes.
type positionRow struct {
	*entryRow
	path     string // of the data file
	position int64
}

// deletedRowID is the field ID of the column of position delete files that may repeat the deleted row. The spec deprecates
// it.
const deletedRowID = 2147483544

// firstOwnID is where the field IDs of the columns of position_deletes begin. The reference implementation has reserved ones
// there, which stand for the metadata columns of a row here.
const (
	firstOwnID    = math.MaxInt32 - 1000
	positionRowID = firstOwnID + 2
)

func positionDeleteColumns(m *metaTable) ([]metaColumn, error) {
	row := writable(catalog.Type{Nested: catalog.Struct, Fields: m.of.Schema.Fields})
	columns := []metaColumn{
		newColumn(firstOwnID, "file_path", textType, func(r *positionRow) any { return r.path }),
		newColumn(firstOwnID+1, "pos", longType, func(r *positionRow) any { return r.position }),
		newColumn(positionRowID, "row", row, func(*positionRow) any { return nil }),
	}
	columns = m.withPartition(columns, firstOwnID+3, func(r any) any { return r.(*positionRow).partition })
	columns = append(columns,
		newColumn(firstOwnID+4, "spec_id", intType, func(r *positionRow) any { return int32(r.Spec) }),
		newColumn(firstOwnID+5, "delete_file_path", textType, func(r *positionRow) any { return r.Path }),
	)
	if m.of.FormatVersion >= 3 {
		columns = append(columns,
			newColumn(firstOwnID+6, "content_offset", longType, func(r *positionRow) any { return orNull(r.Offset) }),
			newColumn(firstOwnID+7, "content_size_in_bytes", longType, func(r *positionRow) any { return orNull(r.Length) }),
		)
	}
	return columns, nil
}

// positionReader reads position delete files and deletion vectors.
type positionReader struct {
	scan    *metaScan
	prepare *preparation
	judge   *judge
}

func positionDeleteRows(ctx context.Context, s *metaScan, yield func(any) error) error {
	r := &positionReader{scan: s, judge: newJudge(s.of, catalog.PositionDeleteColumns())}
	r.judge.strict = true
	r.prepare = &preparation{catalog: s.base.catalog, copies: newCopier(s.base.catalog, s.dir)}
	return metaFileRows(ctx, s, func(row any) error {
		out := &positionRow{entryRow: row.(*entryRow)}
		if out.Content != manifest.PositionDeletes {
			return nil
		}
		add := func(path string, position int64) error {
			out.path, out.position = path, position
			return yield(out)
		}
		d, err := deleteOf(out.Entry)
		switch {
		case err != nil:
			return err
		case d.encrypted:
			return fileio.Encrypted(d.Ref.Path)
		case d.Kind == catalog.DeletionVector:
			return r.vector(ctx, d.DeleteFile, add)
		}
		return named("read delete file", d.Ref.Path, r.file(ctx, d.DeleteFile, add))
	})
}

func (r *positionReader) vector(ctx context.Context, d catalog.DeleteFile, add func(string, int64) error) (err error) {
	f, err := r.scan.base.catalog.fio.Open(ctx, d.Ref.Path)
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

func (r *positionReader) file(ctx context.Context, d catalog.DeleteFile, add func(string, int64) error) (err error) {
	how, err := r.prepare.readingOf(ctx, r.judge, "read delete file", source{d.Ref, d.Format, d.Rows})
	if err != nil {
		return err
	}
	if err := r.refuseRows(ctx, d); err != nil {
		return err
	}
	fio, path := r.scan.base.catalog.fio, d.Ref.Path
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

// refuseRows fails if the column row is wanted and the file has it.
func (r *positionReader) refuseRows(ctx context.Context, d catalog.DeleteFile) error {
	if !slices.ContainsFunc(r.scan.wanted, func(c metaColumn) bool { return c.ID == positionRowID }) {
		return nil
	}
	has, err := r.hasRows(ctx, d)
	if err != nil || !has {
		return err
	}
	return errs.New(errs.Unsupported, "", "", "its column row can't be read").WithHint("name the columns that are wanted, without row")
}

func (r *positionReader) hasRows(ctx context.Context, d catalog.DeleteFile) (has bool, err error) {
	if d.Format == catalog.Parquet {
		foot, err := r.scan.base.catalog.footer(ctx, d.Ref)
		return err == nil && leafOf(foot.schema, deletedRowID) >= 0, err
	}
	err = fileio.ReadAvro(ctx, r.scan.base.catalog.fio, "read delete file", d.Ref.Path, 0, func(f *avro.Reader) error {
		record, err := f.Schema()
		has = err == nil && slices.ContainsFunc(record.Fields, func(f avro.Field) bool { return f.ID == deletedRowID })
		return err
	})
	return has, errs.Wrap(errs.Corrupt, "", "", err)
}
