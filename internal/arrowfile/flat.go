package arrowfile

import "encoding/binary"

// table is a table of a flatbuffer, the form of Arrow's metadata. Where the bytes are none its methods panic: who reads a message
// recovers.
type table struct {
	buf []byte
	at  int
}

// rootOf returns the table that a flatbuffer holds.
func rootOf(buf []byte) table { return table{buf, int(binary.LittleEndian.Uint32(buf))} }

// slot returns where the value of the i-th field lies; 0 when it has the default.
func (t table) slot(i int) int {
	vtable := t.at - int(int32(t.word(t.at)))
	end := int(binary.LittleEndian.Uint16(t.buf[vtable:]))
	at := vtable + 4 + 2*i
	if at+2 > vtable+end {
		return 0
	}
	if offset := int(binary.LittleEndian.Uint16(t.buf[at:])); offset != 0 {
		return t.at + offset
	}
	return 0
}

func (t table) word(at int) uint32 { return binary.LittleEndian.Uint32(t.buf[at:]) }

func (t table) long(at int) int64 { return int64(binary.LittleEndian.Uint64(t.buf[at:])) }

// number returns the i-th field, a number of one, four or eight bytes; 0 is the default of all that are read here.
func (t table) number(i, bytes int) int64 {
	at := t.slot(i)
	switch {
	case at == 0:
		return 0
	case bytes == 1:
		return int64(t.buf[at])
	case bytes == 4:
		return int64(int32(t.word(at)))
	}
	return t.long(at)
}

// table returns the i-th field, a table.
func (t table) table(i int) (_ table, ok bool) {
	at := t.slot(i)
	if at == 0 {
		return table{}, false
	}
	return table{t.buf, at + int(t.word(at))}, true
}

// vector returns where the elements of the i-th field begin, and their number. They are there, with so many bytes each.
func (t table) vector(i, bytes int) (at, n int) {
	at = t.slot(i)
	if at == 0 {
		return 0, 0
	}
	at += int(t.word(at))
	n = int(t.word(at))
	at += 4
	if n > (len(t.buf)-at)/bytes {
		panic("a vector ends outside of the message")
	}
	return at, n
}

// tables returns the elements of the i-th field, a vector of tables.
func (t table) tables(i int) []table {
	at, n := t.vector(i, 4)
	all := make([]table, n)
	for k := range all {
		all[k] = table{t.buf, at + 4*k + int(t.word(at+4*k))}
	}
	return all
}

// text returns the i-th field, a text; "" when there is none.
func (t table) text(i int) string {
	at, n := t.vector(i, 1)
	return string(t.buf[at : at+n])
}
