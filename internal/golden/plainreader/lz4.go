package plainreader

import (
	"encoding/binary"
	"errors"

	"github.com/apache/arrow-go/v18/parquet/compress"
)

// hadoopLZ4 is Parquet's old codec LZ4, which Java still writes: the length of some bytes, then blocks of LZ4_RAW, each with
// its packed length in front, until there are that many bytes; and so on to the page's end.
type hadoopLZ4 struct{ compress.Codec }

var errLZ4 = errors.New("LZ4 blocks don't fit their page")

func init() {
	if raw, err := compress.GetCodec(compress.Codecs.Lz4Raw); err == nil {
		compress.RegisterCodec(compress.Codecs.Lz4, hadoopLZ4{raw})
	}
}

// DecodeWithError uncompresses a page. dst is as large as the page.
func (c hadoopLZ4) DecodeWithError(dst, src []byte) ([]byte, error) {
	out, missing := dst[:0], 0
	for len(src) > 0 {
		if len(src) < 4 {
			return nil, errLZ4
		}
		n := int(binary.BigEndian.Uint32(src))
		src = src[4:]
		if missing == 0 {
			missing = n
			continue
		}
		if n > len(src) || missing > cap(out)-len(out) {
			return nil, errLZ4
		}
		block, err := compress.Decode(c.Codec, out[len(out):len(out)+missing], src[:n])
		if err != nil {
			return nil, err
		}
		out, src, missing = out[:len(out)+len(block)], src[n:], missing-len(block)
	}
	return out, nil
}
