package output

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// visible returns text with all that would move the cursor, change the terminal's state or turn the writing around
// spelled as escapes. Text from a table must not be able to drive a person's terminal.
func visible(text string) string {
	if strings.IndexFunc(text, isInvisible) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case isInvisible(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case isInvisible(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isInvisible(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// runeWidth is the number of terminal columns that a rune takes.
func runeWidth(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// textWidth is the number of terminal columns that a text takes.
func textWidth(text string) int {
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

// fit cuts a text that is wider than limit, and ends it with an ellipsis.
func fit(text string, limit int) string {
	if len(text) <= limit || textWidth(text) <= limit {
		return text
	}
	used := 0
	for i, r := range text {
		if used+runeWidth(r) > limit-1 {
			return text[:i] + "…"
		}
		used += runeWidth(r)
	}
	return text
}
