package deletes

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// What follows is the portable form of 32-bit roaring bitmaps, as its format specification has it. All is little-endian.
const (
	cookiePlain = 12346 // the number of containers follows; none is of runs
	cookieRuns  = 12347 // in the lower 16 bits; the upper are the number of containers less 1. A bit for each follows

	containersMost  = 1 << 16
	leastForOffsets = 4 // containers, from which on a bitmap with runs has offsets

	arrayMost   = 4096 // values of a container that is an array; one of more is a bitmap
	bitmapBytes = 8192
)

var errShort = errors.New("it ends too early")

// checkBitmap returns how long the bitmap is that data begins with and whether it has no values, or why it is none. The library reads a bitmap that
// breaks the rules without an error, and then finds or loses values. Its own check refuses bitmaps of other writers that
// are right but not the smallest, and takes quadratic time for runs.
func checkBitmap(data []byte) (size int, isEmpty bool, err error) {
	r := reader{rest: data}
	n, isRuns := r.header()
	if n > containersMost {
		return 0, false, fmt.Errorf("it has %d containers", n)
	}
	described := r.take(4 * n) // of each container its key and how many values it has, less 1
	if isRuns == nil || n >= leastForOffsets {
		r.take(4 * n)
	}
	for i := 0; i < n && r.err == nil; i++ {
		key, count := word(described, 2*i), int(word(described, 2*i+1))+1
		switch {
		case i > 0 && word(described, 2*i-2) >= key:
			r.fail("container %d comes after %d", key, word(described, 2*i-2))
		case isRuns != nil && isRuns[i/8]>>(i%8)&1 != 0:
			r.runs(count)
		case count > arrayMost:
			r.bitmap(count)
		default:
			r.array(count)
		}
	}
	return len(data) - len(r.rest), n == 0, r.err
}

// word returns the i-th 16 bits.
func word(data []byte, i int) uint16 { return binary.LittleEndian.Uint16(data[2*i:]) }

// reader takes bytes off until one is missing or wrong.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// take returns the next n bytes, or none once something is wrong.
func (r *reader) take(n int) []byte {
	if r.err == nil && len(r.rest) < n {
		r.err = errShort
	}
	if r.err != nil {
		return nil
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

// header returns how many containers there are and, unless none can be of runs, a bit for each.
func (r *reader) header() (n int, isRuns []byte) {
	b := r.take(4)
	if r.err != nil {
		return 0, nil
	}
	switch cookie := binary.LittleEndian.Uint32(b); {
	case cookie == cookiePlain:
		if b = r.take(4); r.err != nil {
			return 0, nil
		}
		return int(binary.LittleEndian.Uint32(b)), nil
	case cookie&0xFFFF == cookieRuns:
		n = int(cookie>>16) + 1
		return n, r.take((n + 7) / 8)
	default:
		r.fail("it begins with %d, not %d or %d", cookie, cookiePlain, cookieRuns)
		return 0, nil
	}
}

func (r *reader) array(count int) {
	b := r.take(2 * count)
	for i := 1; i < len(b)/2; i++ {
		if word(b, i-1) >= word(b, i) {
			r.fail("value %d comes after %d", word(b, i), word(b, i-1))
			return
		}
	}
}

func (r *reader) bitmap(count int) {
	got := 0
	b := r.take(bitmapBytes)
	for i := 0; i < len(b); i += 8 {
		got += bits.OnesCount64(binary.LittleEndian.Uint64(b[i:]))
	}
	if got != count {
		r.fail("a container of %d values says that it has %d", got, count)
	}
}

// runs reads pairs of a run's first value and how many follow that.
func (r *reader) runs(count int) {
	b := r.take(2)
	if r.err != nil {
		return
	}
	n := int(word(b, 0))
	b = r.take(4 * n)
	got, next := 0, 0
	for i := range len(b) / 4 {
		first, more := int(word(b, 2*i)), int(word(b, 2*i+1))
		if first < next || first+more >= containersMost {
			r.fail("a run of %d values from %d on comes after %d", more+1, first, next-1)
			return
		}
		got, next = got+more+1, first+more+1
	}
	if got != count {
		r.fail("runs of %d values say that they have %d", got, count)
	}
}
