package property

import (
	"math/big"
	"slices"
	"strings"

	"github.com/tarndb/tarn/transform"
)

// kind is a type of key columns: values to draw from, and the transforms that a spec may put on it. Joins on floats are never
// by groups, since 0.0 and -0.0 are two partitions and one value.
type kind struct {
	name    string   // Iceberg's name of the type
	class   string   // keys of one class may be joined
	values  []string // as SQL literals of the type
	extreme []string // values so small that some truncations of them don't fit the type
	fns     []string
	mates   []string // literals of other types that SQL compares with the column
}

// takes says whether a spec's transforms of a column can take one of its values: a truncation must fit the type.
func (k *kind) takes(spec []string, column, literal string) bool {
	for _, f := range spec {
		fn, col, _ := strings.Cut(f, " ")
		if col != column || !strings.HasPrefix(fn, "truncate") || !slices.Contains(k.extreme, literal) {
			continue
		}
		t, err := transform.Parse(fn)
		if err != nil {
			return false
		}
		least, ok := map[string]int64{"int": -1 << 31, "long": -1 << 63}[k.name]
		v, isWhole := new(big.Int).SetString(strings.Trim(literal, "()"), 10)
		if !ok || !isWhole {
			return false
		}
		// How far the value lies above the multiple below it, which mustn't be below the least value.
		above := new(big.Int).Mod(v, big.NewInt(int64(t.N)))
		if above.Sub(v, above).Cmp(big.NewInt(least)) < 0 {
			return false
		}
	}
	return true
}

// pool returns the values that a column may have under a spec, but for NULL.
func (k *kind) pool(spec []string, column string) []string {
	out := slices.Clone(k.values)
	for _, v := range k.extreme {
		if k.takes(spec, column, v) {
			out = append(out, v)
		}
	}
	return out
}

// relatives returns transforms of one family with fn: such that one may be a reduction of the other.
func (k *kind) relatives(fn string) []string {
	family := func(fn string) string {
		name, _, _ := strings.Cut(fn, "[")
		if slices.Contains(times, name) {
			return "time"
		}
		return name
	}
	var out []string
	for _, other := range k.fns {
		if other != fn && (family(other) == family(fn) || other == "identity") {
			out = append(out, other)
		}
	}
	return append(out, fn)
}

var times = []string{"year", "month", "day", "hour"}

// loose are classes between which SQL compares, though no layout does. Times aren't compared with nanoseconds: DuckDB widens
// them, which fails beyond the year 2262, on whichever rows it comes to.
var loose = [][]string{{"integer", "decimal0", "decimal2", "decimal10", "float"}, {"date", "timestamp", "timestamptz"}}

func comparable(a, b string) bool {
	return a == b || slices.ContainsFunc(loose, func(l []string) bool { return slices.Contains(l, a) && slices.Contains(l, b) })
}

// kindsOf returns the kinds of a class.
func kindsOf(class string) []*kind {
	var out []*kind
	for _, k := range allKinds {
		if k.class == class {
			out = append(out, k)
		}
	}
	return out
}

