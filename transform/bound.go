package transform

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
)

// maxDecimalBytes is what a decimal of MaxPrecision digits needs.
const maxDecimalBytes = 16

// EncodeBound returns v, a value of t and not NULL, in the spec's single-value binary form (appendix D), as bounds of
// manifests and manifest lists hold it.
func EncodeBound(t Type, v Value) ([]byte, error) {
	v, err := canonical(t, v)
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	switch x := v.(type) {
	case bool:
		return []byte{byte(compareBools(x, false))}, nil
	case int32:
		return le.AppendUint32(nil, uint32(x)), nil
	case int64:
		return le.AppendUint64(nil, uint64(x)), nil
	case float32:
		return le.AppendUint32(nil, math.Float32bits(x)), nil
	case float64:
		return le.AppendUint64(nil, math.Float64bits(x)), nil
	case *big.Int:
		return DecimalBytes(x), nil
	case string:
		return []byte(x), nil
	case [16]byte:
		return x[:], nil
	case []byte:
		if t.Kind == Binary || t.Kind == Fixed {
			return bytes.Clone(x), nil
		}
	}
	return nil, fmt.Errorf("type %s has no bounds", t)
}

// DecodeBound reads the spec's single-value binary form of a value of t. It accepts what stands in files written before
// the column was promoted: an int's bound for a long, a float's for a double, a date's for a timestamp, and decimals of
// any width. A bound of a fixed may be cut short, like one of a string or binary, and a bound may be NaN: old writers
// counted it among the values.
func DecodeBound(t Type, b []byte) (Value, error) {
	if v, ok := decodeFixedWidth(t, b); ok {
		return v, nil
	}
	switch {
	case t.Kind == Decimal && len(b) >= 1 && len(b) <= maxDecimalBytes:
		return decimalFromBytes(b), nil
	case t.Kind == UUID && len(b) == 16:
		return [16]byte(b), nil
	case t.Kind == String:
		return canonical(t, string(b))
	case t.Kind == Binary || t.Kind == Fixed:
		return append([]byte{}, b...), nil
	}
	return nil, fmt.Errorf("%d bytes (%x) are no bound of type %s", len(b), b, t)
}

func decodeFixedWidth(t Type, b []byte) (Value, bool) {
	switch len(b) {
	case 1:
		return b[0] != 0, t.Kind == Boolean
	case 4:
		return decode4(t, binary.LittleEndian.Uint32(b))
	case 8:
		return decode8(t, binary.LittleEndian.Uint64(b))
	}
	return nil, false
}

func decode4(t Type, u uint32) (Value, bool) {
	switch t.Kind {
	case Int, Date:
		return int32(u), true
	case Long:
		return int64(int32(u)), true
	case Float:
		return math.Float32frombits(u), true
	case Double:
		return float64(math.Float32frombits(u)), true
	case Timestamp, TimestampNS:
		perDay := secondsPerDay * t.unitsPerSecond()
		v := int64(int32(u)) * perDay
		return v, v/perDay == int64(int32(u))
	}
	return nil, false
}

func decode8(t Type, u uint64) (Value, bool) {
	switch t.Kind {
	case Long, Time, Timestamp, TimestampTZ, TimestampNS, TimestampTZNS:
		return int64(u), true
	case Double:
		return math.Float64frombits(u), true
	}
	return nil, false
}
