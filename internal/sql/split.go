package sql

import (
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Split cuts a script into its statements, without the semicolons; empty ones are left out.
func Split(script string) ([]string, error) {
	tokens, err := lex(script)
	if err != nil {
		return nil, err
	}
	var out []string
	start, blank := 0, true
	flush := func(end int) {
		if !blank {
			out = append(out, strings.TrimSpace(script[start:end]))
		}
		blank = true
	}
	for _, t := range tokens {
		switch {
		case t.kind == symbol && t.text == ";":
			flush(t.start)
			start = t.start + 1
		case t.kind != space:
			blank = false
		}
	}
	flush(len(script))
	return out, nil
}
