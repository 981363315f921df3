package arrowfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/units"
)

// source gives a file's messages one after the other: of a stream as they lie, of a file in the file format the schema, then the
// dictionaries and the batches as the footer lists them. The library reads them from it, in whose errors ours would be lost: the
// first is kept.
type source struct {
	file         *os.File
	size, limit  int64
	at           int64   // where the next message of a stream is, or the schema
	isStream     bool    // there is no footer
	blocks       []block // of the footer, those that are to come
	views        views   // of the schema
	dictionaries map[int64]int64
	batchBytes   int64 // what the last batch takes
	failure      error
}

// block is an entry of the footer.
type block struct {
	offset, body int64
	meta         int32
}

var _ ipc.MessageReader = (*source)(nil)

// Retain and Release are the library's: what it reads is Go's own memory.
func (s *source) Retain()  {}
func (s *source) Release() {}

// Message returns the next message; io.EOF after the last.
func (s *source) Message() (msg *ipc.Message, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = s.refused(p)
		}
		if err != nil && !errors.Is(err, io.EOF) && s.failure == nil {
			s.failure = err
		}
	}()
	if s.isStream || s.at > 0 {
		return s.nextOfStream()
	}
	if len(s.blocks) == 0 {
		return nil, io.EOF
	}
	b := s.blocks[0]
	s.blocks = s.blocks[1:]
	meta, next, err := s.metadata(b.offset)
	if err != nil {
		return nil, err
	}
	if meta == nil || b.meta < 0 || next > b.offset+int64(b.meta) {
		return nil, s.damaged("the footer lists a message that isn't there")
	}
	msg, m, err := s.message(meta, b.offset+int64(b.meta))
	if err == nil && m.bodyBytes != b.body {
		return nil, s.damaged("a message's length isn't what the footer says")
	}
	return msg, err
}

// nextOfStream returns the message at s.at. Of a file in the file format that is the schema.
func (s *source) nextOfStream() (*ipc.Message, error) {
	meta, next, err := s.metadata(s.at)
	if err != nil {
		return nil, err
	}
	if meta == nil {
		return nil, s.end(next)
	}
	msg, m, err := s.message(meta, next)
	s.at = next + m.bodyBytes
	if !s.isStream {
		s.at = 0
	}
	return msg, err
}

// maxPadding is how many zeros may follow a stream.
const maxPadding = 4096

// end is the end of a stream, with nothing behind it but some zeros: streams that were put together to one file would lose rows.
func (s *source) end(at int64) error {
	rest, err := s.read(at, min(s.size-at, maxPadding+1))
	if err != nil {
		return err
	}
	if len(rest) <= maxPadding && len(bytes.Trim(rest, "\x00")) == 0 {
		return io.EOF
	}
	return errs.New(errs.Unsupported, readOp, s.file.Name(), "something follows the end of the stream").
		WithHint("a file holds one stream: write others to files of their own, and read them as a list or by a pattern")
}

// read returns bytes of the file. Their number is checked before.
func (s *source) read(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > s.size || n > s.size-at {
		return nil, s.damaged("it ends too soon")
	}
	buf := make([]byte, n)
	if _, err := s.file.ReadAt(buf, at); err != nil {
		return nil, s.unread(err)
	}
	return buf, nil
}

// unread is the error of reading the file. One that became shorter is damaged.
func (s *source) unread(err error) error {
	if errors.Is(err, io.EOF) {
		return s.damaged("it ends too soon")
	}
	return errs.Wrap(errs.Resource, readOp, s.file.Name(), err)
}

// metadata returns the metadata of the message at a place, and where it ends; nil when it is the mark that ends a stream.
func (s *source) metadata(at int64) (meta []byte, next int64, err error) {
	if at == s.size {
		return nil, 0, s.damaged("the stream has no end: it was cut off, or not closed by its writer")
	}
	next = at + 4
	prefix, err := s.read(at, 4)
	if err != nil {
		return nil, 0, err
	}
	length := int64(int32(binary.LittleEndian.Uint32(prefix)))
	if length == -1 { // since version 0.15 of Arrow a mark comes first
		next += 4
		if prefix, err = s.read(at+4, 4); err != nil {
			return nil, 0, err
		}
		length = int64(int32(binary.LittleEndian.Uint32(prefix)))
	}
	if length == 0 {
		return nil, next, nil
	}
	if err := s.admit(length); err != nil {
		return nil, 0, err
	}
	meta, err = s.read(next, length)
	return meta, next + length, err
}

