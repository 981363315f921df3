package blackbox

import (
	"fmt"
	"strings"
	"testing"
)

// TestInsertWithinMemory writes the join of two tables that are five times the memory, row by row a kilobyte, in all ways in which
// rows go to files.
func TestInsertWithinMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 1.4 GB of disk")
	}
	const memory = 256 * mib
	lake := wideLake(t, leastLake)
	for _, c := range []struct{ name, layout, order string }{
		{"by the layout that both have", "PARTITIONED BY (bucket(64, k))", ""},
		{"by the layout that both have, sorted", "PARTITIONED BY (bucket(64, k))", "pad, id DESC"},
		{"by another layout, sorted", "PARTITIONED BY (bucket(48, id))", "pad, id DESC"},
		{"without a layout", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := func(flags []string, statements ...string) outcome {
				for _, s := range statements {
					flags = append(flags, "-c", s)
				}
				return finish(t, child(t, lake.args("sql", append([]string{"--format", "csv"}, flags...)...)...))
			}
			make := []string{"CREATE TABLE big.made (k BIGINT, id BIGINT, w BIGINT, pad STRING, note STRING) USING iceberg " + c.layout}
			if c.order != "" {
				make = append(make, "ALTER TABLE big.made WRITE ORDERED BY "+c.order)
			}
			run(nil, make...).ok(t)
			defer func() { run(nil, "DROP TABLE big.made PURGE").ok(t) }()
			flags, usage := usageFlags(t)
			temp := t.TempDir()
			flags = append(flags, "--memory", fmt.Sprintf("%dMiB", memory/mib), "--temp", temp)
			run(flags, "INSERT INTO big.made SELECT l.k, l.id, r.w, l.pad, r.note FROM "+joined).ok(t)
			wantEmpty(t, temp)
			if peak := usage().PeakBytes; peak == 0 || peak > memory {
				t.Errorf("the peak is %d MiB", peak/mib)
			}
			got := run(nil, "SELECT count(*), sum(id), sum(w), max(length(pad)) FROM big.made").ok(t)
			want := fmt.Sprintf("%d,%d,%d,384", lake.rows(), lake.sumOfID(), lake.sumOfW())
			if !strings.HasSuffix(strings.TrimSpace(got), want) {
				t.Errorf("the rows are %s, wanted %s", got, want)
			}
		})
	}
}
