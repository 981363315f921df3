package sql

import "strings"

// mention is a place in a FROM clause where a table is named: tokens start to end, without what follows the name.
type mention struct {
	start, end int
	parts      []string // the name's, without quotes; one for a path
	travel     *travel  // nil: none
}

// place is where in a bracketed part of a query the walk is.
type place struct {
	isQuery bool // FROM begins a clause here, and isn't a part of extract(year FROM x)
	clause  clause
}

// clause tells the FROM clause, in which tables are named, from the rest.
type clause uint8

const (
	elsewhere  clause = iota
	wantsTable        // after FROM, JOIN or a comma between tables
	hasTable          // after a table: its alias, ON, the next JOIN, ...
)

// afterFrom are the words that end a FROM clause.
var afterFrom = Words("where group having window qualify order limit offset fetch union intersect except select")

// Words returns the words of a text as a set.
func Words(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// mentions finds the tables that a query names. It follows brackets and the words that begin and end FROM clauses, which
// DuckDB reserves; what it makes of a text that is no query doesn't matter, since DuckDB's parser sees that afterwards.
func (p *parser) mentions() ([]mention, error) {
	var found []mention
	stack := []place{{}}
	for i := 0; i < len(p.tokens); i++ {
		t, top := p.tokens[i], &stack[len(stack)-1]
		switch {
		case isSymbol(t, "(", "[", "{"):
			inner := place{}
			if top.clause == wantsTable {
				inner.clause = wantsTable
			}
			stack = append(stack, inner)
		case isSymbol(t, ")", "]", "}"):
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
			if top = &stack[len(stack)-1]; top.clause == wantsTable {
				top.clause = hasTable
			}
		case isSymbol(t, ",") && top.clause == hasTable:
			top.clause = wantsTable
		case p.step(i, top):
		case top.clause == wantsTable && t.kind != symbol:
			top.clause = hasTable
			m := p.mentionAt(i)
			if i = m.end - 1; p.symbolAt(m.end, "(") {
				if err := p.refuseTravel(m); err != nil {
					return nil, err
				}
				continue // a function
			}
			var err error
			if m.travel, err = p.travelAt(m.end); err != nil {
				return nil, err
			}
			if m.travel != nil {
				i = m.travel.end - 1
			}
			found = append(found, m)
		}
	}
	return found, nil
}

// step follows a word that begins or ends a FROM clause, and says whether token i is one.
func (p *parser) step(i int, at *place) bool {
	t := p.tokens[i]
	if t.kind != word || p.symbolAt(i-1, ".") || p.at(i-1, "as") {
		return false // a name
	}
	w := strings.ToLower(t.text)
	first := i == 0 || isSymbol(p.tokens[i-1], "(")
	switch {
	case w == "from":
		at.isQuery = at.isQuery || first
		if !at.isQuery || p.at(i-1, "distinct") && p.at(i-2, "is", "not") {
			return true
		}
		at.clause = wantsTable
	case w == "table" && first, w == "join" && at.clause == hasTable:
		at.clause = wantsTable
	case w == "lateral" && at.clause == wantsTable:
	case (w == "with" || w == "values") && (first || at.clause == wantsTable), afterFrom[w]:
		at.isQuery, at.clause = true, elsewhere
	default:
		return false
	}
	return true
}

// mentionAt reads a dotted name or a path from token i on.
func (p *parser) mentionAt(i int) mention {
	m := mention{start: i, end: i + 1, parts: []string{unquote(p.tokens[i])}}
	if p.tokens[i].kind == text {
		return m
	}
	for p.symbolAt(m.end, ".") && m.end+1 < len(p.tokens) && isName(p.tokens[m.end+1]) {
		m.parts = append(m.parts, unquote(p.tokens[m.end+1]))
		m.end += 2
	}
	return m
}

func isName(t token) bool { return t.kind == word || t.kind == quoted }

func isSymbol(t token, symbols ...string) bool {
	for _, s := range symbols {
		if t.kind == symbol && t.text == s {
			return true
		}
	}
	return false
}

func (p *parser) symbolAt(i int, s string) bool {
	return i >= 0 && i < len(p.tokens) && isSymbol(p.tokens[i], s)
}

// behind returns the place behind the bracket that closes the one at token i.
func (p *parser) behind(i int) int {
	depth := 0
	for ; i < len(p.tokens); i++ {
		switch {
		case isSymbol(p.tokens[i], "(", "[", "{"):
			depth++
		case isSymbol(p.tokens[i], ")", "]", "}"):
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return i
}
