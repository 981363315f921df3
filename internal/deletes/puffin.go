package deletes

import (
	"encoding/binary"
	"encoding/json"
	"strconv"
)

// What the Puffin spec says of files and of the blobs in them.
const (
	puffinMagic = "PFA1"
	vectorBlob  = "deletion-vector-v1"
	positionID  = 2147483645 // the field ID of _pos, which is what a vector is computed from
	notOfTable  = -1         // the snapshot and sequence number of a vector's blob: a manifest entry says those
)

// Puffin is a Puffin file of deletion vectors in the making. The zero value has none.
type Puffin struct {
	body  []byte
	blobs []puffinBlob
}

// puffinBlob is a blob's entry in the footer. Vectors aren't compressed, so that there is no codec.
type puffinBlob struct {
	Type       string            `json:"type"`
	Fields     []int             `json:"fields"`
	Snapshot   int64             `json:"snapshot-id"`
	Sequence   int64             `json:"sequence-number"`
	Offset     int64             `json:"offset"`
	Length     int64             `json:"length"`
	Properties map[string]string `json:"properties"`
}

// Add adds the vector of a data file, by its path as metadata spells it, and returns where it lies in the file.
func (f *Puffin) Add(path string, positions *Positions) (offset, length int64, err error) {
	vector, err := positions.EncodeVector()
	if err != nil {
		return 0, 0, err
	}
	if f.body == nil {
		f.body = []byte(puffinMagic)
	}
	offset, length = int64(len(f.body)), int64(len(vector))
	f.body = append(f.body, vector...)
	f.blobs = append(f.blobs, puffinBlob{
		Type: vectorBlob, Fields: []int{positionID}, Snapshot: notOfTable, Sequence: notOfTable, Offset: offset, Length: length,
		Properties: map[string]string{"referenced-data-file": path, "cardinality": strconv.FormatInt(positions.Count(), 10)},
	})
	return offset, length, nil
}

// Bytes returns how many bytes the vectors take.
func (f *Puffin) Bytes() int { return len(f.body) }

// Finish returns the whole file, which says that it was made by creator. Nothing may be added any more.
func (f *Puffin) Finish(creator string) ([]byte, error) {
	footer, err := json.Marshal(struct {
		Blobs      []puffinBlob      `json:"blobs"`
		Properties map[string]string `json:"properties"`
	}{f.blobs, map[string]string{"created-by": creator}})
	if err != nil {
		return nil, err
	}
	out := append(f.body, puffinMagic...)
	out = append(out, footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	out = binary.LittleEndian.AppendUint32(out, 0) // flags: the footer isn't compressed
	return append(out, puffinMagic...), nil
}
