package dml

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/internal/write"
)

// sides are the rows that a MERGE looks at: which of its clauses are there.
type sides struct{ matched, source, table bool }

// pairing is how a MERGE joins the table and its source, and how its clauses tell what kind a row of the join is.
type pairing struct {
	join string // its kind
	// is tells rows by the clauses' kinds; "" where all rows of the join are of the only kind.
	is [3]string
	// tableFirst says that the table stands on the join's left.
	tableFirst bool
	// marks says that the source needs a column that is never NULL.
	marks bool
}

// pairingOf joins so that the rows come out that the clauses are about, and as few others as can be. Which sides a row has is told
// by a column of each side that is never NULL: a join fills it with NULL. Where only rows without a partner count it is an
// anti-join, in which a row comes up once, however many rows the other side has.
func pairingOf(s sides, hasTable, hasSource string) pairing {
	p := pairing{tableFirst: true}
	switch {
	case s.matched && s.source && s.table:
		p.join, p.marks = "FULL", true
		p.is = [3]string{hasTable + " AND " + hasSource, "NOT " + hasTable, "NOT " + hasSource}
	case s.source && s.table:
		p.join, p.marks = "FULL", true
		p.is = [3]string{"", "NOT " + hasTable, "NOT " + hasSource}
	case s.matched && s.source:
		p.join = "RIGHT"
		p.is = [3]string{hasTable, "NOT " + hasTable, ""}
	case s.matched && s.table:
		p.join, p.marks = "LEFT", true
		p.is = [3]string{hasSource, "", "NOT " + hasSource}
	case s.source:
		p.join, p.tableFirst = "ANTI", false
	case s.table:
		p.join = "ANTI"
	default:
		p.join = "INNER"
	}
	return p
}

// merger is a MERGE on its way to a query.
type merger struct {
	*builder
	st      sql.Merge
	pairing pairing
	checks  bool     // a row of the table that is matched twice is an error
	rest    bool     // rows that are matched and that no clause applies to come out too, to be counted
	action  string   // SQL of the number of the clause that applies; "" where it is the only one
	columns []string // of the source, where they are asked for
}

func (b *builder) merge(st sql.Merge) (*Statement, error) {
	if st.Source.Called == "" && strings.HasPrefix(st.Source.Relation.Text, "(") {
		st.Source.Alias, st.Source.Called = "AS "+unnamedSource, unnamedSource
	}
	m := &merger{builder: b, st: st}
	if called := st.Source.Called; called != "" && strings.EqualFold(sql.Unquoted(called), sql.Unquoted(b.target.Called())) {
		return nil, m.fault("the table and the source are both called %s", called).WithHint("give one of them an alias")
	}
	var s sides
	for i, c := range st.Clauses {
		if slices.ContainsFunc(st.Clauses[:i], func(before sql.Clause) bool { return before.When == c.When && !before.And.IsGiven() }) {
			return nil, m.fault("clause %d never applies: one before it, without a condition, takes all of its rows", i+1)
		}
		switch c.When {
		case sql.Matched:
			s.matched = true
		case sql.NotMatched:
			s.source = true
		case sql.NotMatchedBySource:
			s.table = true
		}
	}
	hasTable := b.metadata(catalog.PlaceID) + " IS NOT NULL"
	m.pairing = pairingOf(s, hasTable, sourceName+" IS NOT NULL")
	if m.pairing.marks {
		own, err := m.ownMark()
		if err != nil {
			return nil, err
		}
		if own != "" {
			m.pairing = pairingOf(s, hasTable, own+" IS NOT NULL")
			m.pairing.marks = false
		}
	}
	m.setChecks()
	m.layout = columns{place: -1, row: -1, action: -1}
	if s.matched || s.table {
		m.addPlace(m.keepsRows())
	}
	return m.query()
}

func (m *merger) fault(format string, args ...any) *errs.Error {
	return errs.New(errs.Invalid, "merge into", m.table.Ident.String(), format, args...)
}

// setChecks decides whether a row that is matched twice is an error: by Spark's rule unless the only clause for matched rows
// deletes them all.
func (m *merger) setChecks() {
	var matched []sql.Clause
	for _, c := range m.st.Clauses {
		if c.When == sql.Matched {
			matched = append(matched, c)
		}
	}
	if len(matched) == 0 {
		return
	}
	last := matched[len(matched)-1]
	m.checks = len(matched) > 1 || last.Do != sql.DoDelete || last.And.IsGiven()
	m.rest = m.checks && last.And.IsGiven()
}

