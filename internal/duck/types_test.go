package duck

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tarndb/tarn/internal/errs"
)

// typedValues are one value of each type that a result may have, with its Arrow type and how it reads there.
var typedValues = []struct{ sql, typ, arrow, value string }{
	{`true`, "BOOLEAN", "bool", "true"},
	{`1::TINYINT`, "TINYINT", "int8", "1"},
	{`1::SMALLINT`, "SMALLINT", "int16", "1"},
	{`1`, "INTEGER", "int32", "1"},
	{`-9223372036854775808`, "BIGINT", "int64", "-9223372036854775808"},
	{`1::UTINYINT`, "UTINYINT", "uint8", "1"},
	{`1::USMALLINT`, "USMALLINT", "uint16", "1"},
	{`1::UINTEGER`, "UINTEGER", "uint32", "1"},
	{`18446744073709551615::UBIGINT`, "UBIGINT", "uint64", "18446744073709551615"},
	{`1.5::FLOAT`, "FLOAT", "float32", "1.5"},
	{`'nan'::DOUBLE`, "DOUBLE", "float64", "NaN"},
	{`12.5::DECIMAL(4,1)`, "DECIMAL(4,1)", "decimal(4, 1)", "12.5"},
	{`-0.0001::DECIMAL(18,4)`, "DECIMAL(18,4)", "decimal(18, 4)", "-0.0001"},
	{`99999999999999999999999999999999999999::DECIMAL(38,0)`, "DECIMAL(38,0)", "decimal(38, 0)", ""},
	{`'x'`, "VARCHAR", "utf8", "x"},
	{`'a longer text than twelve bytes'`, "VARCHAR", "utf8", "a longer text than twelve bytes"},
	{`'\x00\xFF'::BLOB`, "BLOB", "binary", "AP8="},
	{`'f79c3e09-677c-4bbd-a479-3f349cb785e7'::UUID`, "UUID", "utf8", "f79c3e09-677c-4bbd-a479-3f349cb785e7"},
	{`DATE '1969-12-31'`, "DATE", "date32", "1969-12-31"},
	{`TIME '22:31:08.000001'`, "TIME", "time64[us]", "22:31:08.000001"},
	{`TIMESTAMP '2017-11-16 22:31:08.000001'`, "TIMESTAMP", "timestamp[us]", "2017-11-16T22:31:08.000001"},
	{`TIMESTAMPTZ '2017-11-16 14:31:08-08'`, "TIMESTAMP WITH TIME ZONE", "timestamp[us, tz=UTC]", "2017-11-16T22:31:08Z"},
	{`'1969-12-31 23:59:59.999999999'::TIMESTAMP_NS`, "TIMESTAMP_NS", "timestamp[ns]", "1969-12-31T23:59:59.999999999"},
	{`TIMESTAMP_S '2017-11-16 22:31:08'`, "TIMESTAMP_S", "timestamp[s]", "2017-11-16T22:31:08"},
	{`TIMESTAMP_MS '2017-11-16 22:31:08.001'`, "TIMESTAMP_MS", "timestamp[ms]", "2017-11-16T22:31:08.001"},
	{`INTERVAL '14 months 3 days 4.000005 seconds'`, "INTERVAL", "month_day_nano_interval", `{"months":14,"days":3,"nanoseconds":4000005000}`},
	{`'b'::ENUM('a', 'b''c', 'b')`, "ENUM('a', 'b''c', 'b')", "dictionary<values=utf8, indices=uint8, ordered=false>", "b"},
	{`'{"a":1}'::JSON`, "JSON", "utf8", `{"a":1}`},
	{`{'a': 1, 'B c': [1, 2], 'select': {'x': DATE '2020-01-01'}}`, `STRUCT(a INTEGER, "B c" INTEGER[], "select" STRUCT(x DATE))`,
		"struct<a: int32 nullable, B c: list<l: int32, nullable> nullable, select: struct<x: date32 nullable> nullable>",
		`{"B c":[1,2],"a":1,"select":{"x":"2020-01-01"}}`},
	{`row(1, 'x')`, "STRUCT(INTEGER, VARCHAR)", "struct<: int32 nullable, : utf8 nullable>", ""},
	{`[[1], NULL]`, "INTEGER[][]", "list<l: list<l: int32, nullable>, nullable>", "[[1],null]"},
	{`[1, 2]::INTEGER[2]`, "INTEGER[2]", "fixed_size_list<: int32, nullable>[2]", "[1,2]"},
	{`MAP {'k': 1.5}`, "MAP(VARCHAR, DECIMAL(2,1))", "map<utf8, decimal(2, 1), items_nullable>", ""},
	{`union_value("year" := 1)`, `UNION("year" INTEGER)`, "sparse_union<year: type=int32, nullable=0>", ""},
	{`NULL::INTEGER`, "INTEGER", "int32", "(null)"}, // DuckDB makes INTEGER of a column of bare NULLs itself
	{`'101'::BIT`, "BIT", "binary", "Bf0="},         // the count of padding bits, then the bits, padded in front by ones
}

