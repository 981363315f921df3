package bind

import (
	"context"
	"slices"
	"strings"

	"github.com/tarndb/tarn/internal/sql"
)

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
