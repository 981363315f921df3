package sql

import (
	"strconv"
	"strings"
	"unicode"

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

// notNames are words that stand in expressions and can't be the bare name of a column.
var notNames = Words("and any as asc between case cast collate desc distinct else end except for from having ilike in interval is isnull " +
	"lambda like not notnull null on or order over similar some then to true false try_cast using when where with")

// Qualified returns an expression in which bare names of columns, those that is says are meant, stand behind a table's name.
// Subqueries and lambdas have names of their own: an expression with one stays as it is.
func (f Fragment) Qualified(is func(name string) bool, table string) Fragment {
	all, err := lex(f.Text)
	if err != nil {
		return f
	}
	p := &parser{src: f.Text}
	for _, t := range all {
		if t.is("select") || t.is("lambda") || isSymbol(t, "-") && strings.HasPrefix(f.Text[t.start:], "->") {
			return f
		}
		if t.kind != space {
			p.tokens = append(p.tokens, t)
		}
	}
	var out strings.Builder
	at := 0
	for i, t := range p.tokens {
		if p.isBare(i) && is(unquote(t)) {
			out.WriteString(f.Text[at:t.start] + table + ".")
			at = t.start
		}
	}
	f.Text = out.String() + f.Text[at:]
	return f
}

// isBare says whether token i is a name that may be that of a column by itself, and not a part of one, a function, a type, a key or
// a unit.
func (p *parser) isBare(i int) bool {
	t := p.tokens[i]
	if !isName(t) || t.kind == word && (notNames[strings.ToLower(t.text)] || unicode.IsDigit(rune(t.text[0]))) {
		return false
	}
	before, after := token{kind: space}, token{kind: space}
	if i > 0 {
		before = p.tokens[i-1]
	}
	if i+1 < len(p.tokens) {
		after = p.tokens[i+1]
	}
	isUnit := before.kind == text || before.kind == word && unicode.IsDigit(rune(before.text[0])) || after.is("from")
	isType := before.is("as") || after.kind == text || p.symbolAt(i-1, ":") && p.symbolAt(i-2, ":")
	isKey := p.symbolAt(i+1, ":") && !p.symbolAt(i+2, ":")
	return !isSymbol(before, ".", "$") && !isSymbol(after, ".", "(") && !isUnit && !isType && !isKey
}
