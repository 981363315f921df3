package bind

import (
	"context"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/transform"
)

// short writes the core of a partial split once more, with the numbers of short texts in place of the columns of text that it
// groups by; nil when there are none. Numbers are equal where the texts are, and a row of NULLs that an outer join adds has NULL
// in both, so that the groups are the same. The numbers are computed where the column is read: below a join, which may give
// each of its rows many times.
func (t *twoSteps) short(ctx context.Context, blk *plan.Block, groups []any) (*plan.Short, error) {
	out := &plan.Short{}
	swap := func(n sql.Node) sql.Node {
		c, ok := t.s.scope.column(n)
		if !ok || !isText(blk.From, c) {
			return nil
		}
		if !slices.Contains(out.Columns, c) {
			out.Columns = append(out.Columns, c)
		}
		return columnRef(c.ShortName())
	}
	items, list := make([]sql.Node, len(t.items)), make([]string, len(t.items))
	for i, item := range t.items {
		items[i], list[i] = item, t.names[i]
		if number := swap(item); number != nil {
			number["alias"] = t.names[i]
			items[i], list[i] = number, "tarn_short_text("+t.names[i]+") AS "+t.names[i]
		}
	}
	if len(out.Columns) == 0 {
		return nil, nil
	}
	numbers := make([]any, len(groups))
	for i, g := range groups {
		numbers[i] = g
		if number := swap(g.(map[string]any)); number != nil {
			numbers[i] = map[string]any(number)
		}
	}
	core := *t
	core.items = items
	text, err := t.b.text(ctx, core.core(numbers))
	out.Core = "SELECT " + strings.Join(list, ", ") + " FROM (" + text + ")"
	return out, err
}

// isText says whether a column is text of a table that a relation reads.
func isText(r plan.Rel, c plan.Col) bool {
	switch r := r.(type) {
	case *plan.ScanRel:
		f, ok := r.Scan.Field(catalog.FieldID(c.Index))
		return r.Scan.Source == c.Source && ok && f.Type.Nested == catalog.NotNested && f.Type.Primitive.Kind == transform.String
	case *plan.Join:
		return isText(r.Left, c) || isText(r.Right, c)
	}
	return false
}
