package bind

import (
	"context"
	"fmt"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/transform"
)

// facts tells what a core asks that statistics of files may answer; nil when it asks for more: it must aggregate rows of one
// scan without groups, by count, min and max of plain columns alone, and all of the scan's rows or those of a condition
// that the scan's filter says exactly.
func (b *binder) facts(ctx context.Context, t *twoSteps, blk *plan.Block, core string) (*plan.Facts, error) {
	rel, ok := blk.From.(*plan.ScanRel)
	where := t.s.node.Child("where_clause")
	if !ok || len(t.s.groups) > 0 {
		return nil, nil
	}
	if term := b.inexact(where, t.s.scope); term != nil {
		blk.Untold = b.whyInexact(term, t.s.scope)
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

// inexact returns the first part of a condition of which toFilter makes no filter that holds for just those rows that satisfy it; nil where there
// is none.
func (b *binder) inexact(c sql.Node, sc *scope) sql.Node {
	switch c.Type() {
	case "CONJUNCTION_AND", "CONJUNCTION_OR":
		for _, k := range c.List("children") {
			if term := b.inexact(k, sc); term != nil {
				return term
			}
		}
		return nil
	case "COMPARE_BETWEEN":
		if b.inexact(comparison("COMPARE_GREATERTHANOREQUALTO", c.Child("input"), c.Child("lower")), sc) != nil ||
			b.inexact(comparison("COMPARE_LESSTHANOREQUALTO", c.Child("input"), c.Child("upper")), sc) != nil {
			return c
		}
		return nil
	}
	if c.Class() == "FUNCTION" { // a pattern may go on after its prefix
		return c
	}
	if _, scan := b.toFilter(c, sc); c != nil && scan == nil {
		return c
	}
	return nil
}

// whyInexact tells people why a part of a condition is none that metadata decides.
func (b *binder) whyInexact(c sql.Node, sc *scope) string {
	for _, e := range append([]sql.Node{c.Child("left"), c.Child("right"), c.Child("input")}, c.List("children")...) {
		_, f, ok := b.tested(e, sc)
		switch kind := f.Type.Primitive.Kind; {
		case !ok:
			continue
		case f.Type.Nested != catalog.NotNested:
			return fmt.Sprintf("%s is nested, and metadata knows of the values of single columns alone", f.Name)
		case c.Class() == "FUNCTION":
			return fmt.Sprintf("%s is tested by a function, and metadata knows its least and greatest values alone", f.Name)
		case kind == transform.Float || kind == transform.Double:
			return fmt.Sprintf("%s is a %s, whose bounds in metadata leave NaN out and tell -0.0 from 0.0, so that they don't decide comparisons as a query does", f.Name, f.Type)
		}
		return fmt.Sprintf("%s, of type %s, is compared with what isn't a constant of just that type", f.Name, f.Type)
	}
	return "a part of it isn't a comparison of a column with constants"
}
