package survey

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/internal/seed"
	"github.com/tarndb/tarn/transform"
)

// wholeKinds are types with their values, by a small number, and the transforms that files may be parted by.
var wholeKinds = []struct {
	typ   string
	value func(n int64) transform.Value
	specs string
}{
	{"int", func(n int64) transform.Value { return int32(n - 20) }, "identity bucket[3] truncate[7] void"},
	{"int", func(n int64) transform.Value { return int32(math.MinInt32 + 8 + n) }, "identity truncate[10]"},
	{"long", func(n int64) transform.Value { return n * 1_000_000_007 }, "identity bucket[4] truncate[1000]"},
	{"decimal(9,2)", func(n int64) transform.Value { return big.NewInt(n*25 - 300) }, "identity bucket[3] truncate[50]"},
	{"date", func(n int64) transform.Value { return int32(n*20 - 400) }, "identity year month day bucket[3]"},
	{"timestamp", func(n int64) transform.Value { return (n - 20) * 7_200_000_001 }, "identity year month day hour bucket[3]"},
	{"double", func(n int64) transform.Value {
		return []float64{math.NaN(), math.Inf(-1), -1.5, math.Copysign(0, -1), 0, 0.5, 2, math.Inf(1)}[n%8]
	}, "identity"},
	{"float", func(n int64) transform.Value { return []float32{float32(math.NaN()), -1, 0, 1, 3}[n%5] }, ""},
	{"boolean", func(n int64) transform.Value { return n%2 == 0 }, "identity"},
	{"string", func(n int64) transform.Value {
		return strings.Repeat("ab", int(n%4)) + []string{"", "a", "bc", "é", "\U0010ffff", "abab"}[n%6]
	}, "identity truncate[2] truncate[3] bucket[3]"},
	{"binary", func(n int64) transform.Value {
		return []byte(strings.Repeat("\xff", int(n%3)) + []string{"", "a", "\xff\xff", "b"}[n%4])
	}, "identity truncate[1] bucket[3]"},
	{"uuid", func(n int64) transform.Value { return [16]byte{byte(n * 37), 1, 8: byte(n * 71)} }, "identity bucket[3]"},
}

// wholeCase is a table of one or two columns of one type, a file of it and what its entry says.
type wholeCase struct {
	r     *rand.Rand
	typ   transform.Type
	value func(n int64) transform.Value
	spec  catalog.PartitionSpec
	rows  [][2]transform.Value
	entry manifest.Entry
}

func (c *wholeCase) random(span int64) transform.Value {
	if c.r.IntN(8) == 0 {
		return nil
	}
	return c.value(c.r.Int64N(span))
}

func newWholeCase(t *testing.T, r *rand.Rand) *wholeCase {
	kind := wholeKinds[r.IntN(len(wholeKinds))]
	typ, err := transform.ParseType(kind.typ)
	if err != nil {
		t.Fatal(err)
	}
	c := &wholeCase{r: r, typ: typ, value: kind.value}
	if specs := strings.Fields(kind.specs); len(specs) > 0 && r.IntN(4) > 0 {
		for i := range 1 + r.IntN(2) {
			fn, err := transform.Parse(specs[r.IntN(len(specs))])
			if err != nil {
				t.Fatal(err)
			}
			c.spec.Fields = append(c.spec.Fields, catalog.PartitionField{
				ID: catalog.PartitionFieldID(1000 + i), Name: fmt.Sprint("p", i), Sources: []catalog.FieldID{catalog.FieldID(1 + i)}, Transform: fn, SourceType: typ,
			})
		}
	}
	c.fillRows(t)
	c.fillStats(t)
	return c
}

// fillRows draws rows that all lie in one partition.
func (c *wholeCase) fillRows(t *testing.T) {
	span := int64(1 + c.r.IntN(40))
	for range 200 {
		row := [2]transform.Value{c.random(span), c.random(span)}
		var tuple []transform.Value
		for i, f := range c.spec.Fields {
			v, err := f.Transform.Apply(c.typ, row[i])
			if err != nil {
				t.Fatal(err)
			}
			tuple = append(tuple, v)
		}
		if len(c.rows) == 0 {
			c.entry.Partition = tuple
		}
		if catalog.TupleKey(0, tuple) == catalog.TupleKey(0, c.entry.Partition) {
			c.rows = append(c.rows, row)
		}
		if c.r.IntN(10) == 0 {
			break
		}
	}
	c.entry.Rows = int64(len(c.rows))
}

