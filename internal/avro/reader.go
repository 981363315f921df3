package avro

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Reader reads the objects of one container file. It holds one block at a time.
type Reader struct {
	src    source
	meta   map[string]string
	codec  codec
	sync   [syncSize]byte
	block  Decoder
	left   int64 // objects of the block that are not read yet
	err    error
	buffer *buffers
}

const (
	magic    = "Obj\x01"
	syncSize = 16
	// maxHeader is how long a file's header may be: schemas and what writers add to them.
	maxHeader = 64 << 20
)

// Open reads the header of a file of size bytes. Errors of src pass through as they are. The caller closes the reader, and
// then src.
func Open(src io.ReaderAt, size int64) (*Reader, error) {
	buffer := takeBuffers()
	r := &Reader{src: source{src: src, size: size, buf: buffer.raw}, buffer: buffer}
	err := r.header()
	if err == nil {
		r.codec, err = codecOf(r.meta[codecKey])
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close gives back the reader's memory. What was read from its blocks must not be used any more.
func (r *Reader) Close() {
	if r.buffer != nil {
		r.buffer.raw = r.src.buf
		r.buffer.giveBack()
		r.buffer, r.src = nil, source{}
	}
	r.block, r.left = Decoder{}, 0
	if r.err == nil {
		r.err = errors.New("the reader is closed")
	}
}

// SchemaText returns the JSON of the schema that the file was written with. Files of one text have one schema.
func (r *Reader) SchemaText() string { return r.meta[schemaKey] }

// Schema parses the schema that the file was written with.
func (r *Reader) Schema() (*Schema, error) { return ParseSchema([]byte(r.SchemaText())) }

// Decoder returns the decoder that stands before the current object. It is the same for all objects.
func (r *Reader) Decoder() *Decoder { return &r.block }

// Err returns why Next was false: nil at the end of a whole file.
func (r *Reader) Err() error { return r.err }

// Next goes to the next object. The caller has read the one before it, all of it and nothing more.
func (r *Reader) Next() bool {
	if r.err == nil {
		r.err = r.block.err
	}
	for r.err == nil && r.left == 0 {
		if rest := len(r.block.data) - r.block.at; rest > 0 {
			r.err = fmt.Errorf("a block has %d bytes after its last object", rest)
			return false
		}
		if r.src.left() == 0 {
			return false
		}
		r.err = r.nextBlock()
	}
	if r.err != nil {
		return false
	}
	r.left--
	return true
}

// header reads what comes before the first block. Its length isn't given, so it is read with ever more bytes at hand.
func (r *Reader) header() error {
	for have := int64(readAhead); ; have *= 4 {
		data, err := r.src.peek(min(have, r.src.left()))
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(data, []byte(magic)) {
			return fmt.Errorf("it is no Avro file: it begins with %q", data[:min(len(data), len(magic))])
		}
		d := NewDecoder(data)
		r.readHeader(d)
		switch {
		case d.err == nil:
			r.src.skip(d.at)
			if _, ok := r.meta[schemaKey]; !ok {
				return errors.New("its header has no schema")
			}
			return nil
		case have >= r.src.left():
			return fmt.Errorf("in its header: %w", d.err)
		case have > maxHeader:
			return fmt.Errorf("its header has more than %d bytes", have)
		}
	}
}

var headerMap = &Schema{Kind: Map, Items: &Schema{Kind: Bytes, size: 1}}

func (r *Reader) readHeader(d *Decoder) {
	d.Fixed(len(magic))
	r.meta = map[string]string{}
	for it := d.Items(headerMap); it.Next(); {
		key := string(d.Bytes())
		value := d.Bytes()
		if key == schemaKey || key == codecKey { // writers add much that nobody reads, such as the schema once more
			r.meta[key] = string(value)
		}
	}
	copy(r.sync[:], d.Fixed(syncSize))
}

// The keys of a header that matter.
const (
	schemaKey = "avro.schema"
	codecKey  = "avro.codec"
)

// nextBlock reads a block: the count of its objects, its length, its bytes and the file's sync marker.
func (r *Reader) nextBlock() error {
	head, err := r.src.peek(min(2*10, r.src.left())) // two numbers of at most 10 bytes
	if err != nil {
		return err
	}
	d := NewDecoder(head)
	objects, length := d.Long(), d.Long()
	if d.err != nil {
		return fmt.Errorf("in the head of a block: %w", d.err)
	}
	r.src.skip(d.at)
	if objects < 0 || length < 0 || length > r.src.left()-syncSize {
		return fmt.Errorf("it is cut short: a block of %d objects has %d bytes, and %d are left", objects, length, r.src.left())
	}
	raw, err := r.src.peek(length + syncSize)
	if err != nil {
		return err
	}
	if !bytes.Equal(raw[length:], r.sync[:]) {
		return errors.New("a block doesn't end with the file's sync marker")
	}
	data, err := r.codec(r.buffer, raw[:length])
	if err != nil {
		return fmt.Errorf("a block of %d bytes can't be decompressed: %w", length, err)
	}
	if objects > int64(len(data))+maxEmpty {
		return fmt.Errorf("a block has %d objects in %d bytes", objects, len(data))
	}
	r.src.skip(int(length + syncSize))
	r.block, r.left = Decoder{data: data}, objects
	return nil
}
