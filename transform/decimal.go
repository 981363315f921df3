package transform

import (
	"math/big"
	"math/bits"
)

var powersOfTen = func() (p [MaxPrecision + 1]*big.Int) {
	p[0] = big.NewInt(1)
	for i := 1; i < len(p); i++ {
		p[i] = new(big.Int).Mul(p[i-1], big.NewInt(10))
	}
	return p
}()

// fitsPrecision says whether the unscaled value v has at most so many digits.
func fitsPrecision(v *big.Int, digits int) bool {
	return digits >= 0 && digits <= MaxPrecision && v.CmpAbs(powersOfTen[digits]) < 0
}

// DecimalBytes returns an unscaled decimal as the shortest big-endian two's complement, the form that is hashed and
// stored in bounds: 128 is 00 80 and -128 is 80. (big.Int.Bytes is the magnitude and would be wrong for both.)
func DecimalBytes(v *big.Int) []byte {
	size := bitsOf(v)/8 + 1
	b := make([]byte, size)
	if v.Sign() >= 0 {
		return v.FillBytes(b)
	}
	modulus := new(big.Int).Lsh(big.NewInt(1), uint(8*size))
	return modulus.Add(modulus, v).FillBytes(b)
}

// bitsOf is the length of v in two's complement without its sign bit.
func bitsOf(v *big.Int) int {
	if v.Sign() >= 0 {
		return v.BitLen()
	}
	return new(big.Int).Not(v).BitLen()
}

// decimalFromBytes is the inverse of DecimalBytes; it also reads forms longer than needed. No bytes make 0.
func decimalFromBytes(b []byte) *big.Int {
	v := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return v
}

// HashDecimal64 hashes a decimal whose unscaled value is v, without allocation.
func HashDecimal64(v int64) int32 {
	size := bits.Len64(uint64(v^v>>63))/8 + 1
	// The bytes in the order of their hashing, the first one lowest; the rest is zero.
	le := bits.ReverseBytes64(uint64(v) << (64 - 8*size))
	var h uint32
	switch {
	case size == 8:
		h = round(round(0, uint32(le)), uint32(le>>32))
	case size >= 4:
		h = tail(round(0, uint32(le)), uint32(le>>32))
	default:
		h = tail(0, uint32(le))
	}
	return finish(h, uint32(size))
}

// HashDecimal128 hashes a decimal whose unscaled value is hi * 2^64 + lo, without allocation.
func HashDecimal128(hi int64, lo uint64) int32 {
	if hi == int64(lo)>>63 {
		return HashDecimal64(int64(lo))
	}
	var b [16]byte
	size := bits.Len64(uint64(hi^hi>>63))/8 + 9
	for i := range size {
		shift := uint(8 * (size - 1 - i))
		if shift >= 64 {
			b[i] = byte(hi >> (shift - 64))
		} else {
			b[i] = byte(lo >> shift)
		}
	}
	return HashBytes(b[:size])
}
