package tarn_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn"
)

// same are pairs of queries that must give the same rows, by every plan: the first has a form that names, order or
// nearness makes easy to get wrong, the second says the same without it.
var same = []struct{ name, query, plain string }{
	{"whole rows", "SELECT count(DISTINCT o) FROM shop.orders o",
		"SELECT count(*) FROM (SELECT DISTINCT * FROM shop.orders)"},
	{"a whole row inside a function", "SELECT length(to_json(o)::VARCHAR) > 60 AS x FROM shop.orders o GROUP BY ALL",
		"SELECT true AS x"},
	{"a filter above an ASOF join",
		"SELECT count(*) FROM shop.customers c ASOF JOIN shop.orders o ON c.customer_id >= o.customer_id WHERE o.customer_id = 42",
		"SELECT count(*) FROM shop.customers c ASOF JOIN shop.orders o ON c.customer_id >= o.customer_id WHERE o.customer_id + 0 = 42"},
	{"a filter above a POSITIONAL join",
		"SELECT count(*) FROM (FROM shop.few ORDER BY ALL) f POSITIONAL JOIN shop.few g WHERE g.customer_id = 5",
		"SELECT count(*) FROM (FROM shop.few ORDER BY ALL) f POSITIONAL JOIN shop.few g WHERE g.customer_id + 0 = 5"},
	{"an alias of a subquery hides an outer column", `SELECT count(*) FROM (SELECT customer_id, customer_id AS z FROM shop.customers) a
		WHERE EXISTS (SELECT o.order_id AS z FROM shop.orders o WHERE o.customer_id = z AND o.order_id < 60)`,
		"SELECT count(*) FROM shop.customers WHERE EXISTS (SELECT 1 FROM shop.orders o WHERE o.customer_id = o.order_id AND o.order_id < 60)"},
	{"ORDER BY a star of columns", `SELECT o.order_id, o.amount FROM shop.orders o JOIN shop.customers c USING (customer_id)
		ORDER BY COLUMNS('amount') DESC NULLS LAST LIMIT 3`,
		`SELECT o.order_id, o.amount FROM shop.orders o JOIN shop.customers c USING (customer_id) ORDER BY o.amount DESC NULLS LAST LIMIT 3`},
	{"a WITH entry with LIMIT, mentioned twice",
		"WITH x AS (SELECT order_id, status FROM shop.orders ORDER BY status LIMIT 50) SELECT count(*) FROM x a JOIN x b USING (order_id)",
		"SELECT CAST(50 AS BIGINT)"},
	{"an alias before a column in HAVING", `SELECT c.region AS r, median(o.qty) AS status FROM shop.orders o
		JOIN shop.customers c USING (customer_id) GROUP BY c.region HAVING status > 1`,
		`SELECT r, m FROM (SELECT c.region AS r, median(o.qty) AS m FROM shop.orders o JOIN shop.customers c USING (customer_id)
		GROUP BY c.region) WHERE m > 1`},
	{"a subquery in a lateral table", `SELECT g.i, d.n FROM generate_series(1, 2) g(i), LATERAL (SELECT count(*) AS n FROM shop.orders a
		WHERE a.customer_id IN (SELECT b.customer_id FROM shop.customers b WHERE b.customer_id > i)) d`,
		`SELECT g.i, (SELECT count(*) FROM shop.orders a WHERE EXISTS (SELECT 1 FROM shop.customers b
		WHERE b.customer_id = a.customer_id AND b.customer_id > g.i)) FROM (VALUES (CAST(1 AS BIGINT)), (2)) g(i)`},
	{"the first rows of a union of two types",
		"SELECT k FROM (SELECT customer_id AS k FROM shop.orders UNION ALL SELECT customer_id FROM shop.customers_int) ORDER BY k LIMIT 4",
		`SELECT k FROM (SELECT k, row_number() OVER (ORDER BY k) AS n FROM (SELECT customer_id AS k FROM shop.orders
		UNION ALL SELECT customer_id FROM shop.customers_int)) WHERE n <= 4`},
	{"DISTINCT ON in a derived table", `SELECT sum(order_id) FROM (SELECT DISTINCT ON (customer_id) customer_id, order_id FROM shop.orders
		ORDER BY customer_id, order_id DESC)`,
		"SELECT sum(m) FROM (SELECT max(order_id) AS m FROM shop.orders GROUP BY customer_id)"},
	{"ORDER BY a name of two output columns", `SELECT o.order_id, o.qty, -o.order_id AS qty FROM shop.orders o SEMI JOIN shop.customers c
		USING (customer_id) ORDER BY qty LIMIT 3`,
		`SELECT o.order_id, o.qty, -o.order_id AS x FROM shop.orders o SEMI JOIN shop.customers c USING (customer_id) ORDER BY x LIMIT 3`},
	{"the average of decimals in two steps", `SELECT c.region, avg(o.amount) FROM shop.orders o JOIN shop.customers c USING (customer_id)
		GROUP BY c.region`,
		`SELECT region, avg(amount) FROM (SELECT c.region, o.amount FROM shop.orders o JOIN shop.customers c
		ON o.customer_id + 0 = c.customer_id) GROUP BY region`},
	{"a WITH entry that is computed once, below an anti join", `WITH m AS (SELECT median(qty) AS q FROM shop.orders),
		x AS (SELECT DISTINCT o.customer_id FROM shop.orders o JOIN m ON o.qty > m.q)
		SELECT c.customer_id FROM shop.customers c ANTI JOIN x USING (customer_id) UNION ALL SELECT m.q FROM m, m AS n`,
		`SELECT customer_id FROM shop.customers c WHERE NOT EXISTS (SELECT 1 FROM shop.orders o WHERE o.customer_id = c.customer_id
		AND qty > (SELECT median(qty) FROM shop.orders)) UNION ALL SELECT median(qty) FROM shop.orders`},
	{"no rows and an aggregate", "SELECT count(*), sum(o.qty) FROM shop.orders o JOIN shop.empty e USING (customer_id)",
		"SELECT CAST(0 AS BIGINT), NULL"},
	{"GROUP BY nothing", "SELECT 1 FROM shop.orders o JOIN shop.customers c USING (customer_id) GROUP BY ()", "SELECT 1"},
}

func TestEquivalentQueries(t *testing.T) {
	ctx := context.Background()
	engine, err := tarn.Open(ctx, shop())
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	for _, mode := range []string{"SET tarn.spj = 'off'", "SET tarn.spj = 'auto'", "SET tarn.pack_bytes = 0"} {
		s := engine.Session()
		if _, err := s.Exec(ctx, mode); err != nil {
			t.Fatal(err)
		}
		for _, c := range same {
			t.Run(mode+"/"+c.name, func(t *testing.T) {
				if got, want := rowsOf(t, s, c.query), rowsOf(t, s, c.plain); !slices.Equal(got, want) {
					t.Errorf("gives\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		}
	}
}

// rowsOf returns a query's rows as text, sorted.
func rowsOf(t *testing.T, s *tarn.Session, query string) []string {
	t.Helper()
	ctx := context.Background()
	rows, err := s.Query(ctx, query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var out []string
	for {
		b, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			slices.Sort(out)
			return out
		}
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		for r := range int(b.NumRows()) {
			var row []string
			for c := range int(b.NumCols()) {
				row = append(row, b.Column(c).ValueStr(r))
			}
			out = append(out, strings.Join(row, " | "))
		}
		b.Release()
	}
}
