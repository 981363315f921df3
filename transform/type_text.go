package transform

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxPrecision is the spec's limit on the digits of a decimal.
const MaxPrecision = 38

// kindNames holds the spec's name of every kind; decimal and fixed are followed by their parameters.
var kindNames = [...]string{
	None: "none", Boolean: "boolean", Int: "int", Long: "long", Float: "float", Double: "double", Decimal: "decimal",
	Date: "date", Time: "time", Timestamp: "timestamp", TimestampTZ: "timestamptz", TimestampNS: "timestamp_ns",
	TimestampTZNS: "timestamptz_ns", String: "string", UUID: "uuid", Fixed: "fixed", Binary: "binary",
	Unknown: "unknown", Variant: "variant", Geometry: "geometry", Geography: "geography",
}

var kindsByName = func() map[string]Kind {
	m := make(map[string]Kind, len(kindNames))
	for k, name := range kindNames {
		m[name] = Kind(k)
	}
	delete(m, kindNames[None])
	return m
}()

// String returns the spec's name of the kind.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// String returns the type as the spec spells it: "decimal(9, 2)", "fixed[16]".
func (t Type) String() string {
	switch t.Kind {
	case Decimal:
		return fmt.Sprintf("decimal(%d, %d)", t.Precision, t.Scale)
	case Fixed:
		return fmt.Sprintf("fixed[%d]", t.Length)
	}
	return t.Kind.String()
}

// ParseType reads a primitive type as the spec spells it, in any case and with any blanks around its parameters. The
// coordinate system of geometry and geography is accepted and not kept.
func ParseType(s string) (Type, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	name, params := text, ""
	if i := strings.IndexAny(text, "(["); i >= 0 {
		name, params = strings.TrimSpace(text[:i]), text[i:]
	}
	kind, known := kindsByName[name]
	switch {
	case !known:
		return Type{}, fmt.Errorf("%q is no primitive type", s)
	case kind == Decimal:
		return parseDecimalType(s, params)
	case kind == Fixed:
		n, err := strconv.Atoi(strings.TrimSpace(enclosed(params, '[', ']')))
		if err != nil || n < 0 {
			return Type{}, fmt.Errorf("%q: fixed needs its length in bytes, as in fixed[16]", s)
		}
		return Type{Kind: Fixed, Length: n}, nil
	case params != "" && kind != Geometry && kind != Geography:
		return Type{}, fmt.Errorf("%q: %s takes no parameters", s, name)
	case params != "" && enclosed(params, '(', ')') == "":
		return Type{}, fmt.Errorf("%q: the parameters of %s stand in parentheses", s, name)
	}
	return Type{Kind: kind}, nil
}

func parseDecimalType(s, params string) (Type, error) {
	left, right, _ := strings.Cut(enclosed(params, '(', ')'), ",")
	precision, err1 := strconv.Atoi(strings.TrimSpace(left))
	scale, err2 := strconv.Atoi(strings.TrimSpace(right))
	if err1 != nil || err2 != nil {
		return Type{}, fmt.Errorf("%q: decimal needs precision and scale, as in decimal(9, 2)", s)
	}
	if precision < 1 || precision > MaxPrecision || scale < 0 || scale > precision {
		return Type{}, fmt.Errorf("%q: precision must be 1 to %d and scale 0 to the precision", s, MaxPrecision)
	}
	return Type{Kind: Decimal, Precision: precision, Scale: scale}, nil
}

// enclosed returns what stands between open and shut, or "" when s isn't of that form.
func enclosed(s string, open, shut byte) string {
	if len(s) < 2 || s[0] != open || s[len(s)-1] != shut {
		return ""
	}
	return s[1 : len(s)-1]
}

// CanHash says whether bucket is defined on the type.
func (t Type) CanHash() bool {
	switch t.Kind {
	case Int, Long, Decimal, Date, Time, Timestamp, TimestampTZ, TimestampNS, TimestampTZNS, String, UUID, Fixed, Binary:
		return true
	}
	return false
}

func (t Type) isFloat() bool { return t.Kind == Float || t.Kind == Double }

// isNumber says whether truncate works by a multiple of its width.
func (t Type) isNumber() bool { return t.Kind == Int || t.Kind == Long || t.Kind == Decimal }

// IsTimestamp says whether values of the type are points in time, with a zone or without.
func (t Type) IsTimestamp() bool {
	return t.Kind == Timestamp || t.Kind == TimestampTZ || t.Kind == TimestampNS || t.Kind == TimestampTZNS
}
