package output

import (
	"math"
	"math/big"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// numberOf returns the spelling of an array of numbers, but for FLOAT, whose spelling depends on the style.
func numberOf(t duckType, arr arrow.Array) (scalar, bool) {
	switch a := arr.(type) {
	case *array.Int8:
		return intOf(a.Value), true
	case *array.Int16:
		return intOf(a.Value), true
	case *array.Int32:
		return intOf(a.Value), true
	case *array.Int64:
		return intOf(a.Value), true
	case *array.Uint8:
		return uintOf(a.Value), true
	case *array.Uint16:
		return uintOf(a.Value), true
	case *array.Uint32:
		return uintOf(a.Value), true
	case *array.Uint64:
		return uintOf(a.Value), true
	case *array.Float64:
		return func(dst []byte, i int) ([]byte, bool) { return appendFloat(dst, a.Value(i), 64) }, true
	}
	return decimalOf(t, arr)
}

func intOf[T int8 | int16 | int32 | int64](value func(int) T) scalar {
	return func(dst []byte, i int) ([]byte, bool) { return strconv.AppendInt(dst, int64(value(i)), 10), true }
}

func uintOf[T uint8 | uint16 | uint32 | uint64](value func(int) T) scalar {
	return func(dst []byte, i int) ([]byte, bool) { return strconv.AppendUint(dst, uint64(value(i)), 10), true }
}

// decimalOf spells decimals at their scale, and DuckDB's 128-bit integers, which arrive as raw 128-bit decimals.
func decimalOf(t duckType, arr arrow.Array) (scalar, bool) {
	scaled := func(scale int32, value func(int) *big.Int) (scalar, bool) {
		return func(dst []byte, i int) ([]byte, bool) { return appendDecimal(dst, value(i), int(scale)), false }, true
	}
	switch a := arr.(type) {
	case *array.Decimal32:
		scale := a.DataType().(*arrow.Decimal32Type).Scale
		return scaled(scale, func(i int) *big.Int { return big.NewInt(int64(a.Value(i))) })
	case *array.Decimal64:
		scale := a.DataType().(*arrow.Decimal64Type).Scale
		return scaled(scale, func(i int) *big.Int { return big.NewInt(int64(a.Value(i))) })
	case *array.Decimal128:
		if t.name == "HUGEINT" || t.name == "UHUGEINT" {
			return hugeOf(t, a.Value), true
		}
		scale := a.DataType().(*arrow.Decimal128Type).Scale
		return scaled(scale, func(i int) *big.Int { return a.Value(i).BigInt() })
	case *array.Decimal256:
		scale := a.DataType().(*arrow.Decimal256Type).Scale
		return scaled(scale, func(i int) *big.Int { return a.Value(i).BigInt() })
	}
	return nil, false
}

// hugeOf spells a 128-bit integer. It is a number in JSON where 64 bits hold it, which any reader can take.
func hugeOf(t duckType, value func(int) decimal128.Num) scalar {
	signed := t.name == "HUGEINT"
	return func(dst []byte, i int) ([]byte, bool) {
		n := hugeInt(value(i), signed)
		return n.Append(dst, 10), n.IsInt64() || n.IsUint64()
	}
}

func hugeInt(v decimal128.Num, signed bool) *big.Int {
	n := v.BigInt()
	if !signed && n.Sign() < 0 {
		n.Add(n, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	return n
}

// bigNumber reads DuckDB's integer of any size: three bytes with a sign bit and the length, then the magnitude. All bytes
// of a negative number are complemented.
func bigNumber(b []byte) *big.Int {
	const header = 3
	if len(b) < header {
		return new(big.Int)
	}
	n := new(big.Int)
	if b[0]&0x80 != 0 {
		return n.SetBytes(b[header:])
	}
	magnitude := make([]byte, len(b)-header)
	for i, c := range b[header:] {
		magnitude[i] = ^c
	}
	return n.Neg(n.SetBytes(magnitude))
}

// appendDecimal writes an unscaled integer with its decimal point.
func appendDecimal(dst []byte, unscaled *big.Int, scale int) []byte {
	if unscaled.Sign() < 0 {
		dst = append(dst, '-')
	}
	digits := new(big.Int).Abs(unscaled).Append(nil, 10)
	if scale <= 0 {
		dst = append(dst, digits...)
		if unscaled.Sign() != 0 {
			for ; scale < 0; scale++ {
				dst = append(dst, '0')
			}
		}
		return dst
	}
	for missing := scale + 1 - len(digits); missing > 0; missing-- {
		digits = append([]byte{'0'}, digits...)
	}
	point := len(digits) - scale
	dst = append(dst, digits[:point]...)
	dst = append(dst, '.')
	return append(dst, digits[point:]...)
}

// appendFloat writes the shortest text that reads back as the value, with a point or an exponent so that it is seen to
// be a float. It reports false for NaN and the infinities, which JSON has no numbers for.
func appendFloat(dst []byte, v float64, bits int) ([]byte, bool) {
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...), false
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...), false
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...), false
	}
	// The exponents at which the form changes are DuckDB's and Python's.
	if abs := math.Abs(v); abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.AppendFloat(dst, v, 'e', -1, bits), true
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, v, 'f', -1, bits)
	for _, c := range dst[start:] {
		if c == '.' {
			return dst, true
		}
	}
	return append(dst, ".0"...), true
}
