package transform

import (
	"errors"
	"testing"

	"github.com/tarndb/tarn/internal/seed"
)

func TestReduce(t *testing.T) {
	cases := []struct {
		typ, from, to string
		in, want      Value
	}{
		{"long", "bucket[64]", "bucket[32]", int32(33), int32(1)},
		{"timestamp", "hour", "day", int32(-1), int32(-1)},
		{"timestamp", "hour", "year", int32(-1), int32(-1)},
		{"timestamp", "day", "month", int32(-32), int32(-2)},
		{"date", "month", "year", int32(-1), int32(-1)},
		{"timestamptz", "month", "year", int32(12), int32(1)},
		{"int", "truncate[4]", "truncate[12]", int32(-4), int32(-12)},
		{"string", "truncate[3]", "truncate[2]", "日本語", "日本"},
		{"string", "identity", "bucket[16]", "日本", int32(2)},
		{"date", "identity", "day", int32(-7), int32(-7)},
		{"date", "day", "bucket[16]", int32(17486), int32(10)},
		{"long", "identity", "bucket[16]", int32(34), int32(3)}, // an int of a file older than the promotion
		{"int", "identity", "truncate[10]", int32(-2147483648), int64(-2147483650)},
		{"uuid", "bucket[4]", "bucket[4]", int32(3), int32(3)},
	}
	for _, c := range cases {
		r, ok := Reduce(mustType(t, c.typ), mustParse(t, c.from), mustParse(t, c.to))
		if !ok {
			t.Errorf("%s: no reduction from %s to %s", c.typ, c.from, c.to)
			continue
		}
		if got := r(c.in); got != c.want {
			t.Errorf("%s: %s of %v to %s is %v, want %v", c.typ, c.from, c.in, c.to, got, c.want)
		}
		if got := r(nil); got != nil {
			t.Errorf("%s: NULL of %s becomes %v of %s", c.typ, c.from, got, c.to)
		}
	}
}

func TestReduceRefuses(t *testing.T) {
	for _, c := range [][3]string{
		{"double", "identity", "identity"}, {"float", "identity", "identity"}, {"int", "bucket[7]", "bucket[16]"},
		{"int", "bucket[16]", "bucket[64]"}, {"int", "bucket[4]", "identity"}, {"int", "void", "void"},
		{"int", "identity", "void"}, {"int", "hilbert[2]", "hilbert[2]"}, {"timestamp", "day", "hour"},
		{"timestamp", "day", "identity"}, {"string", "truncate[2]", "truncate[3]"}, {"int", "truncate[4]", "truncate[6]"},
		{"date", "hour", "day"}, {"boolean", "identity", "bucket[4]"}, {"int", "truncate[10]", "bucket[2]"},
	} {
		if _, ok := Reduce(mustType(t, c[0]), mustParse(t, c[1]), mustParse(t, c[2])); ok {
			t.Errorf("%s: %s reduces to %s", c[0], c[1], c[2])
		}
	}
}

func TestMeet(t *testing.T) {
	for _, c := range [][4]string{
		{"long", "bucket[64]", "bucket[48]", "bucket[16]"}, {"long", "bucket[7]", "bucket[16]", ""},
		{"long", "bucket[1]", "bucket[1]", ""}, {"long", "identity", "bucket[1]", ""},
		{"long", "identity", "bucket[5]", "bucket[5]"}, {"timestamp", "hour", "year", "year"},
		{"timestamp", "day", "bucket[5]", ""}, {"date", "day", "bucket[5]", "bucket[5]"},
		{"date", "day", "identity", "identity"}, {"date", "day", "day", "day"}, {"date", "day", "month", "month"},
		{"int", "truncate[4]", "truncate[6]", "truncate[12]"}, {"int", "truncate[2147483647]", "truncate[2147483646]", ""},
		{"decimal(9, 2)", "truncate[10]", "truncate[15]", "truncate[30]"}, {"binary", "truncate[4]", "truncate[6]", "truncate[4]"},
		{"string", "truncate[4]", "identity", "truncate[4]"}, {"int", "truncate[4]", "bucket[4]", ""},
		{"double", "identity", "identity", ""}, {"int", "void", "identity", ""},
	} {
		for _, pair := range [][2]string{{c[1], c[2]}, {c[2], c[1]}} {
			m, ok := Meet(mustType(t, c[0]), mustParse(t, pair[0]), mustParse(t, pair[1]))
			if ok != (c[3] != "") || ok && m.String() != c[3] {
				t.Errorf("%s: %s and %s meet in %v, %v; want %q", c[0], pair[0], pair[1], m, ok, c[3])
			}
		}
	}
}

func TestReduceLaw(t *testing.T) {
	r := seed.Rand(t)
	for _, name := range allTypes {
		typ := mustType(t, name)
		for _, a := range allTransforms {
			for _, b := range allTransforms {
				from, to := mustParse(t, a), mustParse(t, b)
				reduce, ok := Reduce(typ, from, to)
				if ok {
					checkReduceLaw(t, typ, from, to, reduce, func() Value { return randomValue(r, typ) })
				}
				m, ok := Meet(typ, from, to)
				if !ok {
					continue
				}
				for _, side := range []Transform{from, to} {
					if _, ok := Reduce(typ, side, m); !ok {
						t.Errorf("%s: %s and %s meet in %s, which %s doesn't reduce to", name, a, b, m, side)
					}
				}
			}
		}
	}
}

func checkReduceLaw(t *testing.T, typ Type, from, to Transform, reduce func(Value) Value, next func() Value) {
	t.Helper()
	for range 300 {
		x := next()
		fine, err := from.Apply(typ, x)
		if err != nil {
			continue
		}
		got := reduce(fine)
		want, err := to.Apply(typ, x)
		if errors.Is(err, ErrOutOfRange) {
			want, err = to.exact(typ, x)
		}
		if err != nil || !sameValue(got, want) {
			t.Fatalf("%s %v: %s is %v, reduced to %s is %v, want %v, %v", typ, x, from, fine, to, got, want, err)
		}
	}
}
