package plainreader

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
)

// A deletion vector lies in a Puffin file as: the length of what follows but the checksum (big-endian), this magic number, a
// 64-bit Roaring bitmap (little-endian), the CRC-32 of both (big-endian).
const vectorMagic = "\xd1\xd3\x39\x64"

var errVector = errors.New("the deletion vector is broken")

// readVector returns the positions of the deletion vector that a manifest's entry is about.
func (t *Table) readVector(f File) (map[int64]bool, error) {
	data, err := os.ReadFile(t.Local(f.Path))
	if err != nil {
		return nil, err
	}
	if f.offset < 0 || f.size < 12 || f.offset+f.size > int64(len(data)) {
		return nil, fmt.Errorf("%w: bytes %d to %d of %d", errVector, f.offset, f.offset+f.size, len(data))
	}
	blob := data[f.offset : f.offset+f.size]
	body, sum := blob[4:f.size-4], binary.BigEndian.Uint32(blob[f.size-4:])
	switch {
	case int(binary.BigEndian.Uint32(blob)) != len(body):
		return nil, fmt.Errorf("%w: its length", errVector)
	case string(body[:4]) != vectorMagic:
		return nil, fmt.Errorf("%w: its magic number", errVector)
	case crc32.ChecksumIEEE(body) != sum:
		return nil, fmt.Errorf("%w: its checksum", errVector)
	}
	out, err := roaring64(body[4:])
	if err == nil && int64(len(out)) != f.Rows {
		err = fmt.Errorf("%w: it has %d positions, its manifest says %d", errVector, len(out), f.Rows)
	}
	return out, err
}

// bits reads little-endian numbers. What is read beyond the end is 0, and is said by short.
type bits struct {
	data  []byte
	short bool
}

func (b *bits) take(n int) []byte {
	if n > len(b.data) {
		b.short, b.data = true, nil
		return make([]byte, n)
	}
	out := b.data[:n]
	b.data = b.data[n:]
	return out
}

func (b *bits) u16() int { return int(binary.LittleEndian.Uint16(b.take(2))) }
func (b *bits) u32() int { return int(binary.LittleEndian.Uint32(b.take(4))) }

func (b *bits) u64() uint64 { return binary.LittleEndian.Uint64(b.take(8)) }

// roaring64 reads a 64-bit Roaring bitmap: 32-bit ones, each after the upper half of its values.
func roaring64(data []byte) (map[int64]bool, error) {
	b, out := &bits{data: data}, map[int64]bool{}
	for n := b.u64(); n > 0 && !b.short; n-- {
		high := int64(b.u32()) << 32
		if err := roaring32(b, func(low int) { out[high|int64(low)] = true }); err != nil {
			return nil, err
		}
	}
	if b.short || len(b.data) > 0 {
		return nil, fmt.Errorf("%w: its bitmap has another length", errVector)
	}
	return out, nil
}

// The first numbers of a 32-bit Roaring bitmap without and with containers of runs, and the number of containers from which
// on one with runs has offsets.
const (
	cookiePlain   = 12346
	cookieRuns    = 12347
	offsetsFrom   = 4
	arrayUpTo     = 4096
	bitmapOfWords = 1024
)

// roaring32 calls set for the values of a 32-bit Roaring bitmap: a header, the containers' upper halves and sizes, their
// offsets, the containers.
func roaring32(b *bits, set func(int)) error {
	cookie := b.u32()
	var n int
	var runs []byte
	switch {
	case cookie == cookiePlain:
		n = b.u32()
	case cookie&0xffff == cookieRuns:
		n = cookie>>16 + 1
		runs = b.take((n + 7) / 8)
	default:
		return fmt.Errorf("%w: a bitmap begins with %d", errVector, cookie)
	}
	if n > 1<<16 {
		return fmt.Errorf("%w: a bitmap of %d containers", errVector, n)
	}
	keys, sizes := make([]int, n), make([]int, n)
	for i := range n {
		keys[i], sizes[i] = b.u16()<<16, b.u16()+1
	}
	if runs == nil || n >= offsetsFrom {
		b.take(4 * n)
	}
	for i := range n {
		add := func(low int) { set(keys[i] | low) }
		if runs != nil && runs[i/8]>>(i%8)&1 == 1 {
			runContainer(b, add)
		} else {
			plainContainer(b, sizes[i], add)
		}
	}
	return nil
}

// runContainer reads pairs of a first value and how many more follow it.
func runContainer(b *bits, add func(int)) {
	for n := b.u16(); n > 0; n-- {
		first, more := b.u16(), b.u16()
		for v := first; v <= first+more; v++ {
			add(v)
		}
	}
}

// plainContainer reads a list of values, or, when there are many, a bit for each.
func plainContainer(b *bits, size int, add func(int)) {
	if size <= arrayUpTo {
		for range size {
			add(b.u16())
		}
		return
	}
	for w := range bitmapOfWords {
		word := b.u64()
		for i := range 64 {
			if word>>i&1 == 1 {
				add(w*64 + i)
			}
		}
	}
}
