package transform

import (
	"errors"
	"fmt"
	"math/big"
)

// ErrOutOfRange marks a result of Apply that leaves its type, such as truncate[10] of the smallest int. Some writers let
// it wrap around, which breaks the order that pruning relies on; a row with such a key should be refused.
var ErrOutOfRange = errors.New("the result leaves its type")

// CanApply says whether the transform is defined on values of src.
func (t Transform) CanApply(src Type) bool {
	switch t.Op {
	case Identity:
		return src.Kind != None && src.Kind != Variant && src.Kind != Geometry && src.Kind != Geography
	case Bucket:
		return t.N > 0 && src.CanHash()
	case Truncate:
		return t.N > 0 && (src.isNumber() || src.Kind == String || src.Kind == Binary)
	case Year, Month, Day:
		return src.Kind == Date || src.IsTimestamp()
	case Hour:
		return src.IsTimestamp()
	case Void:
		return true
	}
	return false
}

// ResultType returns the type of the partition field, or the zero Type when the transform is not defined on src.
func (t Transform) ResultType(src Type) Type {
	if !t.CanApply(src) {
		return Type{}
	}
	switch t.Op {
	case Bucket, Year, Month, Hour:
		return Type{Kind: Int}
	case Day:
		return Type{Kind: Date}
	}
	return src
}

// Apply returns the partition value of v, a value of src. NULL gives NULL. The error is ErrOutOfRange when the result
// leaves its type; else v is no value of src, or the transform is not defined on it.
func (t Transform) Apply(src Type, v Value) (Value, error) {
	exact, err := t.exact(src, v)
	if err != nil || exact == nil {
		return nil, err
	}
	r, ok := narrow(t.ResultType(src), exact)
	if !ok {
		return nil, fmt.Errorf("%s of %s is %v, beyond %s: %w", t, FormatValue(src, v), exact, t.ResultType(src), ErrOutOfRange)
	}
	return r, nil
}

// exact returns the mathematical result, which may lie outside the result type: an int64 for int and date, a *big.Int
// for long.
func (t Transform) exact(src Type, v Value) (Value, error) {
	if !t.CanApply(src) {
		return nil, fmt.Errorf("transform %s is not defined on %s", t, src)
	}
	if v == nil || t.Op == Void {
		return nil, nil
	}
	v, err := canonical(src, v)
	if err != nil {
		return nil, err
	}
	switch t.Op {
	case Bucket:
		h, err := Hash(src, v)
		return BucketOf(h, t.N), err
	case Truncate:
		return truncate(v, t.N), nil
	case Year, Month, Day, Hour:
		n, _ := intOf(v)
		return TimeOrdinal(t.Op, src, n), nil
	}
	return v, nil
}

// truncate rounds a number down to a multiple of width, and cuts a string to so many code points and binary to so many
// bytes.
func truncate(v Value, width int) Value {
	switch x := v.(type) {
	case int32:
		return int64(x) - floorMod(int64(x), int64(width))
	case int64:
		if r := x - floorMod(x, int64(width)); r <= x {
			return r
		}
		return floorMultiple(big.NewInt(x), width)
	case *big.Int:
		return floorMultiple(x, width)
	case string:
		return x[:prefixEnd(x, width)]
	case []byte:
		return x[:min(len(x), width)]
	}
	return v
}

func floorMultiple(v *big.Int, width int) *big.Int {
	w := big.NewInt(int64(width))
	// Mod is Euclidean: never negative.
	return new(big.Int).Sub(v, new(big.Int).Mod(v, w))
}

// prefixEnd is the length in bytes of the first n code points of s.
func prefixEnd(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// isLossless says whether the partition value is the source value itself.
func (t Transform) isLossless(src Type) bool {
	switch t.Op {
	case Identity:
		return true
	case Day:
		return src.Kind == Date
	case Truncate:
		return t.N == 1 && src.isNumber()
	}
	return false
}
