package golden_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// kind is what may be done with a column.
type kind byte

const (
	number kind = iota // small integers
	key                // integers with extremes: no arithmetic
	money              // decimals
	text
	date
	instant
	kinds // how many a table's column can have
	truth // of an aggregate
)

// column is a column that can be named at some place of a query. Columns of one domain are joined with each other.
type column struct {
	ref    string // how it is mentioned
	name   string // its own name
	kind   kind
	domain string
}

// relation is something to select from.
type relation struct {
	sql     string
	columns []column
}

// families are tables that join with each other.
var families = [][]relation{
	{
		table("shop.orders", "order_id number", "customer_id key customer", "amount money", "status text", "order_date date", "qty number"),
		table("shop.customers", "customer_id key customer", "name text", "region text", "since date"),
		table("shop.customers_int", "customer_id key customer", "tier text"),
		table("shop.payments", "payment_id number", "customer_id key customer", "paid money", "method text"),
		table("shop.visits", "customer_id key customer", "visited instant", "pages number"),
		table("shop.few", "customer_id key customer", "flag text"),
		table("shop.many_files", "customer_id key customer", "seq number", "note text"),
		table("shop.empty", "customer_id key customer", "flag text"),
	},
	{table("keys.l_int", "k key k", "v number"), table("keys.r_int", "k key k", "w number")},
	{table("keys.l_string", "k text k", "v number"), table("keys.r_string", "k text k", "w number")},
	{table("keys.l_decimal", "k money k", "v number"), table("keys.r_decimal", "k money k", "w number")},
	{table("keys.l_date", "k date k", "v number"), table("keys.r_date", "k date k", "w number")},
	{table("keys.l_ntz", "k instant k", "v number"), table("keys.r_ntz", "k instant k", "w number")},
	{
		table("keys.two_l", "a key a", "b text b", "v number"), table("keys.two_r", "a key a", "b text b", "w number"),
	},
	{
		table("mix.b7", "id key id", "v7 number"), table("mix.b8", "id key id", "v8 number"), table("mix.b16", "id key id", "v16 number"),
	},
	{
		table("mix.bd_l", "id key id", "ts instant ts", "v number"), table("mix.bd_r", "id key id", "ts instant ts", "v number"),
		table("mix.db_r", "id key id", "ts instant ts", "v number"), table("mix.b_r", "id key id", "ts instant ts", "v number"),
		table("mix.n_r", "id key id", "ts instant ts", "v number"),
	},
	{
		table("mix.ident_l", "region text region", "num number num", "v number"),
		table("mix.ident_r", "region text region", "num number num", "v number"),
	},
	{
		table("mix.identn_l", "num number num", "v number"), table("mix.identn_r", "num number num", "v number"),
	},
	{table("mix.day_l", "ts instant ts", "v number"), table("mix.day_r", "ts instant ts", "v number")},
	{table("mix.dday_l", "d date d", "v number"), table("mix.dday_r", "d date d", "v number")},
	{table("mix.tr_l", "s text s", "v number"), table("mix.tr_r", "s text s", "v number")},
}

// table reads a table from its name and its columns in their order: name, kind and, for keys, domain.
func table(name string, columns ...string) relation {
	r := relation{sql: name}
	for _, text := range columns {
		f := strings.Fields(text)
		c := column{name: f[0], kind: kindNames[f[1]]}
		if len(f) > 2 {
			c.domain = f[2]
		}
		r.columns = append(r.columns, c)
	}
	return r
}

var kindNames = map[string]kind{"number": number, "key": key, "money": money, "text": text, "date": date, "instant": instant}

// generator makes random queries over one family.
type generator struct {
	*rand.Rand
	family []relation
	ctes   []relation
	names  int
	union  bool // there is a set operation somewhere
}

// query is a random statement. Rows in the order of their sorted columns are comparable; with a limit nothing else is.
type query struct {
	sql     string
	sorted  []int
	limited bool
}

func newQuery(r *rand.Rand) query {
	g := &generator{Rand: r}
	g.family = families[g.pick(9, 1, 1, 1, 1, 1, 2, 2, 3, 1, 1, 1, 1, 1)]
	with := g.with()
	sql, out := g.body(2, nil)
	q := query{sql: sql}
	if g.oneIn(3) {
		g.sort(&q, out)
	}
	q.sql = with + q.sql
	return q
}

func (g *generator) oneIn(n int) bool { return g.IntN(n) == 0 }

// pick returns an index with the given weights.
func (g *generator) pick(weights ...int) int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	n := g.IntN(sum)
	for i, w := range weights {
		if n < w {
			return i
		}
		n -= w
	}
	return 0
}

func one[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

func (g *generator) name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

// with makes WITH entries now and then.
func (g *generator) with() string {
	if !g.oneIn(6) {
		return ""
	}
	var parts []string
	for range 1 + g.IntN(2) {
		name := g.name("w")
		sql, out := g.body(1, nil)
		parts = append(parts, name+" AS "+one(g, "", "", "", "MATERIALIZED ", "NOT MATERIALIZED ")+"("+sql+")")
		g.ctes = append(g.ctes, relation{name, out})
	}
	return "WITH " + strings.Join(parts, ", ") + " "
}

// sort adds ORDER BY and LIMIT to the whole query.
func (g *generator) sort(q *query, out []column) {
	var keys []string
	for _, at := range g.Perm(len(out))[:min(len(out), 1+g.IntN(2))] {
		q.sorted = append(q.sorted, at)
		by := one(g, fmt.Sprint(at+1), out[at].name)
		keys = append(keys, by+one(g, "", " DESC")+one(g, "", " NULLS FIRST", " NULLS LAST"))
	}
	if g.oneIn(3) {
		q.sql = "SELECT * FROM (" + q.sql + ")"
	}
	q.sql += " ORDER BY " + strings.Join(keys, ", ")
	// DuckDB 1.5 loses rows when LIMIT stands over a set operation of an INTEGER with a BIGINT: the limit's threshold is
	// compared with rows that aren't cast yet.
	if !g.union && g.oneIn(2) {
		q.limited = true
		q.sql += fmt.Sprintf(" LIMIT %d", g.IntN(20))
		if g.oneIn(3) {
			q.sql += fmt.Sprintf(" OFFSET %d", g.IntN(5))
		}
	}
}
