package transform

import (
	"math"
	"math/big"
)

// Project returns the inclusive projection of p, a predicate on values of src, onto the partition field: whenever a value
// satisfies p, its partition value satisfies the projection. A partition that doesn't is safe to leave out. It is false
// when nothing can be said.
//
// The projection also holds for two kinds of partition values that the spec does not allow but that exist. Old Java
// writers rounded times before 1970 toward zero, and many writers let truncated integers wrap around below the smallest.
func (t Transform) Project(src Type, p Predicate) (Predicate, bool) {
	p, ok := p.conform(src)
	switch {
	case !ok || t.Op == Void || !t.CanApply(src):
		return Predicate{}, false
	case t.isLossless(src) || p.Op == IsNull || p.Op == NotNull:
		// Every other transform maps NULL to NULL, and nothing else to it.
		return p, true
	case t.Op == Bucket:
		return t.projectPoints(src, p)
	case src.Kind == String || src.Kind == Binary:
		return t.projectPrefix(src, p)
	}
	q, ok := t.projectSteps(src, p)
	switch {
	case !ok:
		return Predicate{}, false
	case t.Op == Truncate:
		return t.admitWrapped(src, p, q), true
	}
	return t.admitOldTimes(src, q), true
}

// ProjectStrict returns the strict projection of p: whenever a partition value satisfies it, all its source values
// satisfy p. It is false when nothing can be said.
//
// A partition where some value fails p is one where some value satisfies not-p: the strict projection of p is what the
// inclusive projection of not-p leaves over. A NULL satisfies neither, so it is never claimed.
func (t Transform) ProjectStrict(src Type, p Predicate) (Predicate, bool) {
	not, ok := p.Not()
	if !ok {
		return Predicate{}, false
	}
	q, ok := t.Project(src, not)
	if !ok {
		return Predicate{}, false
	}
	return q.Not()
}

// projectPoints maps the values of an equality. Inequalities say nothing: other values share their partition.
func (t Transform) projectPoints(src Type, p Predicate) (Predicate, bool) {
	if p.Op != EQ && p.Op != In {
		return Predicate{}, false
	}
	images := make([]Value, len(p.Values))
	for i, v := range p.Values {
		r, err := t.Apply(src, v)
		if err != nil {
			return Predicate{}, false
		}
		images[i] = r
	}
	return membership(t.ResultType(src), images), true
}

// membership is the test for being one of values, each named once.
func membership(t Type, values []Value) Predicate {
	seen := make(map[string]bool, len(values))
	distinct := values[:0:0]
	for _, v := range values {
		if key := string(AppendKey(nil, t, v)); !seen[key] {
			seen[key] = true
			distinct = append(distinct, v)
		}
	}
	if len(distinct) == 1 {
		return Predicate{Op: EQ, Values: distinct}
	}
	return Predicate{Op: In, Values: distinct}.Sorted(t)
}

// projectSteps projects through a transform that keeps the order of values that can be counted: x < v is x <= v-1, and
// then both sides may be transformed.
func (t Transform) projectSteps(src Type, p Predicate) (Predicate, bool) {
	var step int64
	op := LE
	switch p.Op {
	case EQ, In:
		return t.projectPoints(src, p)
	case LT:
		step = -1
	case LE:
	case GT:
		step, op = 1, GE
	case GE:
		op = GE
	default:
		return Predicate{}, false
	}
	v, ok := neighbour(p.Values[0], step)
	if !ok {
		return Predicate{}, false
	}
	r, err := t.Apply(src, v)
	return Predicate{Op: op, Values: []Value{r}}, err == nil
}

// neighbour adds step to a value that can be counted; false when the sum leaves its type.
func neighbour(v Value, step int64) (Value, bool) {
	switch x := v.(type) {
	case int32:
		n := int64(x) + step
		return int32(n), n == int64(int32(n))
	case int64:
		n := x + step
		return n, (n > x) == (step > 0) && (n < x) == (step < 0)
	case *big.Int:
		return new(big.Int).Add(x, big.NewInt(step)), true
	}
	return nil, false
}

