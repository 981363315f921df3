package duck

/*
#include "shorttext.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// ShortSQL returns the number that stands for a short text, which tarn_short_text turns back. Two texts have one number if and
// only if they are the same bytes, and NULL has NULL: a grouping by the numbers is one by the texts, and costs a fraction. A
// longer text ends the statement with TooLong.
//
// Short are the texts that DuckDB keeps in place, without a pointer. Their number is the bytes that lie there.
func ShortSQL(text string) string { return shortName + "(" + text + ")" }

// The functions' names.
const shortName, shortTextName = "tarn_short", "tarn_short_text"

var callShort = unsafe.Pointer(C.tarn_short)

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

// textOfShort is tarn_short_text(number).
func textOfShort(c call) error {
	x := c.column(0)
	c.passNulls(x)
	for i, v := range values[textBytes](x) {
		if !x.isValid(i) {
			continue
		}
		if v.length > inlineBytes {
			return fmt.Errorf("%sno short text has %d bytes", bugMark, v.length)
		}
		bindings.VectorAssignStringElementLen(c.output, bindings.IdxT(i), v.bytes())
	}
	return nil
}
