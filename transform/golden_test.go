package transform

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
)

// goldenVector is a result of another implementation. Raw is a date or timestamp as it is stored; results of other
// types are JSON numbers or text.
type goldenVector struct {
	Type, Transform string
	Value, Result   any
	Raw             *json.Number
	PyIceberg       any
}

func loadGolden(t *testing.T) []goldenVector {
	t.Helper()
	b, err := os.ReadFile("../testdata/golden/expected/transforms.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []goldenVector }
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	return file.Vectors
}

// goldenValue reads a value of the file: numbers stand for dates and times too.
func goldenValue(t *testing.T, typ Type, v any) Value {
	t.Helper()
	switch x := v.(type) {
	case nil:
		return nil
	case string:
		return mustValue(t, typ, x)
	case json.Number:
		n, err := x.Int64()
		if err != nil {
			t.Fatal(err)
		}
		r, ok := narrow(typ, n)
		if !ok {
			t.Fatalf("%d is no %s", n, typ)
		}
		return r
	}
	t.Fatalf("value %v of %T", v, v)
	return nil
}

// hasLeftType recognises the vectors where one implementation wrapped around or gave NULL and the other gave a number
// beyond the type.
func (v goldenVector) hasLeftType() bool {
	return strings.HasPrefix(v.Transform, "truncate") && v.PyIceberg != nil && v.PyIceberg != "agrees"
}

func TestGoldenTransforms(t *testing.T) {
	vectors := loadGolden(t)
	refused := 0
	for _, v := range vectors {
		typ, tr := mustType(t, v.Type), mustParse(t, v.Transform)
		value := goldenValue(t, typ, v.Value)
		if v.Raw != nil {
			raw := goldenValue(t, typ, *v.Raw)
			if value != nil && value != raw {
				t.Errorf("%s %v: text reads as %v, stored is %v", v.Type, v.Value, value, raw)
			}
			value = raw
		}
		got, err := tr.Apply(typ, value)
		if v.hasLeftType() {
			refused++
			if !errors.Is(err, ErrOutOfRange) {
				t.Errorf("%s of %s %v: %v, %v; want ErrOutOfRange", v.Transform, v.Type, v.Value, got, err)
			}
			continue
		}
		want := goldenValue(t, tr.ResultType(typ), v.Result)
		if err != nil || !sameValue(got, want) {
			t.Errorf("%s of %s %v: %v, %v; want %v", v.Transform, v.Type, v.Value, got, err, want)
		}
	}
	if len(vectors) < 900 || refused != 5 {
		t.Errorf("%d vectors, %d refused", len(vectors), refused)
	}
}

func sameValue(a, b Value) bool {
	return string(AppendKey(nil, Type{}, a)) == string(AppendKey(nil, Type{}, b))
}