// projectPrefix projects through truncate of strings and binary. A value no longer than the width is its own image, and
// that gives sharper tests: if s is no longer than the width, x < s makes the image of x, a prefix of x, less than s too.
func (t Transform) projectPrefix(src Type, p Predicate) (Predicate, bool) {
	if p.Op == EQ || p.Op == In {
		return t.projectPoints(src, p)
	}
	if len(p.Values) != 1 {
		return Predicate{}, false
	}
	image := truncate(p.Values[0], t.N)
	isShort := length(image) < t.N
	isOwnImage := Compare(src, image, p.Values[0]) == 0
	to := func(op PredicateOp) (Predicate, bool) { return Predicate{Op: op, Values: []Value{image}}, true }
	switch {
	case p.Op == LT && isOwnImage, p.Op == GT && isShort:
		return p, true
	case p.Op == LT, p.Op == LE:
		return to(LE)
	case p.Op == GT, p.Op == GE:
		return to(GE)
	case (p.Op == StartsWith || p.Op == NotStartsWith) && isShort:
		return p, true
	case p.Op == StartsWith:
		return to(EQ)
	case p.Op == NotStartsWith && isOwnImage:
		return to(NE)
	}
	return Predicate{}, false
}

// length counts what truncate counts: the code points of a string, the bytes of binary.
func length(v Value) int {
	if s, ok := v.(string); ok {
		return len([]rune(s))
	}
	return len(v.([]byte))
}

// admitOldTimes widens an inclusive projection through a time transform by the partition values of old Java
// writers: they rounded toward zero, so a value whose partition is -2 may lie in partition -1. Only negative ones are
// off, by one upward. Lower limits hold as they are. The day of a date was never rounded.
func (t Transform) admitOldTimes(src Type, q Predicate) Predicate {
	switch q.Op {
	case LE:
		if c := q.Values[0].(int32); c < 0 {
			q.Values = []Value{c + 1}
		}
	case EQ, In:
		values := q.Values[:len(q.Values):len(q.Values)]
		for _, v := range q.Values {
			if c := v.(int32); c < 0 {
				values = append(values, c+1)
			}
		}
		return membership(t.ResultType(src), values)
	}
	return q
}

// admitWrapped adds to q, the inclusive projection of p, the partition values that wrapped around. truncate[10] of the
// smallest int is -2147483650, which no int holds; Java stores 2147483646 for it. All ints below the first multiple of
// the width share that partition value, and it is no multiple of the width, so that it stands for nothing else. A long
// may have been an int when the file was written. Lower limits hold as they are: the value is positive.
func (t Transform) admitWrapped(src Type, p, q Predicate) Predicate {
	if q.Op != LE && q.Op != EQ && q.Op != In {
		return q
	}
	width := int64(t.N)
	if m := floorMod(math.MinInt32, width); m > 0 && src.Kind != Decimal {
		wrapped := int32(math.MinInt32 - m)
		q.Also = appendWrapped(q.Also, src, p, math.MinInt32, math.MinInt32-m+width, int64(wrapped))
	}
	if m := floorMod(math.MinInt64, width); m > 0 && src.Kind == Long {
		smallest := int64(math.MinInt64)
		q.Also = appendWrapped(q.Also, src, p, smallest, smallest+(width-m), smallest-m)
	}
	return q
}

// appendWrapped appends wrapped, as a value of src, when one of the values from first to before end may satisfy p.
func appendWrapped(also []Value, src Type, p Predicate, first, end, wrapped int64) []Value {
	value := func(n int64) Value {
		v, _ := narrow(src, n)
		return v
	}
	if !p.MayHold(src, value(first), value(end-1)) {
		return also
	}
	return append(also, value(wrapped))
}

// IsWrapped says whether v, a partition value, is no result of the transform: a multiple of its width it would be, but an
// integer wrapped around when it was written. Such a file holds the lowest values of src under one of the highest keys.
func (t Transform) IsWrapped(src Type, v Value) bool {
	n, ok := intOf(v)
	return ok && t.Op == Truncate && t.CanApply(src) && n%int64(t.N) != 0
}
