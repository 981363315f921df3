package output

import (
	"encoding/hex"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tarndb/tarn/internal/errs"
)

// style is how values are spelled: as JSON, or as the text that DuckDB's own cast to VARCHAR gives, except that binary is
// lower-case hex.
type style uint8

const (
	plain style = iota
	asJSON
)

// cell appends the i-th value of the array that it was bound to.
type cell func(dst []byte, i int) []byte

// scalar is a cell that also says whether JSON takes the text bare, as a number or a truth value, rather than quoted.
type scalar func(dst []byte, i int) (out []byte, bare bool)

// bind returns the cell of an array. A NULL is spelled null in JSON and NULL in text, also within nested values.
func (s style) bind(t duckType, arr arrow.Array) (cell, error) {
	if ext, ok := arr.(array.ExtensionArray); ok {
		if isUUID(t, ext) {
			t = duckType{name: "UUID"}
		}
		return s.bind(t, ext.Storage())
	}
	value, err := s.bindValue(t, arr)
	if err != nil {
		return nil, err
	}
	null := "NULL"
	if s == asJSON {
		null = "null"
	}
	allNull := arr.DataType().ID() == arrow.NULL
	return func(dst []byte, i int) []byte {
		if allNull || arr.IsNull(i) {
			return append(dst, null...)
		}
		return value(dst, i)
	}, nil
}

func isUUID(t duckType, ext array.ExtensionArray) bool {
	return t.name == "UUID" || t.name == "" && ext.ExtensionType().ExtensionName() == "arrow.uuid"
}

// bindValue returns a cell for the values that aren't NULL.
func (s style) bindValue(t duckType, arr arrow.Array) (cell, error) {
	if t.name == "TIME WITH TIME ZONE" {
		return nil, errs.New(errs.Unsupported, "", "", "a %s arrives without its zone", t.name).
			WithHint("cast the column to VARCHAR or TIME")
	}
	if f, ok := scalarOf(t, arr); ok {
		return s.finish(f), nil
	}
	switch a := arr.(type) {
	case *array.Float32:
		return s.finish(func(dst []byte, i int) ([]byte, bool) {
			if s == asJSON { // widened: what any JSON reader makes of it
				return appendFloat(dst, float64(a.Value(i)), 64)
			}
			return appendFloat(dst, float64(a.Value(i)), 32)
		}), nil
	case *array.String:
		return s.text(a.Value), nil
	case *array.LargeString:
		return s.text(a.Value), nil
	case *array.StringView:
		return s.text(a.Value), nil
	case *array.Dictionary:
		value, err := s.bind(t, a.Dictionary())
		if err != nil {
			return nil, err
		}
		return func(dst []byte, i int) []byte { return value(dst, a.GetValueIndex(i)) }, nil
	case *array.Map:
		return s.bindMap(t, a)
	case array.ListLike: // after the map, which is one too
		return s.bindList(t, a)
	case *array.Struct:
		return s.bindStruct(t, a)
	case array.Union:
		return s.bindUnion(t, a)
	}
	return nil, errs.New(errs.Unsupported, "write", "", "a column of the type %s (Arrow: %s) has no text form here", t.name,
		arr.DataType())
}

// finish turns a scalar into a cell of the style.
func (s style) finish(f scalar) cell {
	if s == plain {
		return func(dst []byte, i int) []byte {
			dst, _ = f(dst, i)
			return dst
		}
	}
	return func(dst []byte, i int) []byte {
		start := len(dst)
		dst, bare := f(append(dst, '"'), i)
		if bare {
			return append(dst[:start], dst[start+1:]...)
		}
		return append(dst, '"')
	}
}

// text is the cell of a string column.
func (s style) text(value func(int) string) cell {
	if s == asJSON {
		return func(dst []byte, i int) []byte { return appendJSONString(dst, value(i)) }
	}
	return func(dst []byte, i int) []byte { return append(dst, value(i)...) }
}

// scalarOf returns the spelling of an array whose values are single words without quotes in them.
func scalarOf(t duckType, arr arrow.Array) (scalar, bool) {
	switch a := arr.(type) {
	case *array.Null:
		return func(dst []byte, _ int) ([]byte, bool) { return dst, false }, true
	case *array.Boolean:
		return func(dst []byte, i int) ([]byte, bool) { return strconv.AppendBool(dst, a.Value(i)), true }, true
	case *array.FixedSizeBinary:
		return binaryOf(t, a.Value), true
	case *array.Binary:
		return binaryOf(t, a.Value), true
	case *array.LargeBinary:
		return binaryOf(t, a.Value), true
	case *array.BinaryView:
		return binaryOf(t, a.Value), true
	}
	if f, ok := numberOf(t, arr); ok {
		return f, true
	}
	return temporalOf(t, arr)
}

// binaryOf spells bytes in lower-case hex, but for the types that merely arrive as bytes.
func binaryOf(t duckType, value func(int) []byte) scalar {
	switch t.name {
	case "UUID":
		return func(dst []byte, i int) ([]byte, bool) { return appendUUID(dst, value(i)), false }
	case "BIT":
		return func(dst []byte, i int) ([]byte, bool) { return appendBits(dst, value(i)), false }
	case "BIGNUM":
		return func(dst []byte, i int) ([]byte, bool) {
			n := bigNumber(value(i))
			return n.Append(dst, 10), n.IsInt64() || n.IsUint64()
		}
	}
	return func(dst []byte, i int) ([]byte, bool) { return hex.AppendEncode(dst, value(i)), false }
}

func appendUUID(dst, b []byte) []byte {
	if len(b) != 16 {
		return hex.AppendEncode(dst, b)
	}
	for _, part := range [][]byte{b[:4], b[4:6], b[6:8], b[8:10]} {
		dst = append(hex.AppendEncode(dst, part), '-')
	}
	return hex.AppendEncode(dst, b[10:])
}

// appendBits writes a bit string, which DuckDB keeps as the number of bits to leave out at the front, then the bits.
func appendBits(dst, b []byte) []byte {
	if len(b) == 0 {
		return dst
	}
	for i := int(b[0]); i < 8*(len(b)-1); i++ {
		dst = append(dst, '0'+b[1+i/8]>>(7-i%8)&1)
	}
	return dst
}
