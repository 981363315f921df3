package lake

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/survey"
	"github.com/tarndb/tarn/transform"
)

// boundText writes a bound of a manifest's partition summary as the reference implementation does, whose texts programs
// compare: "null" for none, times in ISO form with a T, bytes in base64. NULL is a bound that makes no sense.
func boundText(f catalog.PartitionField, bound []byte) any {
	if bound == nil {
		return "null"
	}
	typ := f.Transform.ResultType(f.SourceType)
	v := survey.Bound(typ, bound)
	if v == nil || !canTell(typ, v) {
		return nil
	}
	switch f.Transform.Op {
	case transform.Year, transform.Month, transform.Day, transform.Hour:
		return f.Transform.Human(f.SourceType, v)
	}
	return javaText(typ, v)
}

// javaText writes a value as the text forms of Java's types do, where they differ from ours.
func javaText(t transform.Type, v transform.Value) string {
	switch v := v.(type) {
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case float32:
		return javaFloat(float64(v), 32)
	case float64:
		return javaFloat(v, 64)
	case *big.Int:
		return javaDecimal(v, t.Scale)
	case int64:
		switch t.Kind {
		case transform.Time:
			return javaClock(time.UnixMicro(v).UTC())
		case transform.Timestamp:
			return javaMoment(time.UnixMicro(v).UTC())
		case transform.TimestampTZ:
			return javaMoment(time.UnixMicro(v).UTC()) + "Z"
		case transform.TimestampNS:
			return javaMoment(time.Unix(0, v).UTC())
		case transform.TimestampTZNS:
			return javaMoment(time.Unix(0, v).UTC()) + "Z"
		}
	}
	return transform.FormatValue(t, v)
}

func javaMoment(t time.Time) string {
	date := t.Format("2006-01-02")
	switch year := t.Year(); { // Java signs years of more than four digits, and those before year 0
	case year > 9999:
		date = "+" + date
	case year < 0:
		date = fmt.Sprintf("-%04d%s", -year, t.Format("-01-02"))
	}
	return date + "T" + javaClock(t)
}

// javaClock writes seconds and their fractions only when they aren't 0, fractions by three digits.
func javaClock(t time.Time) string {
	text := t.Format("15:04")
	if t.Second() == 0 && t.Nanosecond() == 0 {
		return text
	}
	text += t.Format(":05")
	fraction := fmt.Sprintf("%09d", t.Nanosecond())
	for strings.HasSuffix(fraction, "000") {
		fraction = fraction[:len(fraction)-3]
	}
	if fraction != "" {
		text += "." + fraction
	}
	return text
}

// javaFloat writes 1.0, 1.5E-5, 1.0E7: with an exponent outside [0.001, 10000000), and always with a fraction.
func javaFloat(f float64, bits int) string {
	abs := math.Abs(f)
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case abs != 0 && (abs < 1e-3 || abs >= 1e7):
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'E', -1, bits), "E")
		n, _ := strconv.Atoi(exponent)
		return withFraction(mantissa) + "E" + strconv.Itoa(n)
	}
	return withFraction(strconv.FormatFloat(f, 'f', -1, bits))
}

func withFraction(number string) string {
	if strings.Contains(number, ".") {
		return number
	}
	return number + ".0"
}

// javaDecimal writes a decimal with an exponent when it is smaller than a millionth.
func javaDecimal(v *big.Int, scale int) string {
	digits := new(big.Int).Abs(v).String()
	exponent := len(digits) - 1 - scale
	if exponent >= -6 {
		return transform.FormatValue(transform.Type{Kind: transform.Decimal, Precision: 38, Scale: scale}, v)
	}
	if len(digits) > 1 {
		digits = digits[:1] + "." + digits[1:]
	}
	if v.Sign() < 0 {
		digits = "-" + digits
	}
	return digits + "E" + strconv.Itoa(exponent)
}
