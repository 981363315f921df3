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
