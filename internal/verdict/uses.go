package verdict

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// Uses says which columns a statement mentions where. Other engines leave out what nobody reads before they look at a
// layout, so it makes a difference whether a column is only a filter's. Names alone decide: a column counts as used when
// any column of its name is that may be it.
type Uses struct {
	Above   map[Name]bool // outside filters
	Filters map[Name]bool // in conditions on one table
	All     bool          // the statement's own select list has a star

	among string // what the FROM clause around calls its tables, one a line
}

// Name is a column's name as a statement has it, in lower case. Of is what stands before it; a bare name may be of one of
// the tables that Among lists.
type Name struct{ Of, Among, Column string }

// UsesOf reads the tree of a statement.
func UsesOf(root sql.Node) Uses {
	u := Uses{Above: map[Name]bool{}, Filters: map[Name]bool{}}
	u.visit(root, true)
	return u
}

// visit walks a node; top is true for the statement's own select lists, whose stars reach the client.
func (u *Uses) visit(n sql.Node, top bool) {
	switch n.Type() {
	case "SELECT_NODE":
		u.selected(n, top)
		return
	case "SET_OPERATION_NODE":
		for _, side := range []string{"left", "right"} {
			u.visit(n.Child(side), top)
		}
		for _, c := range n.List("children") {
			u.visit(c, top)
		}
	}
	u.add(n, u.Above)
}

// selected takes the conditions of a SELECT apart; all else in it is used.
func (u *Uses) selected(n sql.Node, top bool) {
	for _, item := range n.List("select_list") {
		if item.Class() == "STAR" && top {
			u.All = true
		}
	}
	around := u.among
	u.among = strings.Join(tablesOf(n.Child("from_table")), "\n")
	defer func() { u.among = around }()
	for key := range n {
		switch key {
		case "where_clause":
			u.condition(n.Child(key))
		case "from_table":
			u.from(n.Child(key))
		default:
			if child := n.Child(key); child != nil {
				u.add(child, u.Above)
			}
			for _, child := range n.List(key) {
				u.add(child, u.Above)
			}
		}
	}
}

// tablesOf returns what a FROM clause calls the tables that it mentions itself.
func tablesOf(n sql.Node) []string {
	switch n.Type() {
	case "JOIN":
		return append(tablesOf(n.Child("left")), tablesOf(n.Child("right"))...)
	case "BASE_TABLE":
		return []string{strings.ToLower(cmp.Or(n.Str("alias"), n.Str("table_name")))}
	}
	return nil
}

func (u *Uses) from(n sql.Node) {
	switch n.Type() {
	case "JOIN":
		u.from(n.Child("left"))
		u.from(n.Child("right"))
		u.condition(n.Child("condition"))
		for _, name := range n.Strs("using_columns") {
			u.Above[Name{Column: strings.ToLower(name)}] = true // of both sides
		}
	default:
		u.add(n, u.Above)
	}
}

// condition takes a condition's conjuncts apart: one that mentions a single table is a filter.
func (u *Uses) condition(n sql.Node) {
	if n == nil {
		return
	}
	if n.Type() == "CONJUNCTION_AND" {
		for _, c := range n.List("children") {
			u.condition(c)
		}
		return
	}
	into := u.Filters
	if u.isOnSeveral(n) {
		into = u.Above
	}
	u.add(n, into)
}

// isOnSeveral says whether an expression is on columns of several tables, or holds a query; bare names count as one table's.
func (u *Uses) isOnSeveral(n sql.Node) bool {
	seen := map[string]bool{}
	hasQuery := false
	n.Walk(func(c sql.Node) bool {
		if c.Class() == "COLUMN_REF" {
			seen[u.name(c).Of] = true
		}
		hasQuery = hasQuery || c.Type() == "SELECT_NODE"
		return true
	})
	return hasQuery || len(seen) > 1
}

// add notes all columns below n. A SELECT inside is taken apart by its own clauses.
func (u *Uses) add(n sql.Node, into map[Name]bool) {
	n.Walk(func(c sql.Node) bool {
		switch {
		case c.Type() == "SELECT_NODE":
			u.selected(c, false)
			return false
		case c.Class() == "COLUMN_REF":
			into[u.name(c)] = true
		}
		return true
	})
}

func (u *Uses) name(column sql.Node) Name {
	names := column.Strs("column_names")
	if len(names) == 0 {
		return Name{}
	}
	last := len(names) - 1
	out := Name{Column: strings.ToLower(names[last])}
	if last > 0 {
		out.Of = strings.ToLower(names[last-1])
	} else {
		out.Among = u.among
	}
	return out
}

// mentionsColumn says whether one of the names may be a scan's column.
func (f *facts) mentionsColumn(names map[Name]bool, s *plan.Scan, column string) bool {
	column = strings.ToLower(column)
	for n := range names {
		if n.Column == column && f.mayBeOf(n, strings.ToLower(s.Alias)) {
			return true
		}
	}
	return false
}

// mayBeOf says whether a name may be of the table with the alias: not when it stands after another table's alias, nor when
// it is bare and a table of the clause around has such a column, but not this one.
func (f *facts) mayBeOf(n Name, alias string) bool {
	if n.Of != "" {
		return n.Of == alias || len(f.aliased[n.Of]) == 0
	}
	isOther := false
	for _, of := range strings.Split(n.Among, "\n") {
		for _, s := range f.aliased[of] {
			if !hasColumn(s, n.Column) {
				continue
			}
			if of == alias {
				return true
			}
			isOther = true
		}
	}
	return !isOther
}

// hasColumn says whether the table has a column of the name, in lower case.
func hasColumn(s *plan.Scan, name string) bool {
	return slices.ContainsFunc(s.Table.Schema.Fields, func(c catalog.Field) bool { return strings.ToLower(c.Name) == name })
}
