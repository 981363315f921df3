package golden_test

import (
	"fmt"
	"strings"
)

// body makes a query without ORDER BY whose columns are called c0, c1, ... When want isn't nil they have these kinds.
func (g *generator) body(depth int, want []kind) (string, []column) {
	if want == nil && depth > 0 && g.oneIn(8) {
		return g.setOperation(depth)
	}
	n := g.pick(4, 6, 3, 1) + 1
	if depth == 0 {
		n = g.pick(4, 3) + 1
	}
	from, columns, where := g.from(n, depth)
	conditions := g.conditions(columns, where, depth)
	s := &selection{generator: g, columns: columns}
	switch shape := g.pick(5, 6, 2, 2, 3); {
	case want != nil || shape == 0:
		s.rows(want)
	case shape == 1:
		s.grouped()
	case shape == 2:
		s.global()
	case shape == 3:
		s.distinct = "DISTINCT "
		s.rows(nil)
	default:
		s.windows()
	}
	if shape := g.IntN(30); shape == 0 && want == nil && s.tail == "" {
		s.star()
	}
	return "SELECT " + s.distinct + strings.Join(s.items, ", ") + " FROM " + from + conditions + s.tail, s.out
}

// setOperation combines two queries of the same kinds.
func (g *generator) setOperation(depth int) (string, []column) {
	g.union = true
	want := make([]kind, 1+g.IntN(3))
	for i := range want {
		want[i] = one(g, number, key, text, money)
	}
	sql, out := g.body(depth-1, want)
	for range 1 + g.IntN(2) {
		op := one(g, "UNION ALL", "UNION ALL", "UNION ALL", "UNION", "EXCEPT", "INTERSECT")
		other, theirs := g.body(depth-1, want)
		sql = sql + " " + op + " " + other
		for i := range out {
			if out[i].domain != theirs[i].domain {
				out[i].domain = ""
			}
		}
	}
	return sql, out
}

// selection is a SELECT being made.
type selection struct {
	*generator
	columns  []column // that can be named
	distinct string
	items    []string
	out      []column
	tail     string // GROUP BY and after
}

// add adds an item and returns its place, from 1.
func (s *selection) add(expr string, like column) int {
	like.name = fmt.Sprintf("c%d", len(s.items))
	s.items = append(s.items, expr+" AS "+like.name)
	s.out = append(s.out, like)
	return len(s.items)
}

// rows selects columns and expressions of single rows.
func (s *selection) rows(want []kind) {
	free := want == nil
	if free {
		want = make([]kind, 1+s.IntN(4))
		for i := range want {
			want[i] = kind(s.IntN(int(kinds)))
		}
	}
	for i, k := range want {
		c := s.column(s.columns, k)
		if i == 0 && !s.oneIn(4) {
			if d, ok := s.domain(k, free); ok {
				c = d
			}
		}
		expr := c.ref
		switch {
		case s.oneIn(8):
			expr, c.domain = s.expression(c), ""
		case free && s.oneIn(12):
			expr, c = s.scalar(), column{kind: number}
		}
		s.add(expr, c)
	}
}

// scalar is a subquery of one value.
func (s *selection) scalar() string {
	inner := aliased(one(s.generator, s.family...), s.name("s"), "")
	where := s.equal(s.columns, inner.columns)
	if where == "" || s.oneIn(4) {
		where = s.predicate(inner.columns)
	}
	return "(SELECT count(" + one(s.generator, inner.columns...).ref + ") FROM " + inner.sql + " WHERE " + where + ")"
}

// star puts a table's columns in the place of what was selected, unless USING merged some.
func (s *selection) star() {
	first, _, _ := strings.Cut(s.columns[0].ref, ".")
	if strings.Count(s.columns[0].ref, ".") != 1 {
		return // called by its full name
	}
	var out []column
	for _, c := range s.columns {
		switch {
		case !strings.Contains(c.ref, "."):
			return
		case strings.HasPrefix(c.ref, first+"."):
			out = append(out, c)
		}
	}
	s.items, s.out = []string{first + ".*"}, out
}

// domain returns a column with a domain, of a kind or of any.
func (s *selection) domain(k kind, any bool) (column, bool) {
	for _, i := range s.Perm(len(s.columns)) {
		if c := s.columns[i]; c.domain != "" && (any || c.kind == k) {
			return c, true
		}
	}
	return column{}, false
}

// expression computes something of the column's kind.
func (s *selection) expression(c column) string {
	switch c.kind {
	case number:
		return "(" + c.ref + " % 7)"
	case text:
		return one(s.generator, "upper("+c.ref+")", "substr("+c.ref+", 1, 2)")
	case money:
		return "CAST(" + c.ref + " AS DECIMAL(12,2))"
	}
	return "coalesce(" + c.ref + ", " + s.constant(c.kind) + ")"
}

