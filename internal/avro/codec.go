package avro

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"github.com/tarndb/tarn/internal/errs"
)

// maxBlock is how large a block may be, decompressed. Writers make blocks of some ten kilobytes to some megabytes.
const maxBlock = 256 << 20

// codec returns the bytes of a block, in raw itself or in a buffer that the next block overwrites.
type codec func(b *buffers, raw []byte) ([]byte, error)

// codecOf returns the codec by its name in a header; "" is no compression.
func codecOf(name string) (codec, error) {
	switch name {
	case "", "null":
		return func(_ *buffers, raw []byte) ([]byte, error) { return raw, nil }, nil
	case "deflate":
		return (*buffers).inflateBlock, nil
	case "snappy":
		return (*buffers).unsnappy, nil
	case "zstandard":
		return (*buffers).unzstd, nil
	}
	return nil, errs.New(errs.Unsupported, "", "", "its blocks are compressed by %q, which can't be read", name)
}

// buffers is what decompressing needs, kept from file to file.
type buffers struct {
	raw     []byte // the file's own bytes
	plain   []byte
	input   bytes.Reader
	inflate io.ReadCloser // also a flate.Resetter
	zstd    *zstd.Decoder
}

var bufferPool = sync.Pool{New: func() any { return &buffers{} }}

// maxKept is how large a buffer may be to be kept.
const maxKept = 4 << 20

func takeBuffers() *buffers { return bufferPool.Get().(*buffers) }

func (b *buffers) giveBack() {
	if cap(b.plain) > maxKept {
		b.plain = nil
	}
	if cap(b.raw) > maxKept {
		b.raw = nil
	}
	b.input.Reset(nil)
	bufferPool.Put(b)
}

// fill reads all of r, up to maxBlock, growing as it reads: no length in the file is trusted.
func (b *buffers) fill(r io.Reader) ([]byte, error) {
	out := b.plain[:0]
	for {
		if len(out) == cap(out) {
			grown := make([]byte, len(out), max(2*cap(out), 64<<10))
			copy(grown, out)
			out = grown
		}
		n, err := r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		switch {
		case errors.Is(err, io.EOF):
			b.plain = out
			return out, nil
		case err != nil:
			return nil, err
		case len(out) > maxBlock:
			return nil, fmt.Errorf("it has more than %d bytes", maxBlock)
		}
	}
}

// inflateBlock ignores what follows the compressed bytes: some writers leave part of a checksum there.
func (b *buffers) inflateBlock(raw []byte) ([]byte, error) {
	b.input.Reset(raw)
	if b.inflate == nil {
		b.inflate = flate.NewReader(&b.input)
	} else if err := b.inflate.(flate.Resetter).Reset(&b.input, nil); err != nil {
		return nil, err
	}
	return b.fill(b.inflate)
}

// unsnappy reads a snappy block and the checksum after it.
func (b *buffers) unsnappy(raw []byte) ([]byte, error) {
	if len(raw) < crc32.Size {
		return nil, errors.New("its checksum is cut short")
	}
	raw, sum := raw[:len(raw)-crc32.Size], binary.BigEndian.Uint32(raw[len(raw)-crc32.Size:])
	length, err := snappy.DecodedLen(raw)
	if err != nil {
		return nil, err
	}
	// The best that snappy can do is to copy 64 bytes by three.
	if length > maxBlock || length > 22*len(raw) {
		return nil, fmt.Errorf("%d bytes can't become %d", len(raw), length)
	}
	out, err := snappy.Decode(b.plain[:cap(b.plain)], raw)
	if err != nil {
		return nil, err
	}
	b.plain = out
	if crc32.ChecksumIEEE(out) != sum {
		return nil, errors.New("its checksum is wrong")
	}
	return out, nil
}

// maxWindow is how far back a zstandard block may refer. The decoder allocates as much.
const maxWindow = 32 << 20

func (b *buffers) unzstd(raw []byte) ([]byte, error) {
	b.input.Reset(raw)
	if b.zstd == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		b.zstd = d
	}
	if err := b.zstd.Reset(&b.input); err != nil {
		return nil, err
	}
	return b.fill(b.zstd)
}
