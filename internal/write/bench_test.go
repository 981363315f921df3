package write

import (
	"fmt"
	"testing"
)

// BenchmarkSmallAppend appends one row.
func BenchmarkSmallAppend(b *testing.B) {
	l := newLab(b)
	t := l.table([]string{"k long", "v string"}, []string{"bucket[4] k"}, nil)
	for b.Loop() {
		if _, err := Append(b.Context(), l.conn, l.catalog, t, "SELECT 1, 'a'"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBuckets writes rows into 64 buckets, by Append and by DuckDB's COPY with PARTITION_BY of the same columns.
func BenchmarkBuckets(b *testing.B) {
	const rows = "SELECT range AS k, (hash(range) % 100000)::DECIMAL(12,2) AS amount, 'status ' || (range % 5) AS status, DATE '2024-01-01' + (range % 700)::INTEGER AS day FROM range(6000000)"
	b.Run("append", func(b *testing.B) {
		l := newLab(b)
		t := l.table([]string{"k long", "amount decimal(12,2)", "status string", "day date"}, []string{"bucket[64] k"}, nil)
		for b.Loop() {
			if _, err := Append(b.Context(), l.conn, l.catalog, t, rows); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("copy", func(b *testing.B) {
		l := newLab(b)
		for i := 0; b.Loop(); i++ {
			text := fmt.Sprintf("COPY (SELECT *, tarn_bucket(64, k) AS b FROM (%s)) TO '%s/%d' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (b), WRITE_PARTITION_COLUMNS false)", rows, b.TempDir(), i)
			if err := l.conn.Exec(b.Context(), text); err != nil {
				b.Fatal(err)
			}
		}
	})
}
