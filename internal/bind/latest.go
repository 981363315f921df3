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

// picker turns expressions over a block's rows into ones over the rows that are picked.
type picker struct {
	*ranking
	keys, orders []sql.Node
	refs         []sql.Node // the columns that are needed beside the keys
	fields       []sql.Node // how each is mentioned above; nil until that is known
	one          sql.Node   // the row's number
	lost         bool       // something can't be carried
}

// isPlain says whether an expression is made of the block's own columns alone.
func (p *picker) isPlain(e sql.Node) bool {
	plain := true
	e.Walk(func(n sql.Node) bool {
		switch n.Class() {
		case "COLUMN_REF":
			_, ok := p.scope.local(n)
			plain = plain && ok
		case "WINDOW", "SUBQUERY", "LAMBDA", "STAR":
			plain = false
		}
		return plain
	})
	return plain
}

// swap replaces the window, keys and columns. Before the fields are known it only collects what is needed.
func (p *picker) swap(n sql.Node) sql.Node {
	if n.Class() == "" {
		return nil
	}
	if sql.Equal(n, p.window) {
		if p.one == nil {
			return n
		}
		return p.one.Clone()
	}
	for i, k := range p.keys {
		if p.same(k, n) {
			return columnRef("tarn_k" + itoa(i))
		}
	}
	switch n.Class() {
	case "COLUMN_REF":
		if _, ok := p.scope.local(n); !ok {
			p.lost = true
			return nil
		}
		at := slices.IndexFunc(p.refs, func(r sql.Node) bool { return p.same(r, n) })
		if at < 0 {
			at, p.refs = len(p.refs), append(p.refs, unnamed(n))
		}
		if p.fields != nil {
			return p.fields[at].Clone()
		}
	case "WINDOW", "SUBQUERY", "LAMBDA", "STAR":
		p.lost = true
	}
	return nil
}

func (p *picker) same(a, b sql.Node) bool {
	ca, ok := p.scope.column(a)
	cb, ok2 := p.scope.column(b)
	return ok && ok2 && ca == cb || sql.Equal(a, b)
}

// pick returns the query of the keys and, as a struct, the columns of the picked rows; nil when a type can't be carried.
func (p *picker) pick(ctx context.Context, b *binder) (sql.Node, error) {
	types, err := p.types(ctx, b)
	if err != nil || types == nil {
		return nil, err
	}
	if p.one, err = b.template(ctx, "CAST(1 AS BIGINT)"); err != nil {
		return nil, err
	}
	q := bareSelect()
	q["from_table"], q["where_clause"] = p.node["from_table"], p.node["where_clause"]
	list, groups := []any{}, []any{}
	for i, k := range p.keys {
		if !isExact(types[i]) {
			return nil, nil
		}
		named := k.Clone()
		named["alias"] = "tarn_k" + itoa(i)
		list, groups = append(list, map[string]any(named)), append(groups, map[string]any(k.Clone()))
	}
	q["group_expressions"], q["group_sets"] = groups, oneSet(len(groups))
	if len(p.refs) > 0 {
		picked, err := p.first(ctx, b, types[len(p.keys):])
		if err != nil || picked == nil {
			return nil, err
		}
		picked["alias"] = "tarn_r"
		list = append(list, map[string]any(picked))
	}
	q["select_list"] = list
	return q, nil
}

// first returns the aggregate of the columns of the first row; nil when a type can't be carried. Types are those of the orders
// and of the columns.
func (p *picker) first(ctx context.Context, b *binder, types []string) (sql.Node, error) {
	by, isNumber, err := p.orderKey(ctx, b, types)
	if err != nil {
		return nil, err
	}
	types = types[len(p.orders):]
	if isNumber {
		name, err := b.engine.FirstRow(types)
		if err != nil {
			return nil, err
		}
		if name != "" {
			b.query.FirstRows = append(b.query.FirstRows, types)
			return p.firstRow(ctx, b, name, by)
		}
	}
	row, err := p.row(ctx, b, types)
	if err != nil || row == nil {
		return nil, err
	}
	return b.combine(ctx, "arg_min(%, %)", row, by)
}

// firstRow is first by the engine's own aggregate.
func (p *picker) firstRow(ctx context.Context, b *binder, name string, by sql.Node) (sql.Node, error) {
	p.fields = make([]sql.Node, len(p.refs))
	for i := range p.refs {
		var err error
		if p.fields[i], err = b.template(ctx, "tarn_r.c"+itoa(i)); err != nil {
			return nil, err
		}
	}
	return b.combine(ctx, name+"(%"+strings.Repeat(", %", len(p.refs))+")", append([]sql.Node{by}, p.refs...)...)
}

