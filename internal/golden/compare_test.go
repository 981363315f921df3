package golden

import (
	"math"
	"math/big"
	"testing"
)

func num(text string) Value {
	r, _ := new(big.Rat).SetString(text)
	return r
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b Value
		want bool
	}{
		{nil, nil, true},
		{nil, "NULL", false},
		{nil, num("0"), false},
		{num("1"), num("1.00"), true},
		{num("9223372036854775807"), num("9223372036854775806"), false},
		{num("0.5"), 0.5, true},
		{num("1"), "1", false},
		{true, num("1"), false},
		{1.0, 1 + 1e-13, true},
		{1.0, 1 + 1e-11, false},
		{0.0, math.Copysign(0, -1), false},
		{math.NaN(), math.NaN(), true},
		{math.Inf(1), math.Inf(-1), false},
		{[]Value{nil}, []Value{}, false},
		{[]Value{num("1"), num("2")}, []Value{num("2"), num("1")}, false},
		{Struct{"a": nil}, Struct{"b": nil}, false},
		{Struct{"a": num("1"), "b": nil}, Struct{"b": nil, "a": num("1")}, true},
		{Map{{"k", nil}}, Map{{"k", nil}}, true},
		{Map{{"k", nil}}, Map{}, false},
	} {
		if got := Same(c.a, c.b); got != c.want {
			t.Errorf("Same(%s, %s) is %t", Text(c.a), Text(c.b), got)
		}
	}
}

func TestDiff(t *testing.T) {
	a, b, near := Row{num("1"), 0.1}, Row{nil, 0.2}, Row{num("1"), 0.1 + 1e-16}
	for _, c := range []struct {
		name      string
		want, got []Row
		same      bool
	}{
		{"order", []Row{a, b}, []Row{b, a}, true},
		{"rounding", []Row{a, b}, []Row{b, near}, true},
		{"missing", []Row{a, b}, []Row{b}, false},
		{"missing twin", []Row{a, a}, []Row{a}, false},
		{"extra twin", []Row{a}, []Row{a, near}, false},
		{"twins of different rows", []Row{a, a, b}, []Row{a, b, b}, false},
		{"empty", nil, nil, true},
		{"nothing", []Row{a}, nil, false},
	} {
		if got := Diff(c.want, c.got) == ""; got != c.same {
			t.Errorf("%s: equal is %t", c.name, got)
		}
	}
	if DiffOrdered([]Row{a, b}, []Row{b, a}) == "" || DiffOrdered([]Row{a, b}, []Row{a}) == "" || DiffOrdered([]Row{a, b}, []Row{near, b}) != "" {
		t.Error("ordered rows are compared wrongly")
	}
}

func TestExpected(t *testing.T) {
	c := &Check{
		Columns: []Column{{"f", "double"}, {"d", "decimal(9,2)"}, {"m", "map<string,struct<a:double,l:array<int>>>"}, {"b", "binary"}},
		Values: [][]any{{"NaN", "1.50", []any{
			[]any{"z", nil}, []any{"a", map[string]any{"a": "-Infinity", "l": []any{nil}}},
		}, "00ff"}},
	}
	rows, err := c.Rows()
	if err != nil {
		t.Fatal(err)
	}
	want := Row{math.NaN(), num("3/2"), Map{{"a", Struct{"a": math.Inf(-1), "l": []Value{nil}}}, {"z", nil}}, "00ff"}
	if !Same(rows[0], want) {
		t.Errorf("%s, wanted %s", Text(rows[0]), Text(want))
	}
	c.Values = [][]any{{nil}}
	if _, err := c.Rows(); err == nil {
		t.Error("a row of too few values is taken")
	}
}
