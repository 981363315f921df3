package transform

import (
	"math/big"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/seed"
)

func TestParseTransform(t *testing.T) {
	for text, want := range map[string]Transform{
		"identity": {Op: Identity}, "bucket[16]": {Op: Bucket, N: 16}, "truncate[4]": {Op: Truncate, N: 4}, "year": {Op: Year},
		"month": {Op: Month}, "day": {Op: Day}, "hour": {Op: Hour}, "void": {Op: Void}, "Bucket[16]": {Op: Bucket, N: 16},
		"days": {Op: OpUnknown, Text: "days"}, "hilbert[2]": {Op: OpUnknown, Text: "hilbert[2]"}, "": {Op: OpUnknown},
		"bucket": {Op: OpUnknown, Text: "bucket"}, "bucket[x]": {Op: OpUnknown, Text: "bucket[x]"},
		"bucket[4": {Op: OpUnknown, Text: "bucket[4"}, "Zorder": {Op: OpUnknown, Text: "Zorder"}, "bucket[]": {Op: OpUnknown, Text: "bucket[]"},
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"bucket[0]", "truncate[-1]", "truncate[0]", "bucket[99999999999999999999]"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q: %+v, want an error", text, got)
		}
	}
}

func TestTransformSQL(t *testing.T) {
	for text, want := range map[string]string{
		"identity": "c", "bucket[16]": "bucket(16, c)", "truncate[4]": "truncate(4, c)", "year": "years(c)", "month": "months(c)",
		"day": "days(c)", "hour": "hours(c)", "void": "void(c)", "hilbert[2]": "hilbert[2](c)",
	} {
		if got := mustParse(t, text).SQL("c"); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestHuman(t *testing.T) {
	cases := []struct {
		typ, transform string
		v              Value
		want           string
	}{
		{"timestamp", "day", int32(17486), "2017-11-16"}, {"timestamp", "hour", int32(17486*24 + 22), "2017-11-16-22"},
		{"timestamp", "hour", int32(-1), "1969-12-31-23"}, {"date", "month", int32(-1), "1969-12"},
		{"date", "month", int32(671), "2025-12"}, {"date", "year", int32(-70), "1900"}, {"date", "year", int32(-1971), "-0001"},
		{"date", "identity", int32(-7), "1969-12-25"}, {"date", "day", nil, "null"}, {"string", "void", nil, "null"},
		{"string", "bucket[16]", int32(3), "3"}, {"decimal(9, 2)", "truncate[50]", big.NewInt(-50), "-0.50"},
		{"binary", "truncate[2]", []byte{0xe4, 0xb8}, "e4b8"}, {"string", "identity", "null", "null"},
		{"int", "hilbert[2]", int32(3), "3"},
	}
	for _, c := range cases {
		if got := mustParse(t, c.transform).Human(mustType(t, c.typ), c.v); got != c.want {
			t.Errorf("%s of %s, %v: %s, want %s", c.transform, c.typ, c.v, got, c.want)
		}
		if c.v == nil || strings.HasPrefix(c.transform, "hilbert") {
			continue
		}
		back, err := mustParse(t, c.transform).ParseHuman(mustType(t, c.typ), c.want)
		if result := mustParse(t, c.transform).ResultType(mustType(t, c.typ)); err != nil || Compare(result, back, c.v) != 0 {
			t.Errorf("%s of %s, %s is read as %v, %v", c.transform, c.typ, c.want, back, err)
		}
	}
}

func TestParseHumanRefuses(t *testing.T) {
	for _, c := range [][3]string{
		{"timestamp", "hour", "2017-11-16-24"}, {"timestamp", "hour", "2017-11-16"}, {"timestamp", "hour", "2017-11-16-2"}, {"timestamp", "day", "2017-11-32"},
		{"timestamp", "month", "2017-13"}, {"timestamp", "month", "2017"}, {"timestamp", "year", "17"}, {"date", "year", "2017-11"}, {"timestamp", "hour", "900000-01-01-00"},
		{"long", "bucket[4]", "one"}, {"int", "identity", "5000000000"}, {"string", "void", "x"},
	} {
		if v, err := mustParse(t, c[1]).ParseHuman(mustType(t, c[0]), c[2]); err == nil {
			t.Errorf("%s of %s: %s is read as %v", c[1], c[0], c[2], v)
		}
	}
}

func TestParseType(t *testing.T) {
	for text, want := range map[string]string{
		"decimal(9,2)": "decimal(9, 2)", "Decimal( 38 , 0 )": "decimal(38, 0)", "fixed[16]": "fixed[16]", "FIXED[ 4 ]": "fixed[4]",
		"timestamptz_ns": "timestamptz_ns", "geometry(srid:3857)": "geometry", "geography(OGC:CRS84, spherical)": "geography",
		" int ": "int", "variant": "variant",
	} {
		if got, err := ParseType(text); err != nil || got.String() != want {
			t.Errorf("%q: %s, %v; want %s", text, got, err, want)
		}
	}
	for _, name := range allTypes {
		if got := mustType(t, name).String(); got != name {
			t.Errorf("%s comes back as %s", name, got)
		}
	}
	for _, text := range []string{
		"", "none", "bigint", "list<int>", "decimal", "decimal(9)", "decimal(39, 0)", "decimal(0, 0)", "decimal(4, 5)", "fixed",
		"fixed(4)", "fixed[-1]", "int(4)", "geometry[1]", "decimal(9, 2", "struct<>",
	} {
		if got, err := ParseType(text); err == nil {
			t.Errorf("%q: %s, want an error", text, got)
		}
	}
}

func TestValueText(t *testing.T) {
	for _, c := range [][3]string{ // type, text, and how it is written back
		{"boolean", "TRUE", "true"}, {"int", "-2147483648", "-2147483648"}, {"float", "1.5", "1.5"}, {"double", "nan", "NaN"},
		{"double", "-inf", "-Infinity"}, {"double", "Infinity", "Infinity"}, {"double", "1e16", "1e+16"}, {"double", "-0.0", "-0"},
		{"double", "1000000", "1000000"}, {"decimal(9, 2)", "14.2", "14.20"}, {"decimal(9, 2)", "-.5", "-0.50"},
		{"decimal(9, 2)", "+1.500", "1.50"}, {"decimal(9, 2)", "-0.05", "-0.05"}, {"decimal(3, 0)", "007", "7"},
		{"date", "2017-11-16", "2017-11-16"}, {"date", "0000-02-29", "0000-02-29"}, {"date", "-0001-03-01", "-0001-03-01"},
		{"date", "12017-01-01", "12017-01-01"}, {"time", "22:31:08", "22:31:08"}, {"time", "22:31", "22:31:00"},
		{"time", "00:00:00.000100", "00:00:00.0001"}, {"timestamp", "2017-11-16T22:31:08.000001", "2017-11-16 22:31:08.000001"},
		{"timestamp", "1969-12-31 23:59:59.9", "1969-12-31 23:59:59.9"}, {"timestamp", "2017-11-16", "2017-11-16 00:00:00"},
		{"timestamptz", "2017-11-16T14:31:08-08:00", "2017-11-16 22:31:08+00"}, {"timestamptz", "2017-11-16 22:31:08", "2017-11-16 22:31:08+00"},
		{"timestamptz", "2024-01-01T01:00:00+05:30", "2023-12-31 19:30:00+00"}, {"timestamptz", "2024-01-01T01:00:00+0530", "2023-12-31 19:30:00+00"},
		{"timestamptz", "2024-01-01 01:00:00 +05", "2023-12-31 20:00:00+00"}, {"timestamptz", "2024-01-01T01:00:00Z", "2024-01-01 01:00:00+00"},
		{"timestamptz_ns", "2024-01-01T01:00:00.000000001+00", "2024-01-01 01:00:00.000000001+00"},
		{"timestamp_ns", "1969-12-31T23:59:59.999999999", "1969-12-31 23:59:59.999999999"},
		{"string", "żółw", "żółw"}, {"uuid", "F79C3E09-677c-4bbd-a479-3f349cb785e7", "f79c3e09-677c-4bbd-a479-3f349cb785e7"},
		{"fixed[2]", "00FF", "00ff"}, {"binary", "0x00ff", "00ff"}, {"binary", "", ""},
	} {
		typ := mustType(t, c[0])
		v, err := ParseValue(typ, c[1])
		if err != nil || FormatValue(typ, v) != c[2] {
			t.Errorf("%s %q: %s, %v; want %s", c[0], c[1], FormatValue(typ, v), err, c[2])
		}
	}
}

func TestValueTextRefused(t *testing.T) {
	for _, c := range [][2]string{
		{"boolean", "1"}, {"int", "2147483648"}, {"int", "1.0"}, {"long", ""}, {"double", "1_0"}, {"double", "x"},
		{"decimal(9, 2)", "1.005"}, {"decimal(9, 2)", "12345678.00"}, {"decimal(9, 2)", "1e2"}, {"decimal(9, 2)", "."},
		{"decimal(9, 2)", "1."}, {"decimal(9, 2)", "--1"}, {"date", "2017-02-29"}, {"date", "2017-13-01"}, {"date", "2017-1-1"},
		{"date", "9999999-01-01"}, {"date", "2017-11-16T00:00:00"}, {"time", "24:00:00"}, {"time", "22:60"}, {"time", "22:31:60"},
		{"time", "22:31:08.0000001"}, {"time", "22:31.5"}, {"time", "22:31:08."}, {"timestamp", "2017-11-16T22:31:08Z"},
		{"timestamp", "300000-01-01"}, {"timestamp_ns", "2300-01-01"}, {"timestamptz", "2017-11-16T22:31:08+99"},
		{"timestamptz", "2017-11-16T22:31:08+5"}, {"timestamptz", "2017-11-16T22:31:08PST"}, {"string", "\xff"},
		{"uuid", "f79c3e09677c4bbda4793f349cb785e7"}, {"uuid", "g79c3e09-677c-4bbd-a479-3f349cb785e7"}, {"fixed[2]", "00"},
		{"binary", "0"}, {"variant", "1"}, {"unknown", "1"},
	} {
		if v, err := ParseValue(mustType(t, c[0]), c[1]); err == nil {
			t.Errorf("%s %q: %v, want an error", c[0], c[1], v)
		}
	}
}

func TestValueTextRoundTrip(t *testing.T) {
	r := seed.Rand(t)
	for _, name := range allTypes {
		typ := mustType(t, name)
		for range 1000 {
			v := randomValue(r, typ)
			text := FormatValue(typ, v)
			got, err := ParseValue(typ, text)
			if err != nil || Compare(typ, got, v) != 0 {
				t.Fatalf("%s %v: %q reads as %v, %v", name, v, text, got, err)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range append(allTransforms, "bucket[0]", "truncate[-1]", "hilbert[2]", "bucket[ 4 ]") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tr, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(tr.String()); err != nil || again != tr {
			t.Errorf("%q is %+v, and %q is %+v, %v", text, tr, tr.String(), again, err)
		}
		_ = tr.SQL("c")
	})
}

func FuzzParseValue(f *testing.F) {
	for _, v := range SpecVectors() {
		f.Add(v.Type, v.Value)
	}
	f.Fuzz(func(t *testing.T, typeText, text string) {
		typ, err := ParseType(typeText)
		if err != nil {
			return
		}
		v, err := ParseValue(typ, text)
		if err != nil {
			return
		}
		again, err := ParseValue(typ, FormatValue(typ, v))
		if err != nil || Compare(typ, again, v) != 0 {
			t.Errorf("%s %q is %v, written as %q, which reads as %v, %v", typ, text, v, FormatValue(typ, v), again, err)
		}
		if typ.CanHash() {
			if _, err := Hash(typ, v); err != nil {
				t.Error(err)
			}
		}
	})
}

func FuzzDecodeBound(f *testing.F) {
	f.Add("long", []byte{0xfb, 0xff, 0xff, 0xff})
	f.Add("decimal(9, 2)", []byte{0xfd, 0x6d})
	f.Fuzz(func(t *testing.T, typeText string, b []byte) {
		typ, err := ParseType(typeText)
		if err != nil {
			return
		}
		v, err := DecodeBound(typ, b)
		if err != nil || typ.Kind == Fixed {
			return
		}
		encoded, err := EncodeBound(typ, v)
		if err != nil {
			t.Fatalf("%s %x is %v: %v", typ, b, v, err)
		}
		if again, err := DecodeBound(typ, encoded); err != nil || Compare(typ, v, again) != 0 {
			t.Errorf("%s %x is %v, written as %x", typ, b, v, encoded)
		}
	})
}