// Each type has DuckDB's own name, from a result and from Describe, and arrives in Arrow as documented.
func TestTypesInArrow(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	for _, v := range typedValues {
		if got := mustRows(t, c, "SELECT typeof("+v.sql+")"); got[0] != v.typ {
			t.Errorf("DuckDB says %s for %s, not %s", got[0], v.sql, v.typ)
		}
		columns, err := c.Describe(t.Context(), "SELECT "+v.sql+" AS \"the column\"")
		if err != nil || len(columns) != 1 || columns[0] != (Column{"the column", v.typ}) {
			t.Errorf("%s: described as %q, %v", v.sql, columns, err)
		}
		res, err := c.Query(t.Context(), "SELECT "+v.sql+" AS \"the column\"")
		if err != nil {
			t.Errorf("%s: %v", v.sql, err)
			continue
		}
		if got := res.Columns(); got[0] != (Column{"the column", v.typ}) {
			t.Errorf("%s: the result's column is %v", v.sql, got)
		}
		if got := res.Schema().Field(0).Type.String(); got != v.arrow {
			t.Errorf("%s arrives as %s, not %s", v.sql, got, v.arrow)
		}
		res.Close()
		if got := mustRows(t, c, "SELECT "+v.sql); v.value != "" && got[0] != v.value {
			t.Errorf("%s reads %s, not %s", v.sql, got[0], v.value)
		}
	}
}

func TestBitText(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	for _, bits := range []string{"1", "0", "101", "00000000", "1010101011", "0000000000000001"} {
		got, err := base64.StdEncoding.DecodeString(mustRows(t, c, "SELECT '"+bits+"'::BIT")[0])
		if err != nil || BitText(got) != bits {
			t.Errorf("%s reads %s, %v", bits, BitText(got), err)
		}
	}
	if BitText(nil) != "" {
		t.Error("no bits have a text")
	}
}

// HUGEINT arrives as decimal(38, 0) with all its 128 bits, also where 38 digits don't do.
func TestHugeIntKeepsAllBits(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	for _, text := range []string{
		"170141183460469231731687303715884105727", "-170141183460469231731687303715884105728", "-1", "0",
		"99999999999999999999999999999999999999", "18446744073709551616",
	} {
		res, err := c.Query(t.Context(), "SELECT '"+text+"'::HUGEINT")
		if err != nil {
			t.Fatal(err)
		}
		chunk, err := res.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		rec, err := chunk.Record()
		if err != nil {
			t.Fatal(err)
		}
		want, _ := new(big.Int).SetString(text, 10)
		if got := rec.Column(0).(*array.Decimal128).Value(0).BigInt(); got.Cmp(want) != 0 {
			t.Errorf("%s arrives as %s", text, got)
		}
		rec.Release()
		chunk.Close()
		res.Close()
	}
}

// What Arrow can't carry whole is refused, with the way out, and not cut.
func TestUnfaithfulTypesAreRefused(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	for _, sql := range []string{
		`'12:00:00+02'::TIMETZ`, `5::UHUGEINT`, `5::BIGNUM`, `5::VARIANT`, `['12:00:00+02'::TIMETZ]`, `{'a': MAP {1: 5::BIGNUM}}`,
		`'12:00:00.123456789'::TIME_NS`,
	} {
		_, err := rowsOf(t.Context(), c, "SELECT "+sql+" AS x")
		wantError(t, err, errs.Unsupported, "x")
		if !strings.Contains(errs.HintOf(err), "VARCHAR") {
			t.Errorf("%s: hint %q", sql, errs.HintOf(err))
		}
	}
}

// A record outlives its chunk, its result and the connection.
func TestRecordsOutliveTheirSource(t *testing.T) {
	db, err := Open(t.Context(), Options{Threads: 1, TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	c, err := db.Connect()
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Query(t.Context(), `SELECT 'a text of more than twelve bytes ' || i, [i, NULL] FROM range(3000) t(i) ORDER BY i`)
	if err != nil {
		t.Fatal(err)
	}
	chunk, err := res.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rec, err := chunk.Record()
	if err != nil {
		t.Fatal(err)
	}
	chunk.Close()
	res.Close()
	c.Close()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range int(rec.NumRows()) {
		text, list := rec.Column(0).ValueStr(i), rec.Column(1).ValueStr(i)
		if text != fmt.Sprintf("a text of more than twelve bytes %d", i) || list != fmt.Sprintf("[%d,null]", i) {
			t.Fatalf("row %d reads %q, %q", i, text, list)
		}
	}
	rec.Release()
}