// message returns the message of the metadata, whose body begins at a place, when there is memory for it.
func (s *source) message(meta []byte, at int64) (*ipc.Message, message, error) {
	m := inspect(meta)
	if m.bodyBytes > s.size-at {
		return nil, m, s.damaged("it ends too soon")
	}
	if err := s.admit(m.bodyBytes); err != nil {
		return nil, m, err
	}
	body, err := s.read(at, m.bodyBytes)
	if err != nil {
		return nil, m, err
	}
	sum := m.bodyBytes + m.unpacked(body)
	if err := s.admit(sum); err != nil {
		return nil, m, err
	}
	if err := s.note(m, sum); err != nil {
		return nil, m, err
	}
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body)), m, nil
}

// note keeps what a message says and takes.
func (s *source) note(m message, taken int64) error {
	if m.kind == schemaMessage {
		s.views = m.views
		return nil
	}
	s.views.check(m)
	switch _, isKnown := s.dictionaries[m.id]; {
	case m.kind == batchMessage:
		s.batchBytes = taken
	case m.isDelta:
		s.dictionaries[m.id] += taken
	case isKnown && !s.isStream:
		return s.damaged("it has two dictionaries of one ID")
	default:
		s.dictionaries[m.id] = taken
	}
	return nil
}

// admit refuses a message for which there isn't memory beside the dictionaries.
func (s *source) admit(more int64) error {
	sum := more
	for _, d := range s.dictionaries {
		sum += d
	}
	if sum <= s.limit {
		return nil
	}
	return errs.New(errs.Resource, readOp, s.file.Name(), "a record batch and its dictionaries take %s of memory, more than the %s that there are for them",
		units.Bytes(sum), units.Bytes(s.limit)).WithHint("raise the memory limit, or write the file with smaller record batches")
}

const (
	readOp    = "read Arrow file"
	magic     = "ARROW1"
	magicRoom = 8  // the magic at the beginning takes so many bytes
	tailBytes = 10 // the footer's length and the magic at the end
)

// readFooter reads the list of blocks of a file in the file format.
func (s *source) readFooter() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = s.refused(p)
		}
	}()
	tail, err := s.read(s.size-tailBytes, tailBytes)
	if err != nil {
		return err
	}
	if string(tail[4:]) != magic {
		return s.damaged("its end is missing: it was cut off, or not closed by its writer")
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	if err := s.admit(length); err != nil {
		return err
	}
	buf, err := s.read(s.size-tailBytes-length, length)
	if err != nil {
		return err
	}
	footer := rootOf(buf)
	for _, list := range []int{2, 3} { // dictionaries, record batches
		at, n := footer.vector(list, 24)
		for i := range n {
			e := at + 24*i
			s.blocks = append(s.blocks, block{offset: footer.long(e), meta: int32(footer.word(e + 8)), body: footer.long(e + 16)})
		}
	}
	s.at = magicRoom
	return nil
}

// refused is the error of what inspect panicked with.
func (s *source) refused(p any) error {
	if what, ok := p.(unsupported); ok {
		return errs.New(errs.Unsupported, readOp, s.file.Name(), "%s", what).
			WithHint("write the file without the column, whose values say nothing but whether they are NULL")
	}
	return s.damaged("%v", p)
}

func (s *source) damaged(format string, args ...any) error {
	return errs.New(errs.Corrupt, readOp, s.file.Name(), format, args...)
}

// allocator gives the library memory to unpack buffers in. None is larger than the limit, whatever the library takes for a
// buffer's length.
type allocator struct {
	memory.GoAllocator
	limit int64
}

// Allocate implements memory.Allocator.
func (a *allocator) Allocate(size int) []byte { return a.GoAllocator.Allocate(a.check(size)) }

// Reallocate implements memory.Allocator.
func (a *allocator) Reallocate(size int, b []byte) []byte {
	return a.GoAllocator.Reallocate(a.check(size), b)
}

func (a *allocator) check(size int) int {
	if size < 0 || int64(size) > a.limit {
		panic("a buffer is longer than all of its batch")
	}
	return size
}

// noLimit is the limit of a file of which any batch may be read.
const noLimit = math.MaxInt64