// fillStats writes what a writer may say of the columns: all, nothing, bounds that were cut, by raising the upper one or not.
func (c *wholeCase) fillStats(t *testing.T) {
	f := &c.entry.File
	compare := func(a, b transform.Value) int { return transform.Compare(c.typ, a, b) }
	if c.typ.Kind == transform.UUID && c.r.IntN(2) == 0 { // as Java's writers did
		compare = func(a, b transform.Value) int { return transform.Compare(c.typ, signedUUID(a), signedUUID(b)) }
	}
	f.NullCounts, f.NaNCounts, f.Lower, f.Upper = map[int]int64{}, map[int]int64{}, map[int][]byte{}, map[int][]byte{}
	for i := range 2 {
		id := i + 1
		var nulls, nans int64
		var lower, upper transform.Value
		for _, row := range c.rows {
			switch v := row[i]; {
			case v == nil:
				nulls++
			case transform.Predicate{Op: transform.IsNaN}.Eval(c.typ, v):
				nans++
			default:
				if lower == nil || compare(v, lower) < 0 {
					lower = v
				}
				if upper == nil || compare(v, upper) > 0 {
					upper = v
				}
			}
		}
		if c.r.IntN(8) > 0 {
			f.NullCounts[id] = nulls
		}
		if c.r.IntN(8) > 0 && isFloat(c.typ) {
			f.NaNCounts[id] = nans
		}
		if lower == nil || c.r.IntN(8) == 0 {
			continue
		}
		f.Lower[id], f.Upper[id] = c.bound(t, lower), c.bound(t, upper)
		if c.r.IntN(10) == 0 {
			delete(f.Upper, id)
		}
	}
}

