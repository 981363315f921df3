package sql

import (
	"strconv"
	"strings"

	"github.com/tarndb/tarn/internal/quote"
)

// rewrite returns a query as DuckDB's parser is to see it. The forms of Spark that it refuses or, worse, takes for something
// else become:
//
//	`name`            -> "name"                   (DuckDB reads a backtick as an operator)
//	a <=> b           -> a IS NOT DISTINCT FROM b (DuckDB reads a vector distance)
//	LEFT SEMI JOIN    -> SEMI JOIN, LEFT ANTI JOIN -> ANTI JOIN
//	t VERSION AS OF x b         -> t b AT(VERSION=>x)      likewise TIMESTAMP
//	t FOR VERSION FROM x TO y b -> t b AT(VERSION=>[x, y])
//	a.b.c.t           -> tarn_n0, which Query.Names has (DuckDB knows at most a catalog and a schema)
//
// What stands before the query, such as EXPLAIN, is blanked out, and what became shorter is filled up with blanks, so that
// the lines and columns of DuckDB's errors are the user's.
func (p *parser) rewrite() (Query, error) {
	w := writer{p: p}
	first := p.tokens[0]
	w.out.WriteString(blank(p.src[:first.start]))
	mentions, err := p.mentions()
	if err != nil {
		return Query{}, err
	}
	if err := p.checkNullSafe(); err != nil {
		return Query{}, err
	}
	at := 0
	for _, m := range mentions {
		w.tokens(at, m.start)
		at = w.mention(m)
	}
	w.tokens(at, len(p.tokens))
	w.query.Text = w.out.String()
	return w.query, nil
}

// writer writes a query's tokens anew.
type writer struct {
	p     *parser
	out   strings.Builder
	query Query
}

// tokens writes the tokens of a range, with the white space before each but the query's first.
func (w *writer) tokens(from, to int) {
	for i := from; i < to; i++ {
		w.space(i)
		w.token(i)
	}
}

// space writes the white space before a token.
func (w *writer) space(i int) {
	if i > 0 {
		before := w.p.tokens[i-1]
		w.out.WriteString(w.p.src[before.start+len(before.text) : w.p.tokens[i].start])
	}
}

func (w *writer) token(i int) {
	t := w.p.tokens[i]
	switch {
	case t.kind == quoted && t.text[0] == '`':
		w.out.WriteString(quote.Name(unquote(t)))
	case t.kind == symbol && t.text == "<=>":
		w.out.WriteString(" IS NOT DISTINCT FROM ")
	case t.is("left") && w.p.at(i+1, "semi", "anti") && w.p.at(i+2, "join"):
	default:
		w.out.WriteString(t.text)
	}
}

// mention writes a table's name with its clause and alias, and returns the place behind.
func (w *writer) mention(m mention) int {
	if len(m.parts) <= 3 && m.travel == nil {
		w.tokens(m.start, m.end)
		return m.end
	}
	w.space(m.start)
	begin, end := w.out.Len(), m.end
	if len(m.parts) > 3 {
		w.out.WriteString(w.placeholder(m.parts))
	} else {
		w.token(m.start)
		w.tokens(m.start+1, m.end)
	}
	if m.travel != nil {
		end = m.travel.end
		w.travel(m.travel)
	}
	last := w.p.tokens[end-1]
	w.fill(w.p.src[w.p.tokens[m.start].start:last.start+len(last.text)], begin)
	return end
}

// travel writes the alias, which DuckDB wants first, and the clause.
func (w *writer) travel(t *travel) {
	w.tokens(t.alias, t.end)
	w.out.WriteString(" AT(" + t.unit + "=>")
	if t.isRange {
		w.out.WriteString("[")
	}
	for n, v := range t.values {
		if n > 0 {
			w.out.WriteString(",")
		}
		w.token(v[0])
		w.tokens(v[0]+1, v[1])
	}
	if t.isRange {
		w.out.WriteString("]")
	}
	w.out.WriteString(")")
}

// fill adds the line ends and blanks that make what was written since begin as long as the text that it stands for.
func (w *writer) fill(was string, begin int) {
	now := w.out.String()[begin:]
	lines := max(0, strings.Count(was, "\n")-strings.Count(now, "\n"))
	w.out.WriteString(strings.Repeat("\n", lines) + strings.Repeat(" ", max(0, len(was)-len(now)-lines)))
}

// placeholder makes a name that the query has nowhere stand for a longer one.
func (w *writer) placeholder(parts []string) string {
	low := strings.ToLower(w.p.src)
	for n := len(w.query.Names); ; n++ {
		name := "tarn_n" + strconv.Itoa(n)
		if _, taken := w.query.Names[name]; taken || strings.Contains(low, name) {
			continue
		}
		if w.query.Names == nil {
			w.query.Names = map[string][]string{}
		}
		w.query.Names[name] = parts
		return name
	}
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

// at says whether token i is one of the keywords.
func (p *parser) at(i int, keywords ...string) bool {
	if i < 0 || i >= len(p.tokens) {
		return false
	}
	for _, k := range keywords {
		if p.tokens[i].is(k) {
			return true
		}
	}
	return false
}
