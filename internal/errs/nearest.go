package errs

import "strings"

// Nearest returns the known name that name is most likely a misspelling of, or "" when none is near. It is for hints
// ("did you mean"), so case and a missing prefix before the last dot don't count as a difference.
func Nearest(name string, known []string) string {
	best, bestCost := "", len(name)/3+2
	for _, k := range known {
		cost := min(distance(fold(name), fold(k)), distance(fold(name), fold(k[strings.LastIndexByte(k, '.')+1:])))
		if cost < bestCost {
			best, bestCost = k, cost
		}
	}
	return best
}

func fold(s string) string { return strings.ToLower(s) }

// distance is the number of bytes to insert, delete, replace or swap with their neighbour to turn a into b.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
