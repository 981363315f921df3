package transform

import "math"

// Reduce returns r with r(from(x)) = to(x) for every x of src, or false when there is none. r takes and returns partition
// values, and NULL for NULL. Where to(x) leaves its type, r returns the number that it would be, as an int64 or a
// *big.Int: its key (AppendKey) is its own. What is no value of from's result type, r returns as it came.
//
// Float and double never reduce: their two zeros are two partitions and one value in SQL, so that equal keys do not
// follow from equal values.
func Reduce(src Type, from, to Transform) (func(Value) Value, bool) {
	r, ok := reducer(src, from, to)
	if !ok {
		return nil, false
	}
	return func(v Value) Value {
		if v == nil {
			return nil
		}
		return r(v)
	}, true
}

func reducer(src Type, from, to Transform) (func(Value) Value, bool) {
	switch {
	case !from.isKey(src) || !to.isKey(src):
		return nil, false
	case from.isLossless(src):
		return to.fitting(src), true
	case from == to:
		return func(v Value) Value { return v }, true
	case from.Op == Bucket && to.Op == Bucket && from.N%to.N == 0:
		return reduceBucket(to.N), true
	case from.Op == Truncate && to.Op == Truncate && truncates(src, from.N, to.N):
		return to.fitting(src), true
	case from.isTime() && to.isTime() && to.Op < from.Op:
		return reduceTime(from.Op, to.Op), true
	}
	return nil, false
}

// isKey says whether partition values of t on src can group rows.
func (t Transform) isKey(src Type) bool { return t.CanApply(src) && t.Op != Void && !src.isFloat() }

// isTime says whether t is one of year, month, day and hour, which are declared from the coarsest to the finest.
func (t Transform) isTime() bool { return t.Op >= Year && t.Op <= Hour }

// truncates says whether truncating to a width first and to another then is the same as to the other at once.
func truncates(src Type, first, then int) bool {
	if src.isNumber() {
		return then%first == 0
	}
	return then <= first
}

// fitting applies t, keeping a result that leaves its type.
func (t Transform) fitting(src Type) func(Value) Value {
	result := t.ResultType(src)
	return func(v Value) Value {
		exact, err := t.exact(src, v)
		if err != nil {
			return v
		}
		if r, ok := narrow(result, exact); ok {
			return r
		}
		return exact
	}
}

func reduceBucket(n int) func(Value) Value {
	return func(v Value) Value {
		if b, ok := intOf(v); ok {
			return int32(floorMod(b, int64(n)))
		}
		return v
	}
}

// reduceTime rounds down: hour -1 is in day -1.
func reduceTime(from, to Op) func(Value) Value {
	return func(v Value) Value {
		n, ok := intOf(v)
		switch {
		case !ok:
			return v
		case from == Month:
			return int32(floorDiv(n, monthsPerYear))
		case from == Hour:
			n = floorDiv(n, hoursPerDay)
		}
		return int32(fromDays(to, n))
	}
}

// Meet returns the finest transform that both a and b reduce to, or false when there is none that groups anything:
// bucket[1] does not.
func Meet(src Type, a, b Transform) (Transform, bool) {
	m, ok := meet(src, a, b)
	return m, ok && m != Transform{Op: Bucket, N: 1}
}

func meet(src Type, a, b Transform) (Transform, bool) {
	if !a.isKey(src) || !b.isKey(src) {
		return Transform{}, false
	}
	if a != b && a.isLossless(src) && b.isLossless(src) {
		return Transform{Op: Identity}, true
	}
	for _, pair := range [][2]Transform{{a, b}, {b, a}} {
		if _, ok := reducer(src, pair[0], pair[1]); ok {
			return pair[1], true
		}
	}
	switch {
	case a.Op == Bucket && b.Op == Bucket:
		return Transform{Op: Bucket, N: gcd(a.N, b.N)}, true
	case a.Op == Truncate && b.Op == Truncate:
		lcm := a.N / gcd(a.N, b.N) * b.N
		return Transform{Op: Truncate, N: lcm}, lcm <= math.MaxInt32
	}
	return Transform{}, false
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// IsResult says whether v, which isn't NULL, can be the partition value of a value of src: what a writer let wrap around at
// the end of the type is no multiple of truncate's width, and a bucket is one of so many.
func (t Transform) IsResult(src Type, v Value) bool {
	switch t.Op {
	case Bucket:
		b, ok := intOf(v)
		return ok && b >= 0 && b < int64(t.N)
	case Truncate:
		again, err := t.Apply(src, v)
		return err == nil && Compare(src, again, v) == 0
	}
	return true
}

// Holds says whether v is a value of t, or NULL.
func Holds(t Type, v Value) bool {
	if v == nil {
		return true
	}
	c, err := canonical(t, v)
	if err != nil {
		return false
	}
	_, ok := narrow(t, c)
	return ok
}
