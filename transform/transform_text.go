package transform

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

var opNames = [...]string{
	Identity: "identity", Bucket: "bucket", Truncate: "truncate", Year: "year", Month: "month", Day: "day", Hour: "hour",
	Void: "void", OpUnknown: "unknown",
}

// opsByName holds the transforms that take no parameter.
var opsByName = map[string]Op{
	"identity": Identity, "year": Year, "month": Month, "day": Day, "hour": Hour, "void": Void,
}

// Parse reads a transform as table metadata spells it, in any case. Text that it doesn't know becomes an OpUnknown that
// keeps it: the spec asks readers to go on without such a field. A bucket count or truncate width that isn't a positive
// 32-bit integer is an error.
func Parse(s string) (Transform, error) {
	text := strings.ToLower(s)
	if op, ok := opsByName[text]; ok {
		return Transform{Op: op}, nil
	}
	for _, op := range []Op{Bucket, Truncate} {
		rest, ok := strings.CutPrefix(text, opNames[op]+"[")
		digits, closed := strings.CutSuffix(rest, "]")
		if !ok || !closed || !isInteger(digits) {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 32)
		if err != nil || n < 1 {
			return Transform{}, fmt.Errorf("transform %q: the parameter must be 1 to %d", s, math.MaxInt32)
		}
		return Transform{Op: op, N: int(n)}, nil
	}
	return Transform{Op: OpUnknown, Text: s}, nil
}

func isInteger(s string) bool { return isDigits(strings.TrimPrefix(s, "-")) }

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// String returns the transform as the spec spells it: "bucket[16]".
func (t Transform) String() string {
	switch t.Op {
	case Bucket, Truncate:
		return opNames[t.Op] + "[" + strconv.Itoa(t.N) + "]"
	case OpUnknown:
		return t.Text
	}
	return opNames[t.Op]
}

// SQL returns the transform of col as DDL spells it: "bucket(16, col)", "days(col)", and col itself for identity. The
// caller quotes col. DDL has no form for an unknown transform: its text stands before the column, for people to read.
func (t Transform) SQL(col string) string {
	switch t.Op {
	case Identity:
		return col
	case Bucket, Truncate:
		return fmt.Sprintf("%s(%d, %s)", opNames[t.Op], t.N, col)
	case Year, Month, Day, Hour:
		return opNames[t.Op] + "s(" + col + ")"
	}
	return t.String() + "(" + col + ")"
}

// Human returns v, a value of the partition field that t makes from src, as people write it: the date of a day, the
// date and hour of an hour, "null" for NULL.
func (t Transform) Human(src Type, v Value) string {
	if v == nil {
		return "null"
	}
	n, isInt := intOf(v)
	if !isInt {
		return FormatValue(t.ResultType(src), v)
	}
	switch t.Op {
	case Year:
		return formatYear(1970 + n)
	case Month:
		return fmt.Sprintf("%s-%02d", formatYear(1970+floorDiv(n, 12)), floorMod(n, 12)+1)
	case Day:
		return formatDate(n)
	case Hour:
		return fmt.Sprintf("%s-%02d", formatDate(floorDiv(n, 24)), floorMod(n, 24))
	}
	return FormatValue(t.ResultType(src), v)
}

// ParseHuman reads what Human writes, but for NULL.
func (t Transform) ParseHuman(src Type, text string) (Value, error) {
	var n int64
	var err error
	switch t.Op {
	case Year:
		var days int64
		days, err = parseDays(text + "-01-01")
		year, _, _ := civil(days)
		n = year - 1970
	case Month:
		var days int64
		days, err = parseDays(text + "-01")
		year, month, _ := civil(days)
		n = (year-1970)*12 + int64(month) - 1
	case Day:
		n, err = parseDays(text)
	case Hour:
		n, err = parseHour(text)
	case Void:
		err = fmt.Errorf("it holds nothing but NULL")
	default:
		return ParseValue(t.ResultType(src), text)
	}
	if err == nil && n != int64(int32(n)) {
		err = fmt.Errorf("it is out of range")
	}
	if err != nil {
		return nil, fmt.Errorf("%q is no %s: %w", text, opNames[t.Op], err)
	}
	return int32(n), nil
}

// parseHour reads a date and an hour of it.
func parseHour(text string) (int64, error) {
	at := strings.LastIndexByte(text, '-')
	if at < 0 || len(text)-at != 3 {
		return 0, fmt.Errorf("an hour is written as 2017-11-16-22")
	}
	days, err := parseDays(text[:at])
	if err != nil {
		return 0, err
	}
	hour, err := strconv.ParseUint(text[at+1:], 10, 8)
	if err != nil || hour > 23 {
		return 0, fmt.Errorf("an hour is written as 2017-11-16-22")
	}
	return days*24 + int64(hour), nil
}
