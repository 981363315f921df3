package transform

import (
	"fmt"
	"math"
	"math/big"
)

// Hash returns the 32-bit hash of v, a value of t, by the spec's appendix B. Boolean, float and double have a hash there
// too, though bucket is not defined on them (see Type.CanHash). NULL has none.
func Hash(t Type, v Value) (int32, error) {
	if v == nil {
		return 0, fmt.Errorf("NULL of type %s has no hash", t)
	}
	v, err := canonical(t, v)
	if err != nil {
		return 0, err
	}
	switch x := v.(type) {
	case bool:
		return hashBool(x), nil
	case int32:
		return HashInt64(int64(x)), nil
	case int64:
		return HashInt64(micros(t, x)), nil
	case float32:
		return hashFloat(float64(x)), nil
	case float64:
		return hashFloat(x), nil
	case *big.Int:
		if x.IsInt64() {
			return HashDecimal64(x.Int64()), nil
		}
		return HashBytes(DecimalBytes(x)), nil
	case string:
		return HashString(x), nil
	case [16]byte:
		return HashBytes(x[:]), nil
	case []byte:
		if t.CanHash() {
			return HashBytes(x), nil
		}
	}
	return 0, fmt.Errorf("type %s has no hash", t)
}

// micros turns a timestamp of nanoseconds into microseconds, rounding down: one and the same instant has one hash.
func micros(t Type, v int64) int64 {
	if t.IsTimestamp() && t.fractionDigits() == 9 {
		return floorDiv(v, 1000)
	}
	return v
}

func hashBool(b bool) int32 {
	if b {
		return HashInt64(1)
	}
	return HashInt64(0)
}

// hashFloat hashes a float as the double of its value; both zeros hash alike, and so do all NaN.
func hashFloat(f float64) int32 {
	switch {
	case f == 0:
		return HashInt64(0)
	case math.IsNaN(f):
		return HashInt64(0x7ff8_0000_0000_0000)
	}
	return HashInt64(int64(math.Float64bits(f)))
}
