package blackbox

import (
	"context"
	"strings"
	"testing"
)

// pressedLake has tables whose rows take some twenty times the memory that their bytes say, where one key of big.hot has half of all rows.
func pressedLake(t *testing.T) *folder {
	t.Helper()
	f, err := openFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []bucketed{
		{name: "o", buckets: 16, from: "range(300000) r(i)", columns: []column{
			{"k", longType, "i % 50000"}, {"v", longType, "i % 1000"}, {"w", stringType, "'text of some length ' || i"},
		}},
		{name: "c", buckets: 16, from: "range(100000) r(i)", columns: []column{{"k", longType, "i"}, {"name", stringType, "'name ' || i"}}},
		{name: "hot", buckets: 16, from: "range(200000) r(i)", columns: []column{
			{"k", longType, "CASE WHEN i % 2 = 0 THEN 5 ELSE i END"}, {"w", stringType, "md5(i::VARCHAR)"},
		}},
	} {
		if _, err := f.add(context.Background(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestPacksThatDontFit: packs whose rows take far more memory than their files' bytes say, and a key that has more rows than fit,
// where another equality tells them apart, run in parts of what they are.
func TestPacksThatDontFit(t *testing.T) {
	f := pressedLake(t)
	for _, c := range []struct {
		query string
		lines int
	}{
		{"SELECT o.*, row_number() OVER (PARTITION BY o.k ORDER BY o.v DESC, o.w) AS r FROM big.o AS o JOIN big.c AS c ON o.k = c.k", 300001},
		{"SELECT a.*, b.w FROM big.hot AS a JOIN big.hot AS b ON a.k = b.k AND a.w = b.w", 200001},
		{"SELECT a.*, b.w FROM big.hot AS a FULL JOIN big.hot AS b ON a.k = b.k AND a.w = b.w", 200001},
	} {
		got := finish(t, child(t, f.args("sql", "--memory", "128MiB", "--threads", "2", "--temp", t.TempDir(), "--format", "csv", "-c", c.query)...))
		if lines := strings.Count(got.stdout, "\n"); got.code != 0 || lines != c.lines {
			t.Errorf("%s: exit %d with %d lines, wanted %d: %s", c.query, got.code, lines, c.lines, clip(got.stderr))
		}
		plan := finish(t, child(t, f.args("sql", "--memory", "128MiB", "--threads", "2", "--temp", t.TempDir(), "-c", "EXPLAIN ANALYZE "+c.query)...))
		if !strings.Contains(plan.stdout, "in parts, for want of memory") {
			t.Errorf("EXPLAIN ANALYZE doesn't say that packs ran in parts: %s%s", plan.stdout, clip(plan.stderr))
		}
	}
}

// TestWantOfMemoryNamesWhatHelps: one key with more rows than fit, which nothing divides.
func TestWantOfMemoryNamesWhatHelps(t *testing.T) {
	f := pressedLake(t)
	got := finish(t, child(t, f.args("sql", "--memory", "128MiB", "--threads", "2", "--temp", t.TempDir(), "-c",
		"SELECT k, count(DISTINCT w), string_agg(w, ',' ORDER BY w) AS s FROM big.hot GROUP BY k")...))
	if got.code != 9 || !strings.Contains(got.stderr, "--memory") || !strings.Contains(got.stderr, "--threads") {
		t.Errorf("exit %d, wanted 9 with what helps: %s", got.code, clip(got.stderr))
	}
}
