package sql

import (
	"strings"

	"github.com/tarndb/tarn/internal/errs"
)

// Statement is one of the statements below.
type Statement interface{ statement() }

// Query is a SELECT in any of its forms (WITH, FROM first, VALUES, set operations); Text is what DuckDB's parser gets. Names
// has the tables' names of more than three parts, by the names that stand for them in Text.
type Query struct {
	Text  string
	Names map[string][]string
	// Places says that the text is of a statement that changes rows, which may name the engine's own column of where they lie.
	Places bool
}

// Explain asks for the plan of a Query, an Insert, a CreateTable with a query or a ChangeRows; Analyze runs it, JSON asks for the
// machine's form.
type Explain struct {
	Of      Statement
	Analyze bool
	JSON    bool
}

// Set changes an option of the session.
type Set struct{ Name, Value string }

// Reset gives an option back its default; an empty Name means all of them.
type Reset struct{ Name string }

func (Query) statement()   {}
func (Explain) statement() {}
func (Set) statement()     {}
func (Reset) statement()   {}

// Parse reads one statement. Errors are Syntax with line and column, or Unsupported naming the statement.
func Parse(stmt string) (Statement, error) {
	tokens, err := lex(stmt)
	if err != nil {
		return nil, err
	}
	p := &parser{src: stmt}
	for _, t := range tokens {
		if t.kind != space {
			p.tokens = append(p.tokens, t)
		}
	}
	for n := len(p.tokens); n > 0 && p.tokens[n-1].text == ";" && p.tokens[n-1].kind == symbol; n-- {
		p.tokens = p.tokens[:n-1]
	}
	if len(p.tokens) == 0 {
		return nil, syntaxAt(stmt, len(stmt), "found the end, wanted a statement")
	}
	return p.parse()
}

type parser struct {
	src    string
	tokens []token // without white space
	pos    int
	depth  int // of the type that is being read, within others
}

func (p *parser) parse() (Statement, error) {
	first := p.tokens[0]
	switch strings.ToLower(first.text) {
	case "select", "with", "from", "values", "(", "table":
		return p.rewrite()
	case "explain":
		return p.explain()
	case "set":
		return p.set()
	case "reset":
		return p.reset()
	case "show":
		return p.show()
	case "describe", "desc":
		return p.describe()
	case "create", "replace":
		return p.create()
	case "drop":
		return p.drop()
	case "alter":
		return p.alter()
	case "insert":
		return p.insert()
	case "call":
		return p.call()
	case "delete":
		return p.delete()
	case "update":
		return p.update()
	case "merge":
		return p.merge()
	}
	return nil, p.notBuilt(first)
}

// notBuilt tells statements that exist in SQL but not here from words that start no statement.
func (p *parser) notBuilt(t token) error {
	switch strings.ToLower(t.text) {
	case "copy", "truncate", "pivot",
		"unpivot", "summarize", "use", "analyze", "refresh", "comment":
		return errs.New(errs.Unsupported, "run", strings.ToUpper(t.text), "the statement isn't supported yet").
			WithHint("docs/sql.md lists what is; another engine can run it on the same table")
	case "attach", "detach", "install", "load", "pragma", "checkpoint", "vacuum", "export", "import", "begin", "commit",
		"rollback", "prepare", "execute", "deallocate":
		return errs.New(errs.Unsupported, "run", strings.ToUpper(t.text), "statements about the engine inside aren't part of Tarn's SQL").
			WithHint("use SET tarn.<option> (SHOW SETTINGS lists them) and tarn.yaml for catalogs")
	}
	return syntaxAt(p.src, t.start, "found %q, wanted a statement such as SELECT, INSERT, MERGE, CREATE, ALTER, EXPLAIN, SET, SHOW or DESCRIBE", t.text)
}

func (p *parser) peek() (token, bool) {
	if p.pos < len(p.tokens) {
		return p.tokens[p.pos], true
	}
	return token{}, false
}

func (p *parser) accept(keyword string) bool {
	if t, ok := p.peek(); ok && (t.is(keyword) || t.kind == symbol && t.text == keyword) {
		p.pos++
		return true
	}
	return false
}

// wanted returns the error for what stands at the current position.
func (p *parser) wanted(what string) error {
	if t, ok := p.peek(); ok {
		return syntaxAt(p.src, t.start, "found %q, wanted %s", t.text, what)
	}
	return syntaxAt(p.src, len(p.src), "found the end, wanted %s", what)
}

