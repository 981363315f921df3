package bind

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/internal/sql"
)

// decompose returns the expression that combines an aggregate's parts, which it adds to the core query; nil when the
// aggregate has no exact parts. The list and its proofs:
//
//   - count: the sum of counts; coalesced, since no pack at all means no rows, and count is 0 then, not NULL.
//
//   - sum over integers and decimals: addition of integers is associative, and 128 bits hold every partial sum. Over
//     floats it isn't: sum over (1e308, 1e308, -1e308) is finite or not depending on the order.
//
//   - avg over the same: the exact sum of the unscaled values over the exact count times the power of ten, divided once, as
//     DuckDB does.
//
//   - min, max, bool_and, bool_or: idempotent and associative.
//
//   - count, sum and avg of DISTINCT values of a column, where no value lies in two groups: then each is counted in one pack
//     alone. NULL isn't counted, so that it may lie in many. Split.Needs has the column. With x in two groups,
//     count(DISTINCT x) isn't the sum of the packs' counts; that (day, x) together lie in one group isn't enough.
//
// FILTER stays with the part: it drops rows, and what it leaves of a value lies where the value does. ORDER BY inside an
// aggregate needs all rows.
func (b *binder) decompose(ctx context.Context, t *twoSteps, call sql.Node) (sql.Node, error) {
	args := call.List("children")
	if len(call.Child("order_bys").List("orders")) > 0 || call.Bool("export_state") || len(args) > 1 {
		return nil, nil
	}
	if hasSubquery(call) {
		return nil, nil
	}
	name := strings.ToLower(call.Str("function_name"))
	if call.Bool("distinct") && !idempotent[name] && !t.need(args) {
		return nil, nil
	}
	switch name {
	case "count", "count_star":
		return b.combine(ctx, "CAST(coalesce(sum(%), 0) AS BIGINT)", t.carry(call))
	case "min", "max", "bool_and", "bool_or": // idempotent ones
		return b.combine(ctx, name+"(%)", t.carry(call))
	case "sum":
		_, exact, err := b.exactScale(ctx, t, args)
		if err != nil || !exact {
			return nil, err
		}
		return b.combine(ctx, "sum(%)", t.carry(call))
	case "avg", "mean":
		scale, exact, err := b.exactScale(ctx, t, args)
		if err != nil || !exact {
			return nil, err
		}
		return b.average(ctx, t, call, scale)
	}
	return nil, nil
}

// idempotent aggregates give the same of some values and of each of them once.
var idempotent = map[string]bool{"min": true, "max": true, "bool_and": true, "bool_or": true}

// need notes that no value of an aggregate's argument may lie in two groups; false when that is no column.
func (t *twoSteps) need(args []sql.Node) bool {
	if len(args) != 1 {
		return false
	}
	c, ok := t.s.scope.column(args[0])
	if ok && !slices.Contains(t.needs, c) {
		t.needs = append(t.needs, c)
	}
	return ok
}

// average carries the sum of the unscaled values and the count.
func (b *binder) average(ctx context.Context, t *twoSteps, call sql.Node, scale int) (sql.Node, error) {
	sum, count := call.Clone(), call.Clone()
	sum["function_name"], count["function_name"] = "sum", "count"
	power := "1" + strings.Repeat("0", scale)
	if scale > 0 {
		unscaled, err := b.combine(ctx, "CAST(% * "+power+" AS HUGEINT)", call.List("children")[0])
		if err != nil {
			return nil, err
		}
		sum["children"] = nodes([]sql.Node{unscaled})
	}
	return b.combine(ctx, "CAST(sum(%) AS DOUBLE) / (CAST(sum(%) AS DOUBLE) * "+power+")", t.carry(sum), t.carry(count))
}

// combine parses a template and puts the columns in the places of its % signs.
func (b *binder) combine(ctx context.Context, template string, columns ...sql.Node) (sql.Node, error) {
	for i := range columns {
		template = strings.Replace(template, "%", "tarn_arg"+itoa(i), 1)
	}
	n, err := b.template(ctx, template)
	if err != nil {
		return nil, err
	}
	out := rewrite(map[string]any(n), func(n sql.Node) sql.Node {
		parts := n.Strs("column_names")
		if len(parts) == 1 && strings.HasPrefix(parts[0], "tarn_arg") {
			i, _ := strconv.Atoi(strings.TrimPrefix(parts[0], "tarn_arg"))
			return columns[i].Clone()
		}
		return nil
	})
	return sql.Node(out.(map[string]any)), nil
}

// exactScale returns the scale of an aggregate's argument when that is an integer, whose scale is 0, or a decimal whose
// sums can't leave 38 digits.
func (b *binder) exactScale(ctx context.Context, t *twoSteps, args []sql.Node) (scale int, exact bool, err error) {
	if len(args) != 1 {
		return 0, false, nil
	}
	q := bareSelect(args[0].Clone())
	q["from_table"] = t.s.node["from_table"]
	text, err := b.text(ctx, q)
	if err != nil {
		return 0, false, err
	}
	columns, err := b.engine.Describe(ctx, text)
	if err != nil {
		return 0, false, err
	}
	typ := columns[0].Type
	switch typ {
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT":
		return 0, true, nil
	}
	var precision int
	if n, _ := fmt.Sscanf(typ, "DECIMAL(%d,%d)", &precision, &scale); n != 2 {
		return 0, false, nil
	}
	return scale, precision <= 28, nil
}

// key is an expression's identity, its place in the text and alias aside.
func key(n sql.Node) string {
	c := n.Clone()
	c.Walk(func(n sql.Node) bool {
		delete(n, "query_location")
		delete(n, "alias")
		return true
	})
	text, _ := json.Marshal(c) // a decoded tree always encodes; map keys are sorted
	return string(text)
}
