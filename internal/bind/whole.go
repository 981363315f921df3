package bind

import (
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// noteWhole notes of a scan that is all that a SELECT reads which rows its WHERE takes, where a filter says exactly that.
func (b *binder) noteWhole(q *bound, where sql.Node) {
	r, ok := q.rel.(*plan.ScanRel)
	if !ok {
		return
	}
	var all []catalog.Filter
	for _, c := range conjuncts(where) {
		if !b.isSaid(c, q.scope) {
			return
		}
		f, _ := b.toFilter(c, q.scope)
		all = append(all, f)
	}
	whole := catalog.AllOf(all...)
	r.Scan.Whole = &whole
}

// isSaid says whether the filter of a condition holds for no other rows than those for which the condition is true.
func (b *binder) isSaid(c sql.Node, sc *scope) bool {
	if c.Type() == "CONJUNCTION_AND" || c.Type() == "CONJUNCTION_OR" {
		for _, k := range c.List("children") {
			if !b.isSaid(k, sc) {
				return false
			}
		}
		return true
	}
	if c.Class() == "FUNCTION" && !isPrefixAlone(c) {
		return false
	}
	_, scan := b.toFilter(c, sc)
	return scan != nil
}

// isPrefixAlone says whether a test of a prefix asks for nothing else: LIKE 'abc%' does, and LIKE 'abc%d' doesn't.
func isPrefixAlone(c sql.Node) bool {
	if c.Str("function_name") != "~~" {
		return true
	}
	args := c.List("children")
	pattern := args[len(args)-1].Child("value").Str("value")
	prefix, found := strings.CutSuffix(pattern, "%")
	return found && !strings.ContainsAny(prefix, "%_")
}
