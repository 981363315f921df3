package output

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// fromJSON builds an array from a JSON text.
func fromJSON(t *testing.T, typ arrow.DataType, text string) arrow.Array {
	t.Helper()
	arr, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(text))
	if err != nil {
		t.Fatalf("%s from %s: %v", typ, text, err)
	}
	return arr
}

// spell returns all values of an array in a style, one a line.
func spell(t *testing.T, s style, typ string, arr arrow.Array) string {
	t.Helper()
	c, err := s.bind(parseDuckType(typ), arr)
	if err != nil {
		t.Fatalf("%s: %v", typ, err)
	}
	var out []byte
	for i := range arr.Len() {
		out = append(c(out, i), '\n')
	}
	return string(out)
}

// same checks that values are spelled as wanted; in want, "|" separates values.
func same(t *testing.T, typ string, arr arrow.Array, wantPlain, wantJSON string) {
	t.Helper()
	for s, want := range map[style]string{plain: wantPlain, asJSON: wantJSON} {
		want = strings.ReplaceAll(want, "|", "\n") + "\n"
		if got := spell(t, s, typ, arr); got != want {
			t.Errorf("%s in style %d:\ngot\n%swant\n%s", typ, s, got, want)
		}
	}
}

func TestEveryTypeIsSpelled(t *testing.T) {
	us := &arrow.TimestampType{Unit: arrow.Microsecond}
	uuidText := "f79c3e09-677c-4bbd-a479-3f349cb785e7"
	for _, c := range []struct {
		typ         string
		arrow       arrow.DataType
		values      string
		plain, json string
	}{
		{"BOOLEAN", arrow.FixedWidthTypes.Boolean, `[true, false, null]`, "true|false|NULL", "true|false|null"},
		{"TINYINT", arrow.PrimitiveTypes.Int8, `[-128]`, "-128", "-128"},
		{"SMALLINT", arrow.PrimitiveTypes.Int16, `[-32768]`, "-32768", "-32768"},
		{"INTEGER", arrow.PrimitiveTypes.Int32, `[2147483647, null]`, "2147483647|NULL", "2147483647|null"},
		{"BIGINT", arrow.PrimitiveTypes.Int64, `[-9223372036854775808, 0]`, "-9223372036854775808|0", "-9223372036854775808|0"},
		{"UTINYINT", arrow.PrimitiveTypes.Uint8, `[255]`, "255", "255"},
		{"USMALLINT", arrow.PrimitiveTypes.Uint16, `[65535]`, "65535", "65535"},
		{"UINTEGER", arrow.PrimitiveTypes.Uint32, `[4294967295]`, "4294967295", "4294967295"},
		{"UBIGINT", arrow.PrimitiveTypes.Uint64, `[18446744073709551615]`, "18446744073709551615", "18446744073709551615"},
		{"DECIMAL(9,2)", &arrow.Decimal128Type{Precision: 9, Scale: 2}, `["14.20", "-0.05", "0.00", null]`,
			"14.20|-0.05|0.00|NULL", `"14.20"|"-0.05"|"0.00"|null`},
		{"DECIMAL(38,0)", &arrow.Decimal128Type{Precision: 38}, `["-12345678901234567890123456789012345678"]`,
			"-12345678901234567890123456789012345678", `"-12345678901234567890123456789012345678"`},
		{"DECIMAL(5,5)", &arrow.Decimal128Type{Precision: 5, Scale: 5}, `["0.00001"]`, "0.00001", `"0.00001"`},
		{"DATE", arrow.FixedWidthTypes.Date32, `[17486, 0, -1, 2932897, -719528, -719529, 2147483647, -2147483647, null]`,
			"2017-11-16|1970-01-01|1969-12-31|10000-01-01|0001-01-01 (BC)|0002-12-31 (BC)|infinity|-infinity|NULL",
			`"2017-11-16"|"1970-01-01"|"1969-12-31"|"10000-01-01"|"0001-01-01 (BC)"|"0002-12-31 (BC)"|"infinity"|"-infinity"|null`},
		{"TIME", arrow.FixedWidthTypes.Time64us, `[81068000000, 0, 81068000001, 81068100000, 86400000000]`,
			"22:31:08|00:00:00|22:31:08.000001|22:31:08.1|24:00:00",
			`"22:31:08"|"00:00:00"|"22:31:08.000001"|"22:31:08.1"|"24:00:00"`},
		{"TIMESTAMP", us, `[1510871468000001, 1510871468000000, -1, 253402300800000000, -62167219200000000, 9223372036854775807, -9223372036854775807]`,
			"2017-11-16 22:31:08.000001|2017-11-16 22:31:08|1969-12-31 23:59:59.999999|10000-01-01 00:00:00|0001-01-01 (BC) 00:00:00|infinity|-infinity",
			`"2017-11-16 22:31:08.000001"|"2017-11-16 22:31:08"|"1969-12-31 23:59:59.999999"|"10000-01-01 00:00:00"|"0001-01-01 (BC) 00:00:00"|"infinity"|"-infinity"`},
		{"TIMESTAMP WITH TIME ZONE", arrow.FixedWidthTypes.Timestamp_us, `[1510871468500000, -62167219199000000]`,
			"2017-11-16 22:31:08.5+00|0001-01-01 (BC) 00:00:01+00", `"2017-11-16 22:31:08.5+00"|"0001-01-01 (BC) 00:00:01+00"`},
		{"TIMESTAMP_S", &arrow.TimestampType{Unit: arrow.Second}, `[1510871468]`, "2017-11-16 22:31:08", `"2017-11-16 22:31:08"`},
		{"TIMESTAMP_MS", &arrow.TimestampType{Unit: arrow.Millisecond}, `[-1]`, "1969-12-31 23:59:59.999", `"1969-12-31 23:59:59.999"`},
		{"TIMESTAMP_NS", &arrow.TimestampType{Unit: arrow.Nanosecond}, `[1510871468000000100, -1]`,
			"2017-11-16 22:31:08.0000001|1969-12-31 23:59:59.999999999", `"2017-11-16 22:31:08.0000001"|"1969-12-31 23:59:59.999999999"`},
		{"VARCHAR", arrow.BinaryTypes.String, `["a\"b\\c\n\u0001é😀", "", null]`, "a\"b\\c\n\x01é😀||NULL", `"a\"b\\c\n\u0001é😀"|""|null`},
		{"VARCHAR", arrow.BinaryTypes.LargeString, `["x"]`, "x", `"x"`},
		{"VARCHAR", arrow.BinaryTypes.StringView, `["a string beyond twelve bytes"]`, "a string beyond twelve bytes", `"a string beyond twelve bytes"`},
		{"JSON", arrow.BinaryTypes.String, `["{\"a\": 1}"]`, `{"a": 1}`, `"{\"a\": 1}"`},
		{"BLOB", arrow.BinaryTypes.Binary, `["AP+r", ""]`, "00ffab|", `"00ffab"|""`},
		{"UUID", arrow.BinaryTypes.String, `["` + uuidText + `"]`, uuidText, `"` + uuidText + `"`},
		{"UUID", extensions.NewUUIDType(), `["` + uuidText + `"]`, uuidText, `"` + uuidText + `"`},
		{"BIT", arrow.BinaryTypes.Binary, `["Bf0=", "Bf//", "ANg="]`, "101|11111111111|11011000", `"101"|"11111111111"|"11011000"`},
		{"BIGNUM", arrow.BinaryTypes.Binary, `["gAANAY7pD/bDc+DuTj8K0g==", "f//z2BvkzblBNk6Rxn7q", "gAABAA=="]`,
			"123456789012345678901234567890|-12345678901234567890123456789|0",
			`"123456789012345678901234567890"|"-12345678901234567890123456789"|0`},
		{`"NULL"`, arrow.Null, `[null]`, "NULL", "null"},
		{"ENUM('x', 'it''s')", &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint8, ValueType: arrow.BinaryTypes.String},
			`["x", "it's", null]`, "x|it's|NULL", `"x"|"it's"|null`},
		{"INTEGER[]", arrow.ListOf(arrow.PrimitiveTypes.Int32), `[[1, null, 3], [], null]`, "[1, NULL, 3]|[]|NULL", "[1, null, 3]|[]|null"},
		{"INTEGER[2]", arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32), `[[1, 2]]`, "[1, 2]", "[1, 2]"},
		{"VARCHAR[]", arrow.ListOf(arrow.BinaryTypes.String),
			`[["a", "b c", "c,d", "", null, "null", "it's", "a\"b", "a\\b", " x", "[y]", "a:b", "a=b"]]`,
			`[a, b c, 'c,d', '', NULL, 'null', 'it\'s', 'a"b', a\b, ' x', '[y]', 'a:b', 'a=b']`,
			`["a", "b c", "c,d", "", null, "null", "it's", "a\"b", "a\\b", " x", "[y]", "a:b", "a=b"]`},
		{"STRUCT(a VARCHAR, \"b c\" INTEGER[], t TIMESTAMP)",
			arrow.StructOf(arrow.Field{Name: "a", Type: arrow.BinaryTypes.String, Nullable: true},
				arrow.Field{Name: "b c", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Nullable: true},
				arrow.Field{Name: "t", Type: us, Nullable: true}),
			`[{"a": "hello world", "b c": [1], "t": 0}, {"a": null, "b c": null, "t": null}, null]`,
			"{'a': hello world, 'b c': [1], 't': '1970-01-01 00:00:00'}|{'a': NULL, 'b c': NULL, 't': NULL}|NULL",
			`{"a": "hello world", "b c": [1], "t": "1970-01-01 00:00:00"}|{"a": null, "b c": null, "t": null}|null`},
		{"STRUCT(INTEGER, VARCHAR)",
			arrow.StructOf(arrow.Field{Name: "0", Type: arrow.PrimitiveTypes.Int32}, arrow.Field{Name: "1", Type: arrow.BinaryTypes.String}),
			`[{"0": 1, "1": "x"}]`, "(1, x)", `[1, "x"]`},
		{"MAP(VARCHAR, INTEGER)", arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32),
			`[[{"key": "k", "value": 1}, {"key": "k=2", "value": null}], []]`, "{k=1, 'k=2'=NULL}|{}", `[["k", 1], ["k=2", null]]|[]`},
		{"MAP(INTEGER, DECIMAL(9,2)[])", arrow.MapOf(arrow.PrimitiveTypes.Int32, arrow.ListOf(&arrow.Decimal128Type{Precision: 9, Scale: 2})),
			`[[{"key": 1, "value": ["1.50"]}]]`, "{1=[1.50]}", `[[1, ["1.50"]]]`},
		// An unknown type name leaves the Arrow type to decide.
		{"SOMETHING NEW(", arrow.ListOf(arrow.PrimitiveTypes.Int64), `[[7]]`, "[7]", "[7]"},
	} {
		same(t, c.typ, fromJSON(t, c.arrow, c.values), c.plain, c.json)
	}
}

