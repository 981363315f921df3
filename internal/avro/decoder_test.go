package avro

import (
	"strings"
	"testing"
)

// TestLengthsAreChecked gives counts and lengths that the bytes don't hold. Nothing may be allocated by them.
func TestLengthsAreChecked(t *testing.T) {
	const huge = "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01" // the largest long
	for _, c := range []struct{ name, schema, data, want string }{
		{"bytes", `"bytes"`, huge, "cut short"},
		{"negative bytes", `"bytes"`, "\x01", "cut short"},
		{"string", `"string"`, "\x0aabc", "cut short"},
		{"array", `{"type": "array", "items": "long"}`, huge, "items in 0 bytes"},
		{"array of nothing", `{"type": "array", "items": "null"}`, huge + "\x00", "items"},
		{"array whose part is too long", `{"type": "array", "items": "long"}`, "\x01" + huge, "a part of an array"},
		{"map", `{"type": "map", "values": "null"}`, huge, "items"},
		{"least count", `{"type": "array", "items": "long"}`, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", "items"},
		{"array without its end", `{"type": "array", "items": "long"}`, "\x02\x02", "cut short"},
		{"branch", `["null", "long"]`, "\x04", "branch 2"},
		{"negative branch", `["null", "long"]`, "\x01", "branch -1"},
		{"long of too many bytes", `"long"`, strings.Repeat("\xff", 11), "more than 64 bits"},
		{"fixed", `{"type": "fixed", "name": "f", "size": 2000000000}`, "ab", "cut short"},
	} {
		s, err := ParseSchema([]byte(c.schema))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		d := NewDecoder([]byte(c.data))
		if allocated := testing.AllocsPerRun(1, func() { *d = *NewDecoder([]byte(c.data)); d.Skip(s) }); allocated > 20 {
			t.Errorf("%s: %v allocations", c.name, allocated)
		}
		if d.Err() == nil || !strings.Contains(d.Err().Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, d.Err(), c.want)
		}
		if d.Long() != 0 || d.Bytes() != nil {
			t.Errorf("%s: values after an error", c.name)
		}
	}
}

func TestNumbers(t *testing.T) {
	d := NewDecoder([]byte("\x80\x80\x80\x80\x10\x02"))
	if v := d.Int(); v != 0 || d.Err() == nil {
		t.Errorf("2^31 reads as the int %d", v)
	}
	d = NewDecoder([]byte{2})
	if d.Boolean(); d.Err() == nil {
		t.Error("2 is a boolean")
	}
}

// TestSizedParts jumps over the parts of arrays whose size is given, and reads them, too.
func TestSizedParts(t *testing.T) {
	s, err := ParseSchema([]byte(`{"type": "array", "items": "string"}`))
	if err != nil {
		t.Fatal(err)
	}
	const data = "\x03\x08\x02a\x02b\x02\x02c\x00\x54" // two items in 4 bytes, one item, the end; then 42
	d := NewDecoder([]byte(data))
	d.Skip(s)
	if v := d.Long(); v != 42 || d.Err() != nil {
		t.Errorf("after skipping %d, %v", v, d.Err())
	}
	d = NewDecoder([]byte(data))
	got := ""
	for it := d.Items(s); it.Next(); {
		got += string(d.Bytes())
	}
	if v := d.Long(); v != 42 || got != "abc" {
		t.Errorf("read %s, then %d, %v", got, v, d.Err())
	}
}

func TestSchemas(t *testing.T) {
	s, err := ParseSchema([]byte(allTypes))
	if err != nil {
		t.Fatal(err)
	}
	date, dec, list, m := s.Fields[1].Type, s.Fields[7].Type, s.Fields[9], s.Fields[10].Type
	if date.Logical != "date" || dec.Precision != 5 || dec.Scale != 2 || list.ID != 10 || list.Type.ElementID != 9 ||
		m.KeyID != 11 || m.ValueID != 12 || m.Items != dec || s.Fields[8].ID != NoID {
		t.Errorf("got %+v", s)
	}
	for name, c := range map[string]struct{ schema, want string }{
		"no JSON":         {`{`, "no JSON"},
		"unknown":         {`"text"`, `"text"`},
		"recursive":       {`{"type": "record", "name": "r", "fields": [{"name": "r", "type": "r"}]}`, "contains itself"},
		"twice":           {`{"type": "record", "name": "r", "fields": [{"name": "a", "type": {"type": "fixed", "name": "r", "size": 1}}]}`, "two types"},
		"no fields":       {`{"type": "record", "name": "r"}`, "no list of fields"},
		"nameless field":  {`{"type": "record", "name": "r", "fields": [{"type": "int"}]}`, "without a name"},
		"negative fixed":  {`{"type": "fixed", "name": "f", "size": -1}`, "size"},
		"empty union":     {`[]`, "union of no types"},
		"nested unions":   {`["null", ["int"]]`, "union within"},
		"fractional ID":   {`{"type": "record", "name": "r", "fields": [{"name": "a", "type": "int", "field-id": 1.5}]}`, "field-id"},
		"deep":            {strings.Repeat(`{"type": "array", "items": `, 200) + `"int"` + strings.Repeat("}", 200), "nests more"},
		"endless by name": {doubling(40), "types"},
	} {
		if _, err := ParseSchema([]byte(c.schema)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// doubling is a schema of a record of 2^n nulls, which take no bytes.
func doubling(n int) string {
	fields := []string{`{"name": "f0", "type": {"type": "record", "name": "r0", "fields": [{"name": "x", "type": "null"}]}}`}
	last := "r0"
	for i := range n {
		name := "s" + strings.Repeat("x", i)
		fields = append(fields, `{"name": "g`+name+`", "type": {"type": "record", "name": "`+name+`", "fields": [{"name": "a", "type": "`+last+
			`"}, {"name": "b", "type": "`+last+`"}]}}`)
		last = name
	}
	return `{"type": "record", "name": "top", "fields": [` + strings.Join(fields, ", ") + `]}`
}

func TestOptional(t *testing.T) {
	for schema, want := range map[string]bool{
		`"int"`: true, `["null", "int"]`: true, `["int", "null"]`: true, `["int", "string"]`: false, `["null", "int", "string"]`: false, `"null"`: true,
	} {
		s, err := ParseSchema([]byte(schema))
		if err != nil {
			t.Fatal(err)
		}
		o, ok := s.Optional()
		if ok != want || ok && schema != `"int"` && !o.Nullable() {
			t.Errorf("%s: %+v, %v", schema, o, ok)
		}
	}
	s, _ := ParseSchema([]byte(`["int", "null"]`))
	o, _ := s.Optional()
	d := NewDecoder([]byte{2, 0, 6})
	if d.Present(o) || !d.Present(o) || d.Int() != 3 {
		t.Errorf("a null that comes second: %v", d.Err())
	}
}
