package bind

import (
	"context"
	"slices"
	"strings"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// ranking is the row_number() of a block: the one window that it has, on its select list or in QUALIFY.
type ranking struct {
	node    sql.Node // the SELECT, without ORDER BY and LIMIT
	scope   *scope
	window  sql.Node
	items   []sql.Node // the select list, stars written out
	columns []plan.Column
	first   bool     // only the first rows matter
	ordered sql.Node // the root with its hidden sort columns; nil when it has none
}

// ranking returns the row_number() that numbers the block's rows, nil when there is none whose first rows an aggregate can
// give: another window beside it would see rows that are gone, and so would an aggregate or a DISTINCT.
func (b *binder) ranking(s *selectShape, columns []plan.Column) *ranking {
	if s.grouped || s.distinct || len(s.windows) == 0 || !isRowNumber(s.windows[0]) {
		return nil
	}
	r := &ranking{node: withoutOrder(s.node), scope: s.scope, window: s.windows[0], columns: columns}
	for _, w := range s.windows {
		if !sql.Equal(w, r.window) {
			return nil
		}
	}
	var ok bool
	if r.items, ok = s.expand(); !ok || len(r.items) != len(columns) {
		return nil
	}
	return r
}

// isRowNumber says whether a window is a plain row_number() with PARTITION BY and ORDER BY. Without PARTITION BY it is no
// grouping: an aggregate over no rows would give a row.
func isRowNumber(w sql.Node) bool {
	return w.Type() == "WINDOW_ROW_NUMBER" && len(w.List("partitions")) > 0 && len(w.List("orders")) > 0 &&
		w.Child("filter_expr") == nil && len(w.List("arg_orders")) == 0 && w.Str("exclude_clause") == "NO_OTHER" &&
		!w.Bool("distinct") && !w.Bool("ignore_nulls")
}

// isQualified says whether QUALIFY asks for the first rows and for nothing else.
func (r *ranking) isQualified() bool {
	number, ok := firstOnly(r.node.Child("qualify"))
	if !ok {
		return false
	}
	if parts := number.Strs("column_names"); number.Class() == "COLUMN_REF" && len(parts) == 1 { // an alias comes before a column
		var meant []sql.Node
		for _, item := range r.items {
			if strings.EqualFold(item.Str("alias"), parts[0]) {
				meant = append(meant, item)
			}
		}
		return len(meant) == 1 && sql.Equal(meant[0], r.window)
	}
	return sql.Equal(number, r.window)
}

// firstOnly returns what a condition wants to be 1, given that it is a whole number from 1 on: x = 1, x <= 1 or x < 2.
func firstOnly(c sql.Node) (sql.Node, bool) {
	if c.Class() != "COMPARISON" {
		return nil, false
	}
	x, typ := c.Child("left"), c.Type()
	k, ok := ordinal(c.Child("right"))
	if !ok {
		x = c.Child("right")
		if k, ok = ordinal(c.Child("left")); !ok {
			return nil, false
		}
		typ = map[string]string{
			"COMPARE_EQUAL": typ, "COMPARE_GREATERTHANOREQUALTO": "COMPARE_LESSTHANOREQUALTO", "COMPARE_GREATERTHAN": "COMPARE_LESSTHAN",
		}[typ]
	}
	return x, k == 1 && (typ == "COMPARE_EQUAL" || typ == "COMPARE_LESSTHANOREQUALTO") || k == 2 && typ == "COMPARE_LESSTHAN"
}

// pushFirst hands a condition that wants a derived table's row_number() to be 1 to the derived table. It may be pushed where
// pushFilter may push a test of its column, by the same proof: no NULL satisfies it.
func (b *binder) pushFirst(c sql.Node, sc *scope) {
	number, ok := firstOnly(c)
	if !ok {
		return
	}
	col, ok := sc.column(number)
	blk := b.blockOf[col.Source]
	if !ok || blk == nil {
		return
	}
	r := b.rankings[blk]
	if r == nil || r.node.Child("qualify") != nil || !sql.Equal(r.items[col.Index], r.window) {
		return
	}
	r.first = true
}

// ReduceLatestRow is the rule that a block of which only the rows with row_number() = 1 matter becomes an aggregate, which
// picks one row per PARTITION BY key. It saves sorting. What DuckDB does alike by itself is off, as avoid says.
//
// The condition stands alone in QUALIFY, or in a query above whose other conditions then filter the picked rows. With a
// filter between the number and the condition the rule would be wrong: in SELECT id FROM (SELECT *, row_number() OVER
// (PARTITION BY k ORDER BY o) AS n FROM t QUALIFY x > 5) WHERE n = 1 a key whose first row has x = 3 has no row.
//
// Proof. PARTITION BY and GROUP BY compare keys alike, NULL with NULL too; for the types of isExact equal keys are the same
// value, which for floats they aren't: 0.0 and -0.0. Of each partition one row is picked that no other comes before, as
// row_number() does; among equals it may be any. All columns come from that row, since one aggregate picks one struct. The
// number is 1.
//
// The order is that of create_sort_key, by which DuckDB sorts windows, or of tarn_order_key; neither is ever NULL. arg_min of
// the columns themselves would skip rows in which they are NULL, and cast decimals to DOUBLE, which has not all their digits.
// max() over a struct of the order and the rest would be wrong: a NULL field is its greatest, so that for ORDER BY o DESC,
// where NULLs come last, it would pick a row without o.
//
// Where the order is a number and no column is nested the aggregate is our own, which carries values as they are. Elsewhere it
// is arg_min of a struct. That goes through DuckDB's sort keys and back, which don't keep the sign of zero: floats bring theirs
// along. Inside of nested columns they can't, and a block that outputs such a column stays as it is. Columns that no user of
// the block needs are NULL, since DuckDB can't leave out fields of a struct that is aggregated.
func (b *binder) ReduceLatestRow(ctx context.Context, blk *plan.Block, r *ranking, needed []bool) error {
	items, names := slices.Clone(r.items), outputNames(blk.Output)
	for i := range items {
		if needed[i] {
			continue
		}
		var err error
		if items[i], err = b.template(ctx, "CAST(NULL AS "+r.columns[i].Type+")"); err != nil {
			return nil //nolint:nilerr // the block stays as it is
		}
	}
	text, err := b.latestText(ctx, r, items, names)
	if err != nil || text == "" {
		return err
	}
	if got, err := b.engine.Describe(ctx, text); err != nil || !slices.Equal(got, r.columns) {
		return nil //nolint:nilerr // likewise
	}
	blk.Plain, blk.SQL = blk.SQL, text
	if blk.Order == nil {
		return nil
	}
	list := r.ordered.List("select_list")
	for _, hidden := range list[len(list)-blk.Order.Hidden:] {
		items, names = append(items, hidden), append(names, hidden.Str("alias"))
	}
	if text, err = b.latestText(ctx, r, items, names); err != nil || text == "" {
		return err
	}
	if _, err := b.engine.Describe(ctx, text); err == nil {
		blk.Order.SQL = text
	}
	return nil
}

// latestText returns the text of the items over the first rows; "" when that can't be proved to be the same.
func (b *binder) latestText(ctx context.Context, r *ranking, items []sql.Node, names []string) (string, error) {
	reduced, err := b.latest(ctx, r, items, names)
	if err != nil || reduced == nil {
		return "", err
	}
	return b.text(ctx, reduced)
}

// latest returns the query of the items over the first rows; nil when that can't be proved to be the same.
func (b *binder) latest(ctx context.Context, r *ranking, items []sql.Node, names []string) (sql.Node, error) {
	p := &picker{ranking: r}
	for _, e := range r.window.List("partitions") {
		p.keys = append(p.keys, unnamed(e))
	}
	for _, o := range r.window.List("orders") {
		p.orders = append(p.orders, unnamed(o.Child("expression")))
	}
	for _, e := range slices.Concat(p.keys, p.orders) {
		p.lost = p.lost || !p.isPlain(e)
	}
	for _, item := range items {
		rewrite(item, p.swap) // to find out what is needed
	}
	if p.lost || slices.ContainsFunc(p.keys, func(k sql.Node) bool { return k.Class() == "CONSTANT" }) {
		return nil, nil // a constant in GROUP BY is a position
	}
	inner, err := p.pick(ctx, b)
	if err != nil || inner == nil {
		return nil, err
	}
	out := bareSelect()
	list := make([]any, len(items))
	for i, item := range items {
		list[i] = rewrite(item, p.swap)
		list[i].(map[string]any)["alias"] = names[i]
	}
	out["select_list"] = list
	out["from_table"] = map[string]any{
		"type": "SUBQUERY", "alias": "tarn_latest", "sample": nil, "column_name_alias": []any{},
		"subquery": map[string]any{"node": map[string]any(inner), "named_param_map": []any{}},
	}
	return out, nil
}

func unnamed(e sql.Node) sql.Node {
	c := e.Clone()
	c["alias"] = ""
	return c
}