var kinds = []*kind{
	{
		name: "int", class: "integer",
		values:  []string{"0", "1", "-1", "2", "7", "10", "12", "-10", "-11", "34", "-34", "100", "1000003", "2147483647", "-2147483640"},
		extreme: []string{"(-2147483648)", "-2147483647", "-2147483646", "-2147483644", "-2147483641"},
		fns: []string{"bucket[4]", "bucket[8]", "bucket[7]", "bucket[12]", "bucket[6]", "identity",
			"truncate[10]", "truncate[3]", "truncate[4]", "truncate[20]"},
		mates: []string{"7.0", "6.5", "3000000000", "'34'", "CAST(1 AS SMALLINT)", "NULL", "1e1"},
	},
	{
		name: "long", class: "integer",
		values: []string{"0", "1", "-1", "2", "7", "10", "12", "-10", "-11", "34", "-34", "5000000000", "-5000000000",
			"9223372036854775807", "2147483647", "(-2147483648)", "-2147483640"},
		extreme: []string{"(-9223372036854775808)", "-9223372036854775807", "-9223372036854775806", "-9223372036854775804", "-9223372036854775800"},
		fns: []string{"bucket[4]", "bucket[8]", "bucket[7]", "bucket[12]", "bucket[6]", "identity",
			"truncate[10]", "truncate[3]", "truncate[4]", "truncate[20]"},
		mates: []string{"7.0", "6.5", "9223372036854775808", "'34'", "CAST(1 AS SMALLINT)", "NULL", "1e1"},
	},
	{
		name: "decimal(9,2)", class: "decimal2",
		values:  []string{"0.00", "0.01", "-0.01", "14.20", "-14.20", "1.28", "-1.28", "2.55", "10.65", "-10.65", "9999999.99"},
		extreme: []string{"-9999999.99"},
		fns:     []string{"bucket[4]", "bucket[8]", "bucket[7]", "bucket[6]", "identity", "truncate[50]", "truncate[20]"},
		mates:   []string{"14", "1.280", "2.551", "'14.2'", "99999999999.5", "NULL"},
	},
	{
		name: "decimal(18,2)", class: "decimal2",
		values: []string{"0.00", "0.01", "-0.01", "14.20", "-14.20", "1.28", "2.55", "10.65", "-10.65", "9999999.99", "99999999.99",
			"-99999999.99", "9999999999999999.99"},
		extreme: []string{"-9999999999999999.99"},
		fns:     []string{"bucket[4]", "bucket[8]", "bucket[7]", "bucket[6]", "identity", "truncate[50]", "truncate[20]"},
		mates:   []string{"14", "1.280", "2.551", "'14.2'", "99999999999.5", "NULL", "14.2e0"},
	},
	{
		name: "decimal(4,0)", class: "decimal0",
		values:  []string{"0", "1", "-1", "2", "7", "14", "-14", "128", "-128", "255", "256", "9999"},
		extreme: []string{"-9999"},
		fns:     []string{"bucket[4]", "bucket[8]", "bucket[7]", "identity", "truncate[10]", "truncate[3]"},
		mates:   []string{"14", "1.5", "'7'", "NULL"},
	},
	{
		name: "decimal(38,10)", class: "decimal10",
		values: []string{"0", "1.5", "-1.5", "0.0000000001", "-0.0000000001", "1234567890123456789.25", "128", "-128",
			"9999999999999999999999999999.9999999999"},
		extreme: []string{"-9999999999999999999999999999.9999999999"},
		fns:     []string{"bucket[4]", "bucket[8]", "identity", "truncate[10000]", "truncate[4000]"},
		mates:   []string{"128", "1.50", "NULL"},
	},
	{
		name: "string", class: "string",
		values: []string{"''", "'a'", "'ab'", "'abc'", "'abd'", "'A'", "'a💰'", "'😀'", "'日本語'", "'é'", "'e\u0301a'", "'NULL'",
			"' a'", "'a '", "'a''b'", "'x/y=z%41'", "'%'", "'0'", "'2026-07-05'", "'\U00020000'"},
		fns:   []string{"bucket[4]", "bucket[8]", "bucket[7]", "bucket[12]", "identity", "truncate[1]", "truncate[2]", "truncate[3]"},
		mates: []string{"NULL", "'ab' || 'c'"},
	},
	{
		name: "binary", class: "binary",
		values: []string{`''::BLOB`, `'\x00'::BLOB`, `'\x00\x01'::BLOB`, `'\xFF'::BLOB`, `'\x80'::BLOB`, `'abc'::BLOB`, `'ab'::BLOB`,
			`'\xE4\xB8\x96'::BLOB`, `'\x27'::BLOB`},
		fns:   []string{"bucket[4]", "bucket[8]", "identity", "truncate[1]", "truncate[2]"},
		mates: []string{"NULL"},
	},
	{
		name: "uuid", class: "uuid",
		values: []string{"'f79c3e09-677c-4bbd-a479-3f349cb785e7'::UUID", "'00000000-0000-0000-0000-000000000000'::UUID",
			"'ffffffff-ffff-ffff-ffff-ffffffffffff'::UUID", "'80000000-0000-0000-0000-000000000000'::UUID",
			"'7fffffff-ffff-ffff-ffff-ffffffffffff'::UUID", "'00000000-0000-0000-0000-000000000001'::UUID"},
		fns:   []string{"bucket[4]", "bucket[8]", "identity"},
		mates: []string{"NULL", "'f79c3e09-677c-4bbd-a479-3f349cb785e7'"},
	},
	{
		name: "date", class: "date",
		values: []string{"DATE '1970-01-01'", "DATE '1969-12-31'", "DATE '1969-12-25'", "DATE '1968-12-31'", "DATE '1900-02-28'",
			"DATE '2024-02-29'", "DATE '2024-03-01'", "DATE '2025-12-12'", "DATE '0001-01-01'", "DATE '9999-12-31'"},
		fns:   []string{"bucket[4]", "bucket[8]", "identity", "year", "month", "day"},
		mates: []string{"'1969-12-31'", "TIMESTAMP '1970-01-01 00:00:00'", "TIMESTAMP '1969-12-31 12:00:00'", "NULL"},
	},
	{
		name: "time", class: "time",
		values: []string{"TIME '00:00:00'", "TIME '23:59:59.999999'", "TIME '12:34:56.789'", "TIME '00:00:00.000001'", "TIME '12:00:00'"},
		fns:    []string{"bucket[4]", "bucket[8]", "identity"},
		mates:  []string{"'12:00:00'", "NULL"},
	},
	{
		name: "timestamp", class: "timestamp",
		values: []string{"TIMESTAMP '1970-01-01 00:00:00'", "TIMESTAMP '1969-12-31 23:59:59.999999'", "TIMESTAMP '1969-12-31 23:00:00'",
			"TIMESTAMP '1970-01-01 00:30:00'", "TIMESTAMP '1969-12-25 10:00:00'", "TIMESTAMP '1968-12-31 23:59:59.999999'",
			"TIMESTAMP '1900-02-28 01:02:03'", "TIMESTAMP '2024-01-02 00:00:00'", "TIMESTAMP '2024-01-02 23:30:00'",
			"TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59.999999'"},
		fns:   []string{"bucket[4]", "bucket[8]", "identity", "year", "month", "day", "hour"},
		mates: []string{"'1969-12-31 23:00:00'", "DATE '1970-01-01'", "DATE '2024-01-02'", "'2024-01-02'", "NULL"},
	},
	{
		name: "timestamptz", class: "timestamptz",
		values: []string{"TIMESTAMPTZ '1970-01-01 00:00:00+00'", "TIMESTAMPTZ '1969-12-31 23:59:59.999999+00'",
			"TIMESTAMPTZ '1969-12-31 23:00:00+00'", "TIMESTAMPTZ '1970-01-01 00:30:00+05:30'", "TIMESTAMPTZ '2024-01-02 00:00:00-08'",
			"TIMESTAMPTZ '1968-12-31 23:59:59.999999+00'", "TIMESTAMPTZ '2024-01-02 23:30:00+00'", "TIMESTAMPTZ '0001-01-01 00:00:00+00'"},
		fns:   []string{"bucket[4]", "bucket[8]", "identity", "year", "month", "day", "hour"},
		mates: []string{"'1969-12-31 23:00:00+00'", "TIMESTAMP '1970-01-01 00:00:00'", "DATE '1970-01-01'", "NULL"},
	},
	{
		name: "boolean", class: "boolean",
		values: []string{"true", "false"},
		fns:    []string{"identity"},
		mates:  []string{"NULL", "'t'"},
	},
}

