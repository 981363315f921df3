package property

import (
	"fmt"
	"testing"
)

// ids returns the rows (0), (1), ... (n-1).
func ids(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("(%d)", i)
	}
	return out
}

// TestSPJ1: bucket numbers of different counts are unrelated; pairing equal numbers keeps 35 of 64 rows.
func TestSPJ1(t *testing.T) {
	l := newLab(t)
	l.table(definition{name: "c.l", columns: []string{"id long"}, spec: []string{"bucket[4] id"}}, ids(64))
	l.table(definition{name: "c.r", columns: []string{"id long"}, spec: []string{"bucket[2] id"}}, ids(64))
	const query = "SELECT count(*) FROM c.l JOIN c.r ON l.id = r.id"
	for _, m := range []mode{auto, small, off} {
		switch got := l.single(m, query); got {
		case "64":
		case "35":
			t.Errorf("%v pairs buckets by their numbers", m)
		default:
			t.Errorf("%v gives %s, wanted 64", m, got)
		}
	}
}
