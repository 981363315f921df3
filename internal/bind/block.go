package bind

import (
	"context"
	"strings"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// block makes a bound query into a block behind a view.
func (b *binder) block(ctx context.Context, n sql.Node, q *bound) (*plan.Block, error) {
	if hasLimit(n) && q.whole == "" {
		q.whole = "LIMIT inside the query needs rows of all groups"
	}
	blk, err := b.newBlock(ctx, n, q)
	if err != nil {
		return nil, err
	}
	return blk, b.engine.StubView(ctx, blk.ViewName(), blk.SQL)
}

// rootBlock makes the statement's own query into the last block, its ORDER BY and LIMIT apart.
func (b *binder) rootBlock(ctx context.Context, n sql.Node, q *bound) (*plan.Block, error) {
	blk, err := b.newBlock(ctx, n, q)
	if err != nil || blk.Whole != "" {
		return blk, err
	}
	blk.Order, err = b.ordering(ctx, n, blk)
	return blk, err
}

// newBlock fills in what a block is made of. The ORDER BY of a derived table that may run in parts means nothing and goes;
// one that is run whole, as with LIMIT or DISTINCT ON, keeps it.
func (b *binder) newBlock(ctx context.Context, n sql.Node, q *bound) (*plan.Block, error) {
	blk := &plan.Block{ID: len(b.query.Blocks), From: q.rel, Union: q.union, Whole: q.whole}
	if q.unresolved != "" {
		blk.Whole = q.unresolved
	}
	body := n
	if blk.Whole == "" {
		body = withoutOrder(n)
	}
	var err error
	if blk.SQL, err = b.text(ctx, body); err != nil {
		return nil, err
	}
	columns, err := b.engine.Describe(ctx, blk.SQL)
	if err != nil {
		return nil, err
	}
	for _, c := range columns {
		blk.Output = append(blk.Output, plan.Output{Name: c.Name})
		if strings.HasPrefix(strings.ToLower(c.Name), reservedPrefix) && blk.Whole == "" {
			blk.Whole = "the column name " + c.Name + " starts like the engine's own"
		}
	}
	if n.Type() == "SELECT_NODE" && q.scope != nil && blk.Whole == "" {
		if err := b.describeSelect(ctx, n, q, blk, columns); err != nil {
			return nil, err
		}
	}
	b.query.Blocks = append(b.query.Blocks, blk)
	return blk, nil
}

// withoutOrder returns the query without ORDER BY and LIMIT; DISTINCT stays.
func withoutOrder(n sql.Node) sql.Node {
	c := n.Clone()
	kept := []any{}
	for _, m := range c.List("modifiers") {
		if m.Type() == "DISTINCT_MODIFIER" {
			kept = append(kept, map[string]any(m))
		}
	}
	c["modifiers"] = kept
	return c
}

// describeSelect fills in the operators of a SELECT that must see whole groups, and the columns that pass through.
func (b *binder) describeSelect(ctx context.Context, n sql.Node, q *bound, blk *plan.Block, columns []plan.Column) error {
	var err error
	s := &selectShape{node: n, scope: q.scope, aggregates: b.aggregates}
	s.read()
	if s.whole != "" {
		blk.Whole = s.whole
		return nil
	}
	passThrough(s, blk)
	blk.Distinct, blk.Windows = s.distinct, s.windowKeys()
	if where := n.Child("where_clause"); where != nil {
		if blk.Where, err = b.exprText(ctx, where); err != nil {
			return err
		}
	}
	if s.grouped {
		blk.Group = &plan.Grouping{}
		var texts []string
		for _, e := range s.groups {
			if c, ok := q.scope.column(e); ok {
				blk.Group.Keys = append(blk.Group.Keys, c)
			}
			t, err := b.exprText(ctx, e)
			if err != nil {
				return err
			}
			texts = append(texts, t)
		}
		blk.Group.Text = strings.Join(texts, ", ")
	}
	if s.grouped || s.distinct || len(s.windows) > 0 {
		blk.Split, err = b.split(ctx, s, blk, columns)
	}
	return err
}

// passThrough notes which output columns are plain columns. Stars are expanded only over sources without USING, and only
// where the number and names come out as DuckDB has them: anything else passes nothing through.
func passThrough(s *selectShape, blk *plan.Block) {
	items, ok := s.expand()
	if !ok || len(items) != len(blk.Output) {
		return
	}
	for i, item := range items {
		c, ok := s.scope.column(item)
		if !ok {
			continue
		}
		parts := item.Strs("column_names")
		if item.Str("alias") == "" && !strings.EqualFold(parts[len(parts)-1], blk.Output[i].Name) {
			continue
		}
		blk.Output[i].Col = &c
	}
}

// exprText returns an expression's SQL.
func (b *binder) exprText(ctx context.Context, e sql.Node) (string, error) {
	c := e.Clone()
	c["alias"] = ""
	text, err := b.text(ctx, bareSelect(c))
	if err != nil {
		return "", err
	}
	text = strings.TrimPrefix(text, "SELECT ")
	if strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") && closesAtEnd(text) {
		text = text[1 : len(text)-1]
	}
	return text, nil
}

// closesAtEnd says whether the first parenthesis is closed by the last one.
func closesAtEnd(text string) bool {
	depth := 0
	for i, r := range text {
		switch r {
		case '\'', '"':
			return false // a quote may hide parentheses: leave the text as it is
		case '(':
			depth++
		case ')':
			depth--
			if depth == 0 {
				return i == len(text)-1
			}
		}
	}
	return false
}

// bareSelect returns SELECT items without FROM.
func bareSelect(items ...sql.Node) sql.Node {
	return sql.Node{
		"type": "SELECT_NODE", "modifiers": []any{}, "cte_map": map[string]any{"map": []any{}},
		"select_list": nodes(items), "from_table": map[string]any{"type": "EMPTY", "alias": "", "sample": nil},
		"where_clause": nil, "group_expressions": []any{}, "group_sets": []any{},
		"aggregate_handling": "STANDARD_HANDLING", "having": nil, "sample": nil, "qualify": nil,
	}
}

func nodes(in []sql.Node) []any {
	out := make([]any, len(in))
	for i, n := range in {
		out[i] = map[string]any(n)
	}
	return out
}

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
	for _, key := range starChanges {
		if l, _ := e[key].([]any); len(l) > 0 {
			return false
		}
	}
	return true
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
	if parts := e.Strs("column_names"); e.Class() == "COLUMN_REF" && len(parts) == 1 {
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
