package duck

import "strings"

// BitText returns the text of a BIT value from a record: its first byte counts the padding bits before the value's own.
func BitText(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	var text strings.Builder
	for i := int(b[0]); i < 8*(len(b)-1); i++ {
		text.WriteByte('0' + b[1+i/8]>>(7-i%8)&1)
	}
	return text.String()
}
