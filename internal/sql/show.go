package sql

// ShowSettings lists the options.
type ShowSettings struct{}

// ShowTables lists a namespace's tables; a nil Namespace means all of them. Like is a pattern as SHOW has them, "" for all
// names.
type ShowTables struct {
	Namespace []string
	Like      string
}

// ShowNamespaces lists the namespaces directly in a namespace; without one, all of them.
type ShowNamespaces struct {
	Namespace []string
	Like      string
}

// ShowCreateTable asks for the statements that make a table as it is.
type ShowCreateTable struct{ Table []string }

// ShowProperties lists a table's properties, or one of them.
type ShowProperties struct {
	Table []string
	Key   string // "": all
}

// ShowColumns lists the names of a table's columns.
type ShowColumns struct{ Table []string }

// Describe asks for a table's columns and layout; Extended for all else that is known of it too.
type Describe struct {
	Table    []string
	Extended bool
}

// DescribeNamespace asks for a namespace's properties.
type DescribeNamespace struct{ Namespace []string }

func (ShowSettings) statement()      {}
func (ShowTables) statement()        {}
func (ShowNamespaces) statement()    {}
func (ShowCreateTable) statement()   {}
func (ShowProperties) statement()    {}
func (ShowColumns) statement()       {}
func (Describe) statement()          {}
func (DescribeNamespace) statement() {}

func (p *parser) show() (Statement, error) {
	p.pos = 1
	switch {
	case p.acceptAny("settings"):
		return ShowSettings{}, p.end()
	case p.acceptAny("namespaces", "schemas", "databases"):
		ns, like, err := p.within("a namespace")
		return ShowNamespaces{ns, like}, err
	case p.acceptAny("tables"):
		ns, like, err := p.within("a namespace")
		return ShowTables{ns, like}, err
	case p.acceptAll("create", "table"):
		name, err := p.name("a table")
		if err != nil {
			return nil, err
		}
		return ShowCreateTable{name}, p.end()
	case p.acceptAny("tblproperties"):
		return p.showProperties()
	case p.acceptAny("columns"):
		if !p.acceptAny("in", "from") {
			return nil, p.wanted("IN and a table")
		}
		name, err := p.name("a table")
		if err != nil {
			return nil, err
		}
		return ShowColumns{name}, p.end()
	}
	return nil, p.wanted("TABLES, NAMESPACES, CREATE TABLE, TBLPROPERTIES, COLUMNS or SETTINGS")
}

// within reads [IN name] [[LIKE] 'pattern'] and the end.
func (p *parser) within(what string) (in []string, like string, err error) {
	if p.acceptAny("in", "from") {
		if in, err = p.name(what); err != nil {
			return nil, "", err
		}
	}
	if t, ok := p.peek(); p.acceptAny("like") || ok && t.kind == text {
		if like, err = p.literalText("a pattern in quotes"); err != nil {
			return nil, "", err
		}
	}
	return in, like, p.end()
}

// showProperties reads a table and [('key')].
func (p *parser) showProperties() (Statement, error) {
	var s ShowProperties
	var err error
	if s.Table, err = p.name("a table"); err != nil {
		return nil, err
	}
	if p.accept("(") {
		if s.Key, err = p.propertyKey(); err == nil {
			err = p.expect(")")
		}
		if err != nil {
			return nil, err
		}
	}
	return s, p.end()
}

func (p *parser) describe() (Statement, error) {
	p.pos = 1
	if p.at(p.pos, "namespace", "schema", "database") && p.pos+1 < len(p.tokens) {
		p.pos++
		p.acceptAny("extended")
		ns, err := p.name("a namespace")
		if err != nil {
			return nil, err
		}
		return DescribeNamespace{ns}, p.end()
	}
	if p.at(p.pos, "table") && p.pos+1 < len(p.tokens) {
		p.pos++
	}
	var d Describe
	var err error
	if p.at(p.pos, "extended", "formatted") && p.pos+1 < len(p.tokens) {
		p.pos++
		d.Extended = true
	}
	if d.Table, err = p.name("a table"); err != nil {
		return nil, err
	}
	return d, p.end()
}