func TestFloatsAreSpelled(t *testing.T) {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	b.AppendValues([]float64{
		0, math.Copysign(0, -1), 1, 0.1, 1e15, 1e16, 123456789012345680, 1e-4, 1e-5, -1.5e300,
		math.NaN(), math.Inf(1), math.Inf(-1),
	}, nil)
	same(t, "DOUBLE", b.NewArray(),
		"0.0|-0.0|1.0|0.1|1000000000000000.0|1e+16|1.2345678901234568e+17|0.0001|1e-05|-1.5e+300|NaN|Infinity|-Infinity",
		`0.0|-0.0|1.0|0.1|1000000000000000.0|1e+16|1.2345678901234568e+17|0.0001|1e-05|-1.5e+300|"NaN"|"Infinity"|"-Infinity"`)
	f := array.NewFloat32Builder(memory.DefaultAllocator)
	f.AppendValues([]float32{0.1, 16777216, float32(math.NaN())}, nil)
	same(t, "FLOAT", f.NewArray(), "0.1|16777216.0|NaN", `0.10000000149011612|16777216.0|"NaN"`)
}

func TestHugeIntegersAreNumbersWhere64BitsHoldThem(t *testing.T) {
	huge := func(texts ...string) arrow.Array {
		b := array.NewDecimal128Builder(memory.DefaultAllocator, &arrow.Decimal128Type{Precision: 38})
		for _, text := range texts {
			n, _ := new(big.Int).SetString(text, 10)
			high, low := new(big.Int).Rsh(n, 64), new(big.Int).And(n, new(big.Int).SetUint64(math.MaxUint64))
			hi := high.Int64()
			if !high.IsInt64() {
				hi = int64(high.Uint64())
			}
			b.Append(decimal128.New(hi, low.Uint64()))
		}
		return b.NewArray()
	}
	same(t, "HUGEINT", huge("45", "-9223372036854775808", "18446744073709551615", "18446744073709551616",
		"-170141183460469231731687303715884105728", "170141183460469231731687303715884105727"),
		"45|-9223372036854775808|18446744073709551615|18446744073709551616|-170141183460469231731687303715884105728|170141183460469231731687303715884105727",
		`45|-9223372036854775808|18446744073709551615|"18446744073709551616"|"-170141183460469231731687303715884105728"|"170141183460469231731687303715884105727"`)
	same(t, "UHUGEINT", huge("340282366920938463463374607431768211455", "1"),
		"340282366920938463463374607431768211455|1", `"340282366920938463463374607431768211455"|1`)
	list := array.NewListBuilder(memory.DefaultAllocator, &arrow.Decimal128Type{Precision: 38})
	list.Append(true)
	list.ValueBuilder().(*array.Decimal128Builder).Append(decimal128.FromI64(-3))
	same(t, "HUGEINT[]", list.NewArray(), "[-3]", "[-3]")
}

