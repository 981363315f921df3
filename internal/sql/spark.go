package sql

import (
	"strings"

	"github.com/tarndb/tarn/internal/errs"
)

// rewriteSpark returns the query's text, with the forms of Spark that DuckDB's parser refuses or, worse, takes for
// something else:
//
//	`name`           -> "name"                  (DuckDB reads a backtick as an operator)
//	a <=> b          -> a IS NOT DISTINCT FROM b (DuckDB reads a vector distance)
//	LEFT SEMI JOIN   -> SEMI JOIN, LEFT ANTI JOIN -> ANTI JOIN
//
// Time travel is refused here, since DuckDB would take VERSION or TIMESTAMP for an alias. What stands before the query,
// such as EXPLAIN, is blanked out, so that the lines and columns of DuckDB's errors are the user's.
func (p *parser) rewriteSpark() (string, error) {
	var b strings.Builder
	first, last := p.tokens[0], p.tokens[len(p.tokens)-1]
	b.WriteString(blank(p.src[:first.start]))
	for _, t := range p.all {
		if t.start < first.start || t.start > last.start {
			continue
		}
		i := p.index(t)
		switch {
		case t.kind == quoted && t.text[0] == '`':
			b.WriteString(`"` + strings.ReplaceAll(unquote(t), `"`, `""`) + `"`)
		case t.kind == symbol && t.text == "<=>":
			b.WriteString(" IS NOT DISTINCT FROM ")
		case t.is("left") && p.at(i+1, "semi", "anti") && p.at(i+2, "join"):
		case (t.is("version") || t.is("timestamp")) && p.at(i+1, "as") && p.at(i+2, "of"):
			return "", errs.New(errs.Unsupported, "bind", strings.ToUpper(t.text)+" AS OF", "time travel isn't supported yet")
		default:
			b.WriteString(t.text)
		}
	}
	return b.String(), nil
}

// blank returns text with all but its line ends replaced by blanks.
func blank(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, text)
}

// index returns the place of t among the tokens that aren't white space, or -1.
func (p *parser) index(t token) int {
	lo, hi := 0, len(p.tokens)
	for lo < hi {
		mid := (lo + hi) / 2
		if p.tokens[mid].start < t.start {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(p.tokens) && p.tokens[lo].start == t.start {
		return lo
	}
	return -1
}

// at says whether token number i is one of the keywords.
func (p *parser) at(i int, keywords ...string) bool {
	if i < 1 || i >= len(p.tokens) {
		return false
	}
	for _, k := range keywords {
		if p.tokens[i].is(k) {
			return true
		}
	}
	return false
}
