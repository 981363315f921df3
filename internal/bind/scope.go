package bind

import (
	"strings"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// source is one relation that names in a block can refer to.
type source struct {
	alias     string
	qualifier []string // the namespace and catalog parts before the table's name; nil for a derived table
	columns   []column // in order, the hidden ones last
	unknown   bool     // the columns aren't known: no unqualified name can be placed in this scope
	// lacks tells for metadata columns that the table doesn't have, by their names, why.
	lacks map[string]string
	// paired is set when a join pairs the rows by their order or nearness: leaving a row out then changes the partner of
	// another. Names still lead to the columns, but none may be used to plan by.
	paired bool
}

// scope is the names of one block. USING columns are in merged, under their lower-case names.
type scope struct {
	outer   *scope
	sources []*source
	merged  map[string]ref
	// correlated is set when a name of the block, or of a query inside it, was found in an outer scope; far when that was
	// beyond the next one.
	correlated, far bool
	// subquery is set when an expression of the block holds a subquery, semi-joins aside.
	subquery bool
	// aliases are the select list's own, in lower case: where an expression names one that no column of FROM has, it isn't
	// an outer column.
	aliases map[string]bool
	// aliasesFirst is set while expressions are bound in which a bare name means an alias before a column.
	aliasesFirst bool
	// rows are bare names that lead to no column: each may stand for the whole row of a source.
	rows []string
	// lost is why a name inside a subquery of the block can't be placed anywhere; "" when all could.
	lost string
}

// ref is where a column reference leads: the column, whether the reference is the column itself rather than a field of it,
// and whether rows of its source are paired with others by their places, so that none may be left out.
type ref struct {
	col    plan.Col
	plain  bool
	paired bool
}

// local resolves a reference in this scope alone, and rewrites it in place as texts must write it: a name of three parts or
// more is shortened to alias.column, since the view that stands for the table has no namespace, and a column that texts
// know by another name gets that.
func (sc *scope) local(n sql.Node) (ref, bool) {
	parts := n.Strs("column_names")
	if len(parts) == 1 {
		r, m, ok := sc.unqualified(parts[0])
		m.write(n, parts[1:])
		return r, ok
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
		n["column_names"] = anys(append([]string{s.alias, s.mention(i)}, parts[used+1:]...))
		return ref{s.columns[i].col, used+1 == len(parts) && !s.paired, s.paired}, true
	}
	if r, m, ok := sc.unqualified(parts[0]); ok && !sc.namesOuter(parts) { // a field of a struct column
		m.write(n, parts[1:])
		return ref{r.col, false, r.paired}, true
	}
	return ref{}, false
}

// match is a column of a source; the zero match is none.
type match struct {
	source *source
	at     int
}

func (m match) column() column { return m.source.columns[m.at] }

// write puts the column's name in texts before the rest of a reference. Other columns stay as they are spelled.
func (m match) write(n sql.Node, rest []string) {
	if m.source == nil {
		return
	}
	if as := m.source.mention(m.at); m.column().isRenamed() {
		n["column_names"] = anys(append([]string{as}, rest...))
	}
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
// must be known. The match is that of a column of a source.
func (sc *scope) unqualified(name string) (ref, match, bool) {
	found := sc.candidates(name)
	if c, ok := sc.merged[strings.ToLower(name)]; ok && !isExactly(found, name) {
		return c, match{}, !sc.isUnknown()
	}
	if len(found) != 1 || sc.isUnknown() {
		return ref{}, match{}, false
	}
	return ref{found[0].column().col, !found[0].source.paired, found[0].source.paired}, found[0], true
}

// candidates returns the columns that a bare name may mean. As in one source, exact spelling decides between columns that
// texts know by other names, and metadata columns come last.
func (sc *scope) candidates(name string) []match {
	var visible, exact, hidden []match
	renamed := false
	for _, s := range sc.sources {
		for _, i := range s.meant(name) {
			m := match{s, i}
			switch c := m.column(); {
			case c.hidden:
				hidden = append(hidden, m)
				continue
			case c.name == name || c.as == name:
				exact = append(exact, m)
				renamed = renamed || c.isRenamed()
			default:
				renamed = renamed || c.isRenamed()
			}
			visible = append(visible, m)
		}
	}
	switch {
	case renamed && len(exact) > 0:
		return exact
	case len(visible) > 0:
		return visible
	}
	return hidden
}

// isExactly says whether a name is, to the letter, that of the one renamed column which it can mean: then it isn't the
// USING column that it is spelled like but for case.
func isExactly(found []match, name string) bool {
	if len(found) != 1 {
		return false
	}
	c := found[0].column()
	return c.isRenamed() && (c.name == name || c.as == name)
}

func (sc *scope) isUnknown() bool {
	for _, s := range sc.sources {
		if s.unknown {
			return true
		}
	}
	return false
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