func (c *wholeCase) bound(t *testing.T, v transform.Value) []byte {
	if c.r.IntN(2) == 0 {
		switch x := v.(type) {
		case string:
			v = x[:min(len(x), 2)]
			for !utf8.ValidString(v.(string)) {
				v = v.(string)[:len(v.(string))-1]
			}
		case []byte:
			v = x[:min(len(x), 1)]
		}
	}
	b, err := transform.EncodeBound(c.typ, v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// filter draws a condition.
func (c *wholeCase) filter(depth int) catalog.Filter {
	if depth > 0 && c.r.IntN(2) == 0 {
		f := catalog.Filter{Op: []catalog.FilterOp{catalog.And, catalog.Or}[c.r.IntN(2)]}
		for range 2 + c.r.IntN(2) {
			f.Terms = append(f.Terms, c.filter(depth-1))
		}
		return f
	}
	ops := []transform.PredicateOp{
		transform.IsNull, transform.NotNull, transform.IsNaN, transform.NotNaN, transform.LT, transform.LE, transform.GT, transform.GE,
		transform.EQ, transform.NE, transform.In, transform.NotIn,
	}
	if c.typ.Kind == transform.String || c.typ.Kind == transform.Binary {
		ops = append(ops, transform.StartsWith, transform.NotStartsWith)
	}
	p := transform.Predicate{Op: ops[c.r.IntN(len(ops))]}
	values := 1
	switch p.Op {
	case transform.IsNull, transform.NotNull, transform.IsNaN, transform.NotNaN:
		values = 0
	case transform.In, transform.NotIn:
		values = 1 + c.r.IntN(12)
	}
	for len(p.Values) < values {
		v := c.value(c.r.Int64N(45))
		if c.r.IntN(2) == 0 && len(c.rows) > 0 {
			v = c.rows[c.r.IntN(len(c.rows))][0]
		}
		if v != nil && !(transform.Predicate{Op: transform.IsNaN}).Eval(c.typ, v) {
			p.Values = append(p.Values, v)
		}
	}
	return catalog.Filter{Op: catalog.Test, Field: catalog.FieldID(1 + c.r.IntN(2)), Type: c.typ, Pred: p}
}

// TestWholeIsProved compares proofs with brute force: of a file that is whole every row satisfies the filter.
func TestWholeIsProved(t *testing.T) {
	r := seed.Rand(t)
	proved, held := map[transform.Kind]int{}, map[transform.Kind]int{}
	for range 40_000 {
		c := newWholeCase(t, r)
		f := c.filter(2)
		types := manifest.TupleTypes(c.spec)
		schema := &catalog.Schema{Fields: []catalog.Field{{ID: 1, Type: catalog.Type{Primitive: c.typ}}, {ID: 2, Type: catalog.Type{Primitive: c.typ}}}}
		stats := statsOf(&c.entry)
		contradicts := contradictions(claimsOf(c.spec, types, schema), c.entry.Partition, stats)
		p := prove(f, c.spec, types)
		isWhole := p.ofFile(c.entry.Partition, contradicts, stats)
		all := true
		for _, row := range c.rows {
			all = all && f.Holds(func(test catalog.Filter) bool { return test.Pred.Eval(c.typ, row[test.Field-1]) })
		}
		if all {
			held[c.typ.Kind]++
		}
		if !isWhole {
			continue
		}
		proved[c.typ.Kind]++
		if !all {
			t.Fatalf("a %s file by %+v with the tuple %v of the rows %v is said to satisfy %+v", c.typ, c.spec.Fields, c.entry.Partition, c.rows, f)
		}
	}
	for kind, n := range held {
		if proved[kind]*5 < n {
			t.Errorf("of the type %v only %d of %d files are proved", kind, proved[kind], n)
		}
	}
}

// TestWholeByEach has a file each that a proof must find, and one that it must not.
func TestWholeByEach(t *testing.T) {
	long, str, double, ts := transform.Type{Kind: transform.Long}, transform.Type{Kind: transform.String}, transform.Type{Kind: transform.Double}, transform.Type{Kind: transform.Timestamp}
	spec := func(fn string, typ transform.Type) catalog.PartitionSpec {
		tr, err := transform.Parse(fn)
		if err != nil {
			t.Fatal(err)
		}
		return catalog.PartitionSpec{Fields: []catalog.PartitionField{{ID: 1000, Sources: []catalog.FieldID{1}, Transform: tr, SourceType: typ}}}
	}
	stats := func(typ transform.Type, nulls, nans int64, lower, upper transform.Value) *columnStats {
		s := &columnStats{rows: 10, nulls: map[int]int64{1: nulls}, nans: map[int]int64{1: nans}}
		for v, m := range map[transform.Value]*map[int][]byte{lower: &s.lowers, upper: &s.uppers} {
			b, err := transform.EncodeBound(typ, v)
			if err != nil {
				t.Fatal(err)
			}
			*m = map[int][]byte{1: b}
		}
		if s.lowers == nil {
			s.lowers = s.uppers
		}
		return s
	}
	none, nothing := catalog.PartitionSpec{}, &columnStats{rows: 10}
	const day = 86_400_000_000
	for _, c := range []struct {
		name        string
		typ         transform.Type
		spec        catalog.PartitionSpec
		tuple       transform.Value
		contradicts uint64
		stats       *columnStats
		pred        transform.Predicate
		want        bool
	}{
		{"the day", ts, spec("day", ts), int32(19000), 0, nothing, isTest(transform.GE, int64(19000*day)), true},
		{"a part of the day", ts, spec("day", ts), int32(19000), 0, nothing, isTest(transform.GE, int64(19000*day+1)), false},
		{"a day that is contradicted", ts, spec("day", ts), int32(19000), 1, nothing, isTest(transform.GE, int64(19000*day)), false},
		{"the day before 1970, which old writers confuse", ts, spec("day", ts), int32(-1), 0, nothing, isTest(transform.GE, int64(-day)), false},
		{"a value's partition", str, spec("identity", str), "x", 0, nothing, isTest(transform.EQ, "x"), true},
		{"NULL's partition", str, spec("identity", str), nil, 0, nothing, isTest(transform.NE, "x"), false},
		{"NULL's partition is NULL", str, spec("identity", str), nil, 0, nothing, isTest(transform.IsNull), true},
		{"a bucket", long, spec("bucket[4]", long), int32(1), 0, nothing, isTest(transform.EQ, int64(1)), false},
		{"nothing known", long, none, nil, 0, nothing, isTest(transform.GT, int64(1)), false},
		{"bounds", long, none, nil, 0, stats(long, 0, 0, int64(5), int64(9)), isTest(transform.GE, int64(5)), true},
		{"a NULL", long, none, nil, 0, stats(long, 1, 0, int64(5), int64(9)), isTest(transform.GE, int64(5)), false},
		{"no NULL", long, none, nil, 0, stats(long, 0, 0, int64(5), int64(9)), isTest(transform.NotNull), true},
		{"a NaN is above", double, none, nil, 0, stats(double, 0, 3, 5.0, 9.0), isTest(transform.GE, 5.0), true},
		{"a NaN isn't below", double, none, nil, 0, stats(double, 0, 3, 5.0, 9.0), isTest(transform.LE, 9.0), false},
		{"no NaN", double, none, nil, 0, stats(double, 0, 0, 5.0, 9.0), isTest(transform.LE, 9.0), true},
		{"one text, maybe cut", str, none, nil, 0, stats(str, 0, 0, "abc", "abc"), isTest(transform.EQ, "abc"), false},
		{"texts below", str, none, nil, 0, stats(str, 0, 0, "abc", "abd"), isTest(transform.LT, "abe"), true},
		{"texts below, maybe cut", str, none, nil, 0, stats(str, 0, 0, "abc", "abd"), isTest(transform.LT, "abdd"), false},
		{"a prefix", str, none, nil, 0, stats(str, 0, 0, "abc", "abd"), isTest(transform.StartsWith, "ab"), true},
	} {
		f := catalog.Filter{Op: catalog.Test, Field: 1, Type: c.typ, Pred: c.pred}
		p := prove(f, c.spec, manifest.TupleTypes(c.spec))
		if got := p.ofFile([]transform.Value{c.tuple}, c.contradicts, c.stats); got != c.want {
			t.Errorf("%s: got %t", c.name, got)
		}
	}
}
