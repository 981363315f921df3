package duck

/*
#include "spill.h"
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/float16"
	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/errs"
)

// fillFunc puts values of arr, those at rows, into a vector, from its row at on, for which the vector has room. A row of -1 is
// NULL, of which the vector knows already.
type fillFunc func(s *fillSpace, v bindings.Vector, at int, arr arrow.Array, rows []int) error

// fillSpace is what filling needs besides: memory that is used again, and how many elements lists may still have.
type fillSpace struct {
	lengths, texts []byte
	elements       int
}

// put is fill with the NULLs of arr itself.
func (fill fillFunc) put(s *fillSpace, v bindings.Vector, at int, arr arrow.Array, rows []int) error {
	rows = withArrayNulls(arr, rows)
	markNulls(v, at, rows)
	return fill(s, v, at, arr, rows)
}

// withArrayNulls returns rows with -1 in the place of those whose value is NULL.
func withArrayNulls(arr arrow.Array, rows []int) []int {
	if arr.NullN() == 0 {
		return rows
	}
	out := rows
	for i, r := range rows {
		if r < 0 || arr.IsValid(r) {
			continue
		}
		if &out[0] == &rows[0] {
			out = slices.Clone(rows)
		}
		out[i] = -1
	}
	return out
}

// markNulls makes the rows NULL that are.
func markNulls(v bindings.Vector, at int, rows []int) {
	var mask []uint64
	for i, r := range rows {
		if r >= 0 {
			continue
		}
		if mask == nil {
			bindings.VectorEnsureValidityWritable(v)
			mask = unsafe.Slice((*uint64)(bindings.VectorGetValidity(v)), maskWords(at+len(rows)))
		}
		mask[(at+i)>>6] &^= 1 << ((at + i) & 63)
	}
}

// roomIn returns a vector's values from its row at on, to be written.
func roomIn[T any](v bindings.Vector, at, n int) []T {
	return unsafe.Slice((*T)(bindings.VectorGetData(v)), at+n)[at:]
}

func fillNothing(_ *fillSpace, v bindings.Vector, at int, _ arrow.Array, rows []int) error {
	all := make([]int, len(rows))
	for i := range all {
		all[i] = -1
	}
	markNulls(v, at, all)
	return nil
}

// fillSame copies values that DuckDB keeps as Arrow does.
func fillSame[T arrow.FixedWidthType](_ *fillSpace, v bindings.Vector, at int, arr arrow.Array, rows []int) error {
	from, to := arrow.GetValues[T](arr.Data(), 1), roomIn[T](v, at, len(rows))
	for i, r := range rows {
		if r >= 0 {
			to[i] = from[r]
		}
	}
	return nil
}

// fillConverted makes a value of DuckDB's of each.
func fillConverted[A arrow.FixedWidthType, D any](convert func(A) (D, error)) fillFunc {
	return func(_ *fillSpace, v bindings.Vector, at int, arr arrow.Array, rows []int) (err error) {
		from, to := arrow.GetValues[A](arr.Data(), 1), roomIn[D](v, at, len(rows))
		for i, r := range rows {
			if r < 0 {
				continue
			}
			if to[i], err = convert(from[r]); err != nil {
				return err
			}
		}
		return nil
	}
}

var fillHalves = fillConverted(func(v uint16) (float32, error) { return float16.FromBits(v).Float32(), nil })

func fillBooleans(_ *fillSpace, v bindings.Vector, at int, arr arrow.Array, rows []int) error {
	from, to := arr.(*array.Boolean), roomIn[bool](v, at, len(rows))
	for i, r := range rows {
		if r >= 0 {
			to[i] = from.Value(r)
		}
	}
	return nil
}

// fillDecimals puts decimals of so many digits into a vector of DuckDB's of so many.
func fillDecimals(precision, digits int32) fillFunc {
	return func(_ *fillSpace, v bindings.Vector, at int, arr arrow.Array, rows []int) error {
		set := decimalSetter(v, at, len(rows), digits)
		for i, r := range rows {
			if r < 0 {
				continue
			}
			n, ok := decimalAt(arr, r)
			if !ok || !n.FitsInPrecision(precision) {
				return errs.New(errs.Corrupt, "", "", "a number has more than the %d digits of its type", precision)
			}
			set(i, n)
		}
		return nil
	}
}

// decimalAt returns a value as a number of its scale; false when that has more than 128 bits.
func decimalAt(arr arrow.Array, row int) (decimal128.Num, bool) {
	switch a := arr.(type) {
	case *array.Decimal32:
		return decimal128.FromI64(int64(a.Value(row))), true
	case *array.Decimal64:
		return decimal128.FromI64(int64(a.Value(row))), true
	case *array.Decimal128:
		return a.Value(row), true
	}
	n := arr.(*array.Decimal256).Value(row)
	return decimal128.New(int64(n.Array()[1]), n.Array()[0]), n.FitsInPrecision(maxDigits)
}

// decimalSetter returns what sets the values of a vector, whose width is given by how many digits they have.
func decimalSetter(v bindings.Vector, at, n int, digits int32) func(i int, n decimal128.Num) {
	switch {
	case digits <= 4:
		to := roomIn[int16](v, at, n)
		return func(i int, n decimal128.Num) { to[i] = int16(n.LowBits()) }
	case digits <= 9:
		to := roomIn[int32](v, at, n)
		return func(i int, n decimal128.Num) { to[i] = int32(n.LowBits()) }
	case digits <= maxDigits64:
		to := roomIn[int64](v, at, n)
		return func(i int, n decimal128.Num) { to[i] = int64(n.LowBits()) }
	}
	to := roomIn[words128](v, at, n)
	return func(i int, n decimal128.Num) { to[i] = words128{n.LowBits(), n.HighBits()} }
}

func fillUUIDs(_ *fillSpace, v bindings.Vector, at int, arr arrow.Array, rows []int) error {
	from, to := arr.(*array.FixedSizeBinary), roomIn[words128](v, at, len(rows))
	for i, r := range rows {
		if r >= 0 {
			to[i] = uuidWords([16]byte(from.Value(r)))
		}
	}
	return nil
}

func fillTexts(s *fillSpace, v bindings.Vector, at int, arr arrow.Array, rows []int) error {
	from := arr.(interface{ Value(i int) string })
	return gatherTexts(s, v, at, rows, from.Value, utf8.ValidString)
}

func fillBytes(s *fillSpace, v bindings.Vector, at int, arr arrow.Array, rows []int) error {
	from := arr.(interface{ Value(i int) []byte })
	return gatherTexts(s, v, at, rows, from.Value, func([]byte) bool { return true })
}

func gatherTexts[T string | []byte](s *fillSpace, v bindings.Vector, at int, rows []int, value func(int) T, isValid func(T) bool) error {
	s.lengths, s.texts = s.lengths[:0], append(s.texts[:0], 0)[:0] // room for a byte: a pointer to it is needed
	for _, r := range rows {
		var x T
		if r >= 0 {
			x = value(r)
		}
		switch {
		case !isValid(x):
			return errs.New(errs.Corrupt, "", "", "a text isn't UTF-8: %.80q", x)
		case len(x) > math.MaxUint32:
			return errs.New(errs.Unsupported, "", "", "a value has %d bytes, more than DuckDB can hold", len(x))
		}
		s.lengths = binary.LittleEndian.AppendUint32(s.lengths, uint32(len(x)))
		s.texts = append(s.texts, x...)
	}
	if len(rows) > 0 &&
		!C.tarn_assign_texts(v.Ptr, C.uint64_t(at), C.uint64_t(len(rows)), (*C.uint8_t)(&s.lengths[0]), (*C.char)(unsafe.Pointer(unsafe.SliceData(s.texts)))) {
		return noVectorRoom()
	}
	return nil
}

// throughDictionary fills with the entries that indexes point to.
func throughDictionary(fill fillFunc) fillFunc {
	return func(s *fillSpace, v bindings.Vector, at int, arr arrow.Array, rows []int) error {
		from := arr.(*array.Dictionary)
		inner := make([]int, len(rows))
		for i, r := range rows {
			if inner[i] = -1; r >= 0 {
				inner[i] = from.GetValueIndex(r)
			}
		}
		return fill.putThrough(s, v, at, from.Dictionary(), inner)
	}
}

// throughRuns fills with the values of the runs that rows are in.
func throughRuns(fill fillFunc) fillFunc {
	return func(s *fillSpace, v bindings.Vector, at int, arr arrow.Array, rows []int) error {
		from := arr.(*array.RunEndEncoded)
		inner := make([]int, len(rows))
		for i, r := range rows {
			if inner[i] = -1; r >= 0 {
				inner[i] = from.GetPhysicalIndex(r)
			}
		}
		return fill.putThrough(s, v, at, from.Values(), inner)
	}
}

func throughStorage(fill fillFunc) fillFunc {
	return func(s *fillSpace, v bindings.Vector, at int, arr arrow.Array, rows []int) error {
		return fill.put(s, v, at, arr.(array.ExtensionArray).Storage(), rows)
	}
}

// putThrough is put of rows that were looked up. One outside of arr must not be taken for NULL.
func (fill fillFunc) putThrough(s *fillSpace, v bindings.Vector, at int, arr arrow.Array, rows []int) error {
	for _, r := range rows {
		if r < -1 || r >= 0 && (arr == nil || r >= arr.Len()) {
			return errs.New(errs.Corrupt, "", "", "an index is %d, and there is no such value", r)
		}
	}
	if arr == nil { // a dictionary that was never needed
		return nil
	}
	return fill.put(s, v, at, arr, rows)
}

// fillLists fills lists of every kind. Their elements go behind those that the vector has.
func fillLists(fill fillFunc) fillFunc {
	return func(s *fillSpace, v bindings.Vector, at int, arr arrow.Array, rows []int) error {
		from := arr.(array.ListLike)
		values := from.ListValues()
		offset := int(bindings.ListVectorGetSize(v))
		entries, inner := make([]listEntry, len(rows)), []int(nil)
		for i, r := range rows {
			entries[i].offset = uint64(offset + len(inner))
			if r < 0 {
				continue
			}
			start, end := from.ValueOffsets(r)
			if start < 0 || end < start || end > int64(values.Len()) {
				return errs.New(errs.Corrupt, "", "", "a list's elements %d to %d aren't there", start, end)
			}
			if s.elements -= int(end - start); s.elements < 0 {
				return errs.New(errs.Resource, "", "", "lists that share their elements have too many of them")
			}
			entries[i].length = uint64(end - start)
			for k := start; k < end; k++ {
				inner = append(inner, int(k))
			}
		}
		if err := reserveList(v, offset+len(inner)); err != nil {
			return err
		}
		if err := fill.put(s, bindings.ListVectorGetChild(v), offset, values, inner); err != nil {
			return err
		}
		bindings.ListVectorSetSize(v, bindings.IdxT(offset+len(inner)))
		copy(roomIn[listEntry](v, at, len(rows)), entries)
		return nil
	}
}

// fillArrays fills arrays of n elements.
func fillArrays(n int, fill fillFunc) fillFunc {
	return func(s *fillSpace, v bindings.Vector, at int, arr arrow.Array, rows []int) error {
		from := arr.(*array.FixedSizeList)
		inner := make([]int, 0, n*len(rows))
		for _, r := range rows {
			for k := range n {
				if r < 0 {
					inner = append(inner, -1)
				} else {
					start, _ := from.ValueOffsets(r)
					inner = append(inner, int(start)+k)
				}
			}
		}
		return fill.putThrough(s, bindings.ArrayVectorGetChild(v), at*n, from.ListValues(), inner)
	}
}

func fillStructs(fills []fillFunc) fillFunc {
	return func(s *fillSpace, v bindings.Vector, at int, arr arrow.Array, rows []int) error {
		from := arr.(*array.Struct)
		for i, fill := range fills {
			if err := fill.putThrough(s, bindings.StructVectorGetChild(v, bindings.IdxT(i)), at, from.Field(i), rows); err != nil {
				return fmt.Errorf("%s: %w", from.DataType().(*arrow.StructType).Field(i).Name, err)
			}
		}
		return nil
	}
}

// fillEntries fills the entries of maps, where a key can't be NULL.
func fillEntries(fills []fillFunc) fillFunc {
	fill := fillStructs(fills)
	return func(s *fillSpace, v bindings.Vector, at int, arr arrow.Array, rows []int) error {
		keys := arr.(*array.Struct).Field(0)
		for _, r := range rows {
			if r < 0 || keys.IsNull(r) {
				return errs.New(errs.Corrupt, "", "", "a key of a map is NULL")
			}
		}
		return fill(s, v, at, arr, rows)
	}
}

// fillUnions fills unions, whose first vector at DuckDB says which member a row has; the others are NULL.
func fillUnions(members []int, fills []fillFunc) fillFunc {
	return func(s *fillSpace, v bindings.Vector, at int, arr arrow.Array, rows []int) error {
		from := arr.(array.Union)
		tags := bindings.StructVectorGetChild(v, 0)
		markNulls(tags, at, rows)
		inner := make([][]int, len(fills))
		for m := range inner {
			inner[m] = slices.Repeat([]int{-1}, len(rows))
		}
		for i, r := range rows {
			if r < 0 {
				continue
			}
			code := from.TypeCode(r)
			if code < 0 || members[code] < 0 || members[code] >= len(fills) {
				return errs.New(errs.Corrupt, "", "", "a union has no member %d", code)
			}
			m := members[code]
			roomIn[uint8](tags, at, len(rows))[i] = uint8(m)
			if dense, ok := from.(*array.DenseUnion); ok {
				r = int(dense.ValueOffset(r))
			}
			inner[m][i] = r
		}
		for m, fill := range fills {
			if err := fill.putThrough(s, bindings.StructVectorGetChild(v, bindings.IdxT(m+1)), at, from.Field(m), inner[m]); err != nil {
				return err
			}
		}
		return nil
	}
}
