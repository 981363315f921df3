package bind

import (
	"context"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/internal/sql"
)

// push hands a condition that rows of a scope must satisfy to whom it may serve below: rel is what the scope's columns come
// from.
func (b *binder) push(c sql.Node, sc *scope, rel plan.Rel) {
	filtered := b.pushFilter(c, sc)
	b.pushFirst(c, sc)
	b.pushCondition(c, sc, rel, filtered)
}

// condition is a plan.Condition whose text isn't written yet.
type condition struct {
	scan *plan.Scan
	node sql.Node // with the names of the scan's view
	plan.Condition
}

// pushCondition hands a condition to the scan that all of its columns are of, to leave rows out.
//
// Proof. Either the condition was pushed as a filter too: then no NULL satisfies it, and what pushFilter says of the rows
// of other files holds of these rows. Or it commutes with all that stands between it and the scan. Without that it would
// be wrong: in l LEFT JOIN r ... WHERE coalesce(r.x, 0) = 0 rows of l whose match in r has x = 5 don't come out, and would
// once that row of r was left out.
//
// The row alone must decide: a volatile function, or a subquery, which a view can't see, stays where it is.
func (b *binder) pushCondition(c sql.Node, sc *scope, rel plan.Rel, filtered bool) {
	scan, columns := b.aboutScan(c, sc)
	if scan == nil || !filtered && !commutes(rel, scan) {
		return
	}
	own := c.Clone()
	own["alias"] = ""
	own.Walk(func(n sql.Node) bool {
		if n.Class() == "COLUMN_REF" {
			col, _ := sc.column(n)
			_, f, _ := b.origin(col)
			n["column_names"] = anys([]string{b.viewName(scan, f.ID)})
			return false
		}
		return true
	})
	b.conditions = append(b.conditions, condition{scan, own, plan.Condition{Columns: columns, Filtered: filtered}})
}

// conditionMark stands between conditions that are written together.
const conditionMark = "tarn between conditions"

// writeConditions writes the texts of the conditions, which nothing but a join makes use of: all in one call of the engine,
// unless a text has the mark itself.
func (b *binder) writeConditions(ctx context.Context) error {
	if len(b.query.Scans) < 2 || len(b.conditions) == 0 {
		return nil
	}
	mark, err := b.template(ctx, quote.Text(conditionMark))
	if err != nil {
		return err
	}
	var items []sql.Node
	for i, c := range b.conditions {
		if i > 0 {
			items = append(items, mark)
		}
		items = append(items, c.node)
	}
	text, err := b.text(ctx, bareSelect(items...))
	if err != nil {
		return err
	}
	texts := strings.Split(strings.TrimPrefix(text, "SELECT "), ", "+quote.Text(conditionMark)+", ")
	for i, c := range b.conditions {
		c.SQL = texts[min(i, len(texts)-1)]
		if len(texts) != len(b.conditions) {
			if text, err = b.text(ctx, bareSelect(c.node)); err != nil {
				return err
			}
			c.SQL = strings.TrimPrefix(text, "SELECT ")
		}
		c.scan.Conditions = append(c.scan.Conditions, c.Condition)
	}
	return nil
}

// aboutScan returns the one scan whose row decides a condition, and the columns that it is about; nil when there is none.
func (b *binder) aboutScan(c sql.Node, sc *scope) (scan *plan.Scan, columns []catalog.FieldID) {
	plain := isVolatile(c) == ""
	c.Walk(func(n sql.Node) bool {
		switch n.Class() {
		case "SUBQUERY", "LAMBDA", "STAR", "WINDOW":
			plain = false
		case "COLUMN_REF":
			col, ok := sc.column(n)
			s, f, isOfScan := b.origin(col)
			if !ok || !isOfScan || scan != nil && s != scan {
				plain = false
				return false
			}
			if scan = s; !slices.Contains(columns, f.ID) {
				columns = append(columns, f.ID)
			}
		}
		return plain
	})
	if !plain {
		return nil, nil
	}
	return scan, columns
}

// commutes says whether a condition on a scan's columns may stand above a relation as well as on the scan: none of the
// joins between fills the columns with NULL or looks at rows that have no match.
func commutes(rel plan.Rel, scan *plan.Scan) bool {
	switch r := rel.(type) {
	case *plan.ScanRel:
		return r.Scan == scan
	case *plan.Join:
		left, right := r.Kind != plan.Right && r.Kind != plan.Full, r.Kind == plan.Inner || r.Kind == plan.Right
		return left && commutes(r.Left, scan) || right && commutes(r.Right, scan)
	}
	return false
}

// viewName returns the name of a scan's column in its view.
func (b *binder) viewName(s *plan.Scan, id catalog.FieldID) string {
	if src := b.unread[s]; src != nil {
		for _, c := range src.columns {
			if c.col.Index == int(id) {
				return c.view
			}
		}
	}
	return s.Names[slices.Index(s.Columns, id)]
}
