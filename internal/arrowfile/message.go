package arrowfile

import (
	"encoding/binary"
	"fmt"
)

// The kinds of messages: flatbuf.MessageHeader of Arrow's format/Message.fbs.
const (
	schemaMessage     = 1
	dictionaryMessage = 2
	batchMessage      = 3
)

// message is what the metadata of a message says, as far as memory depends on it.
type message struct {
	kind         int64
	bodyBytes    int64
	id           int64 // of a dictionary
	isDelta      bool  // it is added to the dictionary of its ID
	isCompressed bool
	buffers      []buffer
	counts       int // how many columns say of how many buffers they are
	views        views
}

// views are how many columns of views are in a batch, by what it is a batch of: the dictionary of an ID, or noDictionary for a
// record batch. Of each the library reads a count of buffers, whether there is one or not.
type views map[int64]int

// noDictionary is no ID of a file's, unless the file is made to mislead: then both have as many columns as there are in all.
const noDictionary = -1 << 63

// buffer is a range of a message's body.
type buffer struct{ offset, length int64 }

// inspect reads a message's metadata. It panics where there is none; what it lets pass makes the library allocate no more than a
// multiple of what is there.
func inspect(meta []byte) message {
	t := rootOf(meta)
	t.tables(4) // metadata of the user's
	m := message{kind: t.number(1, 1), bodyBytes: t.number(3, 8)}
	header, ok := t.table(2)
	switch {
	case !ok:
		panic("a message has no header")
	case m.kind == schemaMessage:
		m.views = inspectSchema(header)
	case m.kind == dictionaryMessage:
		m.id, m.isDelta = header.number(0, 8), header.number(2, 1) != 0
		if header, ok = header.table(1); !ok {
			panic("a dictionary has no values")
		}
		fallthrough
	case m.kind == batchMessage:
		m.inspectBatch(header)
	default:
		panic(fmt.Sprintf("a message of kind %d is neither a schema, a dictionary nor a record batch", m.kind))
	}
	return m
}

// inspectBatch reads where a batch's buffers lie.
func (m *message) inspectBatch(t table) {
	t.vector(1, 16) // lengths and numbers of NULLs
	_, m.isCompressed = t.table(3)
	at, n := t.vector(2, 16)
	for i := range n {
		m.buffers = append(m.buffers, buffer{t.long(at + 16*i), t.long(at + 16*i + 8)})
	}
	at, m.counts = t.vector(4, 8)
	for i := range m.counts {
		if c := t.long(at + 8*i); c < 0 || c > int64(n) {
			panic("a column has more buffers than there are")
		}
	}
}

// unsupported is what inspect panics with where a message is as Arrow's format has it, and can't be read all the same.
type unsupported string

// maxNesting is how deep types may be nested, and as deep as the library reads them.
const maxNesting = 64

// Numbers of flatbuf.Type.
const (
	unionType      = 14
	fixedListType  = 16
	binaryViewType = 23
	textViewType   = 24
)

// inspectSchema looks at the vectors that a schema is made of.
func inspectSchema(t table) views {
	t.tables(2) // metadata of the user's
	left, v := len(t.buf), views{}
	v.inspectFields(t.tables(1), noDictionary, maxNesting, &left)
	return v
}

// inspectFields looks at fields and those within, which are a part of a batch. A message of so many bytes has no more fields than
// are left.
func (v views) inspectFields(fields []table, part int64, depth int, left *int) {
	if *left -= len(fields); depth == 0 || *left < 0 {
		panic("types are nested too deep")
	}
	for _, f := range fields {
		f.tables(6) // metadata of the user's
		part := part
		if dictionary, ok := f.table(4); ok {
			part = dictionary.number(0, 8)
		}
		switch typ, ok := f.table(3); f.number(2, 1) {
		case unionType:
			if ok {
				typ.vector(1, 4) // the numbers of its members
			}
		case binaryViewType, textViewType:
			v[part]++
		case fixedListType:
			if ok && typ.number(0, 4) == 0 {
				panic(unsupported(fmt.Sprintf("column %q is a fixed_size_list of size 0, which DuckDB has no type for", f.text(0))))
			}
		}
		v.inspectFields(f.tables(5), part, depth-1, left)
	}
}

// check sees that a batch has the counts that are read.
func (v views) check(m message) {
	part := m.id
	if m.kind == batchMessage {
		part = noDictionary
	}
	if v[part] > m.counts {
		panic("a column of views doesn't say of how many buffers it is")
	}
}

// unpacked returns how many bytes a body's buffers take when they are unpacked. It panics where one isn't in the body.
func (m message) unpacked(body []byte) (sum int64) {
	size := int64(len(body))
	for _, b := range m.buffers {
		if b.offset < 0 || b.length < 0 || b.offset > size || b.length > size-b.offset || b.offset%8 != 0 {
			panic("a buffer isn't in its message, or at no multiple of 8 bytes")
		}
		if !m.isCompressed || b.length == 0 {
			continue
		}
		switch n := int64(binary.LittleEndian.Uint64(body[b.offset:][:b.length])); {
		case n < -1:
			panic("a compressed buffer has a negative length")
		case n > 0:
			sum = min(sum+min(n, tooMany), tooMany)
		}
	}
	return sum
}

// tooMany is more bytes than any limit allows, of which two can be added.
const tooMany = 1 << 62
