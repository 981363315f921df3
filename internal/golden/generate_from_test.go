package golden_test

import (
	"fmt"
	"strings"
)

// from makes a FROM clause of up to n relations, and says which columns can be named above it. WHERE conditions that
// join them come along.
func (g *generator) from(n, depth int) (sql string, columns []column, where []string) {
	first := g.relation(depth)
	if g.oneIn(8) {
		first = g.unaliased()
	}
	sql, columns = first.sql, first.columns
	for range n - 1 {
		r := g.relation(depth)
		if g.oneIn(12) {
			if on := g.equal(columns, r.columns); on != "" {
				sql += ", " + r.sql
				where = append(where, on)
				columns = append(columns, r.columns...)
				continue
			}
		}
		sql, columns = g.join(sql, columns, r)
	}
	return sql, columns, where
}

// relation mentions a table, a WITH entry or a derived table.
func (g *generator) relation(depth int) relation {
	switch {
	case len(g.ctes) > 0 && g.oneIn(2):
		return aliased(one(g, g.ctes...), g.name("w_"), "")
	case depth > 0 && g.oneIn(4):
		union := g.union
		g.union = false
		sql, out := g.body(depth-1, nil)
		if !g.union && g.oneIn(8) { // ordered by everything, so that it is known which rows pass
			sql += fmt.Sprintf(" ORDER BY ALL LIMIT %d", g.IntN(30))
		}
		g.union = g.union || union
		alias := g.name("d")
		if g.oneIn(5) { // with columns renamed by the alias
			names := make([]string, len(out))
			for i := range out {
				names[i] = fmt.Sprintf("r%d", i)
				out[i].name = names[i]
			}
			return aliased(relation{"(" + sql + ")", out}, alias, "("+strings.Join(names, ", ")+")")
		}
		return aliased(relation{"(" + sql + ")", out}, alias, "")
	}
	return aliased(one(g, g.family...), g.name("t"), "")
}

// unaliased mentions a table by its own name, whose columns are called by the table's name or by its full one.
func (g *generator) unaliased() relation {
	r := one(g, g.family...)
	_, short, _ := strings.Cut(r.sql, ".")
	return relation{r.sql, aliased(r, one(g, short, r.sql), "").columns}
}

func aliased(r relation, alias, names string) relation {
	out := relation{sql: r.sql + " " + alias + names}
	for _, c := range r.columns {
		c.ref = alias + "." + c.name
		out.columns = append(out.columns, c)
	}
	return out
}

