package plainreader

import (
	"math/big"
	"time"

	"github.com/tarndb/tarn/internal/golden"
)

// record is a struct as it lies in a file, its values by field ID: nil, a golden value for a primitive, record, []any for a
// list, pairs for a map. The fields that a file lacks aren't in it.
type record map[int]any

// pairs are a map's keys and values as they lie in a file.
type pairs [][2]any

// The IDs that the spec keeps for columns which aren't in schemas.
const (
	fieldRowID       = 2147483540
	fieldLastUpdated = 2147483539
	fieldDeletePath  = 2147483546
	fieldDeletePos   = 2147483545
)

// number returns a whole number as a value.
func number(n int64) golden.Value { return new(big.Rat).SetInt64(n) }

// whole returns a field's whole number, and whether it has one.
func (r record) whole(id int) (int64, bool) {
	n, ok := r[id].(*big.Rat)
	if !ok || !n.IsInt() {
		return 0, false
	}
	return n.Num().Int64(), true
}

// wholeOr returns a field's whole number, or what stands for one that is absent.
func (r record) wholeOr(id int, absent int64) int64 {
	if n, ok := r.whole(id); ok {
		return n
	}
	return absent
}

// text returns a field's text, "" when it has none.
func (r record) text(id int) string {
	s, _ := r[id].(string)
	return s
}

// timestampText writes a timestamp as golden values do.
func timestampText(t time.Time) string {
	if t.Nanosecond()%1000 != 0 {
		return t.UTC().Format("2006-01-02 15:04:05.000000000")
	}
	return t.UTC().Format("2006-01-02 15:04:05.000000")
}

func dateText(t time.Time) string { return t.UTC().Format("2006-01-02") }

func timeText(sinceMidnight time.Duration) string {
	return time.Unix(0, 0).UTC().Add(sinceMidnight).Format("15:04:05.000000")
}
