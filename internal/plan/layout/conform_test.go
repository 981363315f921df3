package layout_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan/layout"
	"github.com/tarndb/tarn/internal/seed"
	"github.com/tarndb/tarn/transform"
)

// TestFilesConformAsTheirRowsDo: what a file's tuple says of a key is what the key's transform gives for a row of the file,
// or it says nothing; and it says something whenever the transform reduces and nothing leaves its type.
func TestFilesConformAsTheirRowsDo(t *testing.T) {
	r := seed.Rand(t)
	types := []string{"int", "long", "decimal(9, 2)", "decimal(38, 0)", "date", "timestamp", "timestamptz", "timestamp_ns", "string", "binary"}
	conforming := 0
	for range 60000 {
		typ := mustType(t, types[r.IntN(len(types))])
		from, to := randomTransform(r), randomTransform(r)
		if !from.CanApply(typ) || !to.CanApply(typ) {
			continue
		}
		table, column := oneField(typ, from)
		c := layout.NewConformity(table, []layout.ScanKey{{Column: column, Transform: to}})
		v := randomValue(r, typ)
		tuple, err := from.Apply(typ, v)
		if err != nil {
			continue // no writer can file the row
		}
		got := c.Of(0, []transform.Value{tuple}, 0)
		_, reduces := transform.Reduce(typ, from, to)
		want, err := to.Apply(typ, v)
		switch {
		case got.Conforms && (err != nil || transform.Compare(to.ResultType(typ), got.Values[0], want) != 0):
			t.Fatalf("%s of %s filed by %s as %v: %v, want %v (%v)", to, transform.FormatValue(typ, v), from, tuple, got.Values, want, err)
		case got.Conforms != (reduces && err == nil):
			t.Fatalf("%s of %s filed by %s as %v: conforms is %t, reduces %t, %v", to, transform.FormatValue(typ, v), from, tuple, got.Conforms, reduces, err)
		case got.Conforms:
			conforming++
		}
	}
	if conforming < 5000 {
		t.Errorf("only %d files conform: the test is too simple", conforming)
	}
}

// TestTuplesThatSayNothing has tuples of writers that are known to be wrong, and what isn't enough to tell a group.
func TestTuplesThatSayNothing(t *testing.T) {
	for _, c := range []struct {
		typ, field, key string
		tuple           transform.Value
		contradicts     uint64
		conforms        bool
		lies            int
	}{
		{"int", "truncate[10]", "truncate[10]", int32(20), 0, true, 0},
		{"int", "truncate[10]", "truncate[20]", int32(30), 0, true, 0},
		{"int", "truncate[10]", "truncate[10]", int32(2147477296), 0, false, 0}, // wrapped: no multiple of 10
		{"int", "truncate[4]", "truncate[12]", int32(-2147483648), 0, false, 0}, // -2147483652 is no int
		{"long", "truncate[10]", "truncate[10]", int64(9223372036854775806), 0, false, 0},
		{"string", "truncate[2]", "truncate[2]", "abc", 0, false, 0},
		{"long", "bucket[4]", "bucket[2]", int32(4), 0, false, 0}, // no bucket of four
		{"long", "bucket[4]", "bucket[2]", int32(-1), 0, false, 0},
		{"long", "bucket[4]", "bucket[2]", int32(3), 1, true, 1}, // the file lies
		{"date", "identity", "identity", int32(3), 1, false, 0},
		{"date", "month", "year", int32(-1), 1, false, 0},
		{"date", "month", "year", nil, 0, true, 0},
		{"date", "void", "year", nil, 0, false, 0},
		{"double", "identity", "identity", 0.0, 0, false, 0},
	} {
		typ := mustType(t, c.typ)
		table, column := oneField(typ, mustTransform(t, c.field))
		got := layout.NewConformity(table, []layout.ScanKey{{Column: column, Transform: mustTransform(t, c.key)}}).Of(0, []transform.Value{c.tuple}, c.contradicts)
		if got.Conforms != c.conforms || got.Lies != c.lies {
			t.Errorf("%s of %s %v: %+v", c.key, c.field, c.tuple, got)
		}
	}
}