// join joins a relation to what stands already.
func (g *generator) join(sql string, columns []column, r relation) (string, []column) {
	kind := one(g, "JOIN", "INNER JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "FULL JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN")
	above := append(append([]column(nil), columns...), r.columns...)
	if kind == "SEMI JOIN" || kind == "ANTI JOIN" {
		above = columns
	}
	if g.oneIn(25) && g.count(r.columns) > 0 {
		return g.lateral(sql, columns)
	}
	if name := g.shared(columns, r.columns); name != "" && g.oneIn(4) {
		return sql + " " + kind + " " + r.sql + " USING (" + name + ")", merged(above, name)
	}
	on := g.equal(columns, r.columns)
	switch {
	case on == "" && !g.oneIn(4):
		return sql, columns // a cross join is dear and teaches little
	case on == "":
		on = "true"
		if kind == "FULL JOIN" || kind == "RIGHT JOIN" { // DuckDB wants an equality there
			kind = "LEFT JOIN"
		}
	case g.oneIn(3):
		on += " AND " + g.residual(columns, r.columns)
	case g.oneIn(8):
		if more := g.equal(columns, r.columns); more != on {
			on += " AND " + more
		}
	}
	return sql + " " + kind + " " + r.sql + " ON " + on, above
}

// count returns how many columns have a domain.
func (g *generator) count(in []column) (n int) {
	for _, c := range in {
		if c.domain != "" {
			n++
		}
	}
	return n
}

// lateral joins a derived table that looks at its neighbours.
func (g *generator) lateral(sql string, columns []column) (string, []column) {
	inner, alias := aliased(one(g, g.family...), g.name("s"), ""), g.name("l")
	on := g.equal(columns, inner.columns)
	if on == "" {
		return sql, columns
	}
	sql += one(g, " JOIN", " LEFT JOIN") + " LATERAL (SELECT count(*) AS n, max(" + one(g, inner.columns...).ref + ") AS m FROM " +
		inner.sql + " WHERE " + on + ") " + alias + " ON true"
	return sql, append(columns, column{name: "n", ref: alias + ".n", kind: number})
}

// shared returns a name that each side has exactly once, for columns of one domain, or "".
func (g *generator) shared(l, r []column) string {
	called := func(in []column, name string) (out []column) {
		for _, c := range in {
			if c.name == name {
				out = append(out, c)
			}
		}
		return out
	}
	for _, c := range l {
		theirs := called(r, c.name)
		if c.domain != "" && len(called(l, c.name)) == 1 && len(theirs) == 1 && theirs[0].domain == c.domain {
			return c.name
		}
	}
	return ""
}

// merged makes the USING column the only one of its name, mentioned without a table.
func merged(in []column, name string) []column {
	var out []column
	seen := false
	for _, c := range in {
		if c.name == name {
			if seen {
				continue
			}
			seen = true
			c.ref = name
		}
		out = append(out, c)
	}
	return out
}

// equal compares columns of one domain, NULL-safe now and then; "" when there are none. Several domains are mostly all
// compared.
func (g *generator) equal(l, r []column) string {
	byDomain := map[string][]string{}
	var domains []string
	for _, a := range l {
		for _, b := range r {
			if a.domain == "" || a.domain != b.domain {
				continue
			}
			if byDomain[a.domain] == nil {
				domains = append(domains, a.domain)
			}
			byDomain[a.domain] = append(byDomain[a.domain], g.equality(a.ref, b.ref))
		}
	}
	var parts []string
	for i, d := range domains {
		if i == 0 || !g.oneIn(3) {
			parts = append(parts, one(g, byDomain[d]...))
		}
	}
	g.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return strings.Join(parts, " AND ")
}

func (g *generator) equality(a, b string) string {
	if g.oneIn(2) {
		a, b = b, a
	}
	return a + one(g, " = ", " = ", " = ", " = ", " IS NOT DISTINCT FROM ") + b
}

// residual is a condition of a join beside its equality.
func (g *generator) residual(l, r []column) string {
	a, b := g.column(l, number, money), g.column(r, number, money)
	switch g.IntN(4) {
	case 0:
		return g.predicate(l)
	case 1:
		return g.predicate(r)
	case 2:
		return fmt.Sprintf("(%s OR %s)", g.predicate(l), g.predicate(r))
	}
	return a.ref + one(g, " < ", " <= ", " <> ", " >= ") + b.ref
}

// column returns a column of one of the kinds, or a constant.
func (g *generator) column(in []column, of ...kind) column {
	var fit []column
	for _, c := range in {
		for _, k := range of {
			if c.kind == k {
				fit = append(fit, c)
			}
		}
	}
	if len(fit) == 0 {
		return column{ref: g.constant(of[0]), kind: of[0]}
	}
	return one(g, fit...)
}

// constant writes a value of a kind, most of them values that the tables have.
func (g *generator) constant(k kind) string {
	switch k {
	case number:
		return fmt.Sprint(g.IntN(1 + g.IntN(60)))
	case key:
		return one(g, "0", "1", "2", "5", "7", "11", "19", "27", "-1", "-77", "5004", "9223372036854775807")
	case money:
		return one(g, "0.00", "1.50", "500.00", "2670.06")
	case date:
		return one(g, "DATE '2024-03-10'", "DATE '1970-01-01'", "DATE '1969-12-31'", "DATE '2024-05-01'")
	case truth:
		return one(g, "true", "false")
	case instant:
		return one(g, "TIMESTAMP '1970-01-01 00:00:00'", "TIMESTAMP '2024-01-02 03:04:05'")
	}
	return one(g, "'north'", "'open'", "'a'", "'name-12'", "''", "'é/x'")
}

// predicate is a condition on one row's columns.
func (g *generator) predicate(in []column) string {
	c := one(g, in...)
	switch g.IntN(16) {
	case 0:
		return c.ref + " IS NULL"
	case 1:
		return c.ref + " IS NOT NULL"
	case 2:
		return fmt.Sprintf("%s IN (%s, %s, %s)", c.ref, g.constant(c.kind), g.constant(c.kind), g.constant(c.kind))
	case 3:
		return fmt.Sprintf("%s BETWEEN %s AND %s", c.ref, g.constant(c.kind), g.constant(c.kind))
	case 4:
		return fmt.Sprintf("NOT (%s = %s)", c.ref, g.constant(c.kind))
	case 7:
		return c.ref + " = " + g.column(in, c.kind).ref
	case 5:
		return fmt.Sprintf("(%s OR %s)", g.predicate(in), g.predicate(in))
	case 6:
		return fmt.Sprintf("coalesce(%s, %s) %s %s", c.ref, g.constant(c.kind), one(g, "=", "<>", "<"), g.constant(c.kind))
	}
	return c.ref + one(g, " = ", " < ", " <= ", " <= ", " > ", " >= ", " >= ", " <> ", " <> ") + g.constant(c.kind)
}

// conditions makes WHERE of joins' own conditions, predicates and subqueries.
func (g *generator) conditions(columns []column, where []string, depth int) string {
	for range g.pick(6, 3, 1) {
		where = append(where, g.predicate(columns))
	}
	if depth > 0 && g.oneIn(4) {
		where = append(where, g.subquery(columns, depth))
	}
	if len(where) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(where, " AND ")
}

// subquery is a condition on another table's rows.
func (g *generator) subquery(columns []column, depth int) string {
	inner := aliased(one(g, g.family...), g.name("s"), "")
	sql := " FROM " + inner.sql
	visible := inner.columns
	if g.oneIn(4) {
		other := aliased(one(g, g.family...), g.name("s"), "")
		sql, visible = g.join(sql, visible, other)
	}
	condition := g.equal(columns, visible)
	if condition == "" {
		condition = "true"
	}
	if g.oneIn(3) {
		condition += " AND " + g.predicate(visible)
	}
	var outer, in column
	for _, a := range columns {
		for _, b := range visible {
			if a.domain != "" && a.domain == b.domain {
				outer, in = a, b
			}
		}
	}
	switch n := g.IntN(9); {
	case n == 8 && outer.ref != "":
		return fmt.Sprintf("(%s, %s) %s (SELECT %s, %s%s)", outer.ref, g.column(columns, number).ref, one(g, "IN", "IN", "NOT IN"),
			in.ref, g.column(visible, number).ref, sql)
	case n < 3 || outer.ref == "":
		return one(g, "EXISTS", "NOT EXISTS") + " (SELECT 1" + sql + " WHERE " + condition + ")"
	case n < 5:
		return outer.ref + " IN (SELECT " + in.ref + sql + " WHERE " + g.predicate(visible) + ")"
	case n == 5:
		return outer.ref + " NOT IN (SELECT " + in.ref + sql + " WHERE " + g.predicate(visible) + ")"
	case n == 6:
		return fmt.Sprintf("(%s OR EXISTS (SELECT 1%s WHERE %s))", g.predicate(columns), sql, condition)
	}
	return fmt.Sprintf("%s >= (SELECT count(*)%s WHERE %s)", g.column(columns, number).ref, sql, condition)
}
