package property

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// The columns of the tables whose rows are changed at random, by their places in a modelRow. The tag tells rows apart, and no
// statement sets it.
const (
	idAt = iota
	kAt
	vAt
	pAt
	tagAt
	modelWidth
)

var modelColumns = [modelWidth]string{"id", "k", "v", "p", "tag"}

// modelRow has for each column nil, an int64 or, for k, a string.
type modelRow struct {
	values [modelWidth]any
	// rowID is the row's ID, 0 where it isn't known yet; updated is the sequence number of its last change, 0 where it is to be
	// that of the statement. Both are of tables in format version 3.
	rowID, updated int64
}

// modelPair is a row of the table, of the source or of both; nil is none.
type modelPair struct{ t, s *modelRow }

// modelExpr is an expression as SQL, and what it gives: nil, an int64, a string or a bool.
type modelExpr struct {
	sql  string
	eval func(modelPair) any
}

// modelTwice is what a statement fails with that would change a row twice.
var errModelTwice = errors.New("a row is matched twice")

// modeller draws statements, each with a function that does to rows in memory what the statement means.
type modeller struct {
	r      *rand.Rand
	target string     // table
	source string     // table
	rows   []modelRow // of the source table
	tag    int64      // the last that was given
}

func (g *modeller) oneIn(n int) bool { return g.r.IntN(n) == 0 }

// sides are whose columns an expression may name.
type sides struct{ t, s bool }

func (g *modeller) column(of sides, at int) modelExpr {
	if of.t && (!of.s || g.oneIn(2)) {
		return modelExpr{"t." + modelColumns[at], func(p modelPair) any { return p.t.at(at) }}
	}
	return modelExpr{"s." + modelColumns[at], func(p modelPair) any { return p.s.at(at) }}
}

// at returns a value of a row; a row that isn't there has none.
func (r *modelRow) at(i int) any {
	if r == nil {
		return nil
	}
	return r.values[i]
}

// changed is a row of the table with a new row's values.
func (r *modelRow) changed(values [modelWidth]any) modelRow {
	return modelRow{values: values, rowID: r.rowID}
}

func (g *modeller) integer(of sides, depth int) modelExpr {
	switch n := g.r.IntN(8); {
	case n < 4:
		return g.column(of, []int{idAt, vAt, pAt}[g.r.IntN(3)])
	case n < 6 || depth == 0:
		v := g.r.Int64N(6)
		return modelExpr{fmt.Sprintf("CAST(%d AS BIGINT)", v), func(modelPair) any { return v }}
	case n == 6:
		a, b := g.integer(of, depth-1), g.integer(of, depth-1)
		return modelExpr{"((" + a.sql + " + " + b.sql + ") % 7)", func(p modelPair) any {
			x, y := a.eval(p), b.eval(p)
			if x == nil || y == nil {
				return nil
			}
			return (x.(int64) + y.(int64)) % 7
		}}
	}
	c, a, b := g.condition(of, depth-1), g.integer(of, depth-1), g.integer(of, depth-1)
	return modelExpr{"CASE WHEN " + c.sql + " THEN " + a.sql + " ELSE " + b.sql + " END", func(p modelPair) any {
		if c.eval(p) == true {
			return a.eval(p)
		}
		return b.eval(p)
	}}
}

func (g *modeller) text(of sides) modelExpr {
	switch g.r.IntN(4) {
	case 0:
		v := string(rune('a' + g.r.IntN(4)))
		return modelExpr{"'" + v + "'", func(modelPair) any { return v }}
	case 1:
		c := g.column(of, kAt)
		return modelExpr{"left(" + c.sql + " || 'b', 3)", func(p modelPair) any {
			if v := c.eval(p); v != nil {
				v := v.(string) + "b"
				return v[:min(3, len(v))]
			}
			return nil
		}}
	}
	return g.column(of, kAt)
}

// truth is a condition of comparisons; f is asked only about values that aren't NULL.
func truth(format string, a, b modelExpr, f func(x, y any) bool) modelExpr {
	return modelExpr{fmt.Sprintf(format, a.sql, b.sql), func(p modelPair) any {
		x, y := a.eval(p), b.eval(p)
		if x == nil || y == nil {
			return nil
		}
		return f(x, y)
	}}
}

func compareModel(x, y any) int {
	if s, ok := x.(string); ok {
		return strings.Compare(s, y.(string))
	}
	return int(x.(int64) - y.(int64))
}

func same(a, b modelExpr) modelExpr {
	return truth("%s = %s", a, b, func(x, y any) bool { return x == y })
}

func notDistinct(a, b modelExpr) modelExpr {
	return modelExpr{a.sql + " IS NOT DISTINCT FROM " + b.sql, func(p modelPair) any { return a.eval(p) == b.eval(p) }}
}

