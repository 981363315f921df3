package survey

import (
	"math"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

func TestFactsRuleOut(t *testing.T) {
	double, long, str, id := transform.Type{Kind: transform.Double}, transform.Type{Kind: transform.Long},
		transform.Type{Kind: transform.String}, transform.Type{Kind: transform.UUID}
	low, high := [16]byte{0x10}, [16]byte{0x90}
	for _, c := range []struct {
		name  string
		facts Facts
		typ   transform.Type
		pred  transform.Predicate
		want  bool
	}{
		{"NaN is above all", Facts{mayNaN: true, lower: 3.0, upper: 3.0}, double, isTest(transform.GT, 5.0), true},
		{"NaN is not below", Facts{mayNaN: true, lower: 3.0, upper: 3.0}, double, isTest(transform.LT, 2.0), false},
		{"no NaN", Facts{lower: 3.0, upper: 3.0}, double, isTest(transform.GT, 5.0), false},
		{"NaN is unequal", Facts{mayNaN: true, lower: 3.0, upper: 3.0}, double, isTest(transform.NE, 3.0), true},
		{"isNaN", Facts{mayNaN: true, lower: 3.0, upper: 3.0}, double, isTest(transform.IsNaN), true},
		{"isNaN of none", Facts{lower: 3.0, upper: 3.0}, double, isTest(transform.IsNaN), false},
		{"both zeros are equal", Facts{lower: math.Copysign(0, -1), upper: math.Copysign(0, -1)}, double, isTest(transform.EQ, 0.0), true},
		{"a NaN bound is none", Facts{lower: math.NaN(), upper: math.NaN()}, double, isTest(transform.EQ, 1.0), true},
		{"nothing known", Facts{}, long, isTest(transform.EQ, int64(1)), true},
		{"only NULL", Facts{onlyNulls: true}, long, isTest(transform.NE, int64(1)), false},
		{"only NULL is NULL", Facts{onlyNulls: true}, long, isTest(transform.IsNull), true},
		{"no NULL", Facts{noNulls: true}, long, isTest(transform.IsNull), false},
		{"cut bounds", Facts{lower: "abc", upper: "abd"}, str, isTest(transform.EQ, "abcdef"), true},
		{"signed order of UUIDs", Facts{lower: high, upper: low}, id, isTest(transform.EQ, [16]byte{0x05}), true},
		{"half a range in signed order", Facts{lower: high}, id, isTest(transform.LT, low), true},
		{"UUID out of both orders", Facts{lower: low, upper: [16]byte{0x20}}, id, isTest(transform.EQ, [16]byte{0x30}), false},
	} {
		if got := c.facts.MayHold(c.typ, c.pred); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

func TestClaims(t *testing.T) {
	long, str := transform.Type{Kind: transform.Long}, transform.Type{Kind: transform.String}
	enc := func(typ transform.Type, v transform.Value) []byte {
		b, err := transform.EncodeBound(typ, v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	stats := func(typ transform.Type, nulls int64, bounds ...transform.Value) *columnStats {
		s := &columnStats{rows: 10, nulls: map[int]int64{1: nulls}}
		if len(bounds) == 2 {
			s.lowers, s.uppers = map[int][]byte{1: enc(typ, bounds[0])}, map[int][]byte{1: enc(typ, bounds[1])}
		}
		return s
	}
	identity, ten := transform.Transform{Op: transform.Identity}, transform.Transform{Op: transform.Truncate, N: 10}
	bucket := transform.Transform{Op: transform.Bucket, N: 16}
	h, _ := bucket.Apply(long, int64(34))
	for _, c := range []struct {
		name  string
		fn    transform.Transform
		typ   transform.Type
		tuple transform.Value
		stats *columnStats
		want  bool
	}{
		{"right", identity, long, int64(5), stats(long, 0, int64(5), int64(5)), false},
		{"two values", identity, long, int64(5), stats(long, 0, int64(5), int64(6)), true},
		{"truncated", ten, long, int64(10), stats(long, 0, int64(10), int64(19)), false},
		{"truncated elsewhere", ten, long, int64(10), stats(long, 0, int64(9), int64(19)), true},
		{"wrapped", ten, long, int64(7), stats(long, 0), true},
		{"NULLs under a value", identity, long, int64(5), stats(long, 3, int64(5), int64(5)), true},
		{"only NULLs under a value", identity, str, "x", stats(str, 10), true},
		{"NULL", identity, long, nil, stats(long, 10), false},
		{"values under NULL", identity, str, nil, stats(str, 0, "a", "b"), true},
		{"strings prove nothing", identity, str, "x", stats(str, 0, "a", "b"), false},
		{"nothing known", identity, long, int64(5), &columnStats{rows: 10}, false},
		{"void", transform.Transform{Op: transform.Void}, long, nil, stats(long, 0, int64(1), int64(2)), false},
		{"bucket of one value", bucket, long, h, stats(long, 0, int64(34), int64(34)), false},
		{"not the bucket of the value", bucket, long, h.(int32) ^ 1, stats(long, 0, int64(34), int64(34)), true},
		{"bucket of far bounds", bucket, long, int32(3), stats(long, 0, int64(0), int64(1)<<40), false},
		{"double", identity, transform.Type{Kind: transform.Double}, 1.0, stats(transform.Type{Kind: transform.Double}, 0, 2.0, 3.0), false},
	} {
		spec := catalog.PartitionSpec{Fields: []catalog.PartitionField{{ID: 1000, Sources: []catalog.FieldID{1}, Transform: c.fn, SourceType: c.typ}}}
		schema := &catalog.Schema{Fields: []catalog.Field{{ID: 1, Type: catalog.Type{Primitive: c.typ}}}}
		bits := contradictions(claimsOf(spec, manifest.TupleTypes(spec), schema), []transform.Value{c.tuple}, c.stats)
		if (bits == 1) != c.want || bits > 1 {
			t.Errorf("%s: got %b", c.name, bits)
		}
	}
}

// TestNullBounds asks for manifests whose summaries have a null bound though there are values, as of the empty string: such a
// manifest mustn't be skipped.
func TestNullBounds(t *testing.T) {
	str, long := transform.Type{Kind: transform.String}, transform.Type{Kind: transform.Long}
	for _, c := range []struct {
		name string
		typ  transform.Type
		sum  manifest.FieldSummary
		pred transform.Predicate
		want bool
	}{
		{"the empty string", str, manifest.FieldSummary{Upper: []byte("abc")}, isTest(transform.EQ, ""), true},
		{"a value above", str, manifest.FieldSummary{Upper: []byte("abc")}, isTest(transform.EQ, "b"), false},
		{"no bounds", str, manifest.FieldSummary{ContainsNull: true}, isTest(transform.EQ, ""), true},
		{"NULL", str, manifest.FieldSummary{ContainsNull: true}, isTest(transform.IsNull), true},
		{"no NULL", str, manifest.FieldSummary{}, isTest(transform.IsNull), false},
		{"no bounds of a number", long, manifest.FieldSummary{ContainsNull: true}, isTest(transform.EQ, int64(1)), false},
	} {
		spec := catalog.PartitionSpec{Fields: []catalog.PartitionField{{ID: 1000, Name: "name", Sources: []catalog.FieldID{1}, SourceType: c.typ}}}
		cond := prepare(catalog.Filter{Op: catalog.Test, Field: 1, Type: c.typ, Pred: c.pred}, spec, manifest.TupleTypes(spec))
		if got := cond.mayInManifest([]manifest.FieldSummary{c.sum}, 1); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

func isTest(op transform.PredicateOp, values ...transform.Value) transform.Predicate {
	return transform.Predicate{Op: op, Values: values}
}
