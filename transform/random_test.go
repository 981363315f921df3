package transform

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func mustType(t testing.TB, s string) Type {
	t.Helper()
	typ, err := ParseType(s)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

func mustParse(t testing.TB, s string) Transform {
	t.Helper()
	tr, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func mustValue(t testing.TB, typ Type, s string) Value {
	t.Helper()
	v, err := ParseValue(typ, s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// allTypes is every type that can be a partition source.
var allTypes = []string{
	"boolean", "int", "long", "float", "double", "decimal(4, 0)", "decimal(9, 2)", "decimal(38, 10)", "date", "time", "timestamp",
	"timestamptz", "timestamp_ns", "timestamptz_ns", "string", "uuid", "fixed[3]", "binary",
}

var allTransforms = []string{
	"identity", "bucket[1]", "bucket[4]", "bucket[6]", "bucket[12]", "truncate[1]", "truncate[2]", "truncate[3]",
	"truncate[4]", "truncate[10]", "truncate[10000]", "year", "month", "day", "hour", "void",
}

// randomInt prefers small numbers, the neighbourhood of powers of two, of the limits, and of anchor.
func randomInt(r *rand.Rand, bits int, anchors ...int64) int64 {
	shift := 64 - bits
	smallest := int64(math.MinInt64) >> shift
	near := int64(r.IntN(41) - 20)
	var n int64
	switch r.IntN(6) {
	case 0:
		n = near
	case 1:
		n = smallest + int64(r.IntN(20_000))
	case 2:
		n = math.MaxInt64>>shift - int64(r.IntN(20_000))
	case 3:
		n = int64(r.Uint64()) >> (shift + r.IntN(bits))
	case 4:
		n = math.MinInt32 + near*500
	default:
		if len(anchors) > 0 {
			n = anchors[r.IntN(len(anchors))]*int64(r.IntN(2000)-1000) + near
		} else {
			n = near * 100
		}
	}
	return n << shift >> shift
}

func randomString(r *rand.Rand) string {
	alphabet := []string{"a", "b", "ab", "\x00", "日", "💰", "é", "\uffff", "\U0010ffff"}
	var b strings.Builder
	for range r.IntN(6) {
		b.WriteString(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = []byte{0, 1, 0x7f, 0x80, 0xff}[r.IntN(5)]
	}
	return b
}

func randomDecimal(r *rand.Rand, precision int) *big.Int {
	v := new(big.Int)
	switch r.IntN(3) {
	case 0:
		v.SetInt64(int64(r.IntN(600) - 300))
	case 1:
		v.Sub(powersOfTen[precision], big.NewInt(1+int64(r.IntN(30))))
	default:
		for range 1 + r.IntN(precision) {
			v.Mul(v, big.NewInt(10)).Add(v, big.NewInt(int64(r.IntN(10))))
		}
	}
	if r.IntN(2) == 0 {
		v.Neg(v)
	}
	if !fitsPrecision(v, precision) {
		v.SetInt64(1)
	}
	return v
}

func randomFloat(r *rand.Rand) float64 {
	special := []float64{0, math.Copysign(0, -1), 1, -1, 1.5, math.Inf(1), math.Inf(-1), math.NaN(), math.SmallestNonzeroFloat32}
	if r.IntN(2) == 0 {
		return special[r.IntN(len(special))]
	}
	return float64(float32(r.NormFloat64()))
}

// randomValue returns a value of t that is not NULL.
func randomValue(r *rand.Rand, t Type) Value {
	perHour := secondsPerHour * t.unitsPerSecond()
	switch t.Kind {
	case Boolean:
		return r.IntN(2) == 0
	case Int:
		return int32(randomInt(r, 32))
	case Date:
		return int32(randomInt(r, 32, 1, 30, 365))
	case Long:
		return randomInt(r, 64)
	case Time:
		return r.Int64N(24 * perHour)
	case Timestamp, TimestampTZ, TimestampNS, TimestampTZNS:
		return randomInt(r, 64, perHour, 24*perHour)
	case Float:
		return float32(randomFloat(r))
	case Double:
		return randomFloat(r)
	case Decimal:
		return randomDecimal(r, t.Precision)
	case String:
		return randomString(r)
	case UUID:
		return [16]byte(randomBytes(r, 16))
	case Fixed:
		return randomBytes(r, t.Length)
	}
	return randomBytes(r, r.IntN(6))
}

// randomPredicate tests values near x, so that it is often satisfied and often just not.
func randomPredicate(r *rand.Rand, t Type, x Value) Predicate {
	literal := func() Value {
		for {
			v := x
			if n, ok := neighbour(x, int64(r.IntN(5)-2)); ok && r.IntN(2) == 0 {
				v = n
			} else if r.IntN(2) == 0 {
				v = randomValue(r, t)
			}
			if d, ok := v.(*big.Int); ok && !fitsPrecision(d, t.Precision) || v == nil || isNaN(v) {
				x = randomValue(r, t)
				continue
			}
			return v
		}
	}
	op := PredicateOp(r.IntN(int(NotStartsWith) + 1))
	p := Predicate{Op: op}
	switch op {
	case IsNull, NotNull, IsNaN, NotNaN:
	case In, NotIn:
		for range r.IntN(4) {
			p.Values = append(p.Values, literal())
		}
	case StartsWith, NotStartsWith:
		p.Values = []Value{randomPrefix(r, literal())}
	default:
		p.Values = []Value{literal()}
	}
	return p
}

func randomPrefix(r *rand.Rand, v Value) Value {
	switch x := v.(type) {
	case string:
		return x[:prefixEnd(x, r.IntN(5))]
	case []byte:
		return x[:r.IntN(len(x)+1)]
	}
	return v
}