func (g *modeller) comparison(of sides, depth int) modelExpr {
	a, b := g.integer(of, depth), g.integer(of, depth)
	if g.oneIn(3) {
		a, b = g.text(of), g.text(of)
	}
	switch g.r.IntN(6) {
	case 0:
		return truth("%s <> %s", a, b, func(x, y any) bool { return x != y })
	case 1:
		return truth("%s < %s", a, b, func(x, y any) bool { return compareModel(x, y) < 0 })
	case 2:
		return truth("%s >= %s", a, b, func(x, y any) bool { return compareModel(x, y) >= 0 })
	case 3:
		return notDistinct(a, b)
	}
	return same(a, b)
}

func (g *modeller) condition(of sides, depth int) modelExpr {
	n := g.r.IntN(10)
	switch {
	case depth <= 0 || n < 4:
		return g.comparison(of, max(depth-1, 0))
	case n == 4:
		c := g.column(of, g.r.IntN(tagAt))
		return modelExpr{c.sql + " IS NULL", func(p modelPair) any { return c.eval(p) == nil }}
	case n == 5:
		return g.inList(g.integer(of, depth-1))
	case n == 6:
		c := g.condition(of, depth-1)
		return modelExpr{"NOT (" + c.sql + ")", func(p modelPair) any {
			if v := c.eval(p); v != nil {
				return !v.(bool)
			}
			return nil
		}}
	}
	return both(g.condition(of, depth-1), g.condition(of, depth-1), n >= 8)
}

// both is a AND b, or a OR b, with SQL's three values.
func both(a, b modelExpr, isOr bool) modelExpr {
	word := " AND "
	if isOr {
		word = " OR "
	}
	return modelExpr{"(" + a.sql + word + b.sql + ")", func(p modelPair) any {
		x, y := a.eval(p), b.eval(p)
		switch {
		case x == isOr || y == isOr:
			return isOr
		case x == nil || y == nil:
			return nil
		}
		return !isOr
	}}
}

func (g *modeller) inList(x modelExpr) modelExpr {
	var list []any
	var texts []string
	for range 1 + g.r.IntN(3) {
		if g.oneIn(4) {
			list, texts = append(list, nil), append(texts, "NULL")
			continue
		}
		v := g.r.Int64N(6)
		list, texts = append(list, v), append(texts, fmt.Sprint(v))
	}
	not := g.oneIn(3)
	word := " IN ("
	if not {
		word = " NOT IN ("
	}
	return modelExpr{x.sql + word + strings.Join(texts, ", ") + ")", func(p modelPair) any { return inModel(x.eval(p), list, not) }}
}

// inModel is x IN list, or NOT IN.
func inModel(x any, list []any, not bool) any {
	switch {
	case len(list) == 0:
		return not
	case x == nil:
		return nil
	case slices.Contains(list, x):
		return !not
	case slices.Contains(list, nil):
		return nil
	}
	return not
}

// subquery is a condition on t that looks into the source, or into the table itself, whose rows are those before.
func (g *modeller) subquery(before []modelRow) modelExpr {
	from, rows := g.source, g.rows
	if g.oneIn(3) {
		from, rows = g.target, before
	}
	at := []int{idAt, vAt}[g.r.IntN(2)]
	inner := g.condition(sides{s: true}, 1)
	var list []any
	for i := range rows {
		if inner.eval(modelPair{s: &rows[i]}) == true {
			list = append(list, rows[i].values[at])
		}
	}
	x := g.column(sides{t: true}, at)
	query := fmt.Sprintf("SELECT s.%s FROM %s s WHERE %s", modelColumns[at], from, inner.sql)
	switch g.r.IntN(4) {
	case 0, 1:
		not := g.oneIn(2)
		word := " IN ("
		if not {
			word = " NOT IN ("
		}
		return modelExpr{x.sql + word + query + ")", func(p modelPair) any { return inModel(x.eval(p), list, not) }}
	case 2:
		not := g.oneIn(2)
		word := "EXISTS ("
		if not {
			word = "NOT EXISTS ("
		}
		return modelExpr{word + query + fmt.Sprintf(" AND s.%s = t.%s)", modelColumns[at], modelColumns[at]), func(p modelPair) any {
			found := x.eval(p) != nil && slices.Contains(list, x.eval(p))
			return found != not
		}}
	}
	var most any
	for _, v := range list {
		if v != nil && (most == nil || v.(int64) > most.(int64)) {
			most = v
		}
	}
	largest := modelExpr{fmt.Sprintf("(SELECT max(s.%s) FROM %s s WHERE %s)", modelColumns[at], from, inner.sql), func(modelPair) any { return most }}
	return truth("%s < %s", x, largest, func(x, y any) bool { return x.(int64) < y.(int64) })
}

// where is a condition on the table alone.
func (g *modeller) where(before []modelRow) modelExpr {
	if g.oneIn(3) {
		c := g.subquery(before)
		if g.oneIn(2) {
			return both(g.condition(sides{t: true}, 1), c, g.oneIn(2))
		}
		return c
	}
	if g.oneIn(3) { // what files may lie by
		c := g.column(sides{t: true}, []int{pAt, idAt}[g.r.IntN(2)])
		v := g.r.Int64N(6)
		return same(c, modelExpr{fmt.Sprint(v), func(modelPair) any { return v }})
	}
	return g.condition(sides{t: true}, 2)
}
