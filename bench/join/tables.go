package main

import (
	"fmt"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/transform"
)

// size says how many rows the tables have: three customers to twenty orders.
type size struct {
	orders int64
	seed   int64 // another one gives other rows of the same kind
}

func (s size) customers() int64 { return max(s.orders*3/20, 1) }

// table is a table of the lake: its columns, and its rows in the order in which they are written, each part by its own
// spec, the last of which is the table's current one.
type table struct {
	name   string
	fields []catalog.Field
	parts  []part
}

type part struct {
	spec []catalog.PartitionField
	rows func(size) string // a SELECT
}

// tables are all that any workload reads. They are made when one that is to be measured needs them.
var tables = []table{
	{"orders64", orderFields, []part{{bucket(64), orders}}},
	{"orders16", orderFields, []part{{bucket(16), orders}}},
	{"orders_mixed", orderFields, []part{{month(), oldOrders}, {bucket(64), newOrders}}},
	{"orders_skewed", orderFields, []part{{bucket(64), skewedOrders}}},
	{"orders_daily", orderFields, []part{{append(day(), bucket(16)...), dailyOrders}}},
	{"customers64", customerFields, []part{{bucket(64), customers}}},
	{"customers32", customerFields, []part{{bucket(32), customers}}},
	{"customers16", customerFields, []part{{bucket(16), customers}}},
	{"customers7", customerFields, []part{{bucket(7), customers}}},
	{"customers_plain", customerFields, []part{{nil, customers}}},
	{"profiles64", profileFields, []part{{bucket(64), profiles}}},
}

// The field IDs that specs name.
const (
	keyID  = 1 // customer_id, in all tables
	dateID = 5 // order_date
)

func bucket(n int) []catalog.PartitionField {
	return spec("customer_id_bucket", keyID, transform.Transform{Op: transform.Bucket, N: n})
}

func month() []catalog.PartitionField {
	return spec("order_date_month", dateID, transform.Transform{Op: transform.Month})
}

func day() []catalog.PartitionField {
	return spec("order_date_day", dateID, transform.Transform{Op: transform.Day})
}

func spec(name string, source catalog.FieldID, t transform.Transform) []catalog.PartitionField {
	return []catalog.PartitionField{{Name: name, Sources: []catalog.FieldID{source}, Transform: t}}
}

func column(id int, name string, t transform.Type) catalog.Field {
	return catalog.Field{ID: catalog.FieldID(id), Name: name, Type: catalog.Type{Primitive: t}}
}

var (
	key = column(keyID, "customer_id", transform.Type{Kind: transform.Long})

	orderFields = []catalog.Field{
		key,
		column(2, "order_id", transform.Type{Kind: transform.Long}),
		column(3, "amount", transform.Type{Kind: transform.Decimal, Precision: 12, Scale: 2}),
		column(4, "status", transform.Type{Kind: transform.String}),
		column(dateID, "order_date", transform.Type{Kind: transform.Date}),
	}
	customerFields = []catalog.Field{
		key,
		column(2, "name", transform.Type{Kind: transform.String}),
		column(3, "region", transform.Type{Kind: transform.String}),
	}
	profileFields = []catalog.Field{
		key,
		column(2, "segment", transform.Type{Kind: transform.String}),
		column(3, "score", transform.Type{Kind: transform.Int}),
	}
)

// days is how many days orders_daily has orders of, in the order of their numbers.
const days = 20

// anyKey is the customer of order i; all columns are functions of the order's number and the seed alone.
func anyKey(s size) string {
	return fmt.Sprintf("CAST(%s %% %d AS BIGINT)", random(s, 1), s.customers())
}

func random(s size, column int) string { return fmt.Sprintf("hash(i, %d)", s.seed*100+int64(column)) }

const anyDate = "DATE '2024-01-01' + CAST(%s %% 730 AS INTEGER)"

// ordersFrom gives the orders from..to-1.
func ordersFrom(s size, key, date string, from, to int64) string {
	return fmt.Sprintf(`SELECT %s AS customer_id, i AS order_id,
  CAST(CAST(%s %% 100000 AS DECIMAL(12,2)) / 100 AS DECIMAL(12,2)) AS amount,
  CASE CAST(%s %% 4 AS INTEGER) WHEN 0 THEN 'open' WHEN 1 THEN 'paid' WHEN 2 THEN 'shipped' ELSE 'returned' END AS status,
  %s AS order_date
FROM range(%d, %d) AS r(i)`, key, random(s, 2), random(s, 3), date, from, to)
}

func orders(s size) string {
	return ordersFrom(s, anyKey(s), fmt.Sprintf(anyDate, random(s, 4)), 0, s.orders)
}

// oldOrders are the tenth that was written before the table was bucketed.
func oldOrders(s size) string {
	return ordersFrom(s, anyKey(s), fmt.Sprintf(anyDate, random(s, 4)), 0, s.orders/10)
}

func newOrders(s size) string {
	return ordersFrom(s, anyKey(s), fmt.Sprintf(anyDate, random(s, 4)), s.orders/10, s.orders)
}

// skewedOrders gives one customer a fifth of all orders.
func skewedOrders(s size) string {
	key := fmt.Sprintf("CASE WHEN %s %% 5 = 0 THEN 7 ELSE %s END", random(s, 5), anyKey(s))
	return ordersFrom(s, key, fmt.Sprintf(anyDate, random(s, 4)), 0, s.orders)
}

func dailyOrders(s size) string {
	return ordersFrom(s, anyKey(s), fmt.Sprintf("DATE '2024-01-01' + CAST(i * %d // %d AS INTEGER)", days, s.orders), 0, s.orders)
}

func customers(s size) string {
	return fmt.Sprintf(`SELECT i AS customer_id, 'customer ' || i AS name,
  CASE CAST(%s %% 4 AS INTEGER) WHEN 0 THEN 'north' WHEN 1 THEN 'south' WHEN 2 THEN 'east' ELSE 'west' END AS region
FROM range(%d) AS r(i)`, random(s, 6), s.customers())
}

func profiles(s size) string {
	return fmt.Sprintf(`SELECT i AS customer_id, 'segment ' || %s %% 5 AS segment, CAST(%s %% 1000 AS INTEGER) AS score
FROM range(%d) AS r(i)`, random(s, 7), random(s, 8), s.customers())
}
