package deletes

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// EncodeVector returns the positions as a deletion-vector-v1 blob, which DecodeVector reads.
func (p *Positions) EncodeVector() ([]byte, error) {
	var body bytes.Buffer
	body.WriteString(vectorMagic)
	body.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(p.parts))))
	for _, part := range p.parts {
		body.Write(binary.LittleEndian.AppendUint32(nil, part.high))
		low := part.low.Clone()
		low.RunOptimize()
		if _, err := low.WriteTo(&body); err != nil {
			return nil, err
		}
	}
	blob := binary.BigEndian.AppendUint32(nil, uint32(body.Len()))
	blob = append(blob, body.Bytes()...)
	return binary.BigEndian.AppendUint32(blob, crc32.ChecksumIEEE(body.Bytes())), nil
}
