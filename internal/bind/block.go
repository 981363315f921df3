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
	for i, c := range columns {
		if q.names != nil {
			c.Name = q.names[i]
		}
		blk.Output = append(blk.Output, plan.Output{Name: c.Name})
		if plan.IsOwn(c.Name) && blk.Whole == "" {
			blk.Whole = "the column name " + c.Name + " starts like the engine's own"
		}
	}
	b.usages[blk] = q.usage
	if n.Type() == "SELECT_NODE" && q.scope != nil && blk.Whole == "" {
		if err := b.describeSelect(ctx, n, q, blk, columns); err != nil {
			return nil, err
		}
	}
	if blk.Whole != "" {
		blk.Union = nil // FROM lists its sides
	} else if blk.Union != nil {
		blk.From = nil
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
		if blk.Split, err = b.split(ctx, s, blk, columns); err != nil {
			return err
		}
	}
	if r := b.ranking(s, columns); r != nil {
		b.rankings[blk], r.first = r, r.isQualified()
	}
	return nil
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

// exprText returns an expression's SQL for people.
func (b *binder) exprText(ctx context.Context, e sql.Node) (string, error) {
	c := b.asShown(e)
	c["alias"] = ""
	text, err := b.text(ctx, bareSelect(c))
	if err != nil {
		return "", err
	}
	text = systemCalls(strings.TrimPrefix(text, "SELECT "))
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