func TestIntervalsAreSpelled(t *testing.T) {
	b := array.NewMonthDayNanoIntervalBuilder(memory.DefaultAllocator)
	for _, v := range []arrow.MonthDayNanoInterval{
		{Months: 14, Days: 3, Nanoseconds: 14706789e6}, {Months: -1, Days: -1, Nanoseconds: -5e8}, {},
		{Nanoseconds: 100 * 3600 * 1e9}, {Months: 24}, {Days: 1},
	} {
		b.Append(v)
	}
	want := "1 year 2 months 3 days 04:05:06.789|-1 month -1 day -00:00:00.5|00:00:00|100:00:00|2 years|1 day"
	same(t, "INTERVAL", b.NewArray(), want, `"`+strings.ReplaceAll(want, "|", `"|"`)+`"`)
}

func TestSlicesKeepTheirOffsets(t *testing.T) {
	typ := arrow.StructOf(arrow.Field{Name: "a", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Nullable: true})
	arr := fromJSON(t, typ, `[{"a": [1]}, {"a": [2, 3]}, null, {"a": []}]`)
	same(t, "STRUCT(a INTEGER[])", array.NewSlice(arr, 1, 4), "{'a': [2, 3]}|NULL|{'a': []}", `{"a": [2, 3]}|null|{"a": []}`)
	m := fromJSON(t, arrow.MapOf(arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int32), `[[{"key": 1, "value": 2}], [{"key": 3, "value": 4}]]`)
	same(t, "MAP(INTEGER, INTEGER)", array.NewSlice(m, 1, 2), "{3=4}", "[[3, 4]]")
}

