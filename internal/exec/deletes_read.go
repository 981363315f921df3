package exec

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/deletes"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/task"
)

// read fills the part from its files.
func (p *deletePart) read(ctx context.Context, conn *duck.Conn, in *task.Input, d *task.Delete) error {
	switch d.Kind {
	case catalog.DeletionVector:
		return p.readVector(ctx, d)
	case catalog.EqualityDeletes:
		p.values = &deletes.Values{}
		for _, f := range d.Files {
			if err := p.readValues(ctx, conn, in, d.Equality, f); err != nil {
				return err
			}
		}
		return nil
	}
	return p.readPositions(ctx, conn, in, d.Files[0])
}

// readVector reads a blob of a Puffin file by its offset: the file's footer isn't needed.
func (p *deletePart) readVector(ctx context.Context, d *task.Delete) error {
	ref := d.Files[0].Ref
	blob, err := readRange(ctx, ref, d.Offset, d.Length)
	if err != nil {
		return err
	}
	positions, err := deletes.DecodeVectorOf(blob, d.Files[0].Rows)
	if err != nil {
		return errs.New(errs.Corrupt, "read deletion vector", ref.Path, "the %d bytes at offset %d, for %s: %v", d.Length, d.Offset, d.Target, err)
	}
	p.positions = map[string]*deletes.Positions{d.Target: positions}
	return nil
}

// readRange reads bytes of a delete file, in pieces: memory that they don't fit in ends ctx.
func readRange(ctx context.Context, ref catalog.FileRef, offset, length int64) (_ []byte, err error) {
	const op, piece = "read delete file", 1 << 20
	stat, err := os.Stat(ref.Local) // before opening: that of a pipe waits for a writer
	if err != nil {
		return nil, errs.OfFile(op, ref.Path, err)
	}
	if !stat.Mode().IsRegular() {
		return nil, errs.New(errs.Corrupt, op, ref.Path, "it isn't a regular file but %s", stat.Mode().Type())
	}
	if offset < 0 || length < 0 || length > stat.Size() || offset > stat.Size()-length {
		return nil, errs.New(errs.Corrupt, op, ref.Path, "it has %d bytes, but its manifest entry names %d at offset %d", stat.Size(), length, offset)
	}
	f, err := os.Open(ref.Local)
	if err != nil {
		return nil, errs.OfFile(op, ref.Path, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	blob := make([]byte, length)
	for at := int64(0); at < length; at += piece {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, err := f.ReadAt(blob[at:min(at+piece, length)], offset+at); err != nil && !errors.Is(err, io.EOF) {
			return nil, errs.OfFile(op, ref.Path, err)
		}
	}
	return blob, nil
}

func (p *deletePart) readPositions(ctx context.Context, conn *duck.Conn, in *task.Input, f task.DeleteFile) error {
	p.positions = map[string]*deletes.Positions{}
	file := duck.ScanFile{Ref: f.Ref, Shape: in.ShapeOf(f.Shape)}
	text, err := duck.ScanSQL(duck.Scan{Columns: scanColumns(catalog.PositionDeleteColumns()), Files: []duck.ScanFile{file}})
	if err != nil {
		return err
	}
	err = query(ctx, conn, text, func(ch *duck.Chunk) error {
		rec, err := ch.Record()
		if err != nil {
			return err
		}
		defer rec.Release()
		return p.addPositions(f, rec)
	})
	return damage(ctx, conn, f, err)
}

// addPositions adds rows of a file of position deletes. Writers sort them by data file.
func (p *deletePart) addPositions(f task.DeleteFile, rec arrow.RecordBatch) error {
	paths, ok1 := rec.Column(0).(*array.String)
	rows, ok2 := rec.Column(1).(*array.Int64)
	if !ok1 || !ok2 {
		return errs.New(errs.Internal, "read delete file", f.Ref.Path, "its columns came as %s", rec.Schema())
	}
	for from := 0; from < rows.Len(); {
		to := from
		for ; to < rows.Len() && paths.Value(to) == paths.Value(from); to++ {
			if paths.IsNull(to) || rows.IsNull(to) || rows.Value(to) < 0 {
				return errs.New(errs.Corrupt, "read delete file", f.Ref.Path, "a row has file_path %s and pos %s, which name no row of a data file",
					paths.ValueStr(to), rows.ValueStr(to))
			}
		}
		path := paths.Value(from)
		set := p.positions[path]
		if set == nil {
			set = &deletes.Positions{}
			p.positions[string([]byte(path))] = set // a copy: the batch owns path
		}
		set.Add(rows.Int64Values()[from:to]...)
		from = to
	}
	return nil
}

// readValues reads a file of equality deletes in the table's types of today, so that a narrower type in the file, or in a
// data file, is compared in the wider one.
func (p *deletePart) readValues(ctx context.Context, conn *duck.Conn, in *task.Input, columns []catalog.FieldID, f task.DeleteFile) error {
	scan := duck.ScanFile{Ref: f.Ref, Shape: in.ShapeOf(f.Shape)}
	for _, id := range columns {
		scan.Equality = append(scan.Equality, in.Equality[id])
	}
	text, err := duck.EqualitySQL(scan)
	if err != nil {
		return err
	}
	places := make([]int, len(columns))
	for i := range places {
		places[i] = i
	}
	err = query(ctx, conn, text, func(ch *duck.Chunk) error {
		return ch.EachKey(places, func(_ int, key []byte) error {
			p.values.Add(0, key, f.Sequence)
			return nil
		})
	})
	return damage(ctx, conn, f, err)
}

// damage makes an error of reading a delete file name it. The statement is our own: what is wrong with it is the bytes.
func damage(ctx context.Context, conn *duck.Conn, f task.DeleteFile, err error) error {
	var e *errs.Error
	if errors.As(err, &e) && e.Kind == errs.Invalid {
		return errs.New(errs.Corrupt, "read delete file", f.Ref.Path, "the file is damaged: %s", e.Msg)
	}
	return conn.Blame(ctx, []string{f.Ref.Local}, err)
}
