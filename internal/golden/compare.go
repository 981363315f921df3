package golden

import (
	"fmt"
	"strings"
)

// DiffNames tells how column names differ, or "".
func DiffNames(want, got []string) string {
	if strings.Join(want, "\x00") == strings.Join(got, "\x00") {
		return ""
	}
	return fmt.Sprintf("columns are %q, wanted %q", got, want)
}

// DiffOrdered tells the first place where two lists of rows differ, or "".
func DiffOrdered(want, got []Row) string {
	for i := range min(len(want), len(got)) {
		if !Same(want[i], got[i]) {
			return fmt.Sprintf("row %d is %s, wanted %s", i, Text(got[i]), Text(want[i]))
		}
	}
	if len(want) != len(got) {
		return fmt.Sprintf("%d rows, wanted %d", len(got), len(want))
	}
	return ""
}

// Diff tells how two multisets of rows differ, or "". Rows of equal texts pair first; what is left is paired within the
// tolerance of floating numbers.
func Diff(want, got []Row) string {
	missing, extra := pairExact(want, got)
	missing, extra = pairClose(missing, extra)
	if len(missing) == 0 && len(extra) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows, wanted %d", len(got), len(want))
	listRows(&b, "missing", missing)
	listRows(&b, "not wanted", extra)
	return b.String()
}

func pairExact(want, got []Row) (missing, extra []Row) {
	counts := map[string]int{}
	for _, r := range want {
		counts[Text(r)]++
	}
	for _, r := range got {
		if k := Text(r); counts[k] > 0 {
			counts[k]--
		} else {
			extra = append(extra, r)
		}
	}
	for _, r := range want {
		if k := Text(r); counts[k] > 0 {
			counts[k]--
			missing = append(missing, r)
		}
	}
	return missing, extra
}

func pairClose(want, got []Row) (missing, extra []Row) {
	used := make([]bool, len(got))
next:
	for _, w := range want {
		for i, g := range got {
			if !used[i] && Same(w, g) {
				used[i] = true
				continue next
			}
		}
		missing = append(missing, w)
	}
	for i, g := range got {
		if !used[i] {
			extra = append(extra, g)
		}
	}
	return missing, extra
}

// shownRows is how many rows of a difference a message shows.
const shownRows = 4

func listRows(b *strings.Builder, what string, rows []Row) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n  %d %s:", len(rows), what)
	for _, r := range rows[:min(len(rows), shownRows)] {
		b.WriteString("\n    " + Text(r))
	}
}
