package dml

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/internal/write"
)

// Action is what is done to one row that comes out of a statement's query.
type Action struct {
	Edits   bool // the row at the place goes
	Writes  bool // a new row comes
	Matched bool // the row at the place was matched, and may be by one row alone
}

// Statement is a statement that changes rows, as a query.
type Statement struct {
	Op string // DELETE, UPDATE or MERGE
	// Query is the SELECT of what is done and with which values. Its columns have yet to be assigned to the table's.
	Query string
	// Scopes are queries that must bind: parts of the statement that may name columns of one side alone, which Query has both of.
	Scopes []Scope
	// Actions are what is done, by the values of the query's action column; all rows are of the only one where it has none.
	Actions []Action
	layout  columns
	cases   []write.Case
	// readsMatched says that what is inserted depends on rows that stay as they are.
	readsMatched bool
}

// Scope is a query that isn't run; Parameters is the highest number of one in it.
type Scope struct {
	Query      string
	Parameters int
}

// columns are the places of the query's columns; -1 is none.
type columns struct{ place, row, action int }

// The names of the query's own columns. No column that people make is called so.
const (
	rowName    = `"=row"`
	actionName = `"=action"`
	sourceName = `"=source"`
	// unnamedSource is what a query is called that a MERGE gives no alias.
	unnamedSource = `"=rows"`
)

// Sources tell what a statement's text alone doesn't. Each is asked only where it matters.
type Sources struct {
	Names func(query Scope) ([]string, error) // of the columns of what a MERGE takes rows from
	// HasSubquery says whether there is one in an expression.
	HasSubquery func(expr sql.Fragment) (bool, error)
}

// New makes a statement's query over the table. What it must not do is an error; what its expressions are wrong in, binding the
// query tells.
func New(st sql.ChangeRows, t *catalog.Table, source Sources) (*Statement, error) {
	if err := checkTable(t); err != nil {
		return nil, err
	}
	b := &builder{target: st.Rows(), table: t, source: source}
	switch st := st.(type) {
	case sql.Delete:
		return b.delete(st)
	case sql.Update:
		return b.update(st)
	case sql.Merge:
		return b.merge(st)
	}
	return nil, errs.New(errs.Internal, "change rows of", t.Ident.String(), "no way to do it by a %T", st)
}

// checkTable refuses tables whose rows have no places that a query can tell.
func checkTable(t *catalog.Table) error {
	if t.Virtual || t.Version.Reading != catalog.ReadState {
		return errs.New(errs.Invalid, "change rows of", t.Ident.String(), "it is made of a table's metadata")
	}
	if at := t.Version.At; !at.IsCurrent() && at.Kind != catalog.Branch {
		return errs.New(errs.Invalid, "change rows of", t.Ident.String(), "it is %s of the table, and rows can be changed in branches only", at)
	}
	for _, id := range []catalog.FieldID{catalog.PlaceID, catalog.PathID, catalog.PosID, catalog.RowID} {
		m, _ := catalog.MetadataColumn(t, id)
		for _, f := range t.Schema.Fields {
			if strings.EqualFold(f.Name, m.Name) {
				return errs.New(errs.Unsupported, "change rows of", t.Ident.String(), "its column %s hides the metadata column by which rows are found", catalog.ShownName(f.Name)).
					WithHint("rename the column")
			}
		}
	}
	return nil
}

// Writes says whether the statement makes new rows.
func (s *Statement) Writes() bool { return len(s.cases) > 0 }

// Checks says whether a row that is changed twice is an error.
func (s *Statement) Checks() bool {
	return slices.ContainsFunc(s.Actions, func(a Action) bool { return a.Matched })
}

// Assign returns the SELECT of the query's rows as the sink takes them. text is the query as it was parsed, and columns are its.
func (s *Statement) Assign(target *write.Target, text string, columns []duck.Column) (string, error) {
	c := write.Changes{Query: text, Columns: columns, Action: s.layout.action, RowID: s.layout.row, Cases: s.cases}
	for _, at := range []int{s.layout.place, s.layout.action} {
		if at >= 0 {
			c.Carried = append(c.Carried, at)
		}
	}
	return target.ChangesSQL(c)
}

// builder writes the query of one statement.
type builder struct {
	target sql.Target
	table  *catalog.Table
	source Sources
	items  []string       // of the SELECT
	known  map[string]int // their places, by their texts
	layout columns
}

// add adds an item to the SELECT, or finds it, and returns its place.
func (b *builder) add(item string) int {
	if at, ok := b.known[item]; ok {
		return at
	}
	if b.known == nil {
		b.known = map[string]int{}
	}
	at := len(b.items)
	b.known[item], b.items = at, append(b.items, item)
	return at
}

// of returns a column of the table as the query mentions it.
func (b *builder) of(column string) string { return b.target.Called() + "." + quote.Name(column) }

// metadata returns a metadata column of the table as the query mentions it.
func (b *builder) metadata(id catalog.FieldID) string {
	f, _ := catalog.MetadataColumn(b.table, id)
	return b.of(f.Name)
}

// addPlace adds where rows of the table lie, and their row IDs where changed rows keep them.
func (b *builder) addPlace(keepsID bool) {
	b.layout = columns{place: b.add(b.metadata(catalog.PlaceID)), row: -1, action: -1}
	if keepsID && b.table.FormatVersion >= 3 {
		b.layout.row = b.add(b.metadata(catalog.RowID) + " AS " + rowName)
	}
}

