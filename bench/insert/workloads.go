package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tarndb/tarn/internal/bench"
)

// The bars.
const (
	parquetBar = 1.15 // CPU over DuckDB's
	memoryBar  = 600  // MiB, of the INSERT from Parquet
	joinBar    = 1.1  // CPU over the join's and the encoding's
	tuplesBar  = 512  // MiB, of the INSERT of many partitions, which is also the limit that it is given
)

// fromParquet measures an INSERT of all orders from Parquet.
func (b *bed) fromParquet(ctx context.Context, r *report) error {
	const table = "parted"
	var tarn, duckdb []bench.Outcome
	query := fmt.Sprintf("SELECT * FROM read_parquet('%s')", b.source())
	for i := range b.runs + 1 { // the first warms the page cache
		out, err := b.insert(ctx, table, orderColumns, layout, query)
		if err != nil {
			return err
		}
		theirs, err := b.copyParted(ctx)
		if err != nil {
			return err
		}
		if i > 0 {
			tarn, duckdb = append(tarn, out), append(duckdb, theirs)
		}
	}
	files, partitions, err := b.checked(ctx, table, "customer_id, order_id, amount, status, order_date", query)
	if err != nil {
		return err
	}
	r.title("INSERT from Parquet into bucket(64), beside DuckDB's COPY with PARTITION_BY")
	r.paths([]path{{"tarn", tarn}, {"duckdb", duckdb}})
	r.bar("CPU, tarn / duckdb", bench.Median(tarn, bench.CPU)/bench.Median(duckdb, bench.CPU), parquetBar)
	r.always("peak memory of tarn, MiB", bench.Median(tarn, bench.Peak), memoryBar)
	r.always("files per bucket", float64(files)/float64(partitions), 1)
	return nil
}

// copyParted has DuckDB write the orders to a file per bucket. Its hash stands for Iceberg's, which it doesn't have.
func (b *bed) copyParted(ctx context.Context) (bench.Outcome, error) {
	dir := filepath.Join(b.dir, "copied")
	if err := os.RemoveAll(dir); err != nil {
		return bench.Outcome{}, err
	}
	return b.runDuckDB(ctx, fmt.Sprintf("COPY (SELECT *, hash(customer_id) %% %d AS bucket FROM read_parquet('%s')) TO '%s' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (bucket))",
		buckets, b.source(), dir))
}

// fromJoin measures an INSERT of a join of two tables into one that is laid out as they are. The join by itself gives the
// greatest value of each column. The encoding by itself is what DuckDB takes to copy the joined rows to one file, less what it
// takes to read them.
func (b *bed) fromJoin(ctx context.Context, r *report) error {
	const (
		table    = "joined"
		columns  = "customer_id, order_id, amount, status, order_date, name, region"
		query    = "SELECT o.*, c.name, c.region FROM bench.orders o JOIN bench.customers c ON o.customer_id = c.customer_id"
		greatest = "SELECT max(customer_id), max(order_id), max(amount), max(status), max(order_date), max(name), max(region) FROM "
	)
	var insert, join, copied, scan []bench.Outcome
	for i := range b.runs + 1 {
		out, err := b.insert(ctx, table, orderColumns+", name STRING, region STRING", layout, query)
		if err != nil {
			return err
		}
		alone, err := b.runTarn(ctx, greatest+"("+query+") AS r")
		if err != nil {
			return err
		}
		rows := fmt.Sprintf("read_parquet('%s')", filepath.Join(b.warehouse(), "bench", table, "data", "*", "*.parquet"))
		read, err := b.runDuckDB(ctx, greatest+rows)
		if err != nil {
			return err
		}
		if lastLine(alone.Output) != lastLine(read.Output) {
			return fmt.Errorf("the joined rows that were written are others than those that were read: %s, not %s", lastLine(read.Output), lastLine(alone.Output))
		}
		file := filepath.Join(b.dir, "encoded.parquet")
		encoded, err := b.runDuckDB(ctx, fmt.Sprintf("COPY (SELECT * FROM %s) TO '%s' (FORMAT parquet, COMPRESSION zstd)", rows, file))
		if err != nil {
			return err
		}
		if err := os.Remove(file); err != nil {
			return err
		}
		if i > 0 {
			insert, join, copied, scan = append(insert, out), append(join, alone), append(copied, encoded), append(scan, read)
		}
	}
	files, partitions, err := b.checked(ctx, table, columns, query)
	if err != nil {
		return err
	}
	r.title("INSERT of the join of two tables by bucket(64) into one of that layout, beside the join and the encoding")
	r.paths([]path{{"tarn", insert}, {"join", join}, {"copy", copied}, {"scan", scan}})
	floor := bench.Median(join, bench.CPU) + bench.Median(copied, bench.CPU) - bench.Median(scan, bench.CPU)
	r.bar("CPU, tarn / (join + copy - scan)", bench.Median(insert, bench.CPU)/floor, joinBar)
	r.always("files per bucket", float64(files)/float64(partitions), 1)
	return nil
}

// manyTuples measures an INSERT into many partitions, within little memory.
func (b *bed) manyTuples(ctx context.Context, r *report) error {
	const table = "many"
	query := fmt.Sprintf("SELECT CAST(order_id %% %d AS INTEGER) AS part, * FROM read_parquet('%s')", b.tuples, b.source())
	out, err := b.insert(ctx, table, "part INT, "+orderColumns, "PARTITIONED BY (part)", query, "--memory", fmt.Sprintf("%dMiB", tuplesBar))
	if err != nil {
		return err
	}
	files, partitions, err := b.checked(ctx, table, "part, customer_id, order_id, amount, status, order_date", query)
	if err != nil {
		return err
	}
	if partitions != b.tuples {
		return fmt.Errorf("bench.%s has %d partitions, not %d", table, partitions, b.tuples)
	}
	r.title(fmt.Sprintf("INSERT from Parquet into %d partitions with --memory %dMiB", b.tuples, tuplesBar))
	r.paths([]path{{"tarn", []bench.Outcome{out}}})
	r.always("peak memory, MiB", bench.Peak(out), tuplesBar)
	r.always("files per partition", float64(files)/float64(partitions), 1)
	return nil
}
