package dynamic

import (
	"math"
	"math/big"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/transform"
)

const (
	// mostValues is how many values a set keeps: with more it knows only the least and the greatest. A file's bounds are held
	// against so many in a microsecond, and they take less memory than a manifest.
	mostValues = 10_000
	// mostUUIDs is likewise of uuids, whose bounds are compared in two orders, value by value.
	mostUUIDs = 256
)

// set is the values of a column, NULL left aside.
type set struct {
	typ          transform.Type
	values       map[string]transform.Value // nil when they are too many
	lower, upper transform.Value            // nil when there is none
	key          []byte
}

func newSet(t transform.Type) *set { return &set{typ: t, values: map[string]transform.Value{}} }

// add adds a value; nil is NULL, which no value equals.
func (s *set) add(v transform.Value) {
	if v == nil {
		return
	}
	if s.lower == nil || transform.Compare(s.typ, v, s.lower) < 0 {
		s.lower = v
	}
	if s.upper == nil || transform.Compare(s.typ, v, s.upper) > 0 {
		s.upper = v
	}
	if s.values == nil {
		return
	}
	s.key = transform.AppendKey(s.key[:0], s.typ, v)
	if _, ok := s.values[string(s.key)]; ok {
		return
	}
	most := mostValues
	if s.typ.Kind == transform.UUID {
		most = mostUUIDs
	}
	if len(s.values) == most {
		s.values = nil
		return
	}
	s.values[string(s.key)] = v
}

// filter returns the test that a column, whose type is of the values' class, has one of the values; up to most of them one
// by one, else their range.
func (s *set) filter(f catalog.Field, most int) catalog.Filter {
	if s.lower == nil {
		return catalog.Filter{Op: catalog.AlwaysFalse}
	}
	t := f.Type.Primitive
	test := func(op transform.PredicateOp, values ...transform.Value) catalog.Filter {
		return catalog.Filter{Op: catalog.Test, Field: f.ID, Type: t, Pred: transform.Predicate{Op: op, Values: values}}
	}
	between := func(lower, upper transform.Value) catalog.Filter {
		var bounds []catalog.Filter
		if v, ok := as(lower, t); ok {
			bounds = append(bounds, test(transform.GE, v))
		}
		if v, ok := as(upper, t); ok {
			bounds = append(bounds, test(transform.LE, v))
		}
		return catalog.AllOf(bounds...)
	}
	if s.values == nil {
		return between(s.lower, s.upper)
	}
	var values []transform.Value
	for _, v := range s.values {
		if v, ok := as(v, t); ok {
			values = append(values, v)
		}
	}
	slices.SortFunc(values, func(a, b transform.Value) int { return transform.Compare(t, a, b) })
	switch {
	case len(values) == 0:
		return catalog.Filter{Op: catalog.AlwaysFalse}
	case len(values) > most:
		return between(values[0], values[len(values)-1])
	}
	return test(transform.In, values...)
}

// as converts a value to a type of its class; false when the type doesn't hold it, so that no value of the type equals it.
func as(v transform.Value, t transform.Type) (transform.Value, bool) {
	switch v := v.(type) {
	case int32:
		if t.Kind == transform.Long {
			return int64(v), true
		}
	case int64:
		if t.Kind == transform.Int {
			return int32(v), v >= math.MinInt32 && v <= math.MaxInt32
		}
	case *big.Int:
		return v, len(new(big.Int).Abs(v).String()) <= t.Precision
	case []byte:
		return v, t.Kind != transform.Fixed || len(v) == t.Length
	}
	return v, true
}