func TestUnionsAreSpelledAsTheirValue(t *testing.T) {
	fields := []arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}
	for _, typ := range []arrow.DataType{arrow.DenseUnionOf(fields, []int8{0, 1}), arrow.SparseUnionOf(fields, []int8{0, 1})} {
		same(t, "UNION(n INTEGER, s VARCHAR)", fromJSON(t, typ, `[[0, 5], [1, "x"]]`), "5|x", `5|"x"`)
	}
}

func TestBrokenTextIsReplacedInJSON(t *testing.T) {
	for text, want := range map[string]string{
		"a\xffb": `"a` + "\uFFFD" + `b"`, "\xe2\x82": `"` + "\uFFFD\uFFFD" + `"`, "\x00\x1f\x7f": `"\u0000\u001f` + "\x7f" + `"`, "</script>": `"</script>"`,
	} {
		if got := string(appendJSONString(nil, text)); got != want {
			t.Errorf("%q becomes %s, want %s", text, got, want)
		}
	}
}

func TestParseDuckType(t *testing.T) {
	for text, want := range map[string]string{
		"INTEGER":                  "INTEGER",
		"TIMESTAMP WITH TIME ZONE": "TIMESTAMP WITH TIME ZONE",
		"DECIMAL(9,2)[][3]":        "LIST(LIST(DECIMAL))",
		`STRUCT(a INTEGER, "x ""y"" (z)" MAP(VARCHAR, STRUCT(q TIMESTAMP WITH TIME ZONE)))`: `STRUCT(a INTEGER,x "y" (z) MAP(VARCHAR,STRUCT(q TIMESTAMP WITH TIME ZONE)))`,
		"STRUCT(INTEGER, TIMESTAMP WITH TIME ZONE, VARCHAR[])":                              "STRUCT(INTEGER,TIMESTAMP WITH TIME ZONE,LIST(VARCHAR))",
		`STRUCT("NULL", DECIMAL(1,0))`:                                                      "STRUCT(NULL,DECIMAL)",
		"ENUM('a', 'b)', 'c''d')[]":                                                         "LIST(ENUM)",
		"UNION(num INTEGER, str VARCHAR)":                                                   "UNION(num INTEGER,str VARCHAR)",
		"":                                                                                  "",
		"STRUCT(":                                                                           "",
		"INTEGER]":                                                                          "",
		"MAP(INTEGER":                                                                       "",
		strings.Repeat("STRUCT(a ", 1000):                                                   "",
		"ENUM('a":                                                                           "",
		"DECIMAL(99999999999999999999999999,)":                                              "",
	} {
		var print func(t duckType) string
		print = func(t duckType) string {
			var parts []string
			for _, f := range t.fields {
				parts = append(parts, strings.TrimSpace(f.name+" "+print(f.typ)))
			}
			if parts == nil {
				return t.name
			}
			return t.name + "(" + strings.Join(parts, ",") + ")"
		}
		if got := print(parseDuckType(text)); got != want {
			t.Errorf("%.40q is read as %s, want %s", text, got, want)
		}
	}
}
