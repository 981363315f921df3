package sql

import "strings"

// alter reads ALTER TABLE.
func (p *parser) alter() (Statement, error) {
	p.pos++
	if t, ok := p.peek(); ok && t.kind == word && !t.is("table") {
		return nil, p.unsupportedAt(t.start, "ALTER %s isn't supported, only ALTER TABLE", strings.ToUpper(t.text))
	}
	if err := p.expect("table"); err != nil {
		return nil, err
	}
	table, err := p.name("a table")
	if err != nil {
		return nil, err
	}
	if p.acceptAll("rename", "to") {
		to, err := p.name("the new name")
		if err != nil {
			return nil, err
		}
		return RenameTable{Table: table, To: to}, p.end()
	}
	changes, err := p.changes()
	if err != nil {
		return nil, err
	}
	return AlterTable{Table: table, Changes: changes}, p.end()
}

// changes reads what follows the table's name.
func (p *parser) changes() ([]Change, error) {
	t, ok := p.peek()
	if !ok {
		return nil, p.wanted("what to change, such as ADD COLUMN or SET TBLPROPERTIES")
	}
	switch {
	case p.at(p.pos+1, "branch", "tag"), t.is("create"):
		return one(p.alterRef())
	case p.at(p.pos+1, "partition") && t.is("add"), p.at(p.pos+1, "partition") && t.is("drop"), p.at(p.pos+1, "partition") && t.is("replace"):
		return one(p.alterPartition())
	case p.at(p.pos+1, "identifier"):
		return one(p.alterIdentifier())
	case p.acceptAny("add"):
		return one(p.addColumns())
	case p.acceptAny("drop"):
		return one(p.dropColumns())
	case p.acceptAny("rename"):
		return one(p.renameColumn())
	case p.acceptAny("alter", "change"):
		return p.alterColumns()
	case p.acceptAny("set"):
		return one(p.setTable())
	case p.acceptAny("unset"):
		return one(p.unsetProperties())
	case p.acceptAny("write"):
		return one(p.writeOrder())
	}
	return nil, p.wanted("ADD, DROP, RENAME, ALTER, SET, UNSET, WRITE, REPLACE or CREATE")
}

func one(c Change, err error) ([]Change, error) { return []Change{c}, err }

func (p *parser) setTable() (Change, error) {
	switch {
	case p.acceptAny("tblproperties"):
		props, err := p.properties()
		return SetProperties{props}, err
	case p.acceptAny("location"):
		location, err := p.literalText("a folder in quotes")
		return SetLocation{location}, err
	}
	return nil, p.wanted("TBLPROPERTIES, IDENTIFIER FIELDS or LOCATION")
}

func (p *parser) unsetProperties() (Change, error) {
	if err := p.expect("tblproperties"); err != nil {
		return nil, err
	}
	if _, err := p.ifExists(); err != nil {
		return nil, err
	}
	var u UnsetProperties
	err := p.bracketed(func() error {
		key, err := p.propertyKey()
		u.Keys = append(u.Keys, key)
		return err
	})
	return u, err
}

func (p *parser) alterIdentifier() (Change, error) {
	isSet := p.acceptAny("set")
	if !isSet && !p.acceptAny("drop") {
		return nil, p.wanted("SET or DROP")
	}
	if err := p.expect("identifier", "fields"); err != nil {
		return nil, err
	}
	paths, err := p.paths()
	if isSet {
		return SetIdentifierFields{paths}, err
	}
	return DropIdentifierFields{paths}, err
}

// paths reads columns, in parentheses or not.
func (p *parser) paths() ([][]string, error) {
	var out [][]string
	err := p.listed(func() error {
		path, err := p.name("a column")
		out = append(out, path)
		return err
	})
	return out, err
}
