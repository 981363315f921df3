package sql

import (
	"slices"
	"strings"

	"github.com/tarndb/tarn/internal/quote"
)

// ChangeRows is a statement that changes rows of one table: a Delete, an Update or a Merge.
type ChangeRows interface {
	Statement
	// Rows returns the table that is changed.
	Rows() Target
	// Fragments returns all parts of the statement that are SQL of DuckDB's.
	Fragments() []Fragment
}

// Target is the table whose rows a statement changes.
type Target struct {
	Table []string
	Name  string // as the statement writes it
	Alias string // as the statement writes it; "" for none
}

// Called returns how the statement's expressions call the table: by its alias, else by the last part of its name.
func (t Target) Called() string {
	if t.Alias != "" {
		return t.Alias
	}
	last := t.Table[len(t.Table)-1]
	return quote.Name(last)
}

// Reference returns the table as FROM mentions it.
func (t Target) Reference() string { return strings.TrimSpace(t.Name + " " + t.Alias) }

// Delete deletes rows.
type Delete struct {
	Target Target
	Using  Fragment // further tables, as FROM lists them
	Where  Fragment
}

// Update gives columns of rows new values.
type Update struct {
	Target Target
	Set    []Assignment
	From   Fragment // further tables, as FROM lists them
	Where  Fragment
}

// Merge changes rows by whether they match rows of a source.
type Merge struct {
	Target  Target
	Source  Source
	On      Fragment
	Clauses []Clause // in their order
}

// Source is what a Merge takes rows from.
type Source struct {
	Relation Fragment // the table or query without its alias
	Alias    string   // with a list of columns, if there is one; "" for none
	Called   string   // how expressions call it; "" for a query without an alias
}

// Reference returns the source as FROM mentions it.
func (s Source) Reference() string { return strings.TrimSpace(s.Relation.Text + " " + s.Alias) }

// Assignment gives a column, or a field of one, a value.
type Assignment struct {
	Column []string
	Value  Fragment // not given: the column's default
}

// When says of which rows a clause is.
type When uint8

// The rows of clauses: pairs that match, rows of the source that match none of the table's, and rows of the table that match
// none of the source's.
const (
	Matched When = iota
	NotMatched
	NotMatchedBySource
)

// Do says what a clause does.
type Do uint8

// What is done with rows.
const (
	DoUpdate Do = iota
	DoInsert
	DoDelete
)

// Clause is a WHEN clause of a Merge.
type Clause struct {
	When When
	And  Fragment
	Do   Do
	Star bool         // all columns are assigned those of the source with their names
	Set  []Assignment // of an insert, for the columns that are listed
	// Values are those of an insert that lists no columns, in their order.
	Values []Assignment
}

func (Delete) statement() {}
func (Update) statement() {}
func (Merge) statement()  {}

// Rows implements ChangeRows.
func (d Delete) Rows() Target { return d.Target }

// Rows implements ChangeRows.
func (u Update) Rows() Target { return u.Target }

// Rows implements ChangeRows.
func (m Merge) Rows() Target { return m.Target }

// Fragments implements ChangeRows.
func (d Delete) Fragments() []Fragment { return given(d.Using, d.Where) }

// Fragments implements ChangeRows.
func (u Update) Fragments() []Fragment {
	return append(valuesOf(u.Set), given(u.From, u.Where)...)
}

// Fragments implements ChangeRows.
func (m Merge) Fragments() []Fragment {
	out := given(m.Source.Relation, m.On)
	for _, c := range m.Clauses {
		out = append(out, c.Fragments()...)
	}
	return out
}

// Decides says whether a part is one of the conditions by which the statement chooses what is done to a row.
func (m Merge) Decides(f Fragment) bool {
	return f == m.On || slices.ContainsFunc(m.Clauses, func(c Clause) bool { return f == c.And })
}

// Fragments returns the clause's parts that are SQL of DuckDB's.
func (c Clause) Fragments() []Fragment {
	return append(append(given(c.And), valuesOf(c.Set)...), valuesOf(c.Values)...)
}

func given(all ...Fragment) []Fragment {
	var out []Fragment
	for _, f := range all {
		if f.IsGiven() {
			out = append(out, f)
		}
	}
	return out
}

func valuesOf(set []Assignment) []Fragment {
	var out []Fragment
	for _, a := range set {
		out = append(out, given(a.Value)...)
	}
	return out
}

