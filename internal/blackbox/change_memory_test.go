package blackbox

import (
	"fmt"
	"strings"
	"testing"
)

// TestChangesWithinMemory changes every other row of one large file: the places of the rows, and the delete files that they become,
// stay within the memory limit. A join for which it is too small is an error that says so, and changes nothing.
func TestChangesWithinMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes and reads 16,000,000 rows again and again")
	}
	const rows, memory = 16_000_000, 160 * mib
	lake := []string{"sql", "--quiet", "--format", "csv", "--catalog", "lake", "--type", "hadoop", "--warehouse", t.TempDir()}
	run := func(flags []string, statements ...string) outcome {
		args := append(lake[:len(lake):len(lake)], flags...)
		for _, s := range statements {
			args = append(args, "-c", s)
		}
		return finish(t, child(t, args...))
	}
	run(nil, "CREATE NAMESPACE db").ok(t)
	for _, c := range []struct {
		name      string
		version   int
		mode      string
		statement string
		left, sum int64 // of rows, and of their column v
	}{
		{"position deletes", 2, "merge-on-read", "DELETE FROM db.t WHERE k % 2 = 1", rows / 2, 0},
		{"a deletion vector", 3, "merge-on-read", "DELETE FROM db.t WHERE k % 2 = 1", rows / 2, 0},
		{"copy on write", 2, "copy-on-write", "DELETE FROM db.t WHERE k % 2 = 1", rows / 2, 0},
		{"rows that are matched and stay", 2, "merge-on-read", `MERGE INTO db.t USING (SELECT i FROM range(0, 16000000, 2) r(i)) s
			ON t.k = s.i WHEN MATCHED AND t.k % 16 = 0 THEN UPDATE SET v = 1`, rows, rows / 16},
	} {
		t.Run(c.name, func(t *testing.T) {
			run(nil, fmt.Sprintf("CREATE TABLE db.t (k BIGINT, v BIGINT) TBLPROPERTIES ('format-version' = '%d')", c.version),
				fmt.Sprintf("INSERT INTO db.t SELECT i, 0 FROM range(%d) r(i)", rows)).ok(t)
			defer func() { run(nil, "DROP TABLE db.t PURGE").ok(t) }()
			flags, usage := usageFlags(t)
			temp := t.TempDir()
			flags = append(flags, "--memory", fmt.Sprintf("%dMiB", memory/mib), "--temp", temp)
			changed := run(flags, "SET tarn.row_change_mode = '"+c.mode+"'", c.statement)
			left, sum := c.left, c.sum
			if isJoin := strings.HasPrefix(c.statement, "MERGE"); isJoin && changed.code == 9 && strings.Contains(changed.stderr, "memory") {
				left, sum = rows, 0
			} else {
				changed.ok(t)
			}
			wantEmpty(t, temp)
			peak := usage().PeakBytes
			t.Logf("the peak is %d MiB", peak/mib)
			if peak == 0 || peak > memory {
				t.Errorf("the peak is %d MiB, the limit %d", peak/mib, memory/mib)
			}
			got := run(nil, "SELECT count(*), sum(v) FROM db.t").ok(t)
			if want := fmt.Sprintf("%d,%d", left, sum); !strings.HasSuffix(strings.TrimSpace(got), want) {
				t.Errorf("the rows are %s, wanted %s", got, want)
			}
		})
	}
}

// TestWritesTwiceWithinMemory has files written a second time: those with columns of type fixed, by another library, and those of an older partition
// spec of which a dynamic overwrite keeps rows, by a second job.
func TestWritesTwiceWithinMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes 600 MB of rows")
	}
	const memory = 256 * mib
	lake := []string{"sql", "--quiet", "--format", "csv", "--catalog", "lake", "--type", "hadoop", "--warehouse", t.TempDir()}
	run := func(flags []string, statements ...string) outcome {
		args := append(lake[:len(lake):len(lake)], flags...)
		for _, s := range statements {
			args = append(args, "-c", s)
		}
		return finish(t, child(t, args...))
	}
	within := func(statements ...string) {
		t.Helper()
		flags, usage := usageFlags(t)
		temp := t.TempDir()
		run(append(flags, "--threads", "2", "--memory", fmt.Sprintf("%dMiB", memory/mib), "--temp", temp), statements...).ok(t)
		wantEmpty(t, temp)
		peak := usage().PeakBytes
		t.Logf("the peak of %s is %d MiB", statements[len(statements)-1], peak/mib)
		if peak == 0 || peak > memory {
			t.Errorf("the peak is %d MiB, the limit %d", peak/mib, memory/mib)
		}
	}
	want := func(query, want string) {
		t.Helper()
		if got := run(nil, query).ok(t); !strings.HasSuffix(strings.TrimSpace(got), want) {
			t.Errorf("%s: %s, wanted %s", query, got, want)
		}
	}
	run(nil, "CREATE NAMESPACE db",
		`CREATE TABLE db.f (k BIGINT, f FIXED(1600)) PARTITIONED BY (truncate(1000000, k))
			TBLPROPERTIES ('write.parquet.row-group-size-bytes' = '1073741824', 'write.parquet.compression-codec' = 'uncompressed')`,
		"CREATE TABLE db.o (k BIGINT, p INT, s STRING) PARTITIONED BY (bucket(2, k))",
		"INSERT INTO db.o SELECT i, i % 4, repeat(md5(i::VARCHAR), 6) FROM range(1000000) r(i)",
		"ALTER TABLE db.o REPLACE PARTITION FIELD bucket(2, k) WITH p", "ALTER TABLE db.o WRITE ORDERED BY s").ok(t)
	within("INSERT INTO db.f SELECT i, unhex(repeat(md5(i::VARCHAR), 100)) FROM range(150000) r(i)")
	within("SET tarn.row_change_mode = 'copy-on-write'", "DELETE FROM db.f WHERE k % 4 = 1")
	want("SELECT count(*), sum(k), count(*) FILTER (f = unhex(repeat(md5(k::VARCHAR), 100))) FROM db.f", "112500,8437462500,112500")
	within("SET tarn.partition_overwrite_mode = 'dynamic'", "INSERT OVERWRITE db.o SELECT i, 1, repeat(md5(i::VARCHAR), 6) FROM range(400000) r(i)")
	want("SELECT count(*), count(*) FILTER (p = 1), count(*) FILTER (s = repeat(md5(k::VARCHAR), 6)) FROM db.o", "1150000,400000,1150000")
}
