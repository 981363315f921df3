package duck

import (
	"fmt"
	"testing"
	"time"

	"github.com/tarndb/tarn/transform"
)

const benchRows = 4_000_000

// BenchmarkKeyFunctions measures what a function costs a row, on one thread: the whole statement, and what it takes more
// than without the function. DuckDB's own hash is the yardstick: bucket may take at most three times as long.
func BenchmarkKeyFunctions(b *testing.B) {
	db, c := session(b, Options{Threads: 1})
	mustExec(b, c, fmt.Sprintf(`CREATE TABLE t AS SELECT i, i::INTEGER AS n, 'customer ' || (i * 7919) AS s, TIMESTAMP '2020-01-01' + INTERVAL (i * 7) SECOND AS ts,
		(i * 31)::DECIMAL(18,2) AS d FROM range(%d) r(i)`, benchRows))
	check := func(op transform.Op, n int, expected transform.Value) int64 {
		return registerCheck(b, db, KeyCheck{Column: "i", Type: longType, Transform: transform.Transform{Op: op, N: n},
			Files: []string{"f"}, Expected: []transform.Value{expected}})
	}
	bucket, truncate := check(transform.Bucket, 1, int32(0)), check(transform.Truncate, 1<<30, int64(0))
	for _, bench := range []struct{ name, without, with string }{
		{"hash-bigint", "sum(i)", "sum(hash(i))"},
		{"bucket-bigint", "sum(i)", "sum(tarn_bucket(64, i))"},
		{"bucket-integer", "sum(n)", "sum(tarn_bucket(64, n))"},
		{"hash-varchar", "max(s)", "sum(hash(s))"},
		{"bucket-varchar", "max(s)", "sum(tarn_bucket(64, s))"},
		{"bucket-decimal", "sum(d)", "sum(tarn_bucket(64, d))"},
		{"truncate-bigint", "sum(i)", "sum(tarn_truncate(10, i))"},
		{"days-timestamp", "max(ts)", "max(tarn_days(ts))"},
		{"verify-bucket", "sum(i)", fmt.Sprintf("sum(tarn_verify_long(%d, i, 0::UBIGINT))", bucket)},
		{"verify-range", "sum(i)", fmt.Sprintf("sum(tarn_verify_long(%d, i, 0::UBIGINT))", truncate)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			var with, without time.Duration
			for range b.N {
				without += timed(b, c, "SELECT "+bench.without+" FROM t")
				with += timed(b, c, "SELECT "+bench.with+" FROM t")
			}
			perRow := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(b.N) / benchRows }
			b.ReportMetric(perRow(with), "ns/row")
			b.ReportMetric(perRow(with-without), "ns/row-more")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func timed(b *testing.B, c *Conn, sql string) time.Duration {
	start := time.Now()
	mustRows(b, c, sql)
	return time.Since(start)
}

// BenchmarkStream measures chunks out of DuckDB, and as Arrow records.
func BenchmarkStream(b *testing.B) {
	_, c := session(b, Options{Threads: 1})
	for _, asArrow := range []bool{false, true} {
		b.Run(fmt.Sprintf("arrow=%t", asArrow), func(b *testing.B) {
			for range b.N {
				streamRows(b, c, asArrow)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
		})
	}
}

func streamRows(b *testing.B, c *Conn, asArrow bool) {
	res, err := c.Query(b.Context(), fmt.Sprintf("SELECT i, i + 1 FROM range(%d) t(i)", benchRows))
	if err != nil {
		b.Fatal(err)
	}
	defer res.Close()
	for rows := 0; rows < benchRows; {
		chunk, err := res.Next(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		rows += chunk.Rows()
		if asArrow {
			rec, err := chunk.Record()
			if err != nil {
				b.Fatal(err)
			}
			rec.Release()
		}
		chunk.Close()
	}
}

// BenchmarkOpen measures an instance with a connection.
func BenchmarkOpen(b *testing.B) {
	for range b.N {
		db, err := Open(b.Context(), Options{Threads: 1, TempDir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
