package fileio

import (
	"context"
	"errors"
	"io"

	"github.com/tarndb/tarn/internal/avro"
	"github.com/tarndb/tarn/internal/errs"
)

// Parse runs a parser over bytes that may be anything. Its error, or its panic, says that the file is Corrupt.
func Parse(op, path string, parse func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errs.New(errs.Corrupt, op, path, "the bytes make no sense: %v", r)
		}
	}()
	return errs.Wrap(errs.Corrupt, op, path, parse())
}

// ReadAvro opens an Avro file, which must have at least so many bytes, and closes it after read. An error of read says
// that the file is Corrupt, unless it has a kind of its own.
func ReadAvro(ctx context.Context, fio Files, op, path string, atLeast int64, read func(*avro.Reader) error) (err error) {
	f, err := fio.Open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, errs.OfFile("close", path, f.Close())) }()
	if f.Size() < atLeast {
		return errs.New(errs.Corrupt, op, path, "it is cut short: %d bytes of %d", f.Size(), atLeast)
	}
	r, err := avro.Open(kindedReader{f, path}, f.Size())
	if err != nil {
		return errs.Wrap(errs.Corrupt, op, path, err)
	}
	defer r.Close()
	return errs.Wrap(errs.Corrupt, op, path, read(r))
}

// kindedReader gives errors of reading a kind, which tells them from errors of what was read.
type kindedReader struct {
	File
	path string
}

func (r kindedReader) ReadAt(p []byte, at int64) (int, error) {
	n, err := r.File.ReadAt(p, at)
	if errors.Is(err, io.EOF) {
		return n, err
	}
	return n, errs.OfFile("read", r.path, err)
}

// Encrypted is the error for a file whose metadata or last bytes say that it is encrypted.
func Encrypted(path string) error {
	return errs.New(errs.Unsupported, "read", path, "it is encrypted, which can't be read yet")
}
