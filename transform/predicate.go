package transform

import (
	"bytes"
	"slices"
	"strings"
)

// Eval says whether v, a value of t or NULL, satisfies the predicate in SQL's sense: NULL satisfies IsNull alone, the
// two zeros of a float are equal, and NaN is above all numbers.
func (p Predicate) Eval(t Type, v Value) bool {
	if v == nil || p.Op == IsNull {
		return v == nil && p.Op == IsNull
	}
	return p.holds(t, v) || containsValue(t, p.Also, v)
}

func (p Predicate) holds(t Type, v Value) bool {
	switch p.Op {
	case NotNull:
		return true
	case IsNaN:
		return isNaN(v)
	case NotNaN:
		return !isNaN(v)
	case In:
		return p.contains(t, v)
	case NotIn:
		return !containsValue(t, p.Values, v)
	case StartsWith:
		return hasPrefix(v, p.Values[0])
	case NotStartsWith:
		return !hasPrefix(v, p.Values[0])
	}
	return p.Op.accepts(compareSQL(t, v, p.Values[0]))
}

// accepts says whether the comparison op holds between two values of that order.
func (op PredicateOp) accepts(order int) bool {
	switch op {
	case LT:
		return order < 0
	case LE:
		return order <= 0
	case EQ:
		return order == 0
	case NE:
		return order != 0
	case GE:
		return order >= 0
	}
	return order > 0
}

// MayHold says whether some value between lower and upper, both included, can satisfy the predicate; the value is
// neither NULL nor NaN. A bound that is nil or NaN is none. True is always safe: bounds of strings and bytes may be cut.
// The caller decides on NULL and NaN by their counts.
func (p Predicate) MayHold(t Type, lower, upper Value) bool {
	r := valueRange{t: t, lower: lower, upper: upper}
	if isNaN(lower) {
		r.lower = nil
	}
	if isNaN(upper) {
		r.upper = nil
	}
	return p.mayHold(r) || slices.ContainsFunc(p.Also, r.contains)
}

func (p Predicate) mayHold(r valueRange) bool {
	switch p.Op {
	case IsNull, IsNaN:
		return false
	case LT, LE:
		return r.lower == nil || p.Op.accepts(compareSQL(r.t, r.lower, p.Values[0]))
	case GT, GE:
		return r.upper == nil || p.Op.accepts(compareSQL(r.t, r.upper, p.Values[0]))
	case EQ, In:
		return p.meets(r)
	case NE, NotIn:
		// Cut bounds are never equal: an upper one was rounded up.
		return !r.isPoint() || !containsValue(r.t, p.Values, r.lower)
	case StartsWith:
		return r.mayStartWith(p.Values[0])
	case NotStartsWith:
		// All that lies between two values with a prefix has it.
		return r.lower == nil || r.upper == nil || !hasPrefix(r.lower, p.Values[0]) || !hasPrefix(r.upper, p.Values[0])
	}
	return true
}

// sortedFrom is the number of values from which on looking for one by halves is faster than by going through them.
const sortedFrom = 8

// Sorted returns an In test of values of t that is as true as p, and faster for many values. Other tests it returns as they
// are.
func (p Predicate) Sorted(t Type) Predicate {
	if p.Op != In || p.sorted || len(p.Values) < sortedFrom {
		return p
	}
	p.Values, p.sorted = slices.Clone(p.Values), true
	slices.SortFunc(p.Values, func(a, b Value) int { return compareSQL(t, a, b) })
	return p
}

// contains says whether v is one of an In test's values.
func (p Predicate) contains(t Type, v Value) bool {
	if !p.sorted {
		return containsValue(t, p.Values, v)
	}
	_, found := slices.BinarySearchFunc(p.Values, v, func(x, v Value) int { return compareSQL(t, x, v) })
	return found
}

// meets says whether a value of an EQ or In test lies in a range.
func (p Predicate) meets(r valueRange) bool {
	if !p.sorted || r.lower == nil {
		return slices.ContainsFunc(p.Values, r.contains)
	}
	first, _ := slices.BinarySearchFunc(p.Values, r.lower, func(x, v Value) int { return compareSQL(r.t, x, v) })
	return first < len(p.Values) && r.contains(p.Values[first])
}

// valueRange is what the bounds of a field say: all its values lie between them. A nil bound is none.
type valueRange struct {
	t            Type
	lower, upper Value
}

func (r valueRange) contains(v Value) bool {
	return (r.lower == nil || compareSQL(r.t, r.lower, v) <= 0) && (r.upper == nil || compareSQL(r.t, r.upper, v) >= 0)
}

func (r valueRange) isPoint() bool {
	return r.lower != nil && r.upper != nil && compareSQL(r.t, r.lower, r.upper) == 0
}

// mayStartWith compares the bounds with the values that have the prefix: these are the ones from the prefix itself on
// that still start with it.
func (r valueRange) mayStartWith(prefix Value) bool {
	if r.upper != nil && Compare(r.t, r.upper, prefix) < 0 {
		return false
	}
	return r.lower == nil || Compare(r.t, r.lower, prefix) <= 0 || hasPrefix(r.lower, prefix)
}

func containsValue(t Type, list []Value, v Value) bool {
	return slices.ContainsFunc(list, func(x Value) bool { return compareSQL(t, v, x) == 0 })
}

// compareSQL is Compare with both zeros of a float being equal.
func compareSQL(t Type, a, b Value) int {
	if t.isFloat() {
		x, _ := floatOf(a)
		y, _ := floatOf(b)
		return compareFloats(x+0, y+0) // -0.0 + 0 is 0.0
	}
	return Compare(t, a, b)
}

func hasPrefix(v, prefix Value) bool {
	switch x := v.(type) {
	case string:
		p, ok := prefix.(string)
		return ok && strings.HasPrefix(x, p)
	case []byte:
		p, ok := prefix.([]byte)
		return ok && bytes.HasPrefix(x, p)
	}
	return false
}

// negations pairs every operation with the one that holds for exactly the other values that are not NULL.
var negations = [...]PredicateOp{
	IsNull: NotNull, NotNull: IsNull, IsNaN: NotNaN, NotNaN: IsNaN, LT: GE, GE: LT, LE: GT, GT: LE, EQ: NE, NE: EQ,
	In: NotIn, NotIn: In, StartsWith: NotStartsWith, NotStartsWith: StartsWith,
}

// Not returns the predicate that holds for exactly the other values, NULL left aside: no test but IsNull and NotNull says
// anything of it. There is none for one with Also.
func (p Predicate) Not() (Predicate, bool) {
	if len(p.Also) > 0 || int(p.Op) >= len(negations) {
		return Predicate{}, false
	}
	return Predicate{Op: negations[p.Op], Values: p.Values}, true
}

// conform returns p with its values as values of t; false when they are none, when there are too few or too many, or
// when the operation makes no sense on t.
func (p Predicate) conform(t Type) (Predicate, bool) {
	want := 1
	switch p.Op {
	case IsNull, NotNull, IsNaN, NotNaN:
		want = 0
	case In, NotIn:
		want = len(p.Values)
	case StartsWith, NotStartsWith:
		if t.Kind != String && t.Kind != Binary && t.Kind != Fixed {
			return Predicate{}, false
		}
	}
	if len(p.Values) != want {
		return Predicate{}, false
	}
	values := make([]Value, len(p.Values))
	for i, v := range p.Values {
		c, err := canonical(t, v)
		if err != nil || isNaN(v) {
			return Predicate{}, false
		}
		values[i] = c
	}
	return Predicate{Op: p.Op, Values: values}.Sorted(t), true
}
