package property

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// query is a random query and what is known of its answer. Its text is in parts, so that it can be made smaller.
type query struct {
	with       []string // name AS (...)
	head, from string
	where      []string
	tail       string // GROUP BY and what follows it
	union      string // a set operation with the same SELECT under the conditions of other; or ""
	other      []string
	order      string // ORDER BY names all columns, so that the order is one; or ""
	limit      int    // -1: none
	offset     int
	joins      int
	// eligible says that every join and the grouping have what a storage-partitioned join asks for: plain equalities, all on
	// one key that all tables are laid out by.
	eligible bool
}

// any says of a bare LIMIT that any rows will do.
func (q query) any() bool { return q.limit >= 0 && q.order == "" }

// sql is the query's text.
func (q query) sql() string {
	text := q.unlimited()
	if q.limit >= 0 {
		text += fmt.Sprintf(" LIMIT %d", q.limit)
	}
	if q.offset > 0 {
		text += fmt.Sprintf(" OFFSET %d", q.offset)
	}
	return text
}

// unlimited is the query without its LIMIT.
func (q query) unlimited() string {
	text := q.selects(q.where)
	if len(q.with) > 0 {
		text = "WITH " + strings.Join(q.with, ", ") + " " + text
	}
	if q.union != "" {
		text += " " + q.union + " " + q.selects(q.other)
	}
	return text + q.order
}

// selects is the query's SELECT under some conditions.
func (q query) selects(where []string) string {
	text := "SELECT " + q.head + " FROM " + q.from
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	return text + q.tail
}

// field is a column that a FROM clause offers. kind is nil for those that are no keys.
type field struct {
	name, class string
	kind        *kind
}

// input is one item of a FROM clause.
type input struct {
	alias  string
	fields []field
	tab    *tab // nil for a derived table
}

// gen makes one query.
type gen struct {
	rng   *rand.Rand
	world *world
	query query
	next  int
	// entries are what the WITH entries so far offer, by their places in query.with.
	entries [][]field
	// keys are the key columns that all joins so far are on, of the tables used so far; derived is that one isn't a table.
	keys    map[string]bool
	tabs    []*tab
	derived bool
}

func newQuery(rng *rand.Rand, w *world) query {
	g := &gen{rng: rng, world: w, keys: map[string]bool{"a": true, "b": true}, query: query{limit: -1}}
	n := []int{1, 2, 2, 2, 2, 3, 3, 4}[rng.IntN(8)]
	g.query.joins = n - 1
	from, inputs := g.relation(n)
	g.filters(inputs)
	if g.chance(12) {
		g.query.union = pick(rng, []string{"UNION ALL", "UNION ALL", "UNION", "EXCEPT", "INTERSECT"})
		g.query.other = append(slices.Clone(g.query.where), g.filter(pick(rng, inputs)))
	}
	g.choose(from, inputs)
	g.query.eligible = g.query.eligible && g.query.union == ""
	g.query.eligible = g.query.eligible && !g.derived && g.common()
	return g.query
}

// common says whether all tables are laid out by one key that all joins are on.
func (g *gen) common() bool {
	for _, slot := range g.tabs[0].slots() {
		_, col, _ := strings.Cut(slot, " ")
		if g.keys[col] && g.world.keys[col].class != "float" && !slices.ContainsFunc(g.tabs, func(t *tab) bool { return !slices.Contains(t.slots(), slot) }) {
			return true
		}
	}
	return false
}

func (g *gen) alias() string {
	g.next++
	return fmt.Sprintf("t%d", g.next)
}

func (g *gen) chance(n int) bool { return chance(g.rng, n) }

// relation makes a FROM clause of n inputs.
func (g *gen) relation(n int) (string, []input) {
	if n == 1 {
		if g.chance(4) {
			return g.derivedTable()
		}
		return g.base()
	}
	k := n - 1
	if n > 2 && g.chance(3) {
		k = 1
	}
	left, l := g.relation(k)
	right, r := g.relation(n - k)
	if n-k > 1 {
		right = "(" + right + ")"
	}
	return g.join(left, l, right, r)
}

