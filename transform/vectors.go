package transform

// Vector is a known hash: the value of a type, as ParseValue reads it, and its hash by the spec.
type Vector struct {
	Type  string
	Value string
	Hash  int32
}

// SpecVectors returns hashes to check an implementation against: the table of the spec's appendix B, then values on
// which implementations have gone wrong, computed from the spec.
func SpecVectors() []Vector {
	return append(append([]Vector{}, specVectors...), edgeVectors...)
}

var specVectors = []Vector{
	{"int", "34", 2017239379},
	{"long", "34", 2017239379},
	{"decimal(9, 2)", "14.20", -500754589},
	{"date", "2017-11-16", -653330422},
	{"time", "22:31:08", -662762989},
	{"timestamp", "2017-11-16T22:31:08", -2047944441},
	{"timestamp", "2017-11-16T22:31:08.000001", -1207196810},
	{"timestamptz", "2017-11-16T14:31:08-08:00", -2047944441},
	{"timestamptz", "2017-11-16T14:31:08.000001-08:00", -1207196810},
	{"timestamp_ns", "2017-11-16T22:31:08", -2047944441},
	{"timestamp_ns", "2017-11-16T22:31:08.000001001", -1207196810},
	{"timestamptz_ns", "2017-11-16T14:31:08-08:00", -2047944441},
	{"timestamptz_ns", "2017-11-16T14:31:08.000001001-08:00", -1207196810},
	{"string", "iceberg", 1210000089},
	{"uuid", "f79c3e09-677c-4bbd-a479-3f349cb785e7", 1488055340},
	{"fixed[4]", "00010203", -188683207},
	{"binary", "00010203", -188683207},
	{"boolean", "true", 1392991556},
	{"float", "1.0", -142385009},
	{"float", "0.0", 1669671676},
	{"float", "-0.0", 1669671676},
	{"double", "1.0", -142385009},
	{"double", "0.0", 1669671676},
	{"double", "-0.0", 1669671676},
}

var edgeVectors = []Vector{
	// Integers and dates hash as eight bytes.
	{"int", "-1", 1651860712},
	{"int", "-34", -2117612851},
	{"int", "-2147483648", -2073034792},
	{"int", "2147483647", 1819228606},
	{"long", "-9223372036854775808", 1366273829},
	{"long", "9223372036854775807", -2106506049},
	{"date", "1969-12-31", 1651860712},
	{"date", "0001-01-01", 581067273},
	// Decimals hash as the shortest two's complement.
	{"decimal(9, 0)", "0", 1364076727},
	{"decimal(9, 0)", "-1", -43192051},
	{"decimal(9, 0)", "128", 1544076949},
	{"decimal(9, 0)", "-128", 267099677},
	{"decimal(9, 0)", "-129", -435537839},
	{"decimal(9, 0)", "255", -582037868},
	{"decimal(9, 0)", "-255", 594344554},
	{"decimal(9, 0)", "-32768", 1659329203},
	{"decimal(9, 0)", "-8388608", -640632435},
	{"decimal(9, 2)", "-14.20", 667775751},
	{"decimal(38, 0)", "99999999999999999999999999999999999999", -1079967834},
	{"decimal(38, 0)", "-99999999999999999999999999999999999999", -1954217638},
	{"decimal(38, 0)", "13730276981194331810251895887125837580", -32334285},
	// A uuid hashes as its bytes in the order of its text.
	{"uuid", "00000000-0000-0000-0000-000000000000", -2127245832},
	{"uuid", "ffffffff-ffff-ffff-ffff-ffffffffffff", -451333010},
	// Nanoseconds become microseconds by rounding down.
	{"timestamp_ns", "1969-12-31T23:59:59.999999999", 1651860712},
	// Strings hash as UTF-8, also outside the basic plane.
	{"string", "a\U0001F4B0", 2052573122},
	{"string", "\U0001F600", -1095487750},
	{"string", "\U00020000", -1999699822},
	{"string", "日本", -992347838},
	{"string", "żółw", -43355136},
}
