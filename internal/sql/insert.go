package sql

import (
	"strings"

	"github.com/tarndb/tarn/internal/errs"
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
	// Overwrite says that the rows replace others.
	Overwrite bool
}

func (Insert) statement() {}

// insert reads INSERT INTO|OVERWRITE [TABLE] name [BY NAME | (columns)] query.
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
	if p.at(p.pos, "partition") || p.at(p.pos, "replace") {
		return nil, errs.New(errs.Unsupported, "run", "INSERT ... "+strings.ToUpper(p.tokens[p.pos].text), "this form of the statement isn't supported").
			WithHint("rows find their partitions by their own values, and tarn.partition_overwrite_mode says which are replaced")
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

// columnsFollow says whether a parenthesis opens a list of columns, and not a query.
func (p *parser) columnsFollow() bool {
	if !p.symbolAt(p.pos, "(") {
		return false
	}
	return !p.at(p.pos+1, "select", "with", "from", "values", "table") && !p.symbolAt(p.pos+1, "(")
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
