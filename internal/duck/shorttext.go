package duck

import (
	"encoding/binary"
	"errors"
	"fmt"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// ShortSQL returns the number that stands for a short text, which tarn_short_text turns back. Two texts have one number if and
// only if they are the same bytes, and NULL has NULL: a grouping by the numbers is one by the texts, and costs a fraction. A
// longer text ends the statement with TooLong.
func ShortSQL(text string) string { return shortName + "(" + text + ")" }

const (
	shortName, shortTextName = "tarn_short", "tarn_short_text"
	// shortBytes is how many bytes a short text has at most: a HUGEINT's but for the first, which is their number.
	shortBytes = 15
)

// TooLong is the error of a statement that met a text which isn't short.
type TooLong struct{ error }

func (t TooLong) Unwrap() error { return t.error }

// IsTooLong says whether a statement met a text that isn't short.
func IsTooLong(err error) bool {
	var long TooLong
	return errors.As(err, &long)
}

// tooLong begins the message of the error.
const tooLong = "a text is longer than"

// shortText is tarn_short(text).
func shortText(c call) error {
	x := c.column(0)
	c.passNulls(x)
	out, in := results[words128](c), values[textBytes](x)
	for i := range in {
		if !x.isValid(i) {
			continue
		}
		t := in[i].bytes()
		if len(t) > shortBytes {
			return fmt.Errorf("%s %d bytes", tooLong, shortBytes)
		}
		var b [shortBytes + 1]byte
		copy(b[:], t)
		b[shortBytes] = byte(len(t)) // below 16, so that the number is never negative
		out[i] = words128{binary.LittleEndian.Uint64(b[:8]), int64(binary.LittleEndian.Uint64(b[8:]))}
	}
	return nil
}

// textOfShort is tarn_short_text(number).
func textOfShort(c call) error {
	x := c.column(0)
	c.passNulls(x)
	for i, v := range values[words128](x) {
		if !x.isValid(i) {
			continue
		}
		var b [shortBytes + 1]byte
		binary.LittleEndian.PutUint64(b[:8], v.low)
		binary.LittleEndian.PutUint64(b[8:], uint64(v.high))
		if b[shortBytes] > shortBytes {
			return fmt.Errorf("%sno text has the number %v", bugMark, v.big())
		}
		bindings.VectorAssignStringElementLen(c.output, bindings.IdxT(i), b[:b[shortBytes]])
	}
	return nil
}