// TestConformingBySeveralFields: a field that says nothing leaves the word to another of the same column.
func TestConformingBySeveralFields(t *testing.T) {
	typ := mustType(t, "date")
	table, column := oneField(typ, mustTransform(t, "month"))
	spec := table.Specs[0]
	spec.Fields = append(spec.Fields, catalog.PartitionField{Name: "q", Sources: []catalog.FieldID{1}, SourceType: typ, Transform: mustTransform(t, "day")})
	table.Specs[0] = spec
	c := layout.NewConformity(table, []layout.ScanKey{{Column: column, Transform: mustTransform(t, "year")}})
	tuple := []transform.Value{int32(-1), int32(-1)}
	for contradicts, want := range map[uint64]bool{0: true, 1: true, 2: true, 3: false} {
		if got := c.Of(0, tuple, contradicts); got.Conforms != want || want && got.Values[0] != int32(-1) {
			t.Errorf("fields %b contradict: %+v", contradicts, got)
		}
	}
	if got := c.Of(0, tuple[:1], 1); got.Conforms {
		t.Errorf("a tuple without the field gives %+v", got)
	}
}

// TestPromotedColumns: a column that is hashed in another way now keeps none of its older fields.
func TestPromotedColumns(t *testing.T) {
	for _, c := range []struct {
		was, is  string
		conforms bool
	}{
		{"int", "long", true}, {"decimal(9, 2)", "decimal(12, 2)", true}, {"date", "timestamp", false}, {"float", "double", false},
	} {
		table, column := oneField(mustType(t, c.was), mustTransform(t, "identity"))
		column.Type.Primitive = mustType(t, c.is)
		table.Schema.Fields[0] = column
		got := layout.NewConformity(table, []layout.ScanKey{{Column: column, Transform: mustTransform(t, "identity")}}).Of(0, []transform.Value{nil}, 0)
		if got.Conforms != c.conforms {
			t.Errorf("%s to %s: %+v", c.was, c.is, got)
		}
	}
}

func oneField(typ transform.Type, field transform.Transform) (*catalog.Table, catalog.Field) {
	column := catalog.Field{ID: 1, Name: "k", Type: catalog.Type{Primitive: typ}}
	return &catalog.Table{
		Ident:  catalog.Ident{"s", "t"},
		Schema: &catalog.Schema{Fields: []catalog.Field{column}},
		Specs: map[catalog.SpecID]catalog.PartitionSpec{0: {Fields: []catalog.PartitionField{
			{Name: "p", Sources: []catalog.FieldID{1}, SourceType: typ, Transform: field},
		}}},
	}, column
}

func mustType(t *testing.T, text string) transform.Type {
	t.Helper()
	typ, err := transform.ParseType(text)
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

func mustTransform(t *testing.T, text string) transform.Transform {
	t.Helper()
	out, err := transform.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func randomTransform(r *rand.Rand) transform.Transform {
	ops := []transform.Op{transform.Identity, transform.Bucket, transform.Truncate, transform.Year, transform.Month, transform.Day, transform.Hour}
	out := transform.Transform{Op: ops[r.IntN(len(ops))]}
	switch out.Op {
	case transform.Bucket:
		out.N = []int{2, 3, 4, 6, 8, 12, 16}[r.IntN(7)]
	case transform.Truncate:
		out.N = []int{1, 2, 4, 6, 10, 12, 20, 1000}[r.IntN(8)]
	}
	return out
}

// randomValue prefers the ends of the type and the neighbourhood of zero.
func randomValue(r *rand.Rand, typ transform.Type) transform.Value {
	near := int64(r.IntN(60) - 30)
	n := []int64{near, near * 1_000_000_007, near * 3_600_000_000_007, math.MinInt64 + max(near, 0), math.MaxInt64 - max(near, 0)}[r.IntN(5)]
	switch typ.Kind {
	case transform.Int:
		return []int32{int32(near), math.MinInt32 + int32(max(near, 0)), math.MaxInt32 - int32(max(near, 0)), int32(n)}[r.IntN(4)]
	case transform.Date:
		return []int32{int32(near), int32(near * 365), int32(near * 20_000)}[r.IntN(3)]
	case transform.Decimal:
		limit := new(big.Int).Sub(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(typ.Precision)), nil), big.NewInt(1))
		v := big.NewInt(near)
		if r.IntN(3) == 0 {
			v.Sub(limit, big.NewInt(max(near, 0)))
		}
		if r.IntN(2) == 0 {
			v.Neg(v)
		}
		return v
	case transform.String:
		return fmt.Sprintf("%c日💰%c%d", 'a'+r.IntN(3), 'a'+r.IntN(3), near)[:[]int{0, 1, 4, 8, 9}[r.IntN(5)]]
	case transform.Binary:
		return []byte{byte(near), 0x80, 0xff, 0}[:r.IntN(5)]
	case transform.Timestamp, transform.TimestampTZ, transform.TimestampNS:
		return []int64{near, near * 3_600_000_007, near * 86_400_000_000_007}[r.IntN(3)]
	}
	return n
}
