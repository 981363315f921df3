package duck

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// laneKind is how a lane's values lie in DuckDB's vectors.
type laneKind uint8

const (
	fixedLane  laneKind = iota // values of one width, in place
	textLane                   // textBytes
	listLane                   // listEntry, of a list or a map, with the elements in the one child
	structLane                 // nothing but the children, row by row
)

// lane is a vector of a type, and what lies below it: how rows are taken out of chunks into bytes and put back, whatever
// the values mean.
type lane struct {
	kind     laneKind
	width    int // of a value, in bytes
	children []lane
}

// listEntry is DuckDB's list value: a range of the child vector.
type listEntry struct{ offset, length uint64 }

// laneOf returns the lane of a type.
func laneOf(t bindings.LogicalType) (lane, error) {
	switch id := bindings.GetTypeId(t); id {
	case bindings.TypeList:
		return nest(listLane, bindings.ListTypeChildType(t))
	case bindings.TypeMap: // a list of entries
		entry, err := nest(structLane, bindings.MapTypeKeyType(t), bindings.MapTypeValueType(t))
		return lane{kind: listLane, width: int(unsafe.Sizeof(listEntry{})), children: []lane{entry}}, err
	case bindings.TypeStruct:
		fields := make([]bindings.LogicalType, bindings.StructTypeChildCount(t))
		for i := range fields {
			fields[i] = bindings.StructTypeChildType(t, bindings.IdxT(i))
		}
		return nest(structLane, fields...)
	}
	switch layoutOf(t) {
	case bits8:
		return lane{width: 1}, nil
	case bits16:
		return lane{width: 2}, nil
	case bits32, float32s:
		return lane{width: 4}, nil
	case bits64, float64s:
		return lane{width: 8}, nil
	case bits128:
		return lane{width: 16}, nil
	case text:
		return lane{kind: textLane, width: int(unsafe.Sizeof(textBytes{}))}, nil
	}
	return lane{}, fmt.Errorf("values of type %s have no lane", typeName(t))
}

// nest returns a lane over children of those types, which it destroys.
func nest(kind laneKind, types ...bindings.LogicalType) (lane, error) {
	l := lane{kind: kind, children: make([]lane, len(types))}
	if kind == listLane {
		l.width = int(unsafe.Sizeof(listEntry{}))
	}
	var failed error
	for i := range types {
		child, err := laneOf(types[i])
		bindings.DestroyLogicalType(&types[i])
		if err != nil {
			failed = err
		}
		l.children[i] = child
	}
	return l, failed
}

// laneView is where a lane's values lie in each of several chunks.
type laneView struct {
	data     []unsafe.Pointer
	valid    [][]uint64 // a bit a row, set when it isn't NULL; nil when none is
	some     bool       // some row may be NULL
	children []laneView
}

// add makes the view look at one more vector.
func (v *laneView) add(l *lane, vector bindings.Vector, rows int) {
	var valid []uint64
	if mask := bindings.VectorGetValidity(vector); mask != nil && rows > 0 {
		valid = unsafe.Slice((*uint64)(mask), maskWords(rows))
	}
	v.data, v.valid, v.some = append(v.data, bindings.VectorGetData(vector)), append(v.valid, valid), v.some || valid != nil
	if v.children == nil {
		v.children = make([]laneView, len(l.children))
		for i := range v.children {
			v.children[i].some = true // rows of a NULL have NULL in their fields
		}
	}
	for i := range l.children {
		if l.kind == listLane {
			v.children[i].add(&l.children[i], bindings.ListVectorGetChild(vector), int(bindings.ListVectorGetSize(vector)))
		} else {
			v.children[i].add(&l.children[i], bindings.StructVectorGetChild(vector, bindings.IdxT(i)), rows)
		}
	}
}

// clear makes the view look at no vector.
func (v *laneView) clear() {
	v.data, v.valid, v.some = v.data[:0], v.valid[:0], false
	for i := range v.children {
		v.children[i].clear()
		v.children[i].some = true
	}
}

// place is a row of one of the chunks. Row -1 is NULL: a field of a struct that is NULL.
type place struct{ chunk, row int32 }

func (v *laneView) isValid(p place) bool {
	if p.row < 0 {
		return false
	}
	valid := v.valid[p.chunk]
	return valid == nil || valid[p.row>>6]>>(p.row&63)&1 != 0
}

