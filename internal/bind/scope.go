package bind

import (
	"strings"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// source is one relation that names in a block can refer to.
type source struct {
	alias     string
	qualifier []string   // the namespace and catalog parts before the table's name; nil for a derived table
	names     []string   // column names as they are, in order
	cols      []plan.Col // one per name
	unknown   bool       // the columns aren't known: no unqualified name can be placed in this scope
	// paired is set when a join pairs the rows by their order or nearness: leaving a row out then changes the partner of
	// another. Names still lead to the columns, but none may be used to plan by.
	paired bool
}

// find returns the place of the column called name, or -1.
func (s *source) find(name string) int {
	for i, n := range s.names {
		if strings.EqualFold(n, name) {
			return i
		}
	}
	return -1
}

// scope is the names of one block. USING columns are in merged, under their lower-case names.
type scope struct {
	outer   *scope
	sources []*source
	merged  map[string]plan.Col
	// correlated is set when a name of the block, or of a query inside it, was found in an outer scope; far when that was
	// beyond the next one.
	correlated, far bool
	// subquery is set when an expression of the block holds a subquery, semi-joins aside.
	subquery bool
	// aliases are the select list's own, in lower case: where an expression names one that no column of FROM has, it isn't
	// an outer column.
	aliases map[string]bool
	// lost is why a name inside a subquery of the block can't be placed anywhere; "" when all could.
	lost string
}

// ref is where a column reference leads: the column, and whether the reference is the column itself rather than a field
// of it.
type ref struct {
	col   plan.Col
	plain bool
}

// local resolves a reference in this scope alone. A name of three parts or more is shortened in place to alias.column,
// since the view that stands for the table has no namespace.
func (sc *scope) local(n sql.Node) (ref, bool) {
	parts := n.Strs("column_names")
	if len(parts) == 1 {
		return sc.unqualified(parts[0])
	}
	for _, s := range sc.sources {
		used := s.matches(parts)
		if used == 0 || used >= len(parts) {
			continue
		}
		i := s.find(parts[used])
		if i < 0 {
			continue
		}
		short := []any{s.alias}
		for _, p := range parts[used:] {
			short = append(short, p)
		}
		n["column_names"] = short
		return ref{s.cols[i], used+1 == len(parts) && !s.paired}, true
	}
	if r, ok := sc.unqualified(parts[0]); ok && !sc.namesOuter(parts) { // a field of a struct column
		return ref{r.col, false}, true
	}
	return ref{}, false
}

// namesOuter says whether a reference could lead to a table of an outer scope: x.k to k of a table x, although the scope
// has a column x. DuckDB asks whether that column is a struct; to take it for the outer table's is right for plans, which
// then leave the query to DuckDB.
func (sc *scope) namesOuter(parts []string) bool {
	for up := sc.outer; up != nil; up = up.outer {
		for _, s := range up.sources {
			if used := s.matches(parts); used > 0 && s.find(parts[used]) >= 0 {
				return true
			}
		}
	}
	return false
}

// matches returns how many leading parts name this source: 1 for its alias, more with namespace parts, 0 for none.
func (s *source) matches(parts []string) int {
	for q := len(s.qualifier); q >= 0; q-- {
		if len(parts) <= q+1 || !strings.EqualFold(parts[q], s.alias) {
			continue
		}
		if equalFolds(parts[:q], s.qualifier[len(s.qualifier)-q:]) {
			return q + 1
		}
	}
	return 0
}

func equalFolds(a, b []string) bool {
	for i := range a {
		if !strings.EqualFold(a[i], b[i]) {
			return false
		}
	}
	return true
}

// unqualified resolves a bare name: it must be a USING column or stand in exactly one source, and every source's columns
// must be known.
func (sc *scope) unqualified(name string) (ref, bool) {
	var found []ref
	for _, s := range sc.sources {
		if s.unknown {
			return ref{}, false
		}
		if i := s.find(name); i >= 0 {
			found = append(found, ref{s.cols[i], !s.paired})
		}
	}
	if c, ok := sc.merged[strings.ToLower(name)]; ok {
		return ref{c, true}, true
	}
	if len(found) != 1 {
		return ref{}, false
	}
	return found[0], true
}

// places says whether a reference leads to a column here or in an outer scope.
func (sc *scope) places(n sql.Node) bool {
	if _, ok := sc.local(n); ok || sc.isAlias(n) {
		return true
	}
	for up := sc.outer; up != nil; up = up.outer {
		if _, ok := up.local(n); ok {
			sc.correlate(up)
			return true
		}
	}
	return false
}

// isAlias says whether a bare name is one of the select list's aliases.
func (sc *scope) isAlias(n sql.Node) bool {
	parts := n.Strs("column_names")
	return len(parts) == 1 && sc.aliases[strings.ToLower(parts[0])]
}

// correlate notes on every scope from sc up to where the name was found that it, too, looks out of itself.
func (sc *scope) correlate(found *scope) {
	for s := sc; s != found; s = s.outer {
		s.correlated = true
		s.far = s.far || s.outer != found
	}
}

// column resolves an expression that is nothing but a column of this scope.
func (sc *scope) column(n sql.Node) (plan.Col, bool) {
	if n.Class() != "COLUMN_REF" {
		return plan.Col{}, false
	}
	r, ok := sc.local(n)
	return r.col, ok && r.plain
}
