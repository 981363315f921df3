package transform

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// FormatValue returns v, a value of t or NULL, as text: dates and times in ISO form with a blank before the time and as
// many fraction digits as needed, decimals at their scale, binary as lower-case hex. ParseValue reads all but "NULL".
func FormatValue(t Type, v Value) string {
	switch x := v.(type) {
	case nil:
		return "NULL"
	case float32:
		return formatFloat(float64(x), 32)
	case float64:
		return formatFloat(x, 64)
	case string:
		return x
	case [16]byte:
		h := hex.EncodeToString(x[:])
		return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
	case []byte:
		return hex.EncodeToString(x)
	case *big.Int:
		if t.Kind == Decimal {
			return formatDecimal(x, t.Scale)
		}
	}
	if n, ok := intOf(v); ok {
		switch {
		case t.Kind == Date:
			return formatDate(n)
		case t.Kind == Time:
			return formatClock(n, t)
		case t.IsTimestamp():
			return formatTimestamp(n, t)
		}
	}
	return fmt.Sprint(v)
}

func formatFloat(f float64, bits int) string {
	switch a := math.Abs(f); {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case a != 0 && (a < 1e-5 || a >= 1e16):
		return strconv.FormatFloat(f, 'e', -1, bits)
	}
	return strconv.FormatFloat(f, 'f', -1, bits)
}

func formatDecimal(v *big.Int, scale int) string {
	digits := new(big.Int).Abs(v).String()
	if pad := scale + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	if scale > 0 {
		point := len(digits) - scale
		digits = digits[:point] + "." + digits[point:]
	}
	if v.Sign() < 0 {
		return "-" + digits
	}
	return digits
}

// ParseValue reads a value of t from text. Text that holds more than the type does, such as a third decimal of a
// decimal(9, 2) or a time zone for a timestamp without one, is an error and never rounded or dropped.
func ParseValue(t Type, text string) (Value, error) {
	v, err := parseValue(t, text)
	if err != nil {
		return nil, fmt.Errorf("%q is no %s: %w", text, t, err)
	}
	return v, nil
}

func parseValue(t Type, text string) (Value, error) {
	switch t.Kind {
	case Boolean:
		return parseBool(text)
	case Int, Long:
		return parseInteger(t, text)
	case Float, Double:
		return parseFloat(t, text)
	case Decimal:
		return parseDecimal(t, text)
	case Date:
		return parseDate(text)
	case Time:
		return parseClock(text, t)
	case Timestamp, TimestampTZ, TimestampNS, TimestampTZNS:
		return parseTimestamp(text, t)
	case String:
		return canonical(t, text)
	case UUID:
		return parseUUID(text)
	case Fixed, Binary:
		b, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
		if err != nil {
			return nil, fmt.Errorf("two hex digits per byte are needed")
		}
		return canonical(t, b)
	}
	return nil, fmt.Errorf("the type has no text form")
}

func parseBool(text string) (Value, error) {
	switch strings.ToLower(text) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return nil, fmt.Errorf("true or false is needed")
}

func parseInteger(t Type, text string) (Value, error) {
	bits := 64
	if t.Kind == Int {
		bits = 32
	}
	n, err := strconv.ParseInt(text, 10, bits)
	if err != nil {
		return nil, fmt.Errorf("a number of %d bits is needed", bits)
	}
	if t.Kind == Int {
		return int32(n), nil
	}
	return n, nil
}

func parseFloat(t Type, text string) (Value, error) {
	bits := 64
	if t.Kind == Float {
		bits = 32
	}
	f, err := strconv.ParseFloat(text, bits)
	if err != nil || strings.Contains(text, "_") {
		return nil, fmt.Errorf("a number, NaN, Infinity or -Infinity is needed")
	}
	if t.Kind == Float {
		return float32(f), nil
	}
	return f, nil
}

func parseDecimal(t Type, text string) (Value, error) {
	unsigned, isNegative := cutSign(text)
	whole, fraction, hasPoint := strings.Cut(unsigned, ".")
	if !isDigits(whole+fraction) || hasPoint && fraction == "" {
		return nil, fmt.Errorf("digits with at most one point are needed")
	}
	fraction, ok := fitFraction(fraction, t.Scale)
	if !ok {
		return nil, fmt.Errorf("at most %d digits may follow the point", t.Scale)
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	if len(digits) > t.Precision {
		return nil, fmt.Errorf("it has more than %d digits", t.Precision)
	}
	v, _ := new(big.Int).SetString("0"+digits, 10)
	if isNegative {
		v.Neg(v)
	}
	return v, nil
}

func cutSign(text string) (rest string, isNegative bool) {
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		return rest, true
	}
	return strings.TrimPrefix(text, "+"), false
}

// fitFraction brings the digits after a point to a count; false when digits other than 0 are too many.
func fitFraction(digits string, count int) (string, bool) {
	digits = strings.TrimRight(digits, "0")
	if len(digits) > count {
		return "", false
	}
	return digits + strings.Repeat("0", count-len(digits)), true
}

func parseUUID(text string) (Value, error) {
	const form = "8-4-4-4-12 hex digits are needed"
	groups := strings.Split(text, "-")
	if len(groups) != 5 {
		return nil, errors.New(form)
	}
	for i, n := range []int{8, 4, 4, 4, 12} {
		if len(groups[i]) != n {
			return nil, errors.New(form)
		}
	}
	b, err := hex.DecodeString(strings.Join(groups, ""))
	if err != nil {
		return nil, errors.New(form)
	}
	return [16]byte(b), nil
}