// types returns the types of keys, orders and columns; nil when DuckDB can't tell them.
func (p *picker) types(ctx context.Context, b *binder) ([]string, error) {
	q := bareSelect(slices.Concat(p.keys, p.orders, p.refs)...)
	q["from_table"] = p.node["from_table"]
	text, err := b.text(ctx, q)
	if err != nil {
		return nil, err
	}
	columns, err := b.engine.Describe(ctx, text)
	if err != nil {
		return nil, nil //nolint:nilerr // the block stays as it is
	}
	types := make([]string, len(columns))
	for i, c := range columns {
		types[i] = c.Type
	}
	return types, nil
}

// row returns the struct of the columns, and notes how each is mentioned above; nil when a type doesn't come back as it was.
func (p *picker) row(ctx context.Context, b *binder, types []string) (sql.Node, error) {
	var parts []string
	var args []sql.Node
	p.fields = []sql.Node{}
	for i, ref := range p.refs {
		field := "tarn_r.c" + itoa(i)
		parts, args = append(parts, "'c"+itoa(i)+"': %"), append(args, ref)
		switch {
		case types[i] == "FLOAT" || types[i] == "DOUBLE":
			parts, args = append(parts, "'n"+itoa(i)+"': signbit(%)"), append(args, ref)
			field = "CASE WHEN tarn_r.n" + itoa(i) + " THEN -abs(" + field + ") ELSE " + field + " END"
		case !isExact(types[i]) && !isExactInside(types[i]):
			return nil, nil
		}
		f, err := b.template(ctx, field)
		if err != nil {
			return nil, err
		}
		p.fields = append(p.fields, f)
	}
	return b.combine(ctx, "{"+strings.Join(parts, ", ")+"}", args...)
}

// orderKey returns a value whose order is that of ORDER BY, and which is never NULL: a number where it fits into one, else
// bytes.
func (p *picker) orderKey(ctx context.Context, b *binder, types []string) (key sql.Node, isNumber bool, err error) {
	var args []sql.Node
	var parts []string
	for i, o := range p.window.List("orders") {
		dir, nulls := "ASC", "NULLS LAST"
		if o.Type() == "DESCENDING" {
			dir = "DESC"
		}
		if n := o.Str("null_order"); n == "NULLS_FIRST" || n == "NULLS FIRST" {
			nulls = "NULLS FIRST"
		}
		args, parts = append(args, p.orders[i]), append(parts, "CAST(% AS "+types[i]+"), '"+dir+" "+nulls+"'")
	}
	list := "(" + strings.Join(parts, ", ") + ")"
	number, err := b.combine(ctx, "tarn_order_key"+list, args...)
	if err != nil {
		return nil, false, err
	}
	q := bareSelect(number)
	q["from_table"] = p.node["from_table"]
	text, err := b.text(ctx, q)
	if err != nil {
		return nil, false, err
	}
	if _, err := b.engine.Describe(ctx, text); err == nil {
		return number, true, nil
	}
	key, err = b.combine(ctx, "create_sort_key"+list, args...)
	return key, false, err
}

// isExact says whether values of a flat type are the same when they are equal, and come back from a sort key as they were.
func isExact(typ string) bool {
	switch typ {
	case "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
		"DATE", "TIME", "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE", "VARCHAR", "BLOB", "UUID":
		return true
	}
	return isDecimal(typ)
}

func isDecimal(typ string) bool {
	return strings.HasPrefix(typ, "DECIMAL(") && strings.Count(typ, "(") == 1 && strings.HasSuffix(typ, ")")
}

// isExactInside says whether a nested type has none but exact types inside. A field that is called like another type keeps
// it from being seen, which costs time alone.
func isExactInside(typ string) bool {
	if !strings.HasPrefix(typ, "STRUCT(") && !strings.HasPrefix(typ, "MAP(") && !strings.HasSuffix(typ, "]") {
		return false
	}
	for _, bad := range []string{"FLOAT", "DOUBLE", "INTERVAL", "TIME WITH", "UNION", "VARIANT", "ENUM", "BIT", "BIGNUM", "GEOMETRY", "JSON"} {
		if strings.Contains(typ, bad) {
			return false
		}
	}
	return true
}
