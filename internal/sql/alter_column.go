package sql

// addColumns reads ADD COLUMN c type ... and ADD COLUMNS (c type ..., ...), both with or without parentheses.
func (p *parser) addColumns() (Change, error) {
	if !p.acceptAny("column", "columns") {
		return nil, p.wanted("COLUMN, COLUMNS or PARTITION FIELD")
	}
	var add AddColumns
	err := p.listed(func() error {
		c, err := p.column(true)
		add.Columns = append(add.Columns, c)
		return err
	})
	return add, err
}

func (p *parser) dropColumns() (Change, error) {
	if !p.acceptAny("column", "columns") {
		return nil, p.wanted("COLUMN, COLUMNS, PARTITION FIELD, IDENTIFIER FIELDS, BRANCH or TAG")
	}
	var drop DropColumns
	var err error
	if drop.IfExists, err = p.ifExists(); err == nil {
		drop.Paths, err = p.paths()
	}
	return drop, err
}

func (p *parser) renameColumn() (Change, error) {
	if err := p.expect("column"); err != nil {
		return nil, err
	}
	path, err := p.name("a column")
	if err == nil {
		err = p.expect("to")
	}
	if err != nil {
		return nil, err
	}
	name, err := p.identifier("the new name")
	return RenameColumn{Path: path, Name: name}, err
}

// alterColumns reads ALTER COLUMN c change [, d change ...].
func (p *parser) alterColumns() ([]Change, error) {
	if err := p.expect("column"); err != nil {
		return nil, err
	}
	var out []Change
	err := p.list(func() error {
		c, err := p.alterColumn()
		out = append(out, c)
		return err
	})
	return out, err
}

func (p *parser) alterColumn() (Change, error) {
	path, err := p.name("a column")
	c := AlterColumn{Path: path}
	if err != nil {
		return c, err
	}
	switch {
	case p.acceptAny("type"):
		var typ DataType
		typ, err = p.dataType()
		c.Type = &typ
	case p.acceptAny("comment"):
		var text string
		text, err = p.literalText("a comment in quotes")
		c.Comment = &text
	case p.at(p.pos, "first", "after"):
		c.Place, err = p.place()
	case p.acceptAny("set"):
		err = p.setColumn(&c)
	case p.acceptAny("drop"):
		err = p.dropOfColumn(&c)
	default:
		err = p.wanted("TYPE, COMMENT, FIRST, AFTER, SET NOT NULL, DROP NOT NULL, SET DEFAULT or DROP DEFAULT")
	}
	return c, err
}

func (p *parser) setColumn(c *AlterColumn) error {
	if p.acceptAny("default") {
		l, err := p.defaultValue()
		c.Default = &l
		return err
	}
	yes := true
	c.NotNull = &yes
	return p.expect("not", "null")
}

func (p *parser) dropOfColumn(c *AlterColumn) error {
	if p.acceptAny("default") {
		c.Default = &Literal{}
		return nil
	}
	no := false
	c.NotNull = &no
	return p.expect("not", "null")
}
