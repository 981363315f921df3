package duck

import (
	"encoding/binary"
	"math"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// EachKey calls use for each row of the chunk with the bytes that stand for its values in columns, in that order: equal
// exactly when the values are. NULL equals NULL, all NaN are equal, and the two zeros of a float are not. An integer has the
// key of the same long, a float that of the same double, so that promotion changes no key; decimals compare at one scale.
// The key is only lent until use returns, and use may stop with an error. A column that isn't primitive is Unsupported.
func (ch *Chunk) EachKey(columns []int, use func(row int, key []byte) error) error {
	vectors := make([]column, len(columns))
	for i, at := range columns {
		if at < 0 || at >= int(bindings.DataChunkGetColumnCount(ch.handle)) {
			return errs.New(errs.Internal, "make keys", "", "column %d isn't there", at)
		}
		vectors[i] = columnOf(ch.handle, at, ch.Rows())
		if vectors[i].layout == otherLayout {
			return errs.New(errs.Unsupported, "make keys", ch.result.columns[at].Name, "equality deletes can't compare type %s", ch.result.columns[at].Type)
		}
	}
	var key []byte
	for row := range ch.Rows() {
		key = appendRowKey(key[:0], vectors, row)
		if err := use(row, key); err != nil {
			return err
		}
	}
	return nil
}

// appendRowKey appends the key of a row: for each column a byte that tells NULL, then the value, of which type and length
// tell where it ends.
func appendRowKey(key []byte, columns []column, row int) []byte {
	for i := range columns {
		if c := &columns[i]; c.isValid(row) {
			key = appendValue(append(key, 1), c, row)
		} else {
			key = append(key, 0)
		}
	}
	return key
}

func appendValue(key []byte, c *column, row int) []byte {
	switch c.layout {
	case text:
		b := values[textBytes](*c)[row].bytes()
		return append(binary.LittleEndian.AppendUint32(key, uint32(len(b))), b...)
	case bits128:
		w := values[words128](*c)[row]
		return appendWords(key, w.low, uint64(w.high))
	case float32s:
		return appendFloat(key, float64(values[float32](*c)[row]))
	case float64s:
		return appendFloat(key, values[float64](*c)[row])
	}
	n := c.integer(row)
	if c.typ.Kind == transform.Decimal {
		return appendWords(key, uint64(n), uint64(n>>63))
	}
	return binary.LittleEndian.AppendUint64(key, uint64(n))
}

// appendWords appends 128 bits: a decimal has as many in each precision.
func appendWords(key []byte, low, high uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(key, low), high)
}

func appendFloat(key []byte, f float64) []byte {
	if math.IsNaN(f) {
		f = math.NaN()
	}
	return binary.LittleEndian.AppendUint64(key, math.Float64bits(f))
}