// encode appends the values at places: a byte that says whether some are NULL, if so a bit a row, then the values.
func (l *lane) encode(buf []byte, v *laneView, places []place) []byte {
	buf = l.encodeNulls(buf, v, places)
	switch l.kind {
	case textLane:
		return encodeTexts(buf, v, places)
	case listLane:
		return l.encodeLists(buf, v, places)
	case structLane:
		inner := withNulls(v, places)
		for i := range l.children {
			buf = l.children[i].encode(buf, &v.children[i], inner)
		}
		return buf
	}
	start := len(buf)
	buf = slices.Grow(buf, len(places)*l.width)[:start+len(places)*l.width]
	switch out := buf[start:]; l.width {
	case 1:
		gather[uint8](out, v, places)
	case 2:
		gather[uint16](out, v, places)
	case 4:
		gather[uint32](out, v, places)
	case 8:
		gather[uint64](out, v, places)
	default:
		gather[words128](out, v, places)
	}
	return buf
}

// encodeNulls appends which values are NULL.
func (l *lane) encodeNulls(buf []byte, v *laneView, places []place) []byte {
	at := len(buf)
	buf = append(buf, 0)
	if !v.some {
		return buf
	}
	for i, p := range places {
		if v.isValid(p) {
			continue
		}
		if buf[at] == 0 {
			buf[at] = 1
			buf = append(buf, make([]byte, (len(places)+7)/8)...)
		}
		buf[at+1+i>>3] |= 1 << (i & 7)
	}
	return buf
}

// withNulls returns places with NULL in the place of rows of which the value is.
func withNulls(v *laneView, places []place) []place {
	out := places
	for i, p := range places {
		if v.isValid(p) {
			continue
		}
		if &out[0] == &places[0] {
			out = slices.Clone(places)
		}
		out[i].row = -1
	}
	return out
}

// gather writes values of one width; arbitrary ones for NULLs.
func gather[T any](out []byte, v *laneView, places []place) {
	var none T
	size := int(unsafe.Sizeof(none))
	for i, p := range places {
		if p.row >= 0 {
			copyValue[T](out[i*size:(i+1)*size], unsafe.Add(v.data[p.chunk], int(p.row)*size))
		} else {
			copyValue[T](out[i*size:(i+1)*size], unsafe.Pointer(&none))
		}
	}
}

// copyValue copies one value, which lies in the bytes as it does in memory.
func copyValue[T any](out []byte, from unsafe.Pointer) {
	*(*T)(unsafe.Pointer(unsafe.SliceData(out))) = *(*T)(from)
}

// encodeTexts appends the lengths of texts, then their bytes.
func encodeTexts(buf []byte, v *laneView, places []place) []byte {
	at, sum := len(buf), 0
	buf = slices.Grow(buf, 4*len(places))[:at+4*len(places)]
	for i, p := range places {
		n := uint32(0)
		if !v.some || v.isValid(p) {
			n = v.text(p).length
		}
		sum += int(n)
		binary.LittleEndian.PutUint32(buf[at+4*i:], n)
	}
	// A short text is copied with what follows it in its value: the next one overwrites that.
	buf = slices.Grow(buf, sum+inlineBytes)
	for _, p := range places {
		if v.some && !v.isValid(p) {
			continue
		}
		if t := v.text(p); t.length <= inlineBytes {
			end := len(buf)
			*(*[inlineBytes]byte)(buf[end : end+inlineBytes]) = t.inline
			buf = buf[:end+int(t.length)]
		} else {
			buf = append(buf, t.bytes()...)
		}
	}
	return buf
}

func (v *laneView) text(p place) *textBytes {
	return (*textBytes)(unsafe.Add(v.data[p.chunk], int(p.row)*int(unsafe.Sizeof(textBytes{}))))
}

// encodeLists appends the lengths of lists, then their elements as a lane of its own.
func (l *lane) encodeLists(buf []byte, v *laneView, places []place) []byte {
	var inner []place
	for _, p := range places {
		var e listEntry
		if v.isValid(p) {
			e = *(*listEntry)(unsafe.Add(v.data[p.chunk], int(p.row)*l.width))
		}
		buf = binary.LittleEndian.AppendUint32(buf, uint32(e.length))
		for i := range e.length {
			inner = append(inner, place{p.chunk, int32(e.offset + i)})
		}
	}
	return l.children[0].encode(binary.LittleEndian.AppendUint32(buf, uint32(len(inner))), &v.children[0], inner)
}
