package avro

import (
	"errors"
	"fmt"
	"io"
)

// readAhead is how many bytes are read at once, at least: a block as most writers make them, and the head of the next.
const readAhead = 128 << 10

// source is a window that moves over a file. Its bytes are valid until the next peek.
type source struct {
	src    io.ReaderAt
	size   int64
	at     int64 // of the window's first byte that isn't skipped
	window []byte
	buf    []byte // what the window lies in
}

// left is how many bytes of the file are not skipped yet.
func (s *source) left() int64 { return s.size - s.at }

// skip moves on by n bytes, which were peeked at.
func (s *source) skip(n int) {
	s.at += int64(n)
	s.window = s.window[n:]
}

// peek returns the next n bytes. There must be as many, by the file's size.
func (s *source) peek(n int64) ([]byte, error) {
	if n <= int64(len(s.window)) {
		return s.window[:n], nil
	}
	want := min(max(n, readAhead), s.left())
	if int64(cap(s.buf)) < want {
		grown := make([]byte, want)
		copy(grown, s.window)
		s.buf = grown
	} else {
		copy(s.buf[:cap(s.buf)], s.window)
	}
	have := len(s.window)
	s.window = s.buf[:want]
	read, err := s.src.ReadAt(s.window[have:], s.at+int64(have))
	if read == len(s.window)-have {
		return s.window[:n], nil
	}
	s.window = s.window[:have]
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("it is cut short: %d bytes of %d", s.at+int64(have+read), s.size)
	}
	return nil, err
}