// qualify puts the name of the side that a clause is about before bare names that both sides have: of a clause for rows without a
// partner they mean the one that is there.
func (m *merger) qualify() error {
	if m.pairing.join == "ANTI" {
		return nil // the other side's names end there
	}
	m.st.Clauses = slices.Clone(m.st.Clauses)
	for i := range m.st.Clauses {
		c := &m.st.Clauses[i]
		called := m.st.Source.Called
		if c.When == sql.NotMatchedBySource {
			called = m.target.Called()
		}
		if c.When == sql.Matched || called == "" {
			continue
		}
		var err error
		isOfBoth := func(name string) bool {
			if write.FieldNamed(m.table.Schema.Fields, name) < 0 || err != nil {
				return false
			}
			err = m.describe()
			return slices.ContainsFunc(m.columns, func(c string) bool { return strings.EqualFold(c, name) })
		}
		c.And = c.And.Qualified(isOfBoth, called)
		for _, set := range []*[]sql.Assignment{&c.Set, &c.Values} {
			*set = slices.Clone(*set)
			for k := range *set {
				(*set)[k].Value = (*set)[k].Value.Qualified(isOfBoth, called)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// describe asks for the names of the source's columns, once.
func (m *merger) describe() error {
	if m.columns != nil {
		return nil
	}
	var err error
	m.columns, err = m.source.Names(Scope{"SELECT * FROM " + m.st.Source.Reference(), m.st.Source.Relation.Parameters})
	return err
}

// ownMark returns a column that the source has and that is never NULL: a metadata column, if it is a table. A source that stays as it
// is keeps the longer names that the statement may call it by, and its other metadata columns. It is "" for other sources, and where
// a column of the source's own hides that one.
func (m *merger) ownMark() (string, error) {
	if m.st.Source.Called == "" || m.st.Source.Called == unnamedSource {
		return "", nil
	}
	f, _ := catalog.MetadataColumn(m.table, catalog.SpecFieldID)
	mark := m.st.Source.Called + "." + f.Name
	_, err := m.source.Names(Scope{"SELECT " + mark + " FROM " + m.st.Source.Reference(), m.st.Source.Relation.Parameters})
	if isThere := err == nil; !isThere { // what else is wrong with the source shows where it is read
		return "", nil
	}
	if err := m.describe(); err != nil {
		return "", err
	}
	if slices.ContainsFunc(m.columns, func(c string) bool { return strings.EqualFold(c, f.Name) }) {
		return "", nil
	}
	return mark, nil
}

// query writes the SELECT.
func (m *merger) query() (*Statement, error) {
	if err := m.qualify(); err != nil {
		return nil, err
	}
	if err := m.writeAction(); err != nil {
		return nil, err
	}
	var cases []write.Case
	var actions []Action
	for i, c := range m.st.Clauses {
		actions = append(actions, Action{
			Edits: c.Do != sql.DoInsert, Writes: c.Do != sql.DoDelete, Matched: m.checks && c.When == sql.Matched,
		})
		if c.Do == sql.DoDelete {
			continue
		}
		values, err := m.values(i, c)
		if err != nil {
			return nil, err
		}
		cases = append(cases, write.Case{Action: i, Values: values})
	}
	where := ""
	if m.layout.action < 0 { // as good for leaving out files as a query's own condition
		where = m.st.Clauses[0].And.Text
	}
	s := m.statement("MERGE", m.from(), where)
	s.cases, s.Actions, s.Scopes, s.readsMatched = cases, actions, m.scopes(), readsMatched(m.st.Clauses)
	if m.rest {
		s.Actions = append(s.Actions, Action{Matched: true})
	}
	return s, nil
}

// scopes returns what the clauses of rows without a partner say of them.
func (m *merger) scopes() []Scope {
	source := m.st.Source.Relation
	out := m.scopeOf(sql.NotMatched, source, m.st.Source.Reference())
	return append(out, m.scopeOf(sql.NotMatchedBySource, sql.Fragment{}, m.target.Reference())...)
}

func (m *merger) scopeOf(kind sql.When, relation sql.Fragment, from string) []Scope {
	var items []string
	out := Scope{Parameters: relation.Parameters}
	for _, c := range m.st.Clauses {
		if c.When != kind {
			continue
		}
		for _, f := range c.Fragments() {
			items, out.Parameters = append(items, "("+f.Text+")"), max(out.Parameters, f.Parameters)
		}
	}
	if items == nil {
		return nil
	}
	out.Query = "SELECT " + strings.Join(items, ", ") + " FROM " + from
	return []Scope{out}
}

// keepsRows says whether rows are changed, whose IDs go on.
func (m *merger) keepsRows() bool {
	return slices.ContainsFunc(m.st.Clauses, func(c sql.Clause) bool { return c.Do != sql.DoDelete })
}

// from returns the join.
func (m *merger) from() string {
	source := m.st.Source.Reference()
	if m.pairing.marks {
		alias := m.st.Source.Alias
		if alias == "" && m.st.Source.Called != "" {
			alias = "AS " + m.st.Source.Called
		}
		source = fmt.Sprintf("(SELECT *, true AS %s FROM %s) %s", sourceName, m.st.Source.Relation.Text, alias)
	}
	left, right := m.target.Reference(), source
	if !m.pairing.tableFirst {
		left, right = right, left
	}
	return fmt.Sprintf("%s %s JOIN %s ON %s", left, m.pairing.join, right, m.st.On.Text)
}

// writeAction adds the number of the clause that applies: the first of the row's kind whose condition is true. Other rows have
// none, but for matched rows where those are counted.
func (m *merger) writeAction() error {
	if len(m.st.Clauses) == 1 && !m.rest {
		return nil // the join and WHERE leave no other rows
	}
	var b strings.Builder
	b.WriteString("CASE")
	for i, c := range m.st.Clauses {
		fmt.Fprintf(&b, " WHEN %s THEN %d", m.applies(c), i)
	}
	if m.rest {
		fmt.Fprintf(&b, " WHEN %s THEN %d", m.applies(sql.Clause{When: sql.Matched}), len(m.st.Clauses))
	}
	b.WriteString(" END")
	m.action = b.String()
	m.layout.action = m.add(m.action + " AS " + actionName)
	has, err := m.hasSubquery()
	if err == nil && !has {
		m.action = actionName
	}
	return err
}

// hasSubquery says whether a condition of a clause holds a subquery: DuckDB computes no other item from an alias of one.
func (m *merger) hasSubquery() (bool, error) {
	for _, c := range m.st.Clauses {
		if !c.And.IsGiven() || c.And.Plain {
			continue
		}
		if has, err := m.source.HasSubquery(c.And); err != nil || has {
			return has, err
		}
	}
	return false, nil
}

// applies returns the condition under which a clause would apply if none came before it.
func (m *merger) applies(c sql.Clause) string {
	is, and := m.pairing.is[c.When], c.And.Text
	switch {
	case and == "" && is == "":
		return "true"
	case and == "":
		return is
	case is == "":
		return "(" + and + ")"
	}
	return is + " AND (" + and + ")"
}

// values returns the values of the new row of the clause with a number.
func (m *merger) values(number int, c sql.Clause) ([]write.Value, error) {
	// An expression is computed only for rows of its clause: for others it may fail. Columns can't.
	expr := func(f sql.Fragment) string {
		if m.action == "" || f.Plain {
			return "(" + f.Text + ")"
		}
		return fmt.Sprintf("CASE WHEN %s = %d THEN (%s) END", m.action, number, f.Text)
	}
	switch {
	case c.Star:
		return m.starred()
	case c.Do == sql.DoUpdate:
		return m.updated(c.Set, expr)
	}
	return m.inserted(c, expr)
}

// starred returns the columns of the source that are called as those of the table.
func (m *merger) starred() ([]write.Value, error) {
	if err := m.describe(); err != nil {
		return nil, err
	}
	called := ""
	if m.st.Source.Called != "" {
		called = m.st.Source.Called + "."
	}
	out := make([]write.Value, len(m.table.Schema.Fields))
	for i, f := range m.table.Schema.Fields {
		name, err := m.sourceColumn(f.Name)
		if err != nil {
			return nil, err
		}
		out[i] = write.Value{From: m.add("(" + called + quote.Name(name) + ")")}
	}
	return out, nil
}

// sourceColumn returns the name of the source's column that a star assigns to the table's column name.
func (m *merger) sourceColumn(name string) (string, error) {
	found := []string{}
	for _, c := range m.columns {
		if c == name {
			return c, nil
		}
		if strings.EqualFold(c, name) {
			found = append(found, c)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	what := "has no column"
	if len(found) > 1 {
		what = "has more than one column"
	}
	return "", m.fault("the source %s %s, which * assigns", what, quote.Name(name)).
		WithHint("list the columns: UPDATE SET a = s.a, ... or INSERT (a, ...) VALUES (s.a, ...)")
}

// inserted returns the values of an insert.
func (m *merger) inserted(c sql.Clause, expr func(sql.Fragment) string) ([]write.Value, error) {
	fields := m.table.Schema.Fields
	out := make([]write.Value, len(fields))
	for i := range out {
		out[i] = write.Value{From: -1, Default: true}
	}
	if c.Set == nil {
		if len(c.Values) != len(fields) {
			return nil, m.fault("%d values are given, and it has %d columns", len(c.Values), len(fields))
		}
		for i, v := range c.Values {
			var err error
			if out[i], err = m.value(v.Value, expr); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	seen := map[int]bool{}
	for _, a := range c.Set {
		p, err := m.find(a.Column)
		switch {
		case err != nil:
			return nil, err
		case len(p) > 1:
			return nil, m.fault("a row can't be inserted with a value of %s alone: it is a part of a column", strings.Join(a.Column, "."))
		case seen[p[0]]:
			return nil, m.fault("the column %s is named twice", a.Column[len(a.Column)-1])
		}
		seen[p[0]] = true
		if out[p[0]], err = m.value(a.Value, expr); err != nil {
			return nil, err
		}
	}
	return out, nil
}
