package catalog

import (
	"encoding/binary"

	"github.com/tarndb/tarn/transform"
)

// TupleKey tells partition tuples apart, those of different specs too. Keys sort by spec first.
func TupleKey(spec SpecID, tuple []transform.Value) string {
	return string(AppendTupleKey(nil, spec, tuple))
}

// AppendTupleKey appends a tuple's key to key.
func AppendTupleKey(key []byte, spec SpecID, tuple []transform.Value) []byte {
	key = binary.BigEndian.AppendUint32(key, uint32(spec))
	for _, v := range tuple {
		key = transform.AppendKey(key, transform.Type{}, v)
	}
	return key
}