func (g *gen) base() (string, []input) {
	t := pick(g.rng, g.world.tabs)
	g.tabs = append(g.tabs, t)
	in := input{alias: g.alias(), tab: t, fields: []field{
		{"a", t.keys["a"].class, t.keys["a"]}, {"b", t.keys["b"].class, t.keys["b"]},
		{"v", "v", nil}, {"n", "n", nil}, {"x", "x", nil}, {"s", "string", nil},
	}}
	if t.later {
		in.fields = append(in.fields, field{"w", "v", nil})
	}
	return t.name + " " + in.alias, []input{in}
}

// join joins two relations. Names of a semi-join's right side end with it.
func (g *gen) join(left string, l []input, right string, r []input) (string, []input) {
	kind := pick(g.rng, []string{"", "INNER", "INNER", "LEFT", "LEFT", "RIGHT", "FULL", "FULL", "SEMI", "ANTI"})
	if (kind == "" || kind == "INNER") && g.chance(5) {
		g.query.where = append(g.query.where, g.condition(l, r))
		comma := " CROSS JOIN " // binds as JOIN does
		if len(l)+len(r) == g.query.joins+1 {
			comma = ", "
		}
		return left + comma + right, slices.Concat(l, r)
	}
	text := left + " " + kind + " JOIN " + right
	if len(l) == 1 && !strings.Contains(right, " JOIN ") && kind != "" && g.chance(20) && natural(l[0], r[0]) { // no join in parentheses beside it
		g.keep(nil)
		text = left + " NATURAL " + kind + " JOIN " + right
	} else if using := g.using(l, r); using != "" {
		text += " USING (" + using + ")"
	} else {
		text += " ON " + g.condition(l, r)
	}
	if kind == "SEMI" || kind == "ANTI" {
		return text, l
	}
	return text, slices.Concat(l, r)
}

// natural says whether all columns that two inputs have under one name may be compared.
func natural(x, y input) bool {
	return !slices.ContainsFunc(x.fields, func(f field) bool {
		h, ok := find(y, f.name)
		return ok && f.class != h.class
	})
}

// using returns columns for USING, which must be in one input of each side, or "".
func (g *gen) using(l, r []input) string {
	if len(l) > 1 || len(r) > 1 || !g.chance(4) {
		return ""
	}
	both := shared(l[0], r[0])
	if len(both) == 0 {
		return ""
	}
	if len(both) > 1 && g.chance(2) {
		both = both[:1+g.rng.IntN(2)]
	}
	g.keep(both)
	return strings.Join(both, ", ")
}

// shared returns the key columns that two inputs have under one name.
func shared(x, y input) []string {
	var both []string
	for _, name := range []string{"a", "b"} {
		if f, ok := find(x, name); ok {
			if h, ok := find(y, name); ok && f.class == h.class {
				both = append(both, name)
			}
		}
	}
	return both
}

// keep notes the columns that a join is on.
func (g *gen) keep(names []string) {
	for k := range g.keys {
		if !slices.Contains(names, k) {
			delete(g.keys, k)
		}
	}
}

