package avro

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/klauspost/compress/flate"
)

// blockBytes is how long a block grows before it is compressed: Java's writers make blocks of that size.
const blockBytes = 64000

// Writer makes an Avro container file in memory, its blocks compressed by deflate. Each object is encoded by the caller, with
// the Encoder, by exactly the file's schema: nothing checks that.
type Writer struct {
	file    bytes.Buffer
	block   Encoder
	objects int64
	sync    [syncSize]byte
	deflate *flate.Writer
	err     error
}

// NewWriter begins a file of a schema, given as JSON, with what else its header says.
func NewWriter(schema string, header map[string]string) *Writer {
	w := &Writer{}
	_, _ = rand.Read(w.sync[:]) // never fails, by its documentation
	all := map[string]string{schemaKey: schema, codecKey: "deflate"}
	maps.Copy(all, header)
	var e Encoder
	e.Long(int64(len(all)))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		e.String(key)
		e.String(all[key])
	}
	e.Long(0)
	w.file.WriteString(magic)
	w.file.Write(e.data)
	w.file.Write(w.sync[:])
	w.deflate, w.err = flate.NewWriter(&w.file, flate.DefaultCompression)
	return w
}

// Encoder returns what the next object is encoded with. It is the same for all objects.
func (w *Writer) Encoder() *Encoder { return &w.block }

// EndObject says that an object is complete.
func (w *Writer) EndObject() {
	w.objects++
	if len(w.block.data) >= blockBytes {
		w.endBlock()
	}
}

// Len returns about how many bytes the file has so far.
func (w *Writer) Len() int { return w.file.Len() + len(w.block.data)/4 }

func (w *Writer) endBlock() {
	if w.err != nil || w.objects == 0 {
		return
	}
	var packed bytes.Buffer
	w.deflate.Reset(&packed)
	if _, w.err = w.deflate.Write(w.block.data); w.err == nil {
		w.err = w.deflate.Close()
	}
	var head Encoder
	head.Long(w.objects)
	head.Long(int64(packed.Len()))
	w.file.Write(head.data)
	w.file.Write(packed.Bytes())
	w.file.Write(w.sync[:])
	w.block.data, w.objects = w.block.data[:0], 0
}

// Bytes ends the file and returns it.
func (w *Writer) Bytes() ([]byte, error) {
	w.endBlock()
	return w.file.Bytes(), w.err
}

// Encoder encodes values one after the other. A value of a union begins with the number of its branch, by Index.
type Encoder struct{ data []byte }

// Index says which branch of a union follows.
func (e *Encoder) Index(branch int) { e.Long(int64(branch)) }

// Long encodes an int or a long.
func (e *Encoder) Long(v int64) { e.data = binary.AppendVarint(e.data, v) }

// Boolean encodes a boolean.
func (e *Encoder) Boolean(v bool) {
	b := byte(0)
	if v {
		b = 1
	}
	e.data = append(e.data, b)
}

// Float encodes a float.
func (e *Encoder) Float(v float32) {
	e.data = binary.LittleEndian.AppendUint32(e.data, math.Float32bits(v))
}

// Double encodes a double.
func (e *Encoder) Double(v float64) {
	e.data = binary.LittleEndian.AppendUint64(e.data, math.Float64bits(v))
}

// Bytes encodes bytes.
func (e *Encoder) Bytes(v []byte) {
	e.Long(int64(len(v)))
	e.data = append(e.data, v...)
}

// String encodes a string.
func (e *Encoder) String(v string) {
	e.Long(int64(len(v)))
	e.data = append(e.data, v...)
}

// Fixed encodes a fixed, whose length its schema has.
func (e *Encoder) Fixed(v []byte) { e.data = append(e.data, v...) }

// Items begins an array or a map of n items, which follow; after the last comes EndItems.
func (e *Encoder) Items(n int) {
	if n > 0 {
		e.Long(int64(n))
	}
}

// EndItems ends an array or a map.
func (e *Encoder) EndItems() { e.Long(0) }
