package sql

import "strings"

// ExplainDrop asks for what DROP TABLE ... PURGE would delete.
type ExplainDrop struct{ Drop DropTable }

func (ExplainDrop) statement() {}

// drop reads DROP TABLE and DROP NAMESPACE.
func (p *parser) drop() (Statement, error) {
	p.pos++
	switch {
	case p.acceptAny("table"):
		return p.dropTable()
	case p.acceptAny("namespace", "schema", "database"):
		return p.dropNamespace()
	}
	if t, ok := p.peek(); ok && t.kind == word {
		return nil, p.unsupportedAt(t.start, "DROP %s isn't supported, only DROP TABLE and DROP NAMESPACE", strings.ToUpper(t.text))
	}
	return nil, p.wanted("TABLE or NAMESPACE")
}

func (p *parser) dropTable() (Statement, error) {
	var d DropTable
	var err error
	if d.IfExists, err = p.ifExists(); err != nil {
		return nil, err
	}
	if d.Table, err = p.name("a table"); err != nil {
		return nil, err
	}
	d.Purge = p.acceptAny("purge")
	return d, p.end()
}

func (p *parser) dropNamespace() (Statement, error) {
	var d DropNamespace
	var err error
	if d.IfExists, err = p.ifExists(); err != nil {
		return nil, err
	}
	if d.Namespace, err = p.name("a namespace"); err != nil {
		return nil, err
	}
	if d.Cascade = p.acceptAny("cascade"); !d.Cascade {
		p.acceptAny("restrict")
	}
	return d, p.end()
}