func (p *parser) end() error {
	if _, ok := p.peek(); ok {
		return p.wanted("the end of the statement")
	}
	return nil
}

// name reads a dotted name; quotes are taken off.
func (p *parser) name(what string) ([]string, error) {
	var parts []string
	for {
		part, err := p.identifier(what)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		if !p.accept(".") {
			return parts, nil
		}
	}
}

func unquote(t token) string {
	if t.kind != quoted {
		return t.text
	}
	return Unquoted(t.text)
}

// Unquoted returns a name without its quotation marks, if it has any.
func Unquoted(name string) string {
	if len(name) > 1 && (name[0] == '"' || name[0] == '`') {
		q := name[:1]
		return strings.ReplaceAll(name[1:len(name)-1], q+q, q)
	}
	return name
}

func (p *parser) explain() (Statement, error) {
	p.pos = 1
	var e Explain
	switch {
	case p.accept("analyze"):
		e.Analyze = true
	case p.accept("formatted"), p.accept("extended"):
	case p.accept("("):
		if err := p.explainOptions(&e); err != nil {
			return nil, err
		}
	}
	t, ok := p.peek()
	if !ok {
		return nil, p.wanted("a query to explain")
	}
	if t.is("explain") {
		return nil, noPlan(t)
	}
	rest, err := (&parser{src: p.src, tokens: p.tokens[p.pos:]}).parse() // positions stay those of the whole text
	if err != nil {
		return nil, err
	}
	switch st := rest.(type) {
	case DropTable:
		if st.Purge {
			return ExplainDrop{st}, nil
		}
	case Query, Insert, ChangeRows:
		e.Of = st
		return e, nil
	case CreateTable:
		if st.As != nil {
			e.Of = st
			return e, nil
		}
	}
	return nil, noPlan(t)
}

func noPlan(first token) error {
	return errs.New(errs.Unsupported, "explain", strings.ToUpper(first.text), "only queries, INSERT, UPDATE, DELETE, MERGE, CREATE TABLE ... AS and DROP TABLE ... PURGE have a plan")
}

// explainOptions reads "(analyze, format json)" after its opening parenthesis. A parenthesis that opens the query itself
// is not one of these.
func (p *parser) explainOptions(e *Explain) error {
	if t, ok := p.peek(); ok && (t.is("select") || t.is("with") || t.is("from") || t.is("values") || t.text == "(") {
		p.pos--
		return nil
	}
	for {
		switch {
		case p.accept("analyze"):
			e.Analyze = true
		case p.accept("format"):
			switch {
			case p.accept("json"):
				e.JSON = true
			case !p.accept("text"):
				return p.wanted("json or text")
			}
		default:
			return p.wanted("ANALYZE or FORMAT")
		}
		if p.accept(")") {
			return nil
		}
		if !p.accept(",") {
			return p.wanted(", or )")
		}
	}
}

func (p *parser) set() (Statement, error) {
	p.pos = 1
	p.accept("session")
	name, err := p.optionName()
	if err != nil {
		return nil, err
	}
	if !p.accept("=") && !p.accept("to") {
		return nil, p.wanted("= and a value")
	}
	t, ok := p.peek()
	if !ok {
		return nil, p.wanted("a value")
	}
	value := strings.TrimSpace(p.src[t.start : p.tokens[len(p.tokens)-1].start+len(p.tokens[len(p.tokens)-1].text)])
	if t.kind == text && p.pos == len(p.tokens)-1 && t.text[0] == '\'' {
		value = strings.ReplaceAll(t.text[1:len(t.text)-1], "''", "'")
	}
	return Set{Name: name, Value: value}, nil
}

// optionName reads an option's name, which unlike others may have hyphens, as Spark's do.
func (p *parser) optionName() (string, error) {
	parts, err := p.name("the name of an option")
	name := strings.Join(parts, ".")
	for err == nil && p.accept("-") {
		parts, err = p.name("the rest of the option's name")
		name += "-" + strings.Join(parts, ".")
	}
	return name, err
}

func (p *parser) reset() (Statement, error) {
	p.pos = 1
	if p.pos == len(p.tokens) || p.accept("all") {
		return Reset{}, p.end()
	}
	name, err := p.optionName()
	if err != nil {
		return nil, err
	}
	return Reset{Name: name}, p.end()
}
