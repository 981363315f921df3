package metrics

import (
	"bytes"
	"math"
	"unicode/utf8"

	"github.com/tarndb/tarn/transform"
)

// lowerBound returns what a mode keeps of the least value, or nil: a value that none is below.
func (m Mode) lowerBound(t transform.Type, v transform.Value) transform.Value {
	switch {
	case m.Kind < Truncate || v == nil:
		return nil
	case t.Kind == transform.Float || t.Kind == transform.Double:
		return zeroBound(v, math.Copysign(0, -1))
	case m.Kind == Full:
		return v
	}
	switch x := v.(type) {
	case string:
		return x[:prefixEnd(x, m.Length)]
	case []byte:
		return x[:min(len(x), m.Length)]
	}
	return v
}

// upperBound returns what a mode keeps of the greatest value, or nil: a value that none is above.
func (m Mode) upperBound(t transform.Type, v transform.Value) transform.Value {
	switch {
	case m.Kind < Truncate || v == nil:
		return nil
	case t.Kind == transform.Float || t.Kind == transform.Double:
		return zeroBound(v, 0)
	case m.Kind == Full:
		return v
	}
	switch x := v.(type) {
	case string:
		return upperText(x, m.Length)
	case []byte:
		return upperBytes(x, m.Length)
	}
	return v
}

// zeroBound returns the zero that bounds both zeros, for a bound that is one of them: whoever found the least or the greatest
// value may have taken them for equal. The spec has -0.0 below 0.0.
func zeroBound(v transform.Value, zero float64) transform.Value {
	switch x := v.(type) {
	case float32:
		if x == 0 {
			return float32(zero)
		}
	case float64:
		if x == 0 {
			return zero
		}
	}
	return v
}

// prefixEnd returns where the first n code points of s end.
func prefixEnd(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// upperText returns s when it has at most n code points, else the first n with the last that can be raised raised and those
// behind it left out; nil when none can.
func upperText(s string, n int) transform.Value {
	end := prefixEnd(s, n)
	if end == len(s) {
		return s
	}
	cut := []rune(s[:end])
	for i := len(cut) - 1; i >= 0; i-- {
		if next, ok := nextRune(cut[i]); ok {
			return string(append(cut[:i:i], next))
		}
	}
	return nil
}

// nextRune returns the code point after r; surrogates are none.
func nextRune(r rune) (rune, bool) {
	const firstSurrogate, afterSurrogates = 0xD800, 0xE000
	switch {
	case r == utf8.MaxRune:
		return 0, false
	case r+1 == firstSurrogate:
		return afterSurrogates, true
	}
	return r + 1, true
}

// upperBytes is upperText of bytes.
func upperBytes(b []byte, n int) transform.Value {
	if len(b) <= n {
		return b
	}
	for i := n - 1; i >= 0; i-- {
		if b[i] < 0xFF {
			cut := bytes.Clone(b[:i+1])
			cut[i]++
			return cut
		}
	}
	return nil
}
