package transform

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strings"
)

// Compare orders two values of t, neither of them NULL, as the spec orders bounds and sort keys: numbers by value, with
// -0.0 below 0.0 and NaN above all; strings, uuids and bytes by their unsigned bytes.
func Compare(t Type, a, b Value) int {
	switch t.Kind {
	case Boolean:
		return compareBools(a.(bool), b.(bool))
	case Int, Long, Date, Time, Timestamp, TimestampTZ, TimestampNS, TimestampTZNS:
		return compareInts(a, b)
	case Float, Double:
		x, _ := floatOf(a)
		y, _ := floatOf(b)
		return compareFloats(x, y)
	case Decimal:
		return a.(*big.Int).Cmp(b.(*big.Int))
	case String:
		return strings.Compare(a.(string), b.(string))
	case UUID:
		x, y := a.([16]byte), b.([16]byte)
		return bytes.Compare(x[:], y[:])
	}
	return bytes.Compare(a.([]byte), b.([]byte))
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// compareInts also orders the results of Reduce that left their type.
func compareInts(a, b Value) int {
	x, okX := intOf(a)
	y, okY := intOf(b)
	if okX && okY {
		return cmp.Compare(x, y)
	}
	return bigOf(a).Cmp(bigOf(b))
}

func bigOf(v Value) *big.Int {
	if n, ok := intOf(v); ok {
		return big.NewInt(n)
	}
	return v.(*big.Int)
}

func compareFloats(a, b float64) int {
	switch {
	case math.IsNaN(a) || math.IsNaN(b):
		return compareBools(math.IsNaN(a), math.IsNaN(b))
	case a == 0 && b == 0:
		return compareBools(math.Signbit(b), math.Signbit(a))
	}
	return cmp.Compare(a, b)
}

// The tags of AppendKey, one for each set of types whose values may be equal.
const (
	keyNull byte = iota
	keyBool
	keyInt
	keyFloat
	keyDecimal
	keyString
	keyUUID
	keyBytes
)

// AppendKey appends bytes that stand for v and for no other value: keys are equal exactly when the values are. Keys say
// where they end, so that keys of several fields may follow each other; their order means nothing. NULL has a key of its
// own. The type decides nothing that v doesn't say: an int, the long that it was promoted to and a date of so many days
// have one key, as have a float and its double. The two zeros of a float have two keys (they are two partitions), all
// NaN have one. Decimals are taken at one and the same scale.
func AppendKey(dst []byte, _ Type, v Value) []byte {
	switch x := v.(type) {
	case nil:
		return append(dst, keyNull)
	case bool:
		return append(dst, keyBool, byte(compareBools(x, false)))
	case int32:
		return binary.AppendVarint(append(dst, keyInt), int64(x))
	case int64:
		return binary.AppendVarint(append(dst, keyInt), x)
	case float32:
		return appendFloatKey(dst, float64(x))
	case float64:
		return appendFloatKey(dst, x)
	case *big.Int:
		return appendBytesKey(dst, keyDecimal, DecimalBytes(x))
	case string:
		return append(binary.AppendUvarint(append(dst, keyString), uint64(len(x))), x...)
	case [16]byte:
		return append(append(dst, keyUUID), x[:]...)
	case []byte:
		return appendBytesKey(dst, keyBytes, x)
	}
	panic(fmt.Sprintf("transform: key of %T, which is no value", v))
}

func appendFloatKey(dst []byte, f float64) []byte {
	if math.IsNaN(f) {
		f = math.NaN()
	}
	return binary.BigEndian.AppendUint64(append(dst, keyFloat), math.Float64bits(f))
}

func appendBytesKey(dst []byte, tag byte, b []byte) []byte {
	return append(binary.AppendUvarint(append(dst, tag), uint64(len(b))), b...)
}