// allKinds are those of kinds, which every engine reads, and more.
var allKinds = append(slices.Clone(kinds),
	&kind{
		name: "fixed[3]", class: "binary",
		values: []string{`'\x00\x00\x00'::BLOB`, `'\x00\x01\x02'::BLOB`, `'\xFF\xFF\xFF'::BLOB`, `'\x80\x00\x00'::BLOB`, `'abc'::BLOB`, `'\xE4\xB8\x96'::BLOB`},
		fns:    []string{"bucket[4]", "bucket[8]", "identity"},
		mates:  []string{"NULL", "'ab'::BLOB", "'abcd'::BLOB"},
	},
	&kind{
		name: "double", class: "float",
		values:  []string{"0", "'-0.0'", "1", "1.5", "-1.5", "0.1", "1e300", "-1e300", "5e-324"},
		extreme: []string{"'nan'", "'inf'", "'-inf'"},
		fns:     []string{"identity"},
		mates:   []string{"0.1", "1e0", "NULL", "16777217", "9007199254740993", "0.30000000000000004", "CAST(1.5 AS FLOAT)"},
	},
	&kind{
		name: "float", class: "float",
		values:  []string{"0", "'-0.0'", "1", "1.5", "-1.5", "0.1", "16777216", "3e38"},
		extreme: []string{"'nan'", "'inf'", "'-inf'"},
		fns:     []string{"identity"},
		mates:   []string{"0.1", "1e0", "NULL", "16777217", "CAST(0.1 AS DOUBLE)", "0.1::FLOAT"},
	},
	&kind{
		name: "timestamp_ns", class: "timestamp_ns",
		values: []string{"TIMESTAMP_NS '1970-01-01 00:00:00'", "TIMESTAMP_NS '1969-12-31 23:59:59.999999999'", "TIMESTAMP_NS '1969-12-31 23:00:00'",
			"TIMESTAMP_NS '2024-01-02 00:00:00.000000001'", "TIMESTAMP_NS '2024-01-02 23:30:00'"},
		fns:   []string{"bucket[4]", "identity", "year", "month", "day", "hour"},
		mates: []string{"'1969-12-31 23:00:00'", "DATE '1970-01-01'", "TIMESTAMP '2024-01-02 00:00:00'", "NULL"},
	},
)
