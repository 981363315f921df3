package duck

import (
	"math"

	"github.com/tarndb/tarn/transform"
)

// matchRange compares keys with the range that the file's partition value stands for.
func matchRange(k *keyCheck, x column, from, to, file int) int {
	low, high := k.rangeOf(file)
	if high < low {
		return from
	}
	var bad int
	switch x.layout {
	case bits64:
		bad = firstOutside(values[int64](x)[from:to], low, high)
	case bits32:
		bad = firstOutside(values[int32](x)[from:to], int32(low), int32(high))
	case bits16:
		bad = firstOutside(values[int16](x)[from:to], int16(low), int16(high))
	default:
		bad = firstOutside(values[int8](x)[from:to], int8(low), int8(high))
	}
	if bad < 0 {
		return -1
	}
	return from + bad
}

// rangeOf returns the least and the greatest key that belong into a file; none do when the latter is less.
func (k *keyCheck) rangeOf(file int) (low, high int64) {
	e := &k.files[file]
	e.once.Do(func() { e.low, e.high = k.keyRange(k.Expected[file]) })
	return e.low, e.high
}

func firstOutside[T int8 | int16 | int32 | int64](v []T, low, high T) int {
	for i, x := range v {
		if x < low || x > high {
			return i
		}
	}
	return -1
}

// keyRange returns the least and the greatest key whose transform is want. The transform keeps the order of keys, so they
// are found by bisection: what a transform does is said in package transform only.
func (k *keyCheck) keyRange(want transform.Value) (low, high int64) {
	least, greatest := domain(k.Type)
	result := k.Transform.ResultType(k.Type)
	order := func(key int64) int {
		got, err := k.Transform.Apply(k.Type, integerValue(k.Type, key))
		if err != nil { // the result leaves its type, which is only at the ends: the hour of a far future, truncate of the least int
			if key > 0 {
				return 1
			}
			return -1
		}
		return transform.Compare(result, got, want)
	}
	low, ok := firstKey(least, greatest, func(key int64) bool { return order(key) >= 0 })
	if !ok {
		return noKeys()
	}
	beyond, ok := firstKey(least, greatest, func(key int64) bool { return order(key) > 0 })
	switch {
	case !ok:
		return low, greatest
	case beyond == low:
		return noKeys()
	}
	return low, beyond - 1
}

func noKeys() (low, high int64) { return 1, 0 }

// firstKey returns the first key from least to greatest for which holds is true, which it stays from there on.
func firstKey(least, greatest int64, holds func(int64) bool) (int64, bool) {
	if !holds(greatest) {
		return 0, false
	}
	for least < greatest {
		half := (uint64(greatest) - uint64(least)) / 2 // which int64 may not hold twice
		if middle := int64(uint64(least) + half); holds(middle) {
			greatest = middle
		} else {
			least = middle + 1
		}
	}
	return least, true
}

// domain returns the least and the greatest value of an ordinal type, as DuckDB holds them.
func domain(t transform.Type) (least, greatest int64) {
	switch t.Kind {
	case transform.Boolean:
		return 0, 1
	case transform.Int, transform.Date:
		return math.MinInt32, math.MaxInt32
	case transform.Decimal:
		greatest = 1
		for range t.Precision {
			greatest *= 10
		}
		return 1 - greatest, greatest - 1
	}
	return math.MinInt64, math.MaxInt64
}