func find(in input, name string) (field, bool) {
	for _, f := range in.fields {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

// condition makes an ON condition: mostly an equality of keys, sometimes more of it, sometimes none.
func (g *gen) condition(l, r []input) string {
	x, y := pick(g.rng, l), pick(g.rng, r)
	var terms, names []string
	if both := shared(x, y); len(both) > 1 && g.chance(4) {
		for _, name := range both {
			terms, names = append(terms, x.alias+"."+name+" = "+y.alias+"."+name), append(names, name)
		}
	}
	for range 1 + g.rng.IntN(2) {
		if term, name := g.equality(x, y); term != "" && !slices.Contains(terms, term) {
			terms, names = append(terms, term), append(names, name)
		}
	}
	if len(terms) == 0 || g.chance(4) {
		terms = append(terms, g.residual(x, y))
	}
	g.keep(names)
	g.rng.Shuffle(len(terms), func(i, j int) { terms[i], terms[j] = terms[j], terms[i] })
	return strings.Join(terms, " AND ")
}

// equality compares a column of each side; name is the column that both have, when it is a plain equality.
func (g *gen) equality(x, y input) (term, name string) {
	var pairs [][2]field
	for _, f := range x.fields {
		for _, h := range y.fields {
			if f.kind == nil || h.kind == nil || !comparable(f.class, h.class) {
				continue
			}
			if f.class == h.class && f.name == h.name || g.chance(6) {
				pairs = append(pairs, [2]field{f, h})
			}
		}
	}
	if len(pairs) == 0 {
		return "", ""
	}
	p := pairs[0]
	if !g.chance(2) {
		p = pick(g.rng, pairs)
	}
	lhs, rhs := x.alias+"."+p[0].name, y.alias+"."+p[1].name
	if g.chance(3) {
		lhs, rhs = rhs, lhs
	}
	if p[0].name == p[1].name {
		name = p[0].name
	}
	if g.chance(6) {
		return lhs + " IS NOT DISTINCT FROM " + rhs, ""
	}
	return lhs + " = " + rhs, name
}

func (g *gen) residual(x, y input) string {
	v := g.number
	switch g.rng.IntN(9) {
	case 6, 7:
		return g.filter(x)
	case 8:
		return g.filter(y)
	case 0:
		return v(x) + " < " + v(y)
	case 1:
		return v(x) + " = " + v(y)
	case 2:
		return v(x) + " > 1"
	case 3:
		return v(y) + " BETWEEN 0 AND 3"
	case 4:
		return "(" + v(x) + " < 3 OR " + v(y) + " > 1)"
	}
	return v(x) + " + " + v(y) + " > 2"
}

// derivedTable makes a derived table, or a WITH entry.
func (g *gen) derivedTable() (string, []input) {
	g.derived = true
	if n := len(g.entries); n > 0 && g.chance(2) { // one WITH entry, mentioned again
		i := g.rng.IntN(n)
		name, _, _ := strings.Cut(g.query.with[i], " ")
		in := input{alias: g.alias(), fields: slices.Clone(g.entries[i])}
		return name + " AS " + in.alias, []input{in}
	}
	text, fields := g.derivedQuery()
	in := input{alias: g.alias(), fields: fields}
	if g.chance(3) {
		g.query.with = append(g.query.with, "w"+in.alias+" AS ("+text+")")
		g.entries = append(g.entries, fields)
		return "w" + in.alias + " AS " + in.alias, []input{in}
	}
	if g.chance(5) { // names given from outside
		var names []string
		for i, f := range in.fields {
			if f.kind == nil {
				names = append(names, f.name)
				continue
			}
			name := pick(g.rng, []string{"a", "b", f.name, "k"})
			if slices.Contains(names, name) || slices.ContainsFunc(in.fields, func(o field) bool { return o.name == name && o != f }) {
				name = f.name
			}
			in.fields[i].name = name
			names = append(names, name)
		}
		return "(" + text + ") AS " + in.alias + "(" + strings.Join(names, ", ") + ")", []input{in}
	}
	return "(" + text + ") AS " + in.alias, []input{in}
}

func (g *gen) derivedQuery() (string, []field) {
	from, ins := g.base()
	in := ins[0]
	a, b := in.fields[0], in.fields[1]
	v, s := field{"v", "v", nil}, field{"s", "string", nil}
	where := ""
	if g.chance(3) {
		where = " WHERE " + g.filter(in)
	}
	switch g.rng.IntN(13) {
	case 11: // which compare NULLs as equal
		other := pick(g.rng, g.world.tabs)
		op := pick(g.rng, []string{"UNION", "INTERSECT", "EXCEPT", "EXCEPT ALL", "INTERSECT ALL"})
		return "SELECT a, b FROM " + from + where + " " + op + " SELECT a, b FROM " + other.name, []field{a, b}
	case 8: // the latest row of each key; columns in which rows tie are alike
		text := "SELECT a, v, s FROM (SELECT a, v, s, row_number() OVER (PARTITION BY a ORDER BY v DESC, s) AS r FROM " + from + where + ") WHERE r = 1"
		return text, []field{a, v, s}
	case 9:
		text := "SELECT a, b, v FROM " + from + where + " QUALIFY row_number() OVER (PARTITION BY a, b ORDER BY v) <= 2"
		return text, []field{a, b, v}
	case 10: // a grouping above a union, joined below
		other := pick(g.rng, g.world.tabs)
		text := "SELECT a, count(*) AS v FROM (SELECT a FROM " + from + where + " UNION ALL SELECT o.a FROM " + other.name + " o) GROUP BY a"
		return text, []field{a, v}
	case 0:
		return "SELECT a, count(*) AS v, max(s) AS s FROM " + from + where + " GROUP BY a", []field{a, v, s}
	case 1:
		return "SELECT DISTINCT a, b FROM " + from + where, []field{a, b}
	case 2:
		return "SELECT b, a, sum(v) AS v FROM " + from + where + " GROUP BY ALL", []field{b, a, v}
	case 3:
		return "SELECT a, b, rank() OVER (PARTITION BY a ORDER BY v) AS v FROM " + from + where, []field{a, b, v}
	case 4:
		other := pick(g.rng, g.world.tabs)
		return "SELECT a, b, v FROM " + from + where + " UNION ALL SELECT a, b, v FROM " + other.name, []field{a, b, v}
	case 5:
		other := pick(g.rng, g.world.tabs)
		kind := pick(g.rng, []string{"", "LEFT ", "FULL ", "SEMI "})
		text := "SELECT a, " + in.alias + ".v FROM " + from + " " + kind + "JOIN " + other.name + " o USING (a)"
		return text, []field{a, v}
	case 6:
		return "SELECT * FROM " + from + where, in.fields
	case 7:
		return "SELECT a, b, v FROM " + from + " ORDER BY a, b, v LIMIT 5", []field{a, b, v}
	}
	return "SELECT a, b, v, s FROM " + from + where, []field{a, b, v, s}
}

// filters adds conditions and subqueries to WHERE.
func (g *gen) filters(inputs []input) {
	for g.chance(3) {
		g.query.where = append(g.query.where, g.filter(pick(g.rng, inputs)))
	}
	if g.chance(4) {
		subquery := g.subquery(pick(g.rng, inputs))
		g.query.where = append(g.query.where, subquery)
		if subquery != noSubquery {
			g.query.joins++
		}
	}
}

// filter makes a condition on one input.
func (g *gen) filter(in input) string {
	f := pick(g.rng, in.fields)
	name := in.alias + "." + f.name
	if f.kind == nil {
		switch f.class {
		case "string":
			return name + pick(g.rng, []string{" = 'p'", " LIKE 'p%'", " IS NULL", " <> ''", " > 'p'", " IN ('q', NULL)"})
		case "x":
			return name + pick(g.rng, []string{" < 0", " IS NOT NULL", " = 1.5", " >= -2.25"})
		}
		return name + pick(g.rng, []string{" < 3", " IS NULL", " = 2", " <> 2", " >= 1 AND " + name + " < 5", " IN (1, 2)"})
	}
	return g.keyFilter(name, f.kind)
}

func (g *gen) keyFilter(name string, k *kind) string {
	literal := func() string {
		if g.chance(5) {
			return pick(g.rng, k.mates)
		}
		return pick(g.rng, slices.Concat(k.values, k.extreme))
	}
	if k.class == "string" && g.chance(3) {
		return name + pick(g.rng, []string{" LIKE 'a%'", " LIKE 'ab%'", " NOT LIKE 'abc%'", " LIKE '%b'", " LIKE 'a_'", " LIKE ''", " NOT LIKE 'a%'"})
	}
	switch g.rng.IntN(9) {
	case 0:
		return name + " IS NULL"
	case 1:
		return name + " IS NOT NULL"
	case 2:
		return fmt.Sprintf("%s IN (%s, %s, %s)", name, literal(), literal(), literal())
	case 3:
		return fmt.Sprintf("%s NOT IN (%s, %s)", name, literal(), literal())
	case 4:
		return fmt.Sprintf("%s BETWEEN %s AND %s", name, literal(), literal())
	case 5:
		return fmt.Sprintf("(%s = %s OR %s > %s)", name, literal(), name, literal())
	case 6:
		return fmt.Sprintf("NOT (%s %s %s)", name, pick(g.rng, comparisons), literal())
	case 7:
		return literal() + " " + pick(g.rng, comparisons) + " " + name
	}
	return name + " " + pick(g.rng, comparisons) + " " + literal()
}

var comparisons = []string{"=", "=", "=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"}

// noSubquery is the condition where the inputs allow none.
const noSubquery = "true"

// subquery makes a condition with a subquery, most of them correlated by a key.
func (g *gen) subquery(in input) string {
	from, ins := g.base()
	if g.chance(4) {
		from, ins = g.derivedTable()
	}
	inner := ins[0]
	term, name := g.equality(in, inner)
	if term == "" {
		return noSubquery
	}
	if g.chance(3) {
		term += " AND " + g.filter(inner)
	}
	var key field
	for _, f := range in.fields {
		if f.kind != nil {
			key = f
		}
	}
	var match string
	for _, f := range inner.fields {
		if f.kind != nil && f.class == key.class {
			match = f.name
		}
	}
	switch g.rng.IntN(16) {
	case 7:
		g.keep(nil)
		for _, side := range []input{in, inner} {
			for _, name := range []string{"a", "b"} {
				if _, ok := find(side, name); !ok {
					return noSubquery
				}
			}
		}
		return fmt.Sprintf("(%s.a, %s.b) IN (SELECT %s.a, %s.b FROM %s)", in.alias, in.alias, inner.alias, inner.alias, from)
	case 0, 1, 8, 9, 10:
		g.keep([]string{name})
		return "EXISTS (SELECT 1 FROM " + from + " WHERE " + term + ")"
	case 2, 11, 12:
		g.keep([]string{name})
		return "NOT EXISTS (SELECT 1 FROM " + from + " WHERE " + term + ")"
	case 3, 13, 14, 15:
		g.keep(nil)
		if match == "" {
			return noSubquery
		}
		return fmt.Sprintf("%s.%s IN (SELECT %s.%s FROM %s)", in.alias, key.name, inner.alias, match, from)
	case 4:
		g.keep(nil)
		if match == "" {
			return noSubquery
		}
		return fmt.Sprintf("%s.%s NOT IN (SELECT %s.%s FROM %s WHERE %s > 2)", in.alias, key.name, inner.alias, match, from, g.number(inner))
	case 5:
		g.keep(nil)
		return "(SELECT count(*) FROM " + from + " WHERE " + term + ") < 3"
	}
	g.keep(nil)
	return "(SELECT max(" + g.number(inner) + ") FROM " + from + ") > 2"
}

// number returns a number of an input's rows.
func (g *gen) number(in input) string {
	if _, ok := find(in, "v"); ok {
		return in.alias + ".v"
	}
	return fmt.Sprint(g.rng.IntN(5))
}

// valueOf returns a value that a subquery computes for rows of an input: one for all of them, or one for those of a key.
func (g *gen) valueOf(in input) string {
	from, ins := g.base()
	if g.chance(2) {
		from, ins = g.derivedTable()
	}
	g.keep(nil)
	inner := ins[0]
	call := pick(g.rng, []string{"count(*)", "max(" + g.number(inner) + ")"})
	if term, _ := g.equality(in, inner); term != "" && g.chance(2) {
		from += " WHERE " + term
	}
	return "(SELECT " + call + " FROM " + from + ")"
}
