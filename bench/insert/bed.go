package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarndb/tarn/internal/bench"
)

// bed is a folder with a lake, in which tables are made, and with Parquet files to read.
type bed struct {
	options
	tarn, duckdb string // the programs
	threads      int
}

func (b *bed) customers() int64 { return max(b.rows*3/20, 1) }

func (b *bed) warehouse() string { return filepath.Join(b.dir, "warehouse") }

// source is the Parquet file of all orders.
func (b *bed) source() string { return filepath.Join(b.dir, "orders.parquet") }

const (
	orderColumns = "customer_id BIGINT, order_id BIGINT, amount DECIMAL(12,2), status STRING, order_date DATE"
	layout       = "PARTITIONED BY (bucket(64, customer_id))"
	buckets      = 64
	// allOrders gives all orders, in no order of the customers.
	allOrders = `SELECT CAST(hash(i, 1) %% %d AS BIGINT) AS customer_id, i AS order_id,
  CAST(CAST(hash(i, 2) %% 100000 AS DECIMAL(12,2)) / 100 AS DECIMAL(12,2)) AS amount,
  CASE CAST(hash(i, 3) %% 4 AS INTEGER) WHEN 0 THEN 'open' WHEN 1 THEN 'paid' WHEN 2 THEN 'shipped' ELSE 'returned' END AS status,
  DATE '2024-01-01' + CAST(hash(i, 4) %% 730 AS INTEGER) AS order_date
FROM range(%d) AS r(i)`
	allCustomers = "SELECT i AS customer_id, 'customer ' || i AS name, hash(i, 5) %% 4 || ' region' AS region FROM range(%d) AS r(i)"
)

// fill makes what is read, unless it is there. A file that says so is written last.
func (b *bed) fill(ctx context.Context) error {
	mark := filepath.Join(b.dir, "made")
	if _, err := os.Stat(mark); err == nil {
		return nil
	}
	fmt.Fprintf(os.Stderr, "making %d orders ...\n", b.rows)
	if err := errors.Join(os.RemoveAll(b.dir), os.MkdirAll(b.warehouse(), 0o777)); err != nil {
		return err
	}
	orders := fmt.Sprintf(allOrders, b.customers(), b.rows)
	if _, err := b.runDuckDB(ctx, fmt.Sprintf("COPY (%s) TO '%s' (FORMAT parquet, COMPRESSION zstd)", orders, b.source())); err != nil {
		return err
	}
	for _, statements := range []string{
		"CREATE NAMESPACE bench",
		"CREATE TABLE bench.orders (" + orderColumns + ") USING iceberg " + layout,
		fmt.Sprintf("INSERT INTO bench.orders SELECT * FROM read_parquet('%s')", b.source()),
		"CREATE TABLE bench.customers (customer_id BIGINT, name STRING, region STRING) USING iceberg " + layout,
		"INSERT INTO bench.customers " + fmt.Sprintf(allCustomers, b.customers()),
	} {
		if _, err := b.runTarn(ctx, statements); err != nil {
			return err
		}
	}
	return os.WriteFile(mark, nil, 0o600)
}

func (b *bed) runTarn(ctx context.Context, statements string, flags ...string) (bench.Outcome, error) {
	args := append([]string{
		"sql", "--quiet", "--format", "csv", "--threads", fmt.Sprint(b.threads), "--catalog", "lake", "--type", "hadoop",
		"--warehouse", filepath.ToSlash(b.warehouse()), "--temp", filepath.Join(b.dir, "temp"),
	}, flags...)
	return bench.Run(ctx, statements, b.tarn, args...)
}

func (b *bed) runDuckDB(ctx context.Context, statement string) (bench.Outcome, error) {
	return bench.Run(ctx, statement, b.duckdb, "--threads", fmt.Sprint(b.threads))
}

// insert makes a table and measures an INSERT into it.
func (b *bed) insert(ctx context.Context, table, columns, layout, query string, flags ...string) (bench.Outcome, error) {
	if _, err := b.runTarn(ctx, fmt.Sprintf("DROP TABLE IF EXISTS bench.%s PURGE; CREATE TABLE bench.%s (%s) USING iceberg %s", table, table, columns, layout)); err != nil {
		return bench.Outcome{}, err
	}
	return b.runTarn(ctx, fmt.Sprintf("INSERT INTO bench.%s %s", table, query), flags...)
}

// checked compares the rows of a table with those of a query, by columns that both have, and returns how many files and partitions
// the table has.
func (b *bed) checked(ctx context.Context, table, columns, query string) (files, partitions int64, err error) {
	sum := "SELECT count(*), bit_xor(hash(" + columns + ")) FROM "
	wrote, err := b.runTarn(ctx, sum+"bench."+table)
	if err != nil {
		return 0, 0, err
	}
	read, err := b.runTarn(ctx, sum+"("+query+") AS r")
	if err != nil {
		return 0, 0, err
	}
	if rows := lastLine(wrote.Output); rows != lastLine(read.Output) {
		return 0, 0, fmt.Errorf("bench.%s has other rows than were inserted: their number and sum are %s, not %s", table, rows, lastLine(read.Output))
	}
	out, err := b.runTarn(ctx, "SELECT count(*), count(DISTINCT partition) FROM bench."+table+".files")
	if err == nil {
		_, err = fmt.Sscanf(lastLine(out.Output), "%d,%d", &files, &partitions)
	}
	return files, partitions, err
}

func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }
