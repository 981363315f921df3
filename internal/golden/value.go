package golden

import (
	"fmt"
	"math"
	"math/big"
	"sort"
	"strconv"
	"strings"
)

// Value is a value to be compared: nil for NULL, bool, *big.Rat for exact numbers, float64, string for text, binary as hex,
// dates, times and uuids, []Value for lists, Map and Struct.
type Value any

// Row is a row's values in the columns' order.
type Row []Value

// Map is a map's entries, sorted by their keys' text.
type Map [][2]Value

// Struct is a struct's fields by name.
type Struct map[string]Value

func (m Map) sorted() Map {
	sort.Slice(m, func(i, j int) bool { return Text(m[i][0]) < Text(m[j][0]) })
	return m
}

// Text writes a value for people and as a key: equal texts mean equal values.
func Text(v Value) string {
	switch x := v.(type) {
	case nil:
		return "NULL"
	case string:
		return strconv.Quote(x)
	case *big.Rat:
		return x.RatString()
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64) + "f"
	case Row:
		return "(" + joined(x) + ")"
	case []Value:
		return "[" + joined(x) + "]"
	case Map:
		parts := make([]Value, len(x))
		for i, e := range x {
			parts[i] = []Value{e[0], e[1]}
		}
		return "map" + Text(parts)
	case Struct:
		return x.text()
	}
	return fmt.Sprint(v)
}

func joined(in []Value) string {
	parts := make([]string, len(in))
	for i, v := range in {
		parts[i] = Text(v)
	}
	return strings.Join(parts, ", ")
}

func (s Struct) text() string {
	names := make([]string, 0, len(s))
	for n := range s {
		names = append(names, n)
	}
	sort.Strings(names)
	for i, n := range names {
		names[i] = n + ": " + Text(s[n])
	}
	return "{" + strings.Join(names, ", ") + "}"
}

// tolerance is how far two floating numbers may lie apart, relative to the larger: sums of floats depend on their order.
const tolerance = 1e-12

// Same says whether two values are equal: exact numbers exactly, floating ones within the tolerance. The two zeros differ.
func Same(a, b Value) bool {
	switch x := a.(type) {
	case *big.Rat:
		if y, ok := b.(*big.Rat); ok {
			return x.Cmp(y) == 0
		}
	case []Value:
		y, ok := b.([]Value)
		return ok && sameLists(x, y)
	case Row:
		y, ok := b.(Row)
		return ok && sameLists(x, y)
	case Map:
		y, ok := b.(Map)
		return ok && sameMaps(x, y)
	case Struct:
		y, ok := b.(Struct)
		return ok && sameStructs(x, y)
	}
	if f, ok := floating(a); ok {
		g, ok := floating(b)
		return ok && sameFloats(f, g)
	}
	return a == b
}

func floating(v Value) (float64, bool) {
	switch x := v.(type) {
	case float64:
		return x, true
	case *big.Rat:
		f, _ := x.Float64()
		return f, true
	}
	return 0, false
}

func sameFloats(a, b float64) bool {
	switch {
	case math.IsNaN(a) || math.IsNaN(b):
		return math.IsNaN(a) && math.IsNaN(b)
	case math.IsInf(a, 0) || math.IsInf(b, 0) || a == 0 || b == 0:
		return a == b && math.Signbit(a) == math.Signbit(b)
	}
	return math.Abs(a-b) <= tolerance*math.Max(math.Abs(a), math.Abs(b))
}

func sameLists(a, b []Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Same(a[i], b[i]) {
			return false
		}
	}
	return true
}

func sameMaps(a, b Map) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Same(a[i][0], b[i][0]) || !Same(a[i][1], b[i][1]) {
			return false
		}
	}
	return true
}

func sameStructs(a, b Struct) bool {
	if len(a) != len(b) {
		return false
	}
	for name, v := range a {
		w, ok := b[name]
		if !ok || !Same(v, w) {
			return false
		}
	}
	return true
}

// whole returns a whole number as a value.
func whole(n int64) Value { return new(big.Rat).SetInt64(n) }
