package transform

import (
	"fmt"
	"math"
	"math/big"
	"unicode/utf8"
)

// canonical returns v as the Go type that values of t have, or an error when it is no value of t. It widens what a
// promoted column left behind in older files: an int that became a long, a float that became a double.
func canonical(t Type, v Value) (Value, error) {
	ok := false
	switch x := v.(type) {
	case bool:
		ok = t.Kind == Boolean
	case int32:
		if t.Kind == Long {
			return int64(x), nil
		}
		ok = t.Kind == Int || t.Kind == Date
	case int64:
		ok = t.Kind == Long || t.Kind == Time || t.IsTimestamp()
	case float32:
		if t.Kind == Double {
			return float64(x), nil
		}
		ok = t.Kind == Float
	case float64:
		ok = t.Kind == Double
	case *big.Int:
		ok = t.Kind == Decimal && x != nil
	case string:
		if t.Kind == String && !utf8.ValidString(x) {
			return nil, fmt.Errorf("string %q is not valid UTF-8", x)
		}
		ok = t.Kind == String
	case [16]byte:
		ok = t.Kind == UUID
	case []byte:
		ok = t.Kind == Fixed && len(x) == t.Length || t.isBytes()
	}
	if !ok {
		return nil, fmt.Errorf("%T %v is no value of type %s", v, v, t)
	}
	return v, nil
}

// isBytes says whether values of t are byte strings of any length.
func (t Type) isBytes() bool {
	return t.Kind == Binary || t.Kind == Variant || t.Kind == Geometry || t.Kind == Geography
}

func intOf(v Value) (int64, bool) {
	switch x := v.(type) {
	case int32:
		return int64(x), true
	case int64:
		return x, true
	}
	return 0, false
}

func floatOf(v Value) (float64, bool) {
	switch x := v.(type) {
	case float32:
		return float64(x), true
	case float64:
		return x, true
	}
	return 0, false
}

func isNaN(v Value) bool {
	f, ok := floatOf(v)
	return ok && math.IsNaN(f)
}

// narrow brings the mathematical result of a transform into the type that stores it: an int64 into an int, say. It is
// false when the result leaves the type.
func narrow(t Type, v Value) (Value, bool) {
	switch x := v.(type) {
	case int64:
		if t.Kind != Int && t.Kind != Date {
			return v, true
		}
		return int32(x), x == int64(int32(x))
	case *big.Int:
		return v, t.Kind == Decimal && fitsPrecision(x, t.Precision)
	}
	return v, true
}
