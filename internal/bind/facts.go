package bind

import (
	"context"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// facts tells what a core asks that statistics of files may answer; nil when it asks for more: it must aggregate rows of one
// scan without groups, by count, min and max of plain columns alone, and all of the scan's rows or those of a condition
// that the scan's filter says exactly.
func (b *binder) facts(ctx context.Context, t *twoSteps, blk *plan.Block, core string) (*plan.Facts, error) {
	rel, ok := blk.From.(*plan.ScanRel)
	where := t.s.node.Child("where_clause")
	if !ok || len(t.s.groups) > 0 || where != nil && !b.isExact(where, t.s.scope) {
		return nil, nil
	}
	columns, err := b.engine.Describe(ctx, core)
	if err != nil {
		return nil, err
	}
	f := &plan.Facts{Scan: rel.Scan}
	var texts []string
	for i, item := range t.items {
		part, ok := t.s.part(item, rel.Scan)
		if !ok {
			return nil, nil
		}
		text, err := b.exprText(ctx, item)
		if err != nil {
			return nil, err
		}
		part.Column = columns[i]
		f.Parts, texts = append(f.Parts, part), append(texts, text)
	}
	f.Text = strings.ReplaceAll(strings.Join(texts, ", "), "count_star()", "count(*)")
	return f, nil
}

// part returns what an aggregate call asks of a scan's table; false when it is more than a fact.
func (s *selectShape) part(call sql.Node, scan *plan.Scan) (plan.Part, bool) {
	if !s.isAggregate(call) || call.Child("filter") != nil || call.Bool("distinct") {
		return plan.Part{}, false
	}
	name, args := strings.ToLower(call.Str("function_name")), call.List("children")
	what, known := map[string]plan.Fact{"count": plan.CountValues, "min": plan.Least, "max": plan.Greatest}[name]
	switch {
	case name == "count_star", name == "count" && (len(args) == 0 || args[0].Type() == "VALUE_CONSTANT" && !isNullConstant(args[0])):
		return plan.Part{What: plan.CountRows}, true
	case !known || len(args) != 1:
		return plan.Part{}, false
	}
	c, ok := s.scope.column(args[0])
	if !ok || c.Source != scan.Source {
		return plan.Part{}, false
	}
	f, ok := scan.Table.Schema.Field(catalog.FieldID(c.Index))
	return plan.Part{What: what, Of: f.ID}, ok && f.Type.Nested == catalog.NotNested
}

// isExact says whether the filter that toFilter makes of a condition holds for just those rows that satisfy the condition.
func (b *binder) isExact(c sql.Node, sc *scope) bool {
	switch c.Type() {
	case "CONJUNCTION_AND", "CONJUNCTION_OR":
		for _, k := range c.List("children") {
			if !b.isExact(k, sc) {
				return false
			}
		}
		return true
	case "COMPARE_BETWEEN":
		return b.isExact(comparison("COMPARE_GREATERTHANOREQUALTO", c.Child("input"), c.Child("lower")), sc) &&
			b.isExact(comparison("COMPARE_LESSTHANOREQUALTO", c.Child("input"), c.Child("upper")), sc)
	}
	if c.Class() == "FUNCTION" { // a pattern may go on after its prefix
		return false
	}
	_, scan := b.toFilter(c, sc)
	return scan != nil
}
