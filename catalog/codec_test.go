package catalog

import (
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"testing"

	"github.com/tarndb/tarn/transform"
)

func TestFieldsTravel(t *testing.T) {
	leaf := func(id FieldID, kind transform.Kind, v transform.Value) Field {
		f := Field{ID: id, Name: kind.String(), Type: Type{Primitive: transform.Type{Kind: kind}}, InitialDefault: v, HasDefault: v != nil}
		switch kind {
		case transform.Decimal:
			f.Type.Primitive.Precision, f.Type.Primitive.Scale = 38, 2
		case transform.Fixed:
			f.Type.Primitive.Length = 2
		}
		return f
	}
	huge, _ := new(big.Int).SetString("-99999999999999999999999999999999999999", 10)
	fields := []Field{
		leaf(1, transform.Boolean, false), leaf(2, transform.Int, int32(-1)), leaf(3, transform.Long, int64(math.MaxInt64)), leaf(4, transform.Float, float32(0.1)),
		leaf(5, transform.Double, math.Inf(-1)), leaf(6, transform.Decimal, huge), leaf(7, transform.Date, int32(-1)), leaf(8, transform.Time, int64(1)),
		leaf(9, transform.TimestampTZNS, int64(math.MinInt64)), leaf(10, transform.String, ""), leaf(11, transform.String, "ü\n"),
		leaf(12, transform.UUID, [16]byte{15: 1}), leaf(13, transform.Fixed, []byte{0, 255}), leaf(14, transform.Binary, []byte{}), leaf(15, transform.Long, nil),
	}
	in := Field{ID: 99, Name: "s", Type: Type{Nested: Struct, Fields: fields}, Required: true, Doc: "doc", HasDefault: true, Promoted: true}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out Field
	if err := json.Unmarshal(data, &out); err != nil || !reflect.DeepEqual(in, out) {
		t.Errorf("%s became %+v, %v", data, out, err)
	}
	if _, err := json.Marshal(leaf(1, transform.Int, "text")); err == nil {
		t.Error("a default of another type is written")
	}
	if err := json.Unmarshal([]byte(`{"Name": "x", "Type": {"Primitive": {"Kind": 3}}, "InitialDefault": "AAE="}`), &out); err == nil {
		t.Errorf("two bytes are a value of type %s", out.Type)
	}
	for _, f := range fields {
		b, err := EncodeValue(f.Type.Primitive, f.InitialDefault)
		if err != nil || (b == nil) != (f.InitialDefault == nil) {
			t.Errorf("%s: %x, %v", f.Name, b, err)
		}
		if v, err := DecodeValue(f.Type.Primitive, b); err != nil || !reflect.DeepEqual(v, f.InitialDefault) {
			t.Errorf("%s: %v became %v, %v", f.Name, f.InitialDefault, v, err)
		}
	}
}
