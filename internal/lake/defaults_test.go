package lake

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/transform"
)

func TestInitialDefaults(t *testing.T) {
	metadata := `{"schemas": [{"schema-id": 3, "fields": [
		{"id": 1, "name": "l", "type": "long", "initial-default": 9007199254740993},
		{"id": 2, "name": "b", "type": "binary", "initial-default": "00ff", "write-default": "01"},
		{"id": 3, "name": "n", "type": "string", "initial-default": null},
		{"id": 4, "name": "s", "type": {"type": "struct", "fields": [{"id": 5, "name": "in", "type": "string", "initial-default": "x\"y"}]}},
		{"id": 6, "name": "list", "type": {"type": "list", "element-id": 7, "element": {"type": "struct", "fields":
			[{"id": 8, "name": "in", "type": "decimal(9,2)", "initial-default": "1.50"}]}}}]}]}`
	got, err := defaultsOf([]byte(metadata), 3)
	if err != nil || len(got) != 4 {
		t.Fatalf("%v, %v", got, err)
	}
	for id, want := range map[int]struct {
		typ   string
		value any
	}{1: {"long", int64(9007199254740993)}, 2: {"binary", []byte{0, 255}}, 5: {"string", `x"y`}, 8: {"decimal(9,2)", big.NewInt(150)}} {
		typ, err := transform.ParseType(want.typ)
		if err != nil {
			t.Fatal(err)
		}
		v, err := got[id].initial.value(catalog.Type{Primitive: typ})
		if a, b := transform.AppendKey(nil, typ, v), transform.AppendKey(nil, typ, want.value); err != nil || string(a) != string(b) {
			t.Errorf("the default of %d is %v, %v; want %v", id, v, err, want.value)
		}
	}
	if got[1].write != nil || got[2].write == nil || string(got[2].write.raw) != `"01"` {
		t.Errorf("write defaults: %v", got)
	}
}

// TestDefaultsOfEachType reads defaults as the spec's JSON single-value serialization spells them.
func TestDefaultsOfEachType(t *testing.T) {
	for _, c := range []struct{ typ, raw, want string }{ // "" is an error
		{"boolean", "true", "true"}, {"int", "-34", "-34"}, {"long", "9223372036854775807", "9223372036854775807"}, {"int", "2147483648", ""},
		{"float", "1.5", "1.5"}, {"double", "-1e300", "-1e+300"}, {"decimal(9,2)", `"14.20"`, "14.20"}, {"decimal(9,2)", `"1E+2"`, "100.00"},
		{"decimal(38,10)", `"1E-10"`, "0.0000000001"}, {"decimal(9,2)", `"-1.5e0"`, "-1.50"}, {"decimal(9,2)", `"1.234"`, ""}, {"decimal(9,2)", `"1E+8"`, ""},
		{"decimal(9,2)", `"1E+999999999"`, ""}, {"decimal(9,2)", `"E2"`, ""}, {"date", `"2017-11-16"`, "2017-11-16"}, {"time", `"22:31:08.123456"`, "22:31:08.123456"},
		{"timestamp", `"2017-11-16T22:31:08.123456"`, "2017-11-16 22:31:08.123456"}, {"timestamp", `"2017-11-16T22:31:08+00:00"`, ""},
		{"timestamptz", `"1969-12-31T23:59:59.999999+00:00"`, "1969-12-31 23:59:59.999999+00"},
		{"timestamp_ns", `"2017-11-16T22:31:08.123456789"`, "2017-11-16 22:31:08.123456789"},
		{"timestamptz_ns", `"2017-11-16T22:31:08.123456789+00:00"`, "2017-11-16 22:31:08.123456789+00"}, {"string", `"a\"\u00fc"`, `a"ü`}, {"string", `""`, ""},
		{"uuid", `"f79c3e09-677c-4bbd-a479-3f349cb785e7"`, "f79c3e09-677c-4bbd-a479-3f349cb785e7"}, {"fixed[4]", `"000102ff"`, "000102ff"}, {"fixed[4]", `"0001"`, ""},
		{"binary", `"000102ff"`, "000102ff"}, {"binary", `"0"`, ""},
	} {
		typ, err := transform.ParseType(c.typ)
		if err != nil {
			t.Fatal(err)
		}
		v, err := fieldDefault{json.RawMessage(c.raw)}.value(catalog.Type{Primitive: typ})
		isEmpty := c.raw == `""`
		if (err == nil) != (c.want != "" || isEmpty) || err == nil && transform.FormatValue(typ, v) != c.want {
			t.Errorf("%s as a %s: got %v, %v, want %s", c.raw, c.typ, v, err, c.want)
		}
		if err != nil {
			continue
		}
		raw, err := defaultJSON(typ, v)
		again, err2 := fieldDefault{raw}.value(catalog.Type{Primitive: typ})
		if err != nil || err2 != nil || transform.FormatValue(typ, again) != transform.FormatValue(typ, v) {
			t.Errorf("%s as a %s is written %s: %v, %v", c.raw, c.typ, raw, err, err2)
		}
	}
	s := catalog.Type{Nested: catalog.Struct}
	for raw, ok := range map[string]bool{"{}": true, "{ }": true, `{"4": 1}`: false, "1": false} {
		if v, err := (fieldDefault{json.RawMessage(raw)}).value(s); (err == nil) != ok || v != nil {
			t.Errorf("%s as a struct: %v, %v", raw, v, err)
		}
	}
}
