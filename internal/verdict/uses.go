package verdict

import (
	"strings"

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
}

// Name is a column's name as a statement has it, in lower case; Of is what stands before it, or "".
type Name struct{ Of, Column string }

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

func (u *Uses) from(n sql.Node) {
	switch n.Type() {
	case "JOIN":
		u.from(n.Child("left"))
		u.from(n.Child("right"))
		u.condition(n.Child("condition"))
		for _, name := range n.Strs("using_columns") {
			u.Above[Name{Column: strings.ToLower(name)}] = true
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
	if tablesIn(n) > 1 {
		into = u.Above
	}
	u.add(n, into)
}

// tablesIn counts the qualifiers of the columns below n; columns without one count together.
func tablesIn(n sql.Node) int {
	seen := map[string]bool{}
	n.Walk(func(c sql.Node) bool {
		if c.Class() == "COLUMN_REF" {
			seen[nameOf(c).Of] = true
		}
		return true
	})
	return len(seen)
}

// add notes all columns below n. A SELECT inside is taken apart by its own clauses.
func (u *Uses) add(n sql.Node, into map[Name]bool) {
	n.Walk(func(c sql.Node) bool {
		switch {
		case c.Type() == "SELECT_NODE":
			u.selected(c, false)
			return false
		case c.Class() == "COLUMN_REF":
			into[nameOf(c)] = true
		}
		return true
	})
}

func nameOf(column sql.Node) Name {
	names := column.Strs("column_names")
	if len(names) == 0 {
		return Name{}
	}
	last := len(names) - 1
	out := Name{Column: strings.ToLower(names[last])}
	if last > 0 {
		out.Of = strings.ToLower(names[last-1])
	}
	return out
}

// mentionsColumn says whether one of the names may be a scan's column: a name after the alias of another scan isn't.
func (f *facts) mentionsColumn(names map[Name]bool, s *plan.Scan, column string) bool {
	column = strings.ToLower(column)
	for n := range names {
		if n.Column == column && (n.Of == "" || n.Of == strings.ToLower(s.Alias) || !f.aliases[n.Of]) {
			return true
		}
	}
	return false
}
