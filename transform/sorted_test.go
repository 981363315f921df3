package transform

import (
	"reflect"
	"testing"

	"github.com/tarndb/tarn/internal/seed"
)

// TestSortedTestsAreAsTrue compares In tests of many values with what they are sorted.
func TestSortedTestsAreAsTrue(t *testing.T) {
	rng := seed.Rand(t)
	for _, name := range allTypes {
		typ := mustType(t, name)
		for range 200 {
			p := Predicate{Op: In}
			for range 1 + rng.IntN(3*sortedFrom) {
				if v := randomValue(rng, typ); !isNaN(v) {
					p.Values = append(p.Values, v)
				}
			}
			before := Predicate{Op: In, Values: append([]Value(nil), p.Values...)}
			s := p.Sorted(typ)
			if !reflect.DeepEqual(p, before) {
				t.Fatalf("%s: sorting changed the test itself", name)
			}
			if s.sorted != (len(p.Values) >= sortedFrom) {
				t.Fatalf("%s: of %d values, sorted is %v", name, len(p.Values), s.sorted)
			}
			for range 20 {
				v, lower, upper := randomValue(rng, typ), randomValue(rng, typ), randomValue(rng, typ)
				if Compare(typ, lower, upper) > 0 {
					lower, upper = upper, lower
				}
				if p.Eval(typ, v) != s.Eval(typ, v) {
					t.Errorf("%s: %v in %v is %v, sorted %v", name, v, p.Values, p.Eval(typ, v), s.Eval(typ, v))
				}
				for _, r := range [][2]Value{{lower, upper}, {nil, upper}, {lower, nil}, {nil, nil}, {v, v}} {
					if p.MayHold(typ, r[0], r[1]) != s.MayHold(typ, r[0], r[1]) {
						t.Errorf("%s: %v of %v may hold is %v, sorted %v", name, p.Values, r, p.MayHold(typ, r[0], r[1]), s.MayHold(typ, r[0], r[1]))
					}
				}
			}
		}
	}
}
