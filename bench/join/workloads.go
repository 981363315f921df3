package main

import (
	"fmt"
	"regexp"
	"strings"
)

// workload is a question and its bar. In its query {name} stands for a table of that name.
type workload struct {
	name string
	// cpuBar is for Tarn's CPU over DuckDB's; 0: none.
	cpuBar float64
	query  func(size) string
	// checked has the cost of the key check measured too.
	checked bool
}

// The bars of all workloads.
const (
	memoryBar = 200.0 // MiB at the first size
	growthBar = 1.3   // of memory, when there is four times the data
	checkBar  = 0.1   // the key check's part of a join's CPU
)

var workloads = []workload{
	{"64x64", 0.85, join("orders64", "customers64"), true},
	{"group by the key, top 10", 0.65, fixed(byKey), true},
	{"count distinct", 0.4, fixed(distinct), true},
	{"latest row per key", 0.5, fixed(latest), false},
	{"32x64", 0.85, join("orders64", "customers32"), false},
	{"7x16", 0, join("orders16", "customers7"), false},
	{"64 x plain", 1, join("orders64", "customers_plain"), false},
	{"evolved", 1, join("orders_mixed", "customers64"), false},
	{"skew", 0.85, join("orders_skewed", "customers64"), false},
	{"three-way", 0.8, fixed(threeWay), true},
	{"(day, bucket), two days", 0, fixed(twoDays), false},
	{"point lookup", 1, func(s size) string { return fmt.Sprintf(lookup, s.customers()/3) }, false},
	{"list of 50 keys", 0, listOfKeys, false},
}

func fixed(query string) func(size) string { return func(size) string { return query } }

// join is a plain join into a grouping by a small column, in which the scan and the join are most of the work.
func join(orders, customers string) func(size) string {
	return fixed(fmt.Sprintf(`SELECT c.region, count(*) AS orders, sum(o.amount) AS total
FROM {%s} o JOIN {%s} c ON o.customer_id = c.customer_id
GROUP BY c.region ORDER BY c.region`, orders, customers))
}

const byKey = `SELECT c.customer_id, c.name, count(*) AS orders, sum(o.amount) AS total
FROM {orders64} o JOIN {customers64} c ON o.customer_id = c.customer_id
GROUP BY c.customer_id, c.name
ORDER BY total DESC, c.customer_id LIMIT 10`

const distinct = `SELECT o.status, count(DISTINCT o.customer_id) AS customers
FROM {orders64} o GROUP BY o.status ORDER BY o.status`

const latest = `SELECT status, count(*) AS customers, sum(amount) AS total, max(order_id) AS last
FROM (
  SELECT customer_id, order_id, amount, status,
    row_number() OVER (PARTITION BY customer_id ORDER BY order_date DESC, order_id DESC) AS nth
  FROM {orders64}
) AS numbered
WHERE nth = 1 GROUP BY status ORDER BY status`

const threeWay = `SELECT c.region, p.segment, count(*) AS orders, sum(o.amount) AS total, max(p.score) AS best
FROM {orders64} o
JOIN {customers64} c ON o.customer_id = c.customer_id
JOIN {profiles64} p ON o.customer_id = p.customer_id
GROUP BY c.region, p.segment ORDER BY c.region, p.segment`

const twoDays = `SELECT c.region, o.order_date, count(*) AS orders, sum(o.amount) AS total
FROM {orders_daily} o JOIN {customers16} c ON o.customer_id = c.customer_id
WHERE o.order_date BETWEEN DATE '2024-01-08' AND DATE '2024-01-09'
GROUP BY c.region, o.order_date ORDER BY c.region, o.order_date`

const lookup = `SELECT o.order_id, o.amount, o.status, c.name, c.region
FROM {orders64} o JOIN {customers64} c ON o.customer_id = c.customer_id
WHERE o.customer_id = %d ORDER BY o.order_id`

func listOfKeys(s size) string {
	keys := make([]string, 50)
	for i := range keys {
		keys[i] = fmt.Sprint(int64(i) * s.customers() / int64(len(keys)))
	}
	return fmt.Sprintf(`SELECT c.customer_id, c.name, count(*) AS orders, sum(o.amount) AS total
FROM {orders64} o JOIN {customers64} c ON o.customer_id = c.customer_id
WHERE o.customer_id IN (%s)
GROUP BY c.customer_id, c.name ORDER BY c.customer_id`, strings.Join(keys, ", "))
}

var tableMark = regexp.MustCompile(`\{(\w+)\}`)

// tablesOf returns the names of the tables that a query reads, as often as it reads them.
func tablesOf(query string) []string {
	var out []string
	for _, m := range tableMark.FindAllStringSubmatch(query, -1) {
		out = append(out, m[1])
	}
	return out
}

// over returns a query with its tables as read says.
func over(query string, read func(table string) string) string {
	return tableMark.ReplaceAllStringFunc(query, func(mark string) string { return read(strings.Trim(mark, "{}")) })
}
