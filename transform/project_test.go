package transform

import (
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"testing"

	"github.com/tarndb/tarn/internal/seed"
)

func TestProject(t *testing.T) {
	pred := func(op PredicateOp, values ...Value) *Predicate { return &Predicate{Op: op, Values: values} }
	day := func(ts string) int64 { return mustValue(t, Type{Kind: Timestamp}, ts).(int64) }
	cases := []struct {
		id, typ, transform string
		in                 *Predicate
		inclusive, strict  *Predicate
	}{
		{"PRN1 short", "string", "truncate[2]", pred(NotStartsWith, "a"), pred(NotStartsWith, "a"), pred(NotStartsWith, "a")},
		{"PRN1 equal", "string", "truncate[2]", pred(NotStartsWith, "ab"), pred(NE, "ab"), pred(NE, "ab")},
		{"PRN1 long", "string", "truncate[2]", pred(NotStartsWith, "abc"), nil, pred(NE, "ab")},
		{"PRN1 code points", "string", "truncate[2]", pred(NotStartsWith, "日本"), pred(NE, "日本"), pred(NE, "日本")},
		{"prefix short", "string", "truncate[2]", pred(StartsWith, "💰"), pred(StartsWith, "💰"), pred(StartsWith, "💰")},
		{"prefix equal", "string", "truncate[2]", pred(StartsWith, "ab"), pred(EQ, "ab"), pred(EQ, "ab")},
		{"prefix long", "string", "truncate[2]", pred(StartsWith, "abc"), pred(EQ, "ab"), nil},
		{"string below short", "string", "truncate[3]", pred(LT, "abc"), pred(LT, "abc"), pred(LT, "abc")},
		{"string below long", "string", "truncate[2]", pred(LT, "abc"), pred(LE, "ab"), pred(LT, "ab")},
		{"string above short", "string", "truncate[3]", pred(GT, "ab"), pred(GT, "ab"), pred(GT, "ab")},
		{"string above equal", "string", "truncate[2]", pred(GT, "ab"), pred(GE, "ab"), pred(GT, "ab")},
		{"string from", "string", "truncate[2]", pred(GE, "abc"), pred(GE, "ab"), pred(GT, "ab")},
		{"string unequal", "string", "truncate[2]", pred(NE, "abc"), nil, pred(NE, "ab")},
		{"string in", "string", "truncate[1]", pred(In, "ab", "ac", "b"), pred(In, "a", "b"), nil},

		{"PRN2 below", "timestamp", "day", pred(LT, int64(0)), pred(LE, int32(0)), pred(LT, int32(0))},
		{"PRN2 equal", "timestamp", "day", pred(EQ, day("1969-12-25T10:00:00")), pred(In, int32(-7), int32(-6)), nil},
		{"PRN2 from", "timestamp", "hour", pred(GE, day("1969-12-31T22:00")), pred(GE, int32(-2)), pred(GT, int32(-2))},
		{"below day start", "timestamp", "day", pred(LT, day("1970-01-03")), pred(LE, int32(1)), pred(LT, int32(2))},
		{"up to day start", "timestamp", "day", pred(LE, day("1970-01-03")), pred(LE, int32(2)), pred(LT, int32(2))},
		{"unequal old", "timestamp", "day", pred(NE, int64(-1)), nil, pred(NotIn, int32(-1), int32(0))},
		{"above old", "timestamp", "year", pred(GT, day("1960-06-01")), pred(GE, int32(-10)), pred(GT, int32(-9))},

		{"PRN4 unequal", "int", "identity", pred(NE, int32(5)), pred(NE, int32(5)), pred(NE, int32(5))},
		{"PRN4 not in", "int", "identity", pred(NotIn, int32(5), int32(6)), pred(NotIn, int32(5), int32(6)), pred(NotIn, int32(5), int32(6))},
		{"PRN4 not NaN", "double", "identity", pred(NE, 5.0), pred(NE, 5.0), pred(NE, 5.0)},

		{"PRN17 equal", "date", "month", pred(EQ, int32(20434)), pred(EQ, int32(671)), nil},
		{"PRN17 range", "date", "month", pred(GE, int32(20434)), pred(GE, int32(671)), pred(GT, int32(671))},
		{"day of date", "date", "day", pred(NE, int32(-3)), pred(NE, int32(-3)), pred(NE, int32(-3))},

		{"bucket equal", "int", "bucket[16]", pred(EQ, int32(34)), pred(EQ, int32(3)), nil},
		{"bucket unequal", "int", "bucket[16]", pred(NE, int32(34)), nil, pred(NE, int32(3))},
		{"bucket in", "long", "bucket[16]", pred(In, int64(34), int64(-1), int64(7)), pred(In, int32(3), int32(8)), nil},
		{"bucket below", "int", "bucket[16]", pred(LT, int32(34)), nil, nil},
		{"bucket null", "int", "bucket[16]", pred(IsNull), pred(IsNull), pred(IsNull)},
		{"bucket not null", "int", "bucket[16]", pred(NotNull), pred(NotNull), pred(NotNull)},
		{"void null", "int", "void", pred(IsNull), nil, nil},
		{"unknown", "int", "hilbert[2]", pred(IsNull), nil, nil},

		{"truncate underflow", "int", "truncate[10]", pred(EQ, int32(-2147483648)), nil, nil},
		{"truncate below smallest", "int", "truncate[10]", pred(LT, int32(-2147483648)), nil, nil},
		{"truncate above largest", "int", "truncate[10]", pred(GT, int32(2147483647)), nil, nil},
		{"truncate from", "int", "truncate[10]", pred(GE, int32(15)), pred(GE, int32(10)), nil},
		{"truncate from, no wrap", "int", "truncate[8]", pred(GE, int32(15)), pred(GE, int32(8)), pred(GT, int32(8))},
		{"truncate decimal", "decimal(9, 2)", "truncate[50]", pred(LT, big.NewInt(-1050)), pred(LE, big.NewInt(-1100)), pred(LT, big.NewInt(-1050))},
		{"no such literal", "int", "identity", pred(EQ, "5"), nil, nil},
		{"no literal", "int", "identity", pred(EQ), nil, nil},
		{"prefix of int", "int", "identity", pred(StartsWith, int32(5)), nil, nil},
	}
	for _, c := range cases {
		t.Run(c.id, func(t *testing.T) {
			typ, tr := mustType(t, c.typ), mustParse(t, c.transform)
			checkPredicate(t, "inclusive", c.inclusive)(tr.Project(typ, *c.in))
			checkPredicate(t, "strict", c.strict)(tr.ProjectStrict(typ, *c.in))
		})
	}
}

