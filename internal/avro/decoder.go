package avro

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Decoder reads values from the bytes of one block, one after the other. What it returns as bytes lies in the block and is
// valid until the next call of Reader.Next.
//
// An error stays: afterwards every method returns a zero value and does nothing, so that a caller may look at Err once for
// many values. Loops over arrays and maps end then, too.
type Decoder struct {
	data []byte
	at   int
	err  error
}

// NewDecoder returns a decoder of bytes that aren't a file's.
func NewDecoder(data []byte) *Decoder { return &Decoder{data: data} }

// Err returns the first error.
func (d *Decoder) Err() error { return d.err }

// Offset returns how many bytes have been read.
func (d *Decoder) Offset() int { return d.at }

// Since returns the bytes read after an offset.
func (d *Decoder) Since(offset int) []byte { return d.data[offset:d.at:d.at] }

// Fail makes err the decoder's error, unless it has one. The caller knows what a value should have been.
func (d *Decoder) Fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("at byte %d of the block: %w", d.at, fmt.Errorf(format, args...))
		d.data = d.data[:d.at]
	}
}

// Long reads an int or a long.
func (d *Decoder) Long() int64 {
	// Most numbers in a manifest are of one byte: IDs, counts and lengths.
	if d.at < len(d.data) {
		if b := d.data[d.at]; b < 0x80 {
			d.at++
			return int64(b>>1) ^ -int64(b&1)
		}
	}
	return d.longer()
}

func (d *Decoder) longer() int64 {
	u, n := binary.Uvarint(d.data[d.at:])
	switch {
	case n > 0:
		d.at += n
		return int64(u>>1) ^ -int64(u&1)
	case n == 0:
		d.Fail("a number is cut short")
	default:
		d.Fail("a number has more than 64 bits")
	}
	return 0
}

// Int reads an int.
func (d *Decoder) Int() int32 {
	v := d.Long()
	if int64(int32(v)) != v {
		d.Fail("%d is no number of 32 bits", v)
		return 0
	}
	return int32(v)
}

// Boolean reads a boolean.
func (d *Decoder) Boolean() bool {
	b := d.Fixed(1)
	if b == nil {
		return false
	}
	if b[0] > 1 {
		d.Fail("a boolean is %d", b[0])
	}
	return b[0] == 1
}

// Float reads a float.
func (d *Decoder) Float() float32 {
	b := d.Fixed(4)
	if b == nil {
		return 0
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(b))
}

// Double reads a double.
func (d *Decoder) Double() float64 {
	b := d.Fixed(8)
	if b == nil {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// Fixed reads n bytes without a length before them. It returns nil only when it fails.
func (d *Decoder) Fixed(n int) []byte {
	if d.err != nil {
		return nil
	}
	if n < 0 || n > len(d.data)-d.at {
		d.Fail("a value of %d bytes is cut short: %d are left", n, len(d.data)-d.at)
		return nil
	}
	b := d.data[d.at : d.at+n : d.at+n]
	d.at += n
	return b
}

// Bytes reads bytes, or a string as bytes. It returns nil only when it fails.
func (d *Decoder) Bytes() []byte {
	n := d.Long()
	if n < 0 || n > int64(len(d.data)-d.at) {
		d.Fail("a value of %d bytes is cut short: %d are left", n, len(d.data)-d.at)
		return nil
	}
	return d.Fixed(int(n))
}

// Branch reads which branch of a union a value is of. It returns nil when it fails.
func (d *Decoder) Branch(union *Schema) *Schema {
	n := d.Long()
	if n < 0 || n >= int64(len(union.Branches)) {
		d.Fail("a union of %d types has the branch %d", len(union.Branches), n)
	}
	if d.err != nil {
		return nil
	}
	return union.Branches[n]
}

// Present reads whether the value of an optional type is there. If so, it is to be read next.
func (d *Decoder) Present(o Optional) bool {
	if o.null < 0 {
		return d.err == nil && o.Type.Kind != Null
	}
	n := d.Long()
	if n != 0 && n != 1 {
		d.Fail("a union of 2 types has the branch %d", n)
	}
	return d.err == nil && n != o.null
}

// maxEmpty is how many values that take no bytes, such as nulls, may be in one array, map or block: nothing else limits
// them.
const maxEmpty = 1 << 20

// Items are the elements of an array or a map.
type Items struct {
	d    *Decoder
	size int   // the fewest bytes of one
	room int64 // how many more there may be, of those that take no bytes
	left int64
	done bool
}

// Items begins an array, or a map, whose items are a string and a value each. The caller reads an item after each Next.
func (d *Decoder) Items(s *Schema) Items {
	size := s.Items.size
	if s.Kind == Map {
		size++
	}
	return Items{d: d, size: size, room: maxEmpty / int64(max(s.Items.nodes, 1))}
}

// Next says whether there is another item.
func (it *Items) Next() bool {
	if it.left == 0 && !it.done {
		it.left, _ = it.block()
		it.done = it.left == 0
	}
	if it.d.err != nil || it.done {
		return false
	}
	it.left--
	return true
}

// block reads how many items follow, and how many bytes they take if it says so, or else -1.
func (it *Items) block() (items, bytes int64) {
	d := it.d
	items, bytes = d.Long(), -1
	if items < 0 {
		items, bytes = -items, d.Long()
		if bytes < 0 || bytes > int64(len(d.data)-d.at) {
			d.Fail("a part of an array has %d bytes: %d are left", bytes, len(d.data)-d.at)
		}
	}
	room := it.room
	if it.size > 0 {
		room = int64((len(d.data) - d.at) / it.size)
	}
	if items < 0 || items > room {
		d.Fail("an array has %d items in %d bytes", items, len(d.data)-d.at)
	}
	if d.err != nil {
		return 0, 0
	}
	if it.size == 0 {
		it.room -= items
	}
	return items, bytes
}