// grouped selects groups and aggregates.
func (s *selection) grouped() {
	var groups []string
	for i := range 1 + s.IntN(2) {
		c := one(s.generator, s.columns...)
		if d, ok := s.domain(0, true); ok && i == 0 && !s.oneIn(3) {
			c = d
		}
		expr := c.ref
		if s.oneIn(6) {
			expr, c.domain = s.expression(c), ""
		}
		at := s.add(expr, c)
		groups = append(groups, one(s.generator, expr, expr, expr, fmt.Sprint(at), fmt.Sprint(at), fmt.Sprintf("c%d", at-1)))
	}
	for range s.IntN(4) {
		s.aggregate()
	}
	s.tail = " GROUP BY " + strings.Join(groups, ", ")
	if s.oneIn(12) {
		s.tail = " GROUP BY ROLLUP (" + strings.Join(groups, ", ") + ")"
	} else if s.oneIn(12) {
		s.tail = " GROUP BY ALL"
	} else if s.oneIn(12) {
		s.tail = " GROUP BY GROUPING SETS ((" + strings.Join(groups, ", ") + "), (" + groups[0] + "), ())"
	}
	if s.oneIn(5) {
		s.tail += " HAVING " + one(s.generator, "count(*) > 1", "max("+s.column(s.columns, number).ref+") > 3", "count(DISTINCT "+one(s.generator, s.columns...).ref+") < 3")
	}
}

// global selects aggregates over all rows.
func (s *selection) global() {
	for range 1 + s.IntN(4) {
		s.aggregate()
	}
	if s.oneIn(6) {
		s.tail = " HAVING count(*) > " + fmt.Sprint(s.IntN(30))
	}
}

// aggregate adds an aggregate whose value doesn't depend on the order of rows.
func (s *selection) aggregate() {
	n, m, any := s.column(s.columns, number), s.column(s.columns, money, number), one(s.generator, s.columns...)
	filter := ""
	if s.oneIn(5) {
		filter = " FILTER (WHERE " + s.predicate(s.columns) + ")"
	}
	number := column{kind: number}
	switch s.IntN(14) {
	case 0:
		s.add("count(*)"+filter, number)
	case 1:
		s.add("count("+any.ref+")"+filter, number)
	case 2:
		s.add("count(DISTINCT "+any.ref+")"+filter, number)
	case 3, 4:
		s.add("sum("+m.ref+")"+filter, column{kind: m.kind})
	case 5:
		s.add("avg("+m.ref+")"+filter, column{kind: money})
	case 6, 7:
		any.domain = ""
		s.add(one(s.generator, "min(", "max(")+any.ref+")"+filter, any)
	case 8:
		s.add("sum(abs(CAST("+m.ref+" AS DOUBLE)))"+filter, column{kind: money})
	case 9:
		s.add(one(s.generator, "bool_or(", "bool_and(")+n.ref+" > 5)"+filter, column{kind: truth})
	case 10:
		s.add("string_agg(CAST("+n.ref+" AS VARCHAR), ',' ORDER BY "+n.ref+")"+filter, column{kind: text})
	case 11:
		s.add("sum(DISTINCT "+n.ref+")"+filter, number)
	case 12:
		s.add("count(*)"+filter+" + max("+n.ref+")", number)
	case 13:
		s.add("median("+n.ref+")"+filter, column{kind: money})
	}
}

// windows selects rows with window functions whose values don't depend on the order of peers.
func (s *selection) windows() {
	for i := range 1 + s.IntN(2) {
		c := one(s.generator, s.columns...)
		if d, ok := s.domain(0, true); ok && i == 0 {
			c = d
		}
		s.add(c.ref, c)
	}
	for range 1 + s.IntN(2) {
		partition := one(s.generator, s.columns...).ref
		if d, ok := s.domain(0, true); ok && s.oneIn(2) {
			partition = d.ref
		}
		over := "PARTITION BY " + partition
		if s.oneIn(8) {
			over = ""
		}
		order := " ORDER BY " + one(s.generator, s.columns...).ref
		n := s.column(s.columns, number).ref
		s.add(one(s.generator,
			"count(*) OVER ("+over+")", "sum("+n+") OVER ("+over+")", "rank() OVER ("+over+order+")",
			"dense_rank() OVER ("+over+order+")", "max("+n+") OVER ("+over+order+")", "sum("+n+") OVER ("+over+order+")",
		), column{kind: number})
	}
	if s.oneIn(5) {
		s.tail = " QUALIFY rank() OVER (PARTITION BY " + one(s.generator, s.columns...).ref + " ORDER BY " + one(s.generator, s.columns...).ref + ") <= 3"
	}
}