func checkPredicate(t *testing.T, what string, want *Predicate) func(Predicate, bool) {
	return func(got Predicate, ok bool) {
		t.Helper()
		switch {
		case ok != (want != nil):
			t.Errorf("%s: %v, %v; want %v", what, got, ok, want)
		case ok && (got.Op != want.Op || fmt.Sprint(got.Values) != fmt.Sprint(want.Values)):
			t.Errorf("%s: %v; want %v", what, got, *want)
		}
	}
}

func TestProjectKeepsItsInput(t *testing.T) {
	p := Predicate{Op: In, Values: []Value{int64(-1), int64(-2), int64(-3), int64(5)}}
	before := Predicate{Op: In, Values: append([]Value{}, p.Values...)}
	for _, text := range []string{"identity", "day", "bucket[4]"} {
		mustParse(t, text).Project(Type{Kind: Timestamp}, p)
		mustParse(t, text).ProjectStrict(Type{Kind: Timestamp}, p)
	}
	if !reflect.DeepEqual(p, before) {
		t.Errorf("changed to %v", p)
	}
}

// storedValues returns what partition values writers have stored for x: the right one, or what an integer that wraps
// around makes of it, and what Java's rounding toward zero made of times before 1970.
func storedValues(tr Transform, typ Type, x Value) []Value {
	v, err := tr.Apply(typ, x)
	stored := []Value{v}
	if err != nil {
		stored = nil
	}
	if tr.Op == Truncate && (typ.Kind == Int || typ.Kind == Long) {
		n, _ := intOf(x)
		m := floorMod(n, int64(tr.N))
		narrow := int32(n) - int32(m)
		switch {
		case typ.Kind == Int:
			return []Value{narrow}
		case n == int64(int32(n)):
			return []Value{n - m, int64(narrow)}
		}
		return []Value{n - m}
	}
	if c, ok := v.(int32); ok && tr.isTime() && !tr.isLossless(typ) && c < 0 {
		if from, _ := intOf(x); TimeOrdinal(tr.Op, typ, from-1) == int64(c) { // not the very start of its partition
			stored = append(stored, c+1)
		}
	}
	return stored
}

func TestProjectionsAreSound(t *testing.T) {
	r := seed.Rand(t)
	for _, name := range allTypes {
		typ := mustType(t, name)
		for _, text := range allTransforms {
			tr := mustParse(t, text)
			if !tr.CanApply(typ) {
				continue
			}
			result := tr.ResultType(typ)
			claims := 0
			for range 4000 {
				x := randomValue(r, typ)
				p := randomPredicate(r, typ, x)
				if r.IntN(10) == 0 {
					x = nil
				}
				stored := storedValues(tr, typ, x)
				if x == nil {
					stored = []Value{nil}
				}
				for _, s := range stored {
					claims += checkSound(t, tr, typ, result, p, x, s)
				}
			}
			if claims == 0 && tr.Op != Void {
				t.Errorf("%s of %s: nothing was ever projected", text, name)
			}
		}
	}
}