// target reads a table's name and its alias.
func (p *parser) target() (Target, error) {
	var t Target
	start := p.pos
	var err error
	if t.Table, err = p.name("a table"); err != nil {
		return t, err
	}
	t.Name = p.between(start, p.pos)
	clause, err := p.travelAt(p.pos)
	switch {
	case err != nil:
		return t, err
	case clause != nil:
		return t, p.unsupportedAt(p.tokens[p.pos].start, "rows of a table's past can't be changed")
	}
	if p.at(p.pos, "returning") {
		return t, p.unsupportedAt(p.tokens[p.pos].start, "a change of rows returns counts; RETURNING isn't known here")
	}
	end := p.aliasEnd(p.pos)
	if end > p.pos && p.symbolAt(end-1, ")") {
		return t, p.unsupportedAt(p.tokens[p.pos].start, "the columns of a table whose rows are changed can't be renamed")
	}
	if end > p.pos {
		t.Alias = p.between(end-1, end)
	}
	p.pos = end
	return t, nil
}

// between returns the text of a range of tokens.
func (p *parser) between(from, to int) string {
	last := p.tokens[to-1]
	return p.src[p.tokens[from].start : last.start+len(last.text)]
}

// delete reads DELETE FROM table [alias] [USING tables] [WHERE condition].
func (p *parser) delete() (Statement, error) {
	p.pos = 1
	if !p.accept("from") {
		return nil, p.wanted("FROM")
	}
	var d Delete
	var err error
	if d.Target, err = p.target(); err != nil {
		return nil, err
	}
	if p.accept("using") {
		if d.Using, err = p.tables(); err != nil {
			return nil, err
		}
	}
	d.Where, err = p.where()
	return d, err
}

// tables reads what FROM lists, up to WHERE.
func (p *parser) tables() (Fragment, error) {
	from := p.pos
	p.skip(func(i int) bool { return p.at(i, "where") && !p.symbolAt(i-1, ".") })
	if p.pos == from {
		return Fragment{}, p.wanted("a table")
	}
	return p.fragment(from, p.pos, ofTables), nil
}

// where reads WHERE and its condition, which end the statement.
func (p *parser) where() (Fragment, error) {
	if !p.accept("where") {
		return Fragment{}, p.end()
	}
	cond, err := p.expression("a condition", "returning")
	if err == nil {
		err = p.end()
	}
	return cond, err
}

// update reads UPDATE table [alias] SET assignments [FROM tables] [WHERE condition].
func (p *parser) update() (Statement, error) {
	p.pos = 1
	var u Update
	var err error
	if u.Target, err = p.target(); err != nil {
		return nil, err
	}
	if !p.accept("set") {
		return nil, p.wanted("SET")
	}
	if u.Set, err = p.assignments("from", "where", "returning"); err != nil {
		return nil, err
	}
	if p.accept("from") {
		if u.From, err = p.tables(); err != nil {
			return nil, err
		}
	}
	u.Where, err = p.where()
	return u, err
}

// assignments reads column = value, ..., up to one of the keywords.
func (p *parser) assignments(until ...string) ([]Assignment, error) {
	var out []Assignment
	for {
		if p.symbolAt(p.pos, "(") {
			return nil, p.unsupportedAt(p.tokens[p.pos].start, "columns are assigned one by one, not as a list")
		}
		column, err := p.name("a column")
		if err != nil {
			return nil, err
		}
		if !p.accept("=") {
			return nil, p.wanted("= and a value")
		}
		value, err := p.value(append([]string{","}, until...)...)
		if err != nil {
			return nil, err
		}
		out = append(out, Assignment{column, value})
		if !p.accept(",") {
			return out, nil
		}
	}
}

// value reads an expression, or DEFAULT, which isn't given then.
func (p *parser) value(until ...string) (Fragment, error) {
	value, err := p.expression("a value", until...)
	if err == nil && strings.EqualFold(value.Text, "default") {
		return Fragment{}, nil
	}
	return value, err
}

// merge reads MERGE INTO table [alias] USING source [alias] ON condition WHEN ...
func (p *parser) merge() (Statement, error) {
	p.pos = 1
	if p.at(p.pos, "with") {
		return nil, p.unsupportedAt(p.tokens[p.pos].start, "MERGE WITH SCHEMA EVOLUTION isn't supported").WithHint("ALTER TABLE ... ADD COLUMN first")
	}
	if !p.accept("into") {
		return nil, p.wanted("INTO")
	}
	var m Merge
	var err error
	if m.Target, err = p.target(); err != nil {
		return nil, err
	}
	if !p.accept("using") {
		return nil, p.wanted("USING and a source")
	}
	if m.Source, err = p.source(); err != nil {
		return nil, err
	}
	if !p.accept("on") {
		return nil, p.wanted("ON and a condition")
	}
	if m.On, err = p.expression("a condition", "when"); err != nil {
		return nil, err
	}
	for {
		c, err := p.clause()
		if err != nil {
			return nil, err
		}
		m.Clauses = append(m.Clauses, c)
		if !p.at(p.pos, "when") {
			return m, p.end()
		}
	}
}

