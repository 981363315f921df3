package sql

import "strings"

// Call runs a procedure: CALL [catalog.]system.name(argument, ...).
type Call struct {
	Catalog   string // "": the default one
	Procedure string // in lower case
	Args      []Argument
}

// Argument is a value that a procedure is given, by its place or by a name.
type Argument struct {
	Name  string // "": by its place
	Value Literal
	// Items are the values of an array(...), or keys and values in turn of a map(...).
	Items          []Literal
	IsArray, IsMap bool
}

func (Call) statement() {}

// call reads CALL [catalog.]system.name([name =>] value, ...).
func (p *parser) call() (Statement, error) {
	p.pos++
	at, _ := p.peek()
	name, err := p.name("a procedure such as system.rollback_to_snapshot")
	if err != nil {
		return nil, err
	}
	n := len(name)
	if n < 2 || n > 3 || !strings.EqualFold(name[n-2], "system") {
		return nil, syntaxAt(p.src, at.start, "found %s, wanted a procedure such as system.rollback_to_snapshot or catalog.system.rollback_to_snapshot", strings.Join(name, "."))
	}
	out := Call{Procedure: strings.ToLower(name[n-1])}
	if n == 3 {
		out.Catalog = name[0]
	}
	if p.symbolAt(p.pos, "(") && p.symbolAt(p.pos+1, ")") {
		p.pos += 2
		return out, p.end()
	}
	err = p.bracketed(func() error {
		a, err := p.callArgument()
		out.Args = append(out.Args, a)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, p.end()
}

func (p *parser) callArgument() (Argument, error) {
	var a Argument
	var err error
	if t, ok := p.peek(); ok && (t.kind == word || t.kind == quoted) && p.isArrow(p.pos+1) {
		if a.Name, err = p.identifier("an argument's name"); err != nil {
			return a, err
		}
		p.pos += 2
	}
	a.IsArray, a.IsMap = p.at(p.pos, "array") && p.symbolAt(p.pos+1, "("), p.at(p.pos, "map") && p.symbolAt(p.pos+1, "(")
	if !a.IsArray && !a.IsMap {
		a.Value, err = p.literal("a constant")
		return a, err
	}
	at, _ := p.peek()
	p.pos++
	if p.symbolAt(p.pos+1, ")") {
		p.pos += 2
		return a, nil
	}
	err = p.bracketed(func() error {
		l, err := p.literal("a constant")
		a.Items = append(a.Items, l)
		return err
	})
	if err == nil && a.IsMap && len(a.Items)%2 != 0 {
		err = syntaxAt(p.src, at.start, "the map has a key without a value")
	}
	return a, err
}

// isArrow says whether => stands at a place, which is two symbols.
func (p *parser) isArrow(i int) bool {
	return p.symbolAt(i, "=") && p.symbolAt(i+1, ">") && p.tokens[i+1].start == p.tokens[i].start+1
}

// ParseName reads a text that is a dotted name, such as an argument of a procedure.
func ParseName(text string) ([]string, error) {
	p, err := parserOf(text)
	if err != nil {
		return nil, err
	}
	name, err := p.name("a table's name")
	if err != nil {
		return nil, err
	}
	return name, p.end()
}

// ParseType reads a text that is a type, as CREATE TABLE writes it.
func ParseType(text string) (DataType, error) {
	p, err := parserOf(text)
	if err != nil {
		return DataType{}, err
	}
	t, err := p.dataType()
	if err != nil {
		return DataType{}, err
	}
	return t, p.end()
}

// parserOf returns a parser at the begin of a text that is no whole statement.
func parserOf(text string) (*parser, error) {
	tokens, err := lex(text)
	p := &parser{src: text}
	for _, t := range tokens {
		if t.kind != space {
			p.tokens = append(p.tokens, t)
		}
	}
	return p, err
}
