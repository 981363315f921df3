package metrics

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/seed"
	"github.com/tarndb/tarn/transform"
)

func leaf(id int, name string, kind transform.Kind) catalog.Field {
	return catalog.Field{ID: catalog.FieldID(id), Name: name, Type: catalog.Type{Primitive: transform.Type{Kind: kind}}}
}

func group(id int, name string, kind catalog.NestedKind, fields ...catalog.Field) catalog.Field {
	return catalog.Field{ID: catalog.FieldID(id), Name: name, Type: catalog.Type{Nested: kind, Fields: fields}}
}

func TestModes(t *testing.T) {
	schema := &catalog.Schema{Fields: []catalog.Field{
		leaf(1, "a", transform.Long), group(2, "s", catalog.Struct, leaf(3, "x", transform.String), group(4, "l", catalog.List, leaf(5, "element", transform.Int))),
		leaf(6, "b", transform.String), group(7, "m", catalog.Map, leaf(8, "key", transform.String), leaf(9, "value", transform.Int)), leaf(10, "c", transform.Date),
	}}
	for _, c := range []struct {
		props string
		sort  int
		want  string // of the leaves a, s.x, s.l.element, b, m.key, m.value, c
	}{
		{"", 0, "t16 t16 t16 t16 t16 t16 t16"},
		{"default=full", 0, "full full full full full full full"},
		{"default=counts column.b=truncate(3) column.s.x=none column.gone=full", 0, "counts none counts t3 counts counts counts"},
		{"default=None", 10, "none none none none none none t16"},
		{"default=none column.c=counts", 10, "none none none none none none counts"},
		{"default=full", 10, "full full full full full full full"},
		{"max-inferred-column-defaults=7", 0, "t16 t16 t16 t16 t16 t16 t16"},
		{"max-inferred-column-defaults=4", 0, "t16 t16 none t16 none none t16"},
		{"max-inferred-column-defaults=2", 10, "t16 none none t16 none none t16"},
		{"max-inferred-column-defaults=0 column.s.l.element=counts", 0, "none none counts none none none none"},
		{"max-inferred-column-defaults=0 default=counts", 0, "counts counts counts counts counts counts counts"},
	} {
		table := &catalog.Table{Schema: schema, Properties: map[string]string{}}
		for _, p := range strings.Fields(c.props) {
			name, value, _ := strings.Cut(p, "=")
			table.Properties["write.metadata.metrics."+name] = value
		}
		if c.sort > 0 {
			table.Order = catalog.SortOrder{ID: 1, Fields: []catalog.SortField{{Source: catalog.FieldID(c.sort)}}}
		}
		modes, err := ModesOf(table)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range Leaves(schema) {
			got = append(got, modeText(modes.Of(l.Field().ID)))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%q: the modes are %s, wanted %s", c.props, text, c.want)
		}
	}
}

func modeText(m Mode) string {
	return [...]string{"none", "counts", fmt.Sprintf("t%d", m.Length), "full"}[m.Kind]
}

func TestBounds(t *testing.T) {
	text, binary := transform.Type{Kind: transform.String}, transform.Type{Kind: transform.Binary}
	top := string(rune(0x10FFFF))
	for _, c := range []struct {
		typ          transform.Type
		length       int
		value        transform.Value
		lower, upper transform.Value
	}{
		{text, 3, "", "", ""}, {text, 3, "abc", "abc", "abc"}, {text, 3, "abcd", "abc", "abd"}, {text, 2, "é😀x", "é😀", "é" + string(rune(0x1F601))},
		{text, 2, "a" + top + "x", "a" + top, "b"}, {text, 2, top + top + "x", top + top, nil}, {text, 2, top + top, top + top, top + top},
		{text, 1, "\uD7FFx", "\uD7FF", "\uE000"}, {text, 1, "\x00\x00", "\x00", "\x01"},
		{binary, 2, []byte{1, 2, 3}, []byte{1, 2}, []byte{1, 3}}, {binary, 2, []byte{1, 0xFF, 0}, []byte{1, 0xFF}, []byte{2}},
		{binary, 2, []byte{0x80, 0xFF, 0xFF}, []byte{0x80, 0xFF}, []byte{0x81}}, {binary, 2, []byte{0xFF, 0xFF, 0}, []byte{0xFF, 0xFF}, nil},
		{binary, 2, []byte{0xFF, 0xFF}, []byte{0xFF, 0xFF}, []byte{0xFF, 0xFF}}, {binary, 2, []byte{}, []byte{}, []byte{}},
	} {
		m := Mode{Truncate, c.length}
		if low, high := m.lowerBound(c.typ, c.value), m.upperBound(c.typ, c.value); fmt.Sprintf("%#v %#v", low, high) != fmt.Sprintf("%#v %#v", c.lower, c.upper) {
			t.Errorf("bounds of %#v are %#v and %#v, wanted %#v and %#v", c.value, low, high, c.lower, c.upper)
		}
	}
	for _, zero := range []float64{0, math.Copysign(0, -1)} {
		m, typ := Mode{Kind: Full}, transform.Type{Kind: transform.Double}
		if low, high := m.lowerBound(typ, zero).(float64), m.upperBound(typ, zero).(float64); !math.Signbit(low) || math.Signbit(high) {
			t.Errorf("the bounds of %g are %g and %g", zero, low, high)
		}
	}
	if v := (Mode{Kind: Counts}).upperBound(text, "a"); v != nil {
		t.Errorf("with counts alone the bound is %v", v)
	}
}

// TestRandomBounds cuts random texts and bytes: nothing may lie outside the bounds, and none is longer than it may be.
func TestRandomBounds(t *testing.T) {
	random := seed.Rand(t)
	runes := []rune{0, 'a', 'b', 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF}
	for range 20_000 {
		text, bytes := make([]rune, random.IntN(6)), make([]byte, random.IntN(6))
		for i := range text {
			text[i] = runes[random.IntN(len(runes))]
		}
		for i := range bytes {
			bytes[i] = []byte{0, 1, 0x7F, 0x80, 0xFE, 0xFF}[random.IntN(6)]
		}
		m := Mode{Truncate, 1 + random.IntN(4)}
		for kind, v := range map[transform.Kind]transform.Value{transform.String: string(text), transform.Binary: bytes} {
			typ := transform.Type{Kind: kind}
			low, high := m.lowerBound(typ, v), m.upperBound(typ, v)
			if transform.Compare(typ, low, v) > 0 || high != nil && transform.Compare(typ, high, v) < 0 {
				t.Fatalf("%#v lies outside of %#v and %#v", v, low, high)
			}
			if s, ok := high.(string); ok && len([]rune(s)) > m.Length {
				t.Fatalf("the bound of %q is %q, of more than %d code points", v, s, m.Length)
			}
		}
	}
}
