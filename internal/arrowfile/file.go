package arrowfile

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	_ "github.com/apache/arrow-go/v18/arrow/extensions" // so that the library knows Arrow's own extension types
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/tarndb/tarn/internal/errs"
)

// File is an open Arrow file. One goroutine uses it at a time.
type File struct {
	source *source
	reader *ipc.Reader
}

// Open opens a file and reads its schema. A record batch with the dictionaries that it needs may take limit bytes of memory; 0 is
// no limit.
func Open(path string, limit int64) (*File, error) {
	if limit == 0 {
		limit = noLimit
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, errs.Wrap(openKind(err), readOp, "", err) // which names the file
	}
	f := &File{source: &source{file: file, limit: limit, dictionaries: map[int64]int64{}}}
	if err := f.begin(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

func openKind(err error) errs.Kind {
	if errors.Is(err, os.ErrNotExist) {
		return errs.NotFound
	}
	return errs.Invalid
}

// begin tells the format and reads the schema.
func (f *File) begin() (err error) {
	s := f.source
	info, err := s.file.Stat()
	if err != nil {
		return s.unread(err)
	}
	if !info.Mode().IsRegular() {
		return errs.New(errs.Invalid, readOp, s.file.Name(), "it isn't a file that can be read more than once")
	}
	s.size = info.Size()
	if s.isStream, err = s.tellFormat(); err != nil {
		return err
	}
	if !s.isStream {
		if err := s.readFooter(); err != nil {
			return err
		}
	}
	defer f.recovered(&err)
	f.reader, err = ipc.NewReaderFromMessageReader(s, ipc.WithAllocator(&allocator{limit: s.limit}))
	return f.fault(err)
}

// tellFormat says whether the file is a stream.
func (s *source) tellFormat() (isStream bool, err error) {
	head, err := s.read(0, min(s.size, magicRoom))
	if err != nil {
		return false, err
	}
	refuse := func(format string) (bool, error) {
		return false, errs.New(errs.Invalid, readOp, s.file.Name(), "%s", format)
	}
	switch begins := string(head); {
	case len(head) < magicRoom:
		return false, s.damaged("it has %d bytes, which are neither a file nor a stream of Arrow's", len(head))
	case begins[:len(magic)] == magic:
		return false, nil
	case begins[:4] == "FEA1":
		return false, errs.New(errs.Unsupported, readOp, s.file.Name(), "it is of version 1 of Feather, before Arrow's own file format").
			WithHint("write it anew with a current version of Arrow, which writes version 2")
	case begins[:4] == "PAR1":
		return refuse("it is a Parquet file: call it by a name that ends in .parquet, or read it with read_parquet")
	}
	// A stream begins with the mark, or in old ones with the length of the schema, which is never so long as four letters are.
	if begins := string(head[:4]); begins == "\xff\xff\xff\xff" || head[3] == 0 && begins != "\x00\x00\x00\x00" {
		return true, nil
	}
	return false, s.damaged("its beginning is neither that of Arrow's file format nor of its stream format")
}

// Schema returns the file's schema.
func (f *File) Schema() *arrow.Schema { return f.reader.Schema() }

// SizeBytes returns how long the file is.
func (f *File) SizeBytes() int64 { return f.source.size }

// Next returns the next batch and how many bytes of memory it takes besides its dictionaries; io.EOF after the last. Its memory is
// Go's own: it may be kept, and needn't be released.
func (f *File) Next() (batch arrow.RecordBatch, bytes int64, err error) {
	defer f.recovered(&err)
	batch, err = f.reader.Read()
	if err != nil {
		return nil, 0, f.fault(err)
	}
	for i, column := range batch.Columns() {
		if int64(column.Len()) != batch.NumRows() {
			return nil, 0, f.source.damaged("column %q of a batch of %d rows has %d", batch.ColumnName(i), batch.NumRows(), column.Len())
		}
	}
	batch.Retain() // the reader lets go of it with the next one
	return batch, f.source.batchBytes, nil
}

// fault returns the error of a call of the library.
func (f *File) fault(err error) error {
	switch {
	case err == nil:
		return nil
	case f.source.failure != nil:
		return f.source.failure
	case errors.Is(err, io.EOF):
		return io.EOF
	case errors.Is(err, arrow.ErrNotImplemented):
		return errs.New(errs.Unsupported, readOp, f.source.file.Name(), "%v", err)
	}
	return f.source.damaged("%v", err)
}

// recovered turns a panic of the library, which is how it meets bytes that it didn't expect, into an error.
func (f *File) recovered(err *error) {
	if p := recover(); p != nil {
		*err = f.fault(fmt.Errorf("%v", p))
	}
}

// Close closes the file.
func (f *File) Close() error { return f.source.file.Close() }
