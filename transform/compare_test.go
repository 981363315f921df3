package transform

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/tarndb/tarn/internal/seed"
)

func TestCompareOrders(t *testing.T) {
	negativeZero := math.Copysign(0, -1)
	ascending := map[string][]Value{
		"boolean":   {false, true},
		"int":       {int32(math.MinInt32), int32(-1), int32(0), int32(7)},
		"long":      {int64(math.MinInt64), int64(-1), int32(0), int64(7)},
		"float":     {float32(math.Inf(-1)), float32(-1), float32(negativeZero), float32(0), float32(math.Inf(1)), float32(math.NaN())},
		"double":    {math.Inf(-1), -1.0, negativeZero, 0.0, float32(1), math.Inf(1), math.NaN()},
		"string":    {"", "a", "ab", "\uffff", "\U00010000"},
		"uuid":      {[16]byte{}, [16]byte{0x7f}, [16]byte{0x80}, [16]byte{0xff}},
		"binary":    {[]byte{}, []byte{0x7f}, []byte{0x80}, []byte{0x80, 0}},
		"timestamp": {int64(-1), int64(0)},
	}
	ascending["decimal(9, 2)"] = []Value{big.NewInt(-256), big.NewInt(-1), big.NewInt(0), big.NewInt(128)}
	for name, values := range ascending {
		typ := mustType(t, name)
		for i, a := range values {
			for j, b := range values {
				if got, want := Compare(typ, a, b), compareInts(int64(i), int64(j)); got != want {
					t.Errorf("%s: %v against %v is %d", name, a, b, got)
				}
			}
		}
	}
}

func TestKeysAreDistinct(t *testing.T) {
	r := seed.Rand(t)
	for _, name := range allTypes {
		typ := mustType(t, name)
		for range 3000 {
			a, b := randomValue(r, typ), randomValue(r, typ)
			same := string(AppendKey(nil, typ, a)) == string(AppendKey(nil, typ, b))
			if same != (Compare(typ, a, b) == 0) {
				t.Fatalf("%s: %v and %v: keys equal %v", name, a, b, same)
			}
			if string(AppendKey(nil, typ, a)) == string(AppendKey(nil, typ, nil)) {
				t.Fatalf("%s: %v has the key of NULL", name, a)
			}
		}
	}
}

func TestKeysOfEqualValues(t *testing.T) {
	for _, pair := range [][2]Value{
		{int32(-5), int64(-5)}, {int32(math.MinInt32), int64(math.MinInt32)}, {float32(1.5), 1.5},
		{math.NaN(), math.Float64frombits(0x7ff8_0000_0000_1234)}, {float32(math.NaN()), math.NaN()},
		{big.NewInt(128), new(big.Int).SetBytes([]byte{0, 0, 128})}, {[]byte{}, []byte(nil)},
	} {
		if !sameValue(pair[0], pair[1]) {
			t.Errorf("%T %v and %T %v have two keys", pair[0], pair[0], pair[1], pair[1])
		}
	}
	for _, pair := range [][2]Value{{0.0, math.Copysign(0, -1)}, {"a", []byte("a")}, {nil, ""}, {nil, []byte{}}, {int32(0), false}} {
		if sameValue(pair[0], pair[1]) {
			t.Errorf("%T %v and %T %v have one key", pair[0], pair[0], pair[1], pair[1])
		}
	}
}

// TestKeysDelimitThemselves joins keys of several fields: two lists have the same bytes only when they are the same.
func TestKeysDelimitThemselves(t *testing.T) {
	r := seed.Rand(t)
	seen := map[string]string{}
	for range 20_000 {
		var key []byte
		var text string
		for range 1 + r.IntN(3) {
			var typ Type
			var v Value
			if r.IntN(5) > 0 {
				typ = mustType(t, []string{"long", "string", "binary", "boolean", "decimal(4, 0)"}[r.IntN(5)])
				v = randomValue(r, typ)
			}
			key = AppendKey(key, typ, v)
			text += fmt.Sprintf("%T %q;", v, FormatValue(typ, v))
		}
		if before, ok := seen[string(key)]; ok && before != text {
			t.Fatalf("%s and %s have one key %x", before, text, key)
		}
		seen[string(key)] = text
	}
}

func TestBoundsRoundTrip(t *testing.T) {
	r := seed.Rand(t)
	for _, name := range allTypes {
		typ := mustType(t, name)
		for range 500 {
			v := randomValue(r, typ)
			b, err := EncodeBound(typ, v)
			if err != nil {
				t.Fatalf("%s %v: %v", name, v, err)
			}
			got, err := DecodeBound(typ, b)
			if err != nil || Compare(typ, got, v) != 0 {
				t.Fatalf("%s %v: %x reads as %v, %v", name, v, b, got, err)
			}
			if _, bad := canonical(typ, got); bad != nil {
				t.Fatalf("%s %v: %x reads as %T", name, v, b, got)
			}
		}
	}
}

func TestSCH2(t *testing.T) {
	cases := []struct {
		typ, hex string
		want     Value
	}{
		{"long", "fbffffff", int64(-5)}, {"int", "fbffffff", int32(-5)}, {"double", "0000c03f", 1.5}, {"float", "0000c03f", float32(1.5)},
		{"date", "f9ffffff", int32(-7)}, {"date", "0a4d0000", int32(19722)}, {"boolean", "01", true}, {"boolean", "00", false},
		{"timestamp", "ffffffff", int64(-86_400_000_000)}, {"timestamp_ns", "01000000", int64(86_400_000_000_000)},
		{"string", "", ""}, {"timestamp", "0000000000000080", int64(math.MinInt64)},
	}
	for _, c := range cases {
		b := mustValue(t, Type{Kind: Binary}, c.hex).([]byte)
		if got, err := DecodeBound(mustType(t, c.typ), b); err != nil || got != c.want {
			t.Errorf("%s %s: %v, %v; want %v", c.typ, c.hex, got, err, c.want)
		}
	}
	decimals := map[string]int64{"fd6d": -659, "015e": 350, "00": 0, "ff": -1, "ffffffff": -1, "0080": 128, "80": -128}
	for hex, want := range decimals {
		b := mustValue(t, Type{Kind: Binary}, hex).([]byte)
		got, err := DecodeBound(Type{Kind: Decimal, Precision: 38}, b)
		if err != nil || Compare(Type{Kind: Decimal}, got, big.NewInt(want)) != 0 {
			t.Errorf("decimal %s: %v, %v; want %d", hex, got, err, want)
		}
	}
}

func TestBoundsRefused(t *testing.T) {
	for _, c := range [][2]string{
		{"int", ""}, {"int", "0102030405060708"}, {"long", "01"}, {"uuid", "0102"}, {"decimal(9, 2)", ""},
		{"decimal(9, 2)", "0102030405060708090a0b0c0d0e0f1011"}, {"string", "ff"}, {"timestamptz", "01000000"},
		{"timestamp_ns", "ffffff7f"}, {"boolean", ""}, {"geometry", "00"}, {"unknown", "00"}, {"variant", "00"},
	} {
		b := mustValue(t, Type{Kind: Binary}, c[1]).([]byte)
		if got, err := DecodeBound(mustType(t, c[0]), b); err == nil {
			t.Errorf("%s %s: %v, want an error", c[0], c[1], got)
		}
	}
	for _, v := range []Value{nil, "text", int64(5)} {
		if b, err := EncodeBound(Type{Kind: Int}, v); err == nil {
			t.Errorf("int %v: %x, want an error", v, b)
		}
	}
}
