package output

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// bindList spells a list as an array of its elements.
func (s style) bindList(t duckType, a array.ListLike) (cell, error) {
	element, err := s.bindInner(t.child(0), a.ListValues())
	if err != nil {
		return nil, err
	}
	return func(dst []byte, i int) []byte {
		start, end := a.ValueOffsets(i)
		dst = append(dst, '[')
		for j := start; j < end; j++ {
			if j > start {
				dst = append(dst, ", "...)
			}
			dst = element(dst, int(j))
		}
		return append(dst, ']')
	}, nil
}

// bindMap spells a map as {key=value, ...} in text, and in JSON, whose keys can only be strings, as an array of pairs.
func (s style) bindMap(t duckType, a *array.Map) (cell, error) {
	key, err := s.bindInner(t.child(0), a.Keys())
	if err != nil {
		return nil, err
	}
	value, err := s.bindInner(t.child(1), a.Items())
	if err != nil {
		return nil, err
	}
	open, pairOpen, between, pairClose, end := "{", "", "=", "", "}"
	if s == asJSON {
		open, pairOpen, between, pairClose, end = "[", "[", ", ", "]", "]"
	}
	return func(dst []byte, i int) []byte {
		from, to := a.ValueOffsets(i)
		dst = append(dst, open...)
		for j := from; j < to; j++ {
			if j > from {
				dst = append(dst, ", "...)
			}
			dst = key(append(dst, pairOpen...), int(j))
			dst = value(append(dst, between...), int(j))
			dst = append(dst, pairClose...)
		}
		return append(dst, end...)
	}, nil
}

// bindStruct spells a struct as an object. One whose members have no names is (a, b) in text, an array in JSON.
func (s style) bindStruct(t duckType, a *array.Struct) (cell, error) {
	fields := a.DataType().(*arrow.StructType).Fields()
	named := len(t.fields) != len(fields) || len(fields) == 0 || t.fields[0].name != ""
	values := make([]cell, len(fields))
	heads := make([]string, len(fields))
	for j, f := range fields {
		var err error
		if values[j], err = s.bindInner(t.child(j), a.Field(j)); err != nil {
			return nil, err
		}
		switch {
		case !named:
		case s == asJSON:
			heads[j] = string(appendJSONString(nil, f.Name)) + ": "
		default:
			heads[j] = string(appendQuoted(nil, f.Name)) + ": "
		}
	}
	open, end := "{", "}"
	switch {
	case !named && s == asJSON:
		open, end = "[", "]"
	case !named:
		open, end = "(", ")"
	}
	return func(dst []byte, i int) []byte {
		dst = append(dst, open...)
		for j, value := range values {
			if j > 0 {
				dst = append(dst, ", "...)
			}
			dst = value(append(dst, heads[j]...), i)
		}
		return append(dst, end...)
	}, nil
}

// bindUnion spells a union as the value that it holds.
func (s style) bindUnion(t duckType, a array.Union) (cell, error) {
	members := make([]cell, a.NumFields())
	for j := range members {
		var err error
		if members[j], err = s.bind(t.child(j), a.Field(j)); err != nil {
			return nil, err
		}
	}
	dense, isDense := a.(*array.DenseUnion)
	return func(dst []byte, i int) []byte {
		j := a.ChildID(i)
		if isDense {
			return members[j](dst, int(dense.ValueOffset(i)))
		}
		return members[j](dst, i)
	}, nil
}

// bindInner is bind for a value within another: in text it is quoted where it could be mistaken for the structure.
func (s style) bindInner(t duckType, arr arrow.Array) (cell, error) {
	value, err := s.bind(t, arr)
	if err != nil || s == asJSON || isNested(arr) || t.name == "JSON" {
		return value, err
	}
	return func(dst []byte, i int) []byte {
		start := len(dst)
		dst = value(dst, i)
		if arr.IsNull(i) || !needsQuotes(dst[start:]) {
			return dst
		}
		text := string(dst[start:])
		return appendQuoted(dst[:start], text)
	}, nil
}

func isNested(arr arrow.Array) bool {
	switch arr.(type) {
	case array.ListLike, *array.Struct, array.Union, *array.Null:
		return true
	}
	return false
}

// needsQuotes holds DuckDB's rule for text within nested values.
func needsQuotes(text []byte) bool {
	if len(text) == 0 || text[0] == ' ' || text[len(text)-1] == ' ' || strings.EqualFold(string(text), "null") {
		return true
	}
	for _, c := range text {
		switch c {
		case '[', ']', '{', '}', '(', ')', ',', ':', '=', '\'', '"':
			return true
		}
	}
	return false
}

func appendQuoted(dst []byte, text string) []byte {
	dst = append(dst, '\'')
	for i := range len(text) {
		if text[i] == '\'' || text[i] == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, text[i])
	}
	return append(dst, '\'')
}
