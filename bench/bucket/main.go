package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tarndb/tarn/internal/bench"
	"github.com/tarndb/tarn/internal/duck"
)

// bar is bucket's cost over hash's, the cost of producing the column taken off both.
const bar = 3.0

const rows = 20_000_000

func main() {
	bench.Exit(run(context.Background()))
}

func run(ctx context.Context) (missed bool, err error) {
	db, err := duck.Open(ctx, duck.Options{Threads: 1})
	if err != nil {
		return false, err
	}
	defer db.Close()
	conn, err := db.Connect()
	if err != nil {
		return false, err
	}
	defer conn.Close()
	fmt.Printf("%d rows, 1 thread, nanoseconds a row, medians of 7 interleaved runs, the bare column's cost taken off\n\n", rows)
	fmt.Printf("%-10s %10s %10s %8s %8s\n", "column", "bucket", "hash", "ratio", "bar")
	for _, c := range []struct{ name, expr string }{{"BIGINT", "i"}, {"VARCHAR", "'customer ' || i"}} {
		if err := conn.Exec(ctx, fmt.Sprintf("CREATE OR REPLACE TABLE t AS SELECT %s AS x FROM range(%d) AS r(i)", c.expr, rows)); err != nil {
			return false, err
		}
		bare, bucket, hash, err := compare(ctx, conn)
		if err != nil {
			return false, err
		}
		ratio := (bucket - bare) / (hash - bare)
		verdict := fmt.Sprintf("<= %.1f", bar)
		if ratio > bar {
			verdict, missed = verdict+" MISSED", true
		}
		fmt.Printf("%-10s %10.2f %10.2f %8.2f %8s\n", c.name, bucket-bare, hash-bare, ratio, verdict)
	}
	return missed, nil
}

// compare returns the medians in nanoseconds a row of reading the column, of bucket over it and of hash over it.
func compare(ctx context.Context, conn *duck.Conn) (bare, bucket, hash float64, err error) {
	queries := []string{
		"SELECT count(x) FROM t",
		"SELECT sum(tarn_bucket(64, x)) FROM t",
		"SELECT sum(hash(x) & 63) FROM t",
	}
	times := make([][]float64, len(queries))
	for range 7 {
		for i, q := range queries {
			start := time.Now()
			if err := drain(ctx, conn, q); err != nil {
				return 0, 0, 0, err
			}
			times[i] = append(times[i], float64(time.Since(start).Nanoseconds())/rows)
		}
	}
	for i := range times {
		slices.Sort(times[i])
	}
	return times[0][3], times[1][3], times[2][3], nil
}

func drain(ctx context.Context, conn *duck.Conn, query string) error {
	return conn.Stream(ctx, query, func(ch *duck.Chunk) error {
		ch.Close()
		return nil
	})
}