func checkSound(t *testing.T, tr Transform, typ, result Type, p Predicate, x, stored Value) (claims int) {
	t.Helper()
	q, ok := tr.Project(typ, p)
	if ok && p.Eval(typ, x) {
		claims++
		if !q.Eval(result, stored) {
			t.Fatalf("%s of %s %v: %v holds, %v doesn't hold for %v", tr, typ, x, p, q, stored)
		}
		if stored != nil && !isNaN(stored) && !q.MayHold(result, stored, stored) {
			t.Fatalf("%s of %s %v: %v holds, %v is ruled out for %v", tr, typ, x, p, q, stored)
		}
	}
	q, ok = tr.ProjectStrict(typ, p)
	if ok && q.Eval(result, stored) {
		claims++
		if !p.Eval(typ, x) {
			t.Fatalf("%s of %s %v: %v doesn't hold, strict %v holds for %v", tr, typ, x, p, q, stored)
		}
	}
	return claims
}

// TestProjectionsAreTight checks that what can be said is said: the transforms that keep the order project every
// comparison, unless the literal's image leaves its type.
func TestProjectionsAreTight(t *testing.T) {
	r := seed.Rand(t)
	for _, c := range [][2]string{
		{"int", "truncate[10]"}, {"long", "truncate[3]"}, {"decimal(9, 2)", "truncate[4]"}, {"string", "truncate[2]"},
		{"binary", "truncate[2]"}, {"date", "year"}, {"timestamp", "month"}, {"timestamptz_ns", "day"}, {"timestamp", "hour"},
	} {
		typ, tr := mustType(t, c[0]), mustParse(t, c[1])
		for _, op := range []PredicateOp{LT, LE, EQ, GE, GT, In} {
			v := randomValue(r, typ)
			_, err := tr.Apply(typ, v)
			if n, ok := intOf(v); ok && (n > 1<<30 || n < -1<<30) || errors.Is(err, ErrOutOfRange) {
				continue
			}
			if _, ok := tr.Project(typ, Predicate{Op: op, Values: []Value{v}}); !ok {
				t.Errorf("%s of %s: operation %d with %v is not projected", c[1], c[0], op, v)
			}
		}
	}
}

func TestEval(t *testing.T) {
	negativeZero := mustValue(t, Type{Kind: Double}, "-0.0")
	cases := []struct {
		typ  string
		p    Predicate
		v    Value
		want bool
	}{
		{"int", Predicate{Op: IsNull}, nil, true},
		{"int", Predicate{Op: IsNull}, int32(1), false},
		{"int", Predicate{Op: NE, Values: []Value{int32(5)}}, nil, false},
		{"int", Predicate{Op: NotIn, Values: []Value{int32(5)}}, nil, false},
		{"int", Predicate{Op: NotIn}, nil, false},
		{"int", Predicate{Op: NotIn}, int32(1), true},
		{"int", Predicate{Op: In}, int32(1), false},
		{"int", Predicate{Op: LT, Values: []Value{int32(5)}, Also: []Value{int32(9)}}, int32(9), true},
		{"int", Predicate{Op: LT, Values: []Value{int32(5)}, Also: []Value{int32(9)}}, nil, false},
		{"double", Predicate{Op: NotNaN}, nil, false},
		{"double", Predicate{Op: IsNaN}, mustValue(t, Type{Kind: Double}, "NaN"), true},
		{"double", Predicate{Op: GT, Values: []Value{1e300}}, mustValue(t, Type{Kind: Double}, "NaN"), true},
		{"double", Predicate{Op: EQ, Values: []Value{0.0}}, negativeZero, true},
		{"double", Predicate{Op: LT, Values: []Value{0.0}}, negativeZero, false},
		{"string", Predicate{Op: NotStartsWith, Values: []Value{"a"}}, nil, false},
		{"string", Predicate{Op: StartsWith, Values: []Value{""}}, "", true},
		{"uuid", Predicate{Op: LT, Values: []Value{[16]byte{0x80}}}, [16]byte{0x7f}, true},
	}
	for _, c := range cases {
		if got := c.p.Eval(mustType(t, c.typ), c.v); got != c.want {
			t.Errorf("%v of %v: %v", c.p, c.v, got)
		}
	}
}

func TestMayHoldIsSound(t *testing.T) {
	r := seed.Rand(t)
	for _, name := range allTypes {
		typ := mustType(t, name)
		ruledOut := 0
		for range 4000 {
			values := []Value{randomValue(r, typ)}
			for range r.IntN(3) {
				values = append(values, randomValue(r, typ))
			}
			p := randomPredicate(r, typ, values[0])
			var lower, upper Value
			holds := false
			for _, v := range values {
				if isNaN(v) {
					continue
				}
				holds = holds || p.Eval(typ, v)
				if lower == nil || Compare(typ, v, lower) < 0 {
					lower = v
				}
				if upper == nil || Compare(typ, v, upper) > 0 {
					upper = v
				}
			}
			if lower == nil {
				continue
			}
			if r.IntN(8) == 0 {
				lower = nil
			}
			if r.IntN(8) == 0 {
				upper = nil
			}
			may := p.MayHold(typ, lower, upper)
			if holds && !may {
				t.Fatalf("%s %v: %v ruled out between %v and %v", name, values, p, lower, upper)
			}
			if !may {
				ruledOut++
			}
		}
		if ruledOut == 0 {
			t.Errorf("%s: nothing is ever ruled out", name)
		}
	}
}