// source reads a table, a call of a function or a query in brackets, with an alias.
func (p *parser) source() (Source, error) {
	var s Source
	from := p.pos
	t, ok := p.peek()
	if !ok {
		return s, p.wanted("a source")
	}
	var end int
	switch {
	case isSymbol(t, "("):
		end = p.behind(p.pos)
	case t.kind == symbol:
		return s, p.wanted("a source")
	default:
		m := p.mentionAt(p.pos)
		if end = m.end; p.symbolAt(end, "(") {
			end = p.behind(end)
		} else if t.kind != text {
			s.Called = p.between(end-1, end)
		}
	}
	p.pos = end
	clause, err := p.travelAt(end)
	if err != nil {
		return s, err
	}
	aliasEnd := p.aliasEnd(end)
	if clause != nil {
		end, aliasEnd = clause.alias, clause.end
	}
	s.Relation = p.fragment(from, end, ofTables)
	if aliasEnd > end {
		s.Alias = p.between(end, aliasEnd)
		at := end
		if p.at(at, "as") {
			at++
		}
		s.Called = p.between(at, at+1)
	}
	p.pos = aliasEnd
	return s, nil
}

// clause reads WHEN [NOT] MATCHED [BY SOURCE | BY TARGET] [AND condition] THEN action.
func (p *parser) clause() (Clause, error) {
	var c Clause
	if !p.accept("when") {
		return c, p.wanted("WHEN")
	}
	start := p.tokens[p.pos-1].start
	isNot := p.accept("not")
	if !p.accept("matched") {
		return c, p.wanted("MATCHED or NOT MATCHED")
	}
	if isNot {
		c.When = NotMatched
		if p.accept("by") {
			switch {
			case p.accept("source"):
				c.When = NotMatchedBySource
			case !p.accept("target"):
				return c, p.wanted("SOURCE or TARGET")
			}
		}
	}
	var err error
	if p.accept("and") {
		if c.And, err = p.expression("a condition", "then"); err != nil {
			return c, err
		}
	}
	if !p.accept("then") {
		return c, p.wanted("THEN")
	}
	if err = p.action(&c); err != nil {
		return c, err
	}
	if isInsert := c.Do == DoInsert; isInsert != (c.When == NotMatched) {
		return c, syntaxAt(p.src, start, "rows of the table are updated or deleted, and rows that only the source has are inserted")
	}
	if c.Star && c.When == NotMatchedBySource {
		return c, syntaxAt(p.src, start, "there is no row of the source whose columns could be assigned")
	}
	return c, nil
}

// action reads UPDATE SET ... | UPDATE SET * | INSERT ... | INSERT * | DELETE.
func (p *parser) action(c *Clause) (err error) {
	switch {
	case p.accept("delete"):
		c.Do = DoDelete
	case p.accept("update"):
		c.Do = DoUpdate
		if !p.accept("set") {
			return p.wanted("SET")
		}
		if c.Star = p.accept("*"); !c.Star {
			c.Set, err = p.assignments("when")
		}
	case p.accept("insert"):
		c.Do = DoInsert
		if c.Star = p.accept("*"); !c.Star {
			err = p.insertion(c)
		}
	default:
		return p.wanted("UPDATE, INSERT or DELETE")
	}
	return err
}

// insertion reads [(columns)] VALUES (values).
func (p *parser) insertion(c *Clause) error {
	var columns [][]string
	start := p.pos
	if p.symbolAt(p.pos, "(") {
		err := p.bracketed(func() error {
			name, err := p.name("a column")
			columns = append(columns, name)
			return err
		})
		if err != nil {
			return err
		}
	}
	if !p.accept("values") {
		return p.wanted("VALUES")
	}
	var values []Assignment
	err := p.bracketed(func() error {
		v, err := p.value(",", ")")
		values = append(values, Assignment{Value: v})
		return err
	})
	switch {
	case err != nil:
		return err
	case columns == nil:
		c.Values = values
		return nil
	case len(columns) != len(values):
		return syntaxAt(p.src, p.tokens[start].start, "%d columns are listed, and %d values are given", len(columns), len(values))
	}
	for i := range values {
		values[i].Column = columns[i]
	}
	c.Set = values
	return nil
}
