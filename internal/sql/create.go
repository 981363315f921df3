package sql

import "strings"

// create reads CREATE [OR REPLACE] TABLE, REPLACE TABLE and CREATE NAMESPACE.
func (p *parser) create() (Statement, error) {
	var c CreateTable
	if p.acceptAny("replace") {
		c.Replace = true
	} else {
		p.pos++
		if p.acceptAny("namespace", "schema", "database") {
			return p.createNamespace()
		}
		if p.acceptAny("or") {
			c.OrReplace = true
			if err := p.expect("replace"); err != nil {
				return nil, err
			}
		}
	}
	if p.at(p.pos, "view", "temporary", "temp", "external", "function", "index", "macro", "sequence", "type", "secret") {
		t, _ := p.peek()
		return nil, p.unsupportedAt(t.start, "CREATE %s isn't supported, only CREATE TABLE and CREATE NAMESPACE", strings.ToUpper(t.text))
	}
	if err := p.expect("table"); err != nil {
		return nil, err
	}
	var err error
	if !c.OrReplace && !c.Replace {
		if c.IfNotExists, err = p.ifNotExists(); err != nil {
			return nil, err
		}
	}
	if c.Table, err = p.name("a table"); err != nil {
		return nil, err
	}
	if t, ok := p.peek(); ok && t.is("like") {
		return nil, p.unsupportedAt(t.start, "CREATE TABLE ... LIKE isn't supported").WithHint("SHOW CREATE TABLE gives the statement that makes the other table")
	}
	if p.isBracket() {
		err = p.bracketed(func() error {
			col, err := p.column(false)
			c.Columns = append(c.Columns, col)
			return err
		})
	}
	if err == nil {
		err = p.tableClauses(&c)
	}
	if err != nil {
		return nil, err
	}
	return p.asQuery(c)
}

// column reads name type [NOT NULL] [DEFAULT literal] [COMMENT 'text'] and, within ALTER TABLE, [FIRST | AFTER name]. The
// clauses come in any order.
func (p *parser) column(isAdded bool) (Column, error) {
	var c Column
	var err error
	if isAdded {
		c.Path, err = p.name("a column's name")
	} else {
		var name string
		name, err = p.identifier("a column's name")
		c.Path = []string{name}
	}
	if err != nil {
		return c, err
	}
	if c.Type, err = p.dataType(); err != nil {
		return c, err
	}
	for err == nil {
		switch {
		case p.at(p.pos, "not") && !c.NotNull:
			c.NotNull, err = p.notNull()
		case p.at(p.pos, "comment") && c.Comment == "":
			c.Comment, err = p.comment()
		case p.at(p.pos, "default") && c.Default == nil:
			p.pos++
			var l Literal
			l, err = p.defaultValue()
			c.Default = &l
		case isAdded && p.at(p.pos, "first", "after") && c.Place == nil:
			c.Place, err = p.place()
		case p.at(p.pos, "generated", "primary", "unique", "check", "references", "constraint", "collate", "mask"):
			t, _ := p.peek()
			return c, p.unsupportedAt(t.start, "Iceberg has no %s for columns", strings.ToUpper(t.text))
		default:
			return c, nil
		}
	}
	return c, err
}

// defaultValue reads a default: Iceberg keeps values, not expressions.
func (p *parser) defaultValue() (Literal, error) {
	t, ok := p.peek()
	l, err := p.literal("a constant")
	if err != nil && ok {
		return l, p.unsupportedAt(t.start, "found %q, and a default must be a constant such as 5, 'text', true, NULL, DATE '2024-01-31' or X'0a'", t.text)
	}
	return l, err
}

// place reads FIRST or AFTER name.
func (p *parser) place() (*Place, error) {
	if p.acceptAny("first") {
		return &Place{First: true}, nil
	}
	if err := p.expect("after"); err != nil {
		return nil, err
	}
	name, err := p.identifier("the column to come after")
	return &Place{After: name}, err
}

// tableClauses reads what follows the columns, in any order, each at most once.
func (p *parser) tableClauses(c *CreateTable) error {
	seen := map[string]bool{}
	for p.at(p.pos, "using", "partitioned", "comment", "location", "tblproperties", "options", "clustered") {
		t := p.tokens[p.pos]
		clause := strings.ToLower(t.text)
		if seen[clause] {
			return syntaxAt(p.src, t.start, "%s is given twice", strings.ToUpper(clause))
		}
		seen[clause] = true
		if err := p.tableClause(c, clause); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) tableClause(c *CreateTable, clause string) error {
	t := p.tokens[p.pos]
	p.pos++
	var err error
	switch clause {
	case "using":
		at, _ := p.peek()
		var provider []string
		if provider, err = p.name("iceberg"); err == nil && !strings.EqualFold(strings.Join(provider, "."), "iceberg") {
			return p.unsupportedAt(at.start, "tables of %s can't be made, only of iceberg", strings.Join(provider, "."))
		}
	case "partitioned":
		if err = p.expect("by"); err == nil {
			err = p.bracketed(func() error {
				term, err := p.term()
				c.Partitions = append(c.Partitions, term)
				return err
			})
		}
	case "comment":
		c.Comment, err = p.literalText("a comment in quotes")
	case "location":
		c.Location, err = p.literalText("a folder in quotes")
	case "tblproperties":
		c.Properties, err = p.properties()
	default:
		return p.unsupportedAt(t.start, "%s isn't supported", strings.ToUpper(t.text)).
			WithHint("PARTITIONED BY (bucket(16, c)) makes buckets; TBLPROPERTIES sets properties")
	}
	return err
}

// asQuery reads [AS] query, if there is one.
func (p *parser) asQuery(c CreateTable) (Statement, error) {
	p.acceptAny("as")
	t, ok := p.peek()
	isQuery := ok && (p.at(p.pos, "select", "with", "from", "values", "table") || t.text == "(")
	if !isQuery {
		if len(c.Columns) == 0 {
			return nil, p.wanted("columns in parentheses, or AS and a query")
		}
		return c, p.end()
	}
	if len(c.Columns) > 0 {
		return nil, syntaxAt(p.src, t.start, "a table that is made by a query has its columns from there, so none may be given")
	}
	c.AsAt = t.start
	q, err := (&parser{src: p.src, tokens: p.tokens[p.pos:]}).rewrite() // positions stay those of the whole text
	c.As = &q
	return c, err
}

func (p *parser) createNamespace() (Statement, error) {
	var c CreateNamespace
	var err error
	if c.IfNotExists, err = p.ifNotExists(); err != nil {
		return nil, err
	}
	if c.Namespace, err = p.name("a namespace"); err != nil {
		return nil, err
	}
	for {
		var key, value string
		switch {
		case p.acceptAny("comment"):
			key = "comment"
			value, err = p.literalText("a comment in quotes")
		case p.acceptAny("location"):
			key = "location"
			value, err = p.literalText("a folder in quotes")
		case p.acceptAny("with"):
			var more []Property
			if !p.acceptAny("dbproperties", "properties") {
				return nil, p.wanted("PROPERTIES")
			}
			more, err = p.properties()
			c.Properties = append(c.Properties, more...)
		default:
			return c, p.end()
		}
		if err != nil {
			return nil, err
		}
		if key != "" {
			c.Properties = append(c.Properties, Property{key, value})
		}
	}
}
