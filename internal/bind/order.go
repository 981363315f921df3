package bind

import (
	"context"
	"strings"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// ordering takes the root's ORDER BY and LIMIT apart, so that packs can cut early and one merge puts rows in order. It
// marks the block whole when a limit isn't a plain number.
func (b *binder) ordering(ctx context.Context, n sql.Node, blk *plan.Block) (*plan.Ordering, error) {
	o := &plan.Ordering{}
	body := withoutOrder(n)
	found := false
	for _, m := range n.List("modifiers") {
		switch m.Type() {
		case "ORDER_MODIFIER":
			found = true
			keys, hidden, ok := orderKeys(m, n, blk)
			if !ok {
				blk.Whole = "ORDER BY an expression over a set operation or DISTINCT, or a star other than ALL, is run whole"
				return nil, nil
			}
			o.By = strings.Join(keys, ", ")
			o.Hidden = len(hidden)
			items, _ := body["select_list"].([]any)
			body["select_list"] = append(items, nodes(hidden)...)
		case "LIMIT_MODIFIER":
			found = true
			if !constantLimit(m, o) {
				blk.Whole = "LIMIT by an expression is run whole"
				return nil, nil
			}
		}
	}
	if !found {
		return nil, nil
	}
	var err error
	o.SQL, err = b.text(ctx, body)
	if r := b.rankings[blk]; r != nil {
		r.ordered = body
	}
	return o, err
}

// orderKeys writes ORDER BY as output positions; expressions that aren't output columns become hidden columns at the end,
// by name.
func orderKeys(m, n sql.Node, blk *plan.Block) (keys []string, hidden []sql.Node, ok bool) {
	for _, o := range m.List("orders") {
		e := o.Child("expression")
		suffix := direction(o)
		if e.Class() == "STAR" {
			if !isOrderByAll(m, e) {
				return nil, nil, false
			}
			for i := range blk.Output {
				keys = append(keys, itoa(i+1)+suffix)
			}
			continue
		}
		pos := orderPosition(e, n, blk)
		if pos < 0 {
			return nil, nil, false
		}
		if pos == 0 {
			if n.Type() != "SELECT_NODE" || blk.Distinct || e.Class() == "CONSTANT" {
				return nil, nil, false
			}
			h := e.Clone()
			h["alias"] = "tarn_o" + itoa(len(hidden))
			hidden = append(hidden, h)
			keys = append(keys, h.Str("alias")+suffix)
			continue
		}
		keys = append(keys, itoa(pos)+suffix)
	}
	return keys, hidden, true
}

// isOrderByAll says whether a star in ORDER BY means all output columns: ORDER BY ALL. Any other star, such as
// COLUMNS('a.*') or * EXCLUDE (x), means columns of FROM.
func isOrderByAll(m, e sql.Node) bool {
	if len(m.List("orders")) != 1 || !e.Bool("columns") || e.Child("expr") != nil || e.Str("relation_name") != "" {
		return false
	}
	return !isChanged(e)
}

// orderPosition returns the output column that an ORDER BY expression means, from 1, or 0: a number, an alias or output
// name, or the same expression as a select item. Aliases come before columns, as in DuckDB. It is -1 when several output
// columns have the name and none of them alone by an alias.
func orderPosition(e, n sql.Node, blk *plan.Block) int {
	if k, ok := ordinal(e); ok {
		if k >= 1 && k <= len(blk.Output) {
			return k
		}
		return 0
	}
	items := n.List("select_list")
	if parts := e.Strs("column_names"); e.Class() == "COLUMN_REF" && len(parts) == 1 && !plan.IsOwn(parts[0]) {
		return namedPosition(parts[0], items, blk.Output)
	}
	if len(items) != len(blk.Output) {
		return 0
	}
	for i, item := range items {
		if sql.Equal(item, e) {
			return i + 1
		}
	}
	return 0
}

// namedPosition finds the output column of a name: the one alias of that name, else the one column.
func namedPosition(name string, items []sql.Node, outputs []plan.Output) int {
	var aliased, columns []int
	for i, o := range outputs {
		if !strings.EqualFold(o.Name, name) {
			continue
		}
		switch {
		case len(items) != len(outputs): // a star: which item it is can't be told
			columns = append(columns, i+1)
		case strings.EqualFold(items[i].Str("alias"), name):
			aliased = append(aliased, i+1)
		case items[i].Class() == "COLUMN_REF" && items[i].Str("alias") == "":
			columns = append(columns, i+1)
		}
	}
	switch {
	case len(aliased) == 1:
		return aliased[0]
	case len(aliased) == 0 && len(columns) <= 1:
		return append(columns, 0)[0]
	}
	return -1
}

func direction(o sql.Node) string {
	s := ""
	switch o.Type() {
	case "ASCENDING":
		s = " ASC"
	case "DESCENDING":
		s = " DESC"
	}
	switch o.Str("null_order") {
	case "NULLS_FIRST", "NULLS FIRST":
		s += " NULLS FIRST"
	case "NULLS_LAST", "NULLS LAST":
		s += " NULLS LAST"
	}
	return s
}

// constantLimit reads LIMIT and OFFSET when both are plain numbers.
func constantLimit(m sql.Node, o *plan.Ordering) bool {
	if l := m.Child("limit"); l != nil {
		k, ok := ordinal(l)
		if !ok || k < 0 {
			return false
		}
		n := int64(k)
		o.Limit = &n
	}
	if off := m.Child("offset"); off != nil {
		k, ok := ordinal(off)
		if !ok || k < 0 {
			return false
		}
		o.Offset = int64(k)
	}
	return true
}
