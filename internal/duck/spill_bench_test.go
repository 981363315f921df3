package duck

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/tarndb/tarn/transform"
)

// BenchmarkSpill measures what it costs a row to be read from a file, sent to its bin and spilled, on one thread, and then
// to be read back. The scan alone is the yardstick.
func BenchmarkSpill(b *testing.B) {
	_, c := session(b, Options{Threads: 1})
	for _, table := range []struct {
		name, value string
		rows        int
		typ         transform.Type
	}{
		{"narrow", "i", 3_000_000, longType},
		{"1kB", "repeat(hash(i)::VARCHAR, 50)", 300_000, stringType},
	} {
		columns := []ScanColumn{{Field: primitive(1, "k", longType), As: "k"}, {Field: primitive(2, "v", table.typ), As: "v"}}
		file := filepath.Join(b.TempDir(), "f.parquet")
		mustExec(b, c, fmt.Sprintf("COPY (SELECT i * 7919 %% 3000000 AS k, %s AS v FROM range(%d) t(i)) TO '%s' (ROW_GROUP_SIZE %d)", table.value, table.rows, file, 16<<10))
		scan := "SELECT * FROM read_parquet('" + file + "')"
		measure := func(name string, prepare, do func()) {
			b.Run(table.name+"/"+name, func(b *testing.B) {
				var sum time.Duration
				for b.Loop() {
					prepare()
					start := cpuTime(b)
					do()
					sum += cpuTime(b) - start
				}
				b.ReportMetric(float64(sum.Nanoseconds())/float64(b.N*table.rows), "cpu-ns/row")
			})
		}
		measure("scan", func() {}, func() { mustExec(b, c, "SELECT sum(k), max(v) FROM ("+scan+")") })
		for _, bins := range []int{16, 64, 500} {
			var s *Spill
			done := func() {
				if s != nil {
					if err := s.Close(); err != nil {
						b.Fatal(err)
					}
				}
			}
			measure(fmt.Sprintf("route/%d", bins), done, func() { s = routed(b, c, scan, columns, bins) })
			measure(fmt.Sprintf("read/%d", bins), func() {}, func() {
				for bin := range bins {
					sql, release := s.Read(bin)
					mustExec(b, c, "SELECT sum(k), max(v) FROM ("+sql+")")
					release()
				}
			})
			done()
		}
	}
}

// routed spills the rows of sql.
func routed(b *testing.B, c *Conn, sql string, columns []ScanColumn, bins int) *Spill {
	b.Helper()
	s, err := c.NewSpill(filepath.Join(b.TempDir(), "bin"), columns, bins)
	if err == nil {
		err = spillRows(b.Context(), c, sql, s.Writer(4<<20), bucketBins(b, bins))
	}
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkRoute measures what finding the bin costs a row, by the kind of key, with 1,000 groups.
func BenchmarkRoute(b *testing.B) {
	_, c := session(b, Options{Threads: 1})
	const rows = 1_000_000
	for _, bench := range []struct {
		value      string
		transforms []string
	}{
		{"i", []string{"bucket[1000]"}}, {"i", []string{"identity"}}, {"i", []string{"truncate[1000]"}}, {"TIMESTAMP '2020-01-01' + to_seconds(i * 7919 % 86400000)", []string{"day"}},
		{"'customer ' || i % 1000", []string{"identity"}}, {"'customer ' || i", []string{"bucket[1000]"}}, {"'customer ' || i", []string{"truncate[12]"}},
		{"(i * 31)::DECIMAL(38, 2)", []string{"truncate[1000]"}}, {"i", []string{"bucket[20]", "bucket[50]"}},
	} {
		b.Run(fmt.Sprint(bench.value, bench.transforms), func(b *testing.B) {
			sql := fmt.Sprintf("SELECT %s AS k FROM range(%d) t(i)", bench.value, rows)
			res, err := c.Query(b.Context(), sql)
			if err != nil {
				b.Fatal(err)
			}
			defer res.Close()
			var chunks []*Chunk
			for ch, err := res.Next(b.Context()); err == nil; ch, err = res.Next(b.Context()) {
				chunks = append(chunks, ch)
				defer ch.Close()
			}
			bins := NewBins(16, len(bench.transforms))
			var keys []RouteKey
			for _, text := range bench.transforms {
				t, err := transform.Parse(text)
				if err != nil {
					b.Fatal(err)
				}
				keys = append(keys, RouteKey{Transform: t})
			}
			for i := range 1000 {
				bins.Put([]transform.Value{int64(i), int64(i)}[:len(keys)], i%16)
			}
			r, err := bins.Router(keys, []bool{true, true, true, true}[:1<<len(keys)])
			if err != nil {
				b.Fatal(err)
			}
			var sum time.Duration
			for b.Loop() {
				start := cpuTime(b)
				for _, ch := range chunks {
					if _, err := r.Route(ch); err != nil {
						b.Fatal(err)
					}
				}
				sum += cpuTime(b) - start
			}
			b.ReportMetric(float64(sum.Nanoseconds())/float64(b.N*rows), "cpu-ns/row")
		})
	}
}
