package datafile

import (
	"encoding/binary"
	"errors"

	"github.com/apache/arrow-go/v18/parquet/compress"
)

// hadoopLZ4 is Parquet's old codec LZ4. Its pages are blocks as Hadoop frames them: the length of some bytes, then parts of
// raw LZ4, each after its own length, until there are that many bytes. Other writers took the name for raw LZ4 without
// frames; such pages are read too.
type hadoopLZ4 struct{ compress.Codec }

// The Parquet reader's table of codecs has no lock, so that it learns the codec before anybody reads.
func init() {
	if raw, err := compress.GetCodec(compress.Codecs.Lz4Raw); err == nil {
		compress.RegisterCodec(compress.Codecs.Lz4, hadoopLZ4{raw})
	}
}

var errLZ4 = errors.New("a page compressed by LZ4 makes no sense")

// Decode panics for bytes that make no sense, as the interface has it.
func (c hadoopLZ4) Decode(dst, src []byte) []byte {
	out, err := c.DecodeWithError(dst, src)
	if err != nil {
		panic(err)
	}
	return out
}

// DecodeWithError decompresses a page into dst, which is as large as the page.
func (c hadoopLZ4) DecodeWithError(dst, src []byte) ([]byte, error) {
	if out, err := c.framed(dst[:0:len(dst)], src); err == nil && len(out) == len(dst) {
		return out, nil
	}
	return compress.Decode(c.Codec, dst, src)
}

func (c hadoopLZ4) framed(out, src []byte) ([]byte, error) {
	for len(src) > 0 {
		length, rest, ok := cutLength(src)
		if !ok || length > cap(out)-len(out) {
			return nil, errLZ4
		}
		src = rest
		for length > 0 {
			packed, rest, ok := cutLength(src)
			if !ok || packed > len(rest) {
				return nil, errLZ4
			}
			part, err := compress.Decode(c.Codec, out[len(out):len(out)+length], rest[:packed])
			if err != nil || len(part) == 0 || len(part) > length {
				return nil, errLZ4
			}
			out, src, length = append(out, part...), rest[packed:], length-len(part)
		}
	}
	return out, nil
}

// cutLength reads a length in front of bytes.
func cutLength(src []byte) (length int, rest []byte, ok bool) {
	if len(src) < 4 {
		return 0, nil, false
	}
	return int(binary.BigEndian.Uint32(src)), src[4:], true
}
