package sql

import (
	"strconv"
	"strings"

	"github.com/tarndb/tarn/internal/errs"
)

// Fragment is a part of a statement: an expression, or a table as FROM has it. Its parameters are numbered, so that it may stand
// anywhere in another text, and more than once.
type Fragment struct {
	Text       string
	Plain      bool // it is nothing but a name
	Parameters int  // the highest number of a parameter in it; 0 for none
	src        string
	start      int
	kind       string // ofExpression or ofTables
}

// fragment returns the tokens of a range as one, of a statement of which the tokens are all but what stands before it.
func (p *parser) fragment(from, to int, kind string) Fragment {
	var out strings.Builder
	parameters, highest := 0, 0
	for _, t := range p.tokens[:from] {
		if isSymbol(t, "?") {
			parameters++
		}
	}
	isPlain := (to-from)%2 == 1
	for i := from; i < to; i++ {
		t := p.tokens[i]
		isPlain = isPlain && (isName(t) && (i-from)%2 == 0 || isSymbol(t, ".") && (i-from)%2 == 1)
		if i > from {
			before := p.tokens[i-1]
			out.WriteString(p.src[before.start+len(before.text) : t.start])
		}
		if isSymbol(t, "?") {
			parameters++
			highest = max(highest, parameters)
			out.WriteString("$" + strconv.Itoa(parameters))
			continue
		}
		if n, err := strconv.Atoi(t.text); err == nil && i > 0 && isSymbol(p.tokens[i-1], "$") {
			highest = max(highest, n)
		}
		out.WriteString(t.text)
	}
	return Fragment{Text: out.String(), Plain: isPlain, Parameters: highest, src: p.src, start: p.tokens[from].start, kind: kind}
}

// String returns the text.
func (f Fragment) String() string { return f.Text }

// IsGiven says whether the statement has the part.
func (f Fragment) IsGiven() bool { return f.Text != "" }

// IsExpression says whether it is an expression, and no table.
func (f Fragment) IsExpression() bool { return f.kind == ofExpression }

// What makes a query of a fragment.
const (
	ofExpression = "SELECT"
	ofTables     = "SELECT * FROM"
)

// Alone returns a query of nothing but the fragment, in the place where the statement has it: an error of DuckDB's parser about
// it has the line and column of the statement.
func (f Fragment) Alone() string {
	before := blank(f.src[:f.start])
	if len(f.kind) >= len(before) || strings.Contains(before[:len(f.kind)], "\n") {
		return f.kind + " " + f.Text
	}
	return f.kind + before[len(f.kind):] + f.Text
}

// ParseQuery reads a text that is a query.
func ParseQuery(text string) (Query, error) {
	st, err := Parse(text)
	if err != nil {
		return Query{}, err
	}
	q, ok := st.(Query)
	if !ok {
		return q, errs.New(errs.Internal, "parse", "query", "it is a %T", st)
	}
	return q, nil
}

// expression reads an expression up to one of the keywords or symbols outside of brackets and CASE, or to the end.
func (p *parser) expression(what string, until ...string) (Fragment, error) {
	from := p.pos
	p.skip(func(i int) bool {
		t := p.tokens[i]
		if t.is("from") && p.at(i-1, "distinct") {
			return false // a IS DISTINCT FROM b
		}
		return t.kind == symbol && isSymbol(t, until...) || p.at(i, until...) && !p.symbolAt(i-1, ".")
	})
	if p.pos == from {
		return Fragment{}, p.wanted(what)
	}
	return p.fragment(from, p.pos, ofExpression), nil
}

// skip goes on to the first token outside of brackets and CASE at which isEnd, or to the end.
func (p *parser) skip(isEnd func(i int) bool) {
	depth := 0
	for ; p.pos < len(p.tokens); p.pos++ {
		t := p.tokens[p.pos]
		if depth == 0 && isEnd(p.pos) {
			return
		}
		isKeyword := !p.symbolAt(p.pos-1, ".")
		switch {
		case isSymbol(t, "(", "[", "{"), isKeyword && t.is("case"):
			depth++
		case isSymbol(t, ")", "]", "}"), isKeyword && t.is("end"):
			if depth--; depth < 0 {
				return
			}
		}
	}
}
