package deletes

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/RoaringBitmap/roaring/v2"
)

// The frame of a blob of type deletion-vector-v1, by the Puffin spec: the length of magic and bitmap, big-endian; the
// magic; the bitmap; the CRC-32 of magic and bitmap, big-endian.
const (
	lengthBytes = 4
	crcBytes    = 4
	frameBytes  = lengthBytes + len(vectorMagic) + crcBytes
	vectorMagic = "\xD1\xD3\x39\x64"
)

// DecodeVector reads a blob of type deletion-vector-v1. Each fault is an error that says what is wrong: a vector that was
// read in part would bring rows back. The result shares no memory with the blob.
func DecodeVector(blob []byte) (*Positions, error) {
	if len(blob) < frameBytes {
		return nil, fmt.Errorf("a deletion vector of %d bytes is shorter than its frame", len(blob))
	}
	body, sum := blob[lengthBytes:len(blob)-crcBytes], blob[len(blob)-crcBytes:]
	if said := binary.BigEndian.Uint32(blob); uint64(said) != uint64(len(body)) {
		return nil, fmt.Errorf("the deletion vector says that it has %d bytes, but %d are there", said, len(body))
	}
	if got := string(body[:len(vectorMagic)]); got != vectorMagic {
		return nil, fmt.Errorf("the deletion vector begins with %x, not %x", got, vectorMagic)
	}
	if said, got := binary.BigEndian.Uint32(sum), crc32.ChecksumIEEE(body); said != got {
		return nil, fmt.Errorf("the deletion vector's CRC-32 is %08x, but its bytes give %08x", said, got)
	}
	p, err := decodeBitmaps(body[len(vectorMagic):])
	if err != nil {
		return nil, fmt.Errorf("the deletion vector's bitmap is broken: %w", err)
	}
	return p, nil
}

// DecodeVectorOf is DecodeVector of a blob whose manifest entry says how many positions it has.
func DecodeVectorOf(blob []byte, positions int64) (*Positions, error) {
	p, err := DecodeVector(blob)
	if err == nil && p.Count() != positions {
		return nil, fmt.Errorf("the deletion vector has %d positions, but its manifest entry says %d", p.Count(), positions)
	}
	return p, err
}

// decodeBitmaps reads the 64-bit form of roaring bitmaps: a count, then that many pairs of upper 32 bits, ascending, and a
// bitmap of lower ones.
func decodeBitmaps(data []byte) (*Positions, error) {
	const countBytes, highBytes = 8, 4
	if len(data) < countBytes {
		return nil, errShort
	}
	count := binary.LittleEndian.Uint64(data)
	data = data[countBytes:]
	p := &Positions{}
	least := uint64(0) // what the next upper bits must be
	for ; count > 0; count-- {
		if len(data) < highBytes {
			return nil, errShort
		}
		high := binary.LittleEndian.Uint32(data)
		data = data[highBytes:]
		switch {
		case high > math.MaxInt32:
			return nil, fmt.Errorf("it has positions from %d on, which no file has", uint64(high)<<32)
		case uint64(high) < least:
			return nil, fmt.Errorf("the upper bits %d come after %d", high, least-1)
		}
		least = uint64(high) + 1
		size, isEmpty, err := checkBitmap(data)
		if err != nil {
			return nil, err
		}
		if !isEmpty { // some writers have one for all upper bits below the highest
			low := roaring.New()
			if n, err := low.ReadFrom(bytes.NewReader(data[:size])); err != nil || n != int64(size) {
				return nil, fmt.Errorf("%d of %d bytes could be read: %w", n, size, err)
			}
			p.parts = append(p.parts, &part{high: high, low: low})
		}
		data = data[size:]
	}
	if len(data) > 0 {
		return nil, fmt.Errorf("%d bytes follow it", len(data))
	}
	return p, nil
}
