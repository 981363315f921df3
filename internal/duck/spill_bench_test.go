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
