package dml

import (
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/sql"
)

// Scan is a mention of a table in a statement's query, in the order of its FROM clause and then of its subqueries.
type Scan struct {
	Table *catalog.Table
	// Filter is what rows of it matter, and Asked is the same but for conditions that come from the rows of tables.
	Filter, Asked catalog.Filter
	FromOwn       bool // such conditions of Filter come from this very mention
}

// Reads is what a statement reads of the table that it changes.
type Reads struct {
	First  int            // the mention whose rows are changed
	Filter catalog.Filter // rows that it rules out don't matter
	Others bool           // what is done to one row may depend on others
}

// ReadsOf finds what a statement reads of its table among the scans of its query; false says that there is nothing. A table is the
// same by whatever name, path or catalog it is read. What stands in a snapshot that is named, by its ID or a tag, nobody
// changes, and other branches aren't this one.
func (s *Statement) ReadsOf(target *catalog.Table, scans []Scan) (Reads, bool) {
	out := Reads{First: -1, Others: s.readsMatched}
	var asked []catalog.Filter
	for i, scan := range scans {
		if !isOwn(target, scan.Table) {
			continue
		}
		if out.First < 0 {
			out.First = i
		}
		if scan.Table.Virtual || scan.Table.Version.Reading != catalog.ReadState {
			scan.Asked = catalog.Filter{} // it tells of all rows
		}
		asked = append(asked, scan.Asked)
	}
	switch {
	case len(asked) == 0:
		return out, false
	case len(asked) > 1:
		out.Filter, out.Others = catalog.AnyOf(asked...), true
	case scans[out.First].FromOwn:
		// A condition that comes from the table's own rows, by way of another table too, says nothing of rows that come later.
		out.Filter = asked[0]
	default:
		out.Filter = scans[out.First].Filter
	}
	return out, true
}

// isOwn says whether a mention is one of the state of the target that the statement changes.
func isOwn(target, t *catalog.Table) bool {
	same := target.Location == t.Location
	if target.UUID != "" && t.UUID != "" {
		same = target.UUID == t.UUID
	}
	at := t.Version.At
	isFixed := at.Snapshot != nil || at.Kind == catalog.Tag // a time may be yet to come
	return same && !isFixed && branchOf(target) == branchOf(t)
}

// branchOf returns the branch that a state is of.
func branchOf(t *catalog.Table) string {
	if name := t.Version.At.Ref; name != "" {
		return name
	}
	return "main"
}

// readsMatched says whether what a MERGE inserts depends on rows of the table that may be gone after it, or stay as they are: a row of
// the source that one of them matches isn't inserted.
func readsMatched(clauses []sql.Clause) bool {
	inserts, changesAll := false, false
	for _, c := range clauses {
		switch c.When {
		case sql.NotMatched:
			inserts = true
		case sql.Matched:
			changesAll = !c.And.IsGiven()
		}
	}
	deletes := slices.ContainsFunc(clauses, func(c sql.Clause) bool { return c.When == sql.Matched && c.Do == sql.DoDelete })
	return inserts && (!changesAll || deletes)
}
