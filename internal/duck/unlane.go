package duck

/*
#include "spill.h"
*/
import "C"

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// errShort says that bytes of a lane are missing.
var errShort = errors.New("the bytes of a block end too soon")

// laneReader takes a block's bytes apart.
type laneReader struct{ rest []byte }

func (r *laneReader) take(n int) ([]byte, error) {
	if n < 0 || n > len(r.rest) {
		return nil, errShort
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out, nil
}

func (r *laneReader) number() (int, error) {
	b, err := r.take(4)
	if err != nil {
		return 0, err
	}
	return int(binary.LittleEndian.Uint32(b)), nil
}

// decode puts what encode wrote of rows into a vector, from its row on, which have room for it and are not NULL.
func (l *lane) decode(r *laneReader, vector bindings.Vector, row, rows int) error {
	if err := decodeNulls(r, vector, row, rows); err != nil {
		return err
	}
	switch l.kind {
	case textLane:
		return decodeTexts(r, vector, row, rows)
	case listLane:
		return l.decodeLists(r, vector, row, rows)
	case structLane:
		for i := range l.children {
			if err := l.children[i].decode(r, bindings.StructVectorGetChild(vector, bindings.IdxT(i)), row, rows); err != nil {
				return err
			}
		}
		return nil
	}
	from, err := r.take(rows * l.width)
	if err != nil || rows == 0 {
		return err
	}
	copy(unsafe.Slice((*byte)(unsafe.Add(bindings.VectorGetData(vector), row*l.width)), rows*l.width), from)
	return nil
}

func decodeNulls(r *laneReader, vector bindings.Vector, row, rows int) error {
	some, err := r.take(1)
	if err != nil || some[0] == 0 {
		return err
	}
	nulls, err := r.take((rows + 7) / 8)
	if err != nil {
		return err
	}
	bindings.VectorEnsureValidityWritable(vector)
	mask := unsafe.Slice((*uint64)(bindings.VectorGetValidity(vector)), maskWords(row+rows))
	for i, b := range nulls {
		for ; b != 0; b &= b - 1 {
			at := row + i*8 + bits.TrailingZeros8(b)
			mask[at>>6] &^= 1 << (at & 63)
		}
	}
	return nil
}

func decodeTexts(r *laneReader, vector bindings.Vector, row, rows int) error {
	lengths, err := r.take(4 * rows)
	if err != nil {
		return err
	}
	sum := 0
	for i := 0; i < len(lengths); i += 4 {
		sum += int(binary.LittleEndian.Uint32(lengths[i:]))
	}
	texts, err := r.take(sum)
	if err != nil || rows == 0 {
		return err
	}
	if sum == 0 {
		texts = lengths // a pointer that is none would not do
	}
	if !C.tarn_assign_texts(vector.Ptr, C.uint64_t(row), C.uint64_t(rows), (*C.uint8_t)(&lengths[0]), (*C.char)(unsafe.Pointer(&texts[0]))) {
		return noVectorRoom()
	}
	return nil
}

func (l *lane) decodeLists(r *laneReader, vector bindings.Vector, row, rows int) error {
	lengths, err := r.take(4 * rows)
	if err != nil {
		return err
	}
	elements, err := r.number()
	if err != nil {
		return err
	}
	offset := int(bindings.ListVectorGetSize(vector))
	if err := reserveList(vector, offset+elements); err != nil {
		return err
	}
	if err := l.children[0].decode(r, bindings.ListVectorGetChild(vector), offset, elements); err != nil {
		return err
	}
	bindings.ListVectorSetSize(vector, bindings.IdxT(offset+elements))
	if rows == 0 {
		return nil
	}
	entries := unsafe.Slice((*listEntry)(bindings.VectorGetData(vector)), row+rows)[row:]
	for i := range entries {
		n := binary.LittleEndian.Uint32(lengths[4*i:])
		entries[i] = listEntry{uint64(offset), uint64(n)}
		offset += int(n)
	}
	return nil
}
