package transform

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"
)

// The constants of murmur3 x86 32-bit, which the spec's appendix B fixes with seed 0.
const (
	murmurC1 = 0xcc9e2d51
	murmurC2 = 0x1b873593
	murmurM  = 5
	murmurN  = 0xe6546b64
)

// tail mixes the last one to three bytes, and is the first half of a round. No bytes leave h as it is.
func tail(h, k uint32) uint32 {
	return h ^ bits.RotateLeft32(k*murmurC1, 15)*murmurC2
}

// round mixes four bytes.
func round(h, k uint32) uint32 {
	return bits.RotateLeft32(tail(h, k), 13)*murmurM + murmurN
}

// finish mixes the length and spreads the bits.
func finish(h, length uint32) int32 {
	h ^= length
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return int32(h ^ h>>16)
}

// HashInt64 hashes v as its eight little-endian bytes. The spec hashes int, long, date, time and timestamps so.
func HashInt64(v int64) int32 {
	return finish(round(round(0, uint32(v)), uint32(v>>32)), 8)
}

// HashBytes hashes b: binary, fixed, and the sixteen bytes of a uuid in the order of its text.
func HashBytes(b []byte) int32 {
	var h uint32
	rest := b
	for len(rest) >= 4 {
		h = round(h, binary.LittleEndian.Uint32(rest))
		rest = rest[4:]
	}
	var k uint32
	for i := len(rest) - 1; i >= 0; i-- {
		k = k<<8 | uint32(rest[i])
	}
	return finish(tail(h, k), uint32(len(b)))
}

// HashString hashes the UTF-8 bytes of s, without allocation.
func HashString(s string) int32 {
	return HashBytes(unsafe.Slice(unsafe.StringData(s), len(s)))
}

// BucketOf returns the bucket of a hash: the sign bit is dropped before the remainder is taken. n is at least 1.
func BucketOf(hash int32, n int) int32 {
	return int32(int(hash&math.MaxInt32) % n)
}

// BucketInt64s writes the buckets of src, as HashInt64 hashes it, to dst, which is at least as long. n is at least 1.
func BucketInt64s(dst []int32, src []int64, n int32) {
	dst = dst[:len(src)]
	m := newModulus(n)
	for i, v := range src {
		dst[i] = m.bucket(round(round(0, uint32(v)), uint32(v>>32)))
	}
}

// BucketInt32s is BucketInt64s of ints and dates: they hash as the longs of the same value.
func BucketInt32s(dst []int32, src []int32, n int32) {
	dst = dst[:len(src)]
	m := newModulus(n)
	for i, v := range src {
		dst[i] = m.bucket(round(round(0, uint32(v)), uint32(v>>31)))
	}
}

// modulus takes remainders of 32-bit numbers by two multiplications in place of a division: the fraction h/n, in 64
// binary digits, times n. That is exact because h and n have no more than 32 bits each.
type modulus struct{ n, inverse uint64 }

func newModulus(n int32) modulus {
	return modulus{n: uint64(n), inverse: math.MaxUint64/uint64(n) + 1}
}

// bucket finishes the hash of eight bytes and returns its bucket. For n = 1 the inverse is 0, and so is every bucket.
func (m modulus) bucket(h uint32) int32 {
	fraction := m.inverse * uint64(finish(h, 8)&math.MaxInt32)
	high, _ := bits.Mul64(fraction, m.n)
	return int32(high)
}