// statement returns the query over a FROM clause.
func (b *builder) statement(op, from string, where string) *Statement {
	text := "SELECT " + strings.Join(b.items, ", ") + " FROM " + from
	if where != "" {
		text += " WHERE " + where
	}
	return &Statement{Op: op, Query: text, layout: b.layout}
}

func (b *builder) delete(d sql.Delete) (*Statement, error) {
	b.addPlace(false)
	s := b.statement("DELETE", listed(b.target.Reference(), d.Using), d.Where.Text)
	s.Actions = []Action{{Edits: true}}
	return s, nil
}

func (b *builder) update(u sql.Update) (*Statement, error) {
	b.addPlace(true)
	values, err := b.updated(u.Set, func(f sql.Fragment) string { return "(" + f.Text + ")" })
	if err != nil {
		return nil, err
	}
	s := b.statement("UPDATE", listed(b.target.Reference(), u.From), u.Where.Text)
	s.cases = []write.Case{{Values: values}}
	s.Actions = []Action{{Edits: true, Writes: true, Matched: true}}
	return s, nil
}

// listed adds further tables to a FROM clause.
func listed(first string, more sql.Fragment) string {
	if !more.IsGiven() {
		return first
	}
	return first + ", " + more.Text
}

// updated returns the values of the table's columns after some were assigned others; expr writes a value's SQL.
func (b *builder) updated(set []sql.Assignment, expr func(sql.Fragment) string) ([]write.Value, error) {
	out := make([]write.Value, len(b.table.Schema.Fields))
	places := make([]place, len(set))
	for i, a := range set {
		var err error
		if places[i], err = b.find(a.Column); err != nil {
			return nil, err
		}
	}
	for i, f := range b.table.Schema.Fields {
		v := write.Value{From: -1}
		var err error
		for k, p := range places {
			if p[0] == i && err == nil {
				v, err = b.assigned(v, p[1:], set[k], expr)
			}
		}
		if err != nil {
			return nil, errs.Wrap(errs.Invalid, "change rows of", b.table.Ident.String(), err)
		}
		if v.From < 0 && !v.Default {
			v.From, v.Stays = b.add(b.of(f.Name)), true
		}
		out[i] = v
	}
	return out, nil
}

// assigned adds an assignment to what a column was assigned so far.
func (b *builder) assigned(v write.Value, path []int, a sql.Assignment, expr func(sql.Fragment) string) (write.Value, error) {
	name := catalog.Ident(a.Column).String()
	twice := fmt.Errorf("%s is assigned twice", name)
	if v.Default || v.From >= 0 {
		return v, twice
	}
	if len(path) == 0 {
		if len(v.Fields) > 0 {
			return v, twice
		}
		return b.value(a.Value, expr)
	}
	if v.Fields == nil {
		v.Fields = map[int]write.Value{}
	}
	inner, ok := v.Fields[path[0]]
	if !ok {
		inner.From = -1
	}
	inner, err := b.assigned(inner, path[1:], a, expr)
	v.Fields[path[0]] = inner
	return v, err
}

// value returns a value that a statement gives.
func (b *builder) value(f sql.Fragment, expr func(sql.Fragment) string) (write.Value, error) {
	if !f.IsGiven() {
		return write.Value{From: -1, Default: true}, nil
	}
	if f.Plain { // a name, NULL or a number
		return write.Value{From: b.add(expr(f))}, nil
	}
	// Expressions with one text may have two values: a = random(), b = random().
	b.items = append(b.items, expr(f))
	return write.Value{From: len(b.items) - 1}, nil
}

// place is the way to a column or a field of one: places in the schema, then in structs.
type place []int

// find returns the place of what a statement assigns to: a column, a field of a struct, or either behind the table's name.
func (b *builder) find(parts []string) (place, error) {
	fields := b.table.Schema.Fields
	for skip := b.qualifies(parts); skip >= 0; skip-- {
		if p, ok := within(fields, parts[skip:]); ok {
			return p, nil
		}
	}
	return nil, errs.New(errs.NotFound, "change rows of", b.table.Ident.String(), "it has no column %s", catalog.Ident(parts))
}

// qualifies returns how many of the first parts may be the table's name.
func (b *builder) qualifies(parts []string) int {
	if b.target.Alias != "" {
		if len(parts) > 1 && strings.EqualFold(parts[0], sql.Unquoted(b.target.Alias)) {
			return 1
		}
		return 0
	}
	name := b.target.Table
	for n := min(len(name), len(parts)-1); n > 0; n-- {
		if strings.EqualFold(strings.Join(parts[:n], "\x00"), strings.Join(name[len(name)-n:], "\x00")) {
			return n
		}
	}
	return 0
}

// within finds a name among fields, and the rest of its parts in structs.
func within(fields []catalog.Field, parts []string) (place, bool) {
	at := write.FieldNamed(fields, parts[0])
	switch {
	case at < 0:
		return nil, false
	case len(parts) == 1:
		return place{at}, true
	case fields[at].Type.Nested != catalog.Struct:
		return nil, false
	}
	rest, ok := within(fields[at].Type.Fields, parts[1:])
	return append(place{at}, rest...), ok
}
