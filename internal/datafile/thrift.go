package datafile

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// thriftWalk reads over bytes in Thrift's compact protocol, in which Parquet writes its footers.
type thriftWalk struct {
	data  []byte
	at    int
	depth int
}

// The types of the compact protocol that matter here.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftI8     = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftStruct = 12
)

// maxThriftDepth is how deep structs and lists may nest. Those of a footer nest less than ten.
const maxThriftDepth = 64

var errThriftCut = errors.New("it is cut short")

// fields reads a struct and calls visit before the value of each field, which visit reads.
func (w *thriftWalk) fields(visit func(id int, typ byte) error) error {
	if w.depth++; w.depth > maxThriftDepth {
		return fmt.Errorf("it nests more than %d structs", maxThriftDepth)
	}
	defer func() { w.depth-- }()
	for id := 0; ; {
		head, err := w.byte()
		if err != nil || head == 0 {
			return err
		}
		if delta := int(head >> 4); delta != 0 {
			id += delta
		} else {
			next, err := w.integer()
			if err != nil {
				return err
			}
			id = int(int16(next))
		}
		if err := visit(id, head&0xf); err != nil {
			return err
		}
	}
}

// list reads a list or set and calls visit before each element, which visit reads.
func (w *thriftWalk) list(visit func(typ byte) error) error {
	if w.depth++; w.depth > maxThriftDepth {
		return fmt.Errorf("it nests more than %d lists", maxThriftDepth)
	}
	defer func() { w.depth-- }()
	head, err := w.byte()
	if err != nil {
		return err
	}
	size := uint64(head >> 4)
	if size == 15 {
		if size, err = w.unsigned(); err != nil {
			return err
		}
	}
	if size > uint64(len(w.data)-w.at) { // no element takes less than a byte
		return fmt.Errorf("it has a list of %d elements in %d bytes", size, len(w.data)-w.at)
	}
	for range size {
		if err := visit(head & 0xf); err != nil {
			return err
		}
	}
	return nil
}

// skip reads over the value of a struct's field.
func (w *thriftWalk) skip(typ byte) error {
	switch typ {
	case thriftTrue, thriftFalse: // the type is the value
		return nil
	case thriftI16, thriftI32, thriftI64:
		_, err := w.unsigned()
		return err
	case thriftI8:
		return w.jump(1)
	case thriftDouble:
		return w.jump(8)
	case thriftBinary:
		n, err := w.unsigned()
		if err != nil {
			return err
		}
		return w.jump(n)
	case thriftList, thriftSet:
		return w.list(w.skipElement)
	case thriftStruct:
		return w.fields(func(_ int, typ byte) error { return w.skip(typ) })
	}
	// Footers have no maps.
	return fmt.Errorf("it has a value of type %d", typ)
}

// skipElement reads over an element of a list, where a boolean takes a byte.
func (w *thriftWalk) skipElement(typ byte) error {
	if typ == thriftTrue || typ == thriftFalse {
		return w.jump(1)
	}
	return w.skip(typ)
}

func (w *thriftWalk) jump(n uint64) error {
	if n > uint64(len(w.data)-w.at) {
		return errThriftCut
	}
	w.at += int(n)
	return nil
}

func (w *thriftWalk) byte() (byte, error) {
	if w.at == len(w.data) {
		return 0, errThriftCut
	}
	w.at++
	return w.data[w.at-1], nil
}

func (w *thriftWalk) unsigned() (uint64, error) {
	v, n := binary.Uvarint(w.data[w.at:])
	if n <= 0 {
		return 0, errThriftCut
	}
	w.at += n
	return v, nil
}

func (w *thriftWalk) integer() (int64, error) {
	v, err := w.unsigned()
	return int64(v>>1) ^ -int64(v&1), err
}
