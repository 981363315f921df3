package sql

import (
	"strings"
)

// Insert adds a query's rows to a table, or has them replace others.
type Insert struct {
	Into  Into
	Query Query
}

// Into says where a query's rows go.
type Into struct {
	Table   []string
	Columns []string // those that the query's are assigned to, by position; nil: all
	ByName  bool     // the query's columns go to the table's columns of their names
	// Overwrite says that the rows replace others: those for which Where holds, if it is given.
	Overwrite bool
	// Partition are the columns that PARTITION names, which the table must be partitioned by.
	Partition []PartitionColumn
	// Where is the condition of REPLACE WHERE, if there is one.
	Where Fragment
}

// PartitionColumn is a column of PARTITION (a = 1, b). Value is what all rows have in it, if it is fixed.
type PartitionColumn struct {
	Name    string
	IsFixed bool
	Value   Literal
}

func (Insert) statement() {}

// insert reads INSERT INTO|OVERWRITE [TABLE] name [PARTITION (column [= constant], ...)] [BY NAME | (columns)] query, and INSERT INTO
// [TABLE] name REPLACE WHERE condition query.
func (p *parser) insert() (Statement, error) {
	p.pos = 1
	var out Insert
	if out.Into.Overwrite = p.accept("overwrite"); !out.Into.Overwrite && !p.accept("into") {
		return nil, p.wanted("INTO or OVERWRITE")
	}
	p.accept("table")
	var err error
	if out.Into.Table, err = p.name("a table"); err != nil {
		return nil, err
	}
	switch {
	case p.at(p.pos, "partition"):
		err = p.partition(&out.Into)
	case p.at(p.pos, "replace") && !out.Into.Overwrite:
		err = p.replaceWhere(&out.Into)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case p.at(p.pos, "by") && p.at(p.pos+1, "name"):
		p.pos += 2
		out.Into.ByName = true
	case p.columnsFollow():
		if out.Into.Columns, err = p.columnList(); err != nil {
			return nil, err
		}
	}
	if _, ok := p.peek(); !ok {
		return nil, p.wanted("a query or VALUES")
	}
	rest, err := (&parser{src: p.src, tokens: p.tokens[p.pos:]}).parse() // positions stay those of the whole text
	if err != nil {
		return nil, err
	}
	query, ok := rest.(Query)
	if !ok {
		return nil, p.wanted("a query or VALUES")
	}
	out.Query = query
	return out, nil
}

// partition reads PARTITION (column [= constant], ...).
func (p *parser) partition(into *Into) error {
	p.pos++
	err := p.bracketed(func() error {
		name, err := p.identifier("a column that the table is partitioned by")
		if err != nil {
			return err
		}
		c := PartitionColumn{Name: name}
		if c.IsFixed = p.accept("="); c.IsFixed {
			c.Value, err = p.literal("a constant")
		}
		into.Partition = append(into.Partition, c)
		return err
	})
	if t, ok := p.peek(); err == nil && ok && t.is("if") {
		return p.unsupportedAt(t.start, "INSERT ... PARTITION ... IF NOT EXISTS isn't supported, as in Spark for such tables")
	}
	return err
}

// replaceWhere reads REPLACE WHERE condition, which goes up to the query.
func (p *parser) replaceWhere(into *Into) error {
	p.pos++
	if t, ok := p.peek(); ok && (t.is("using") || t.is("on")) {
		return p.unsupportedAt(t.start, "INSERT ... REPLACE %s isn't supported, only REPLACE WHERE", strings.ToUpper(t.text))
	}
	if err := p.expect("where"); err != nil {
		return err
	}
	start, depth := p.pos, 0
	for ; p.pos < len(p.tokens); p.pos++ {
		t := p.tokens[p.pos]
		isQuery := p.at(p.pos, queryWords...) && !p.at(p.pos-1, "distinct") && !p.symbolAt(p.pos-1, ".")
		if depth == 0 && p.pos > start && !isQuery {
			isQuery = p.bracketedQueryFollows()
		}
		switch {
		case isQuery && p.pos == start:
			return p.wanted("a condition")
		case isQuery && depth == 0:
			into.Overwrite = true
			into.Where = p.fragment(start, p.pos, ofExpression)
			return nil
		case isSymbol(t, "(", "[", "{"):
			depth++
		case isSymbol(t, ")", "]", "}"):
			if depth--; depth < 0 {
				return syntaxAt(p.src, t.start, "found %s in the condition of REPLACE WHERE, and nothing that it closes", t.text)
			}
		case isSymbol(t, "?", "$"):
			return p.unsupportedAt(t.start, "parameters can't stand in the condition of REPLACE WHERE")
		}
	}
	return p.wanted("a query or VALUES")
}

// queryWords are those that a query begins with.
var queryWords = []string{"select", "with", "values", "from", "table"}

// bracketedQueryFollows says whether a query in brackets begins here, behind a condition, rather than an operand of the condition: so
// Spark's grammar has it, which reads as much as can be one statement. Behind a value there is no operand. Behind a name there may be,
// as in f((SELECT 1)) = 2 and in ARRAY(SELECT 1) = [2], but what the name is part of doesn't end the statement, nor goes a set
// operation or an order on after it.
func (p *parser) bracketedQueryFollows() bool {
	at := p.pos
	for p.symbolAt(at, "(") {
		at++
	}
	if at == p.pos || !p.at(at, queryWords...) || p.at(p.pos-1, wantOperand...) {
		return false
	}
	switch before := p.tokens[p.pos-1]; {
	case isSymbol(before, ")", "]", "}"), before.kind == text, before.kind == word && isNumber(before.text):
		return true
	case !isName(before):
		return false
	}
	end := p.behind(p.pos)
	return end >= len(p.tokens) || p.symbolAt(end, ";") || p.at(end, "union", "intersect", "except", "minus", "order", "limit", "offset", "fetch")
}

// wantOperand are the words of expressions behind which a query in brackets is a part of the expression.
var wantOperand = []string{"and", "or", "not", "in", "exists", "any", "some", "all", "like", "ilike", "between", "case", "when", "then", "else"}

// columnsFollow says whether a parenthesis opens a list of columns, and not a query.
func (p *parser) columnsFollow() bool {
	if !p.symbolAt(p.pos, "(") {
		return false
	}
	return !p.at(p.pos+1, queryWords...) && !p.symbolAt(p.pos+1, "(")
}

func (p *parser) columnList() ([]string, error) {
	p.pos++
	var out []string
	for {
		t, ok := p.peek()
		if !ok || t.kind != word && t.kind != quoted {
			return nil, p.wanted("the name of a column")
		}
		p.pos++
		out = append(out, unquote(t))
		if p.accept(")") {
			return out, nil
		}
		if !p.accept(",") {
			return nil, p.wanted(", or )")
		}
	}
}
