package duck

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/deletes"
)

// BenchmarkDeletes measures what deletes cost a scan of 10 M rows of two columns on one thread: CPU time with them over
// CPU time without. Position deletes of 1 % may cost 1.3 times as much at most.
func BenchmarkDeletes(b *testing.B) {
	const rows = 10_000_000
	db, c := session(b, Options{Threads: 1})
	key, value := primitive(1, "k", longType), primitive(2, "v", longType)
	path := filepath.Join(b.TempDir(), "a.parquet")
	sql := fmt.Sprintf("SELECT i AS k, hash(i) %% 1000000::BIGINT AS v FROM range(%d) t(i)", rows)
	if _, err := c.CopyParquet(b.Context(), "SELECT k, v::BIGINT AS v FROM ("+sql+")", []catalog.Field{key, value}, path, CopyOptions{}); err != nil {
		b.Fatal(err)
	}
	s := Scan{Files: []ScanFile{{Ref: catalog.FileRef{Local: path}}}, Columns: columnsOf(key, value)}
	without := mustScan(b, s)
	s.Files[0].Equality = []catalog.EqualityColumn{{Root: key}}
	for _, every := range []int64{1000, 100, 2} {
		p, set := &deletes.Positions{}, valuesOf(b, c, fmt.Sprintf("SELECT i FROM range(0, %d, %d) t(i)", rows, every), 0, 1)
		for i := int64(0); i < rows; i += every {
			p.Add(i)
		}
		for name, rows := range map[string]RowSet{
			"positions": {Positions: p}, "values": {Equality: []EqualityTest{{Columns: []int{0}, Set: set, Scopes: []int{0}}}},
		} {
			b.Run(fmt.Sprintf("%s/1-in-%d", name, every), func(b *testing.B) {
				s := s
				if name == "positions" {
					s.Files = []ScanFile{{Ref: catalog.FileRef{Local: path}}}
				}
				s.Deletes = registerDeletes(b, db, FileDeletes{Deleted: rows})
				compareCPU(b, c, without, mustScan(b, s))
			})
		}
	}
}

// compareCPU reports the CPU time of sums over one scan as a multiple of those over the other, in turns.
func compareCPU(b *testing.B, c *Conn, without, with string) {
	var cpu [2]time.Duration
	for range b.N {
		for i, text := range []string{without, with} {
			start := cpuTime(b)
			mustRows(b, c, "SELECT sum(k), sum(v) FROM ("+text+")")
			cpu[i] += cpuTime(b) - start
		}
	}
	b.ReportMetric(float64(cpu[1])/float64(cpu[0]), "cpu-ratio")
	b.ReportMetric(float64(cpu[0].Milliseconds())/float64(b.N), "ms-without")
	b.ReportMetric(0, "ns/op")
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Skip(os.NewSyscallError("getrusage", err))
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
