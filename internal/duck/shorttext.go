package duck

/*
#include "shorttext.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

// ShortWidth is how many bytes a text may have to be short, and how it becomes a number.
type ShortWidth int

// The widths, the cheapest first; NoShort: texts are grouped by as they are.
const (
	ShortWord   ShortWidth = 8  // in a UBIGINT: 0xFF, which no UTF-8 has, where the text has no byte
	ShortInline ShortWidth = 12 // in a HUGEINT: the texts that DuckDB keeps in place, without a pointer, as they lie there
	NoShort     ShortWidth = 0
)

// ShortSQL returns the number that stands for a short text, which tarn_short_text turns back. Two texts have one number if and
// only if they are the same bytes, and NULL has NULL: a grouping by the numbers is one by the texts, and costs a fraction. A
// longer text ends the statement with TooLong.
func ShortSQL(text string, width ShortWidth) string {
	return fmt.Sprintf("%s_%d(%s)", shortName, width, text)
}

// The functions' names.
const shortName, shortTextName = "tarn_short", "tarn_short_text"

var (
	callShortWord       = unsafe.Pointer(C.tarn_short_8)
	callShortInline     = unsafe.Pointer(C.tarn_short_12)
	callShortWordText   = unsafe.Pointer(C.tarn_short_text_8)
	callShortInlineText = unsafe.Pointer(C.tarn_short_text_12)
)

// TooLong is the error of a statement that met a text which isn't short.
type TooLong struct {
	error
	// Fits is a width that the text has room in.
	Fits ShortWidth
}

func (t TooLong) Unwrap() error { return t.error }

// IsTooLong says whether a statement met a text that isn't short.
func IsTooLong(err error) bool {
	var long TooLong
	return errors.As(err, &long)
}

// tooLong begins the message of the error.
const tooLong = "a text is longer than"

func newTooLong(err error, message string) TooLong {
	if strings.HasPrefix(message, fmt.Sprintf("%s %d bytes", tooLong, ShortWord)) {
		return TooLong{err, ShortInline}
	}
	return TooLong{err, NoShort}
}

// Wider returns the width to go on with where a statement over short texts failed, NoShort where none is sure to do.
func (w ShortWidth) Wider(err error) ShortWidth {
	var long TooLong
	if errors.As(err, &long) && long.Fits > w {
		return long.Fits
	}
	return NoShort
}
