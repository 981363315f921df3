package exec

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/internal/task"
)

// shop has orders of 40 customers and none, customers of whom some have no orders, and a note on the files.
func shop(t *testing.T) *lab {
	l := newLab(t)
	l.table("s.orders", "customer bigint, id bigint, total decimal(9, 2), weight double", 8,
		`SELECT CASE WHEN i % 11 = 0 THEN NULL ELSE (i * 7) % 40 END::BIGINT AS customer, i AS id,
		(i % 1000)::DECIMAL(9, 2) AS total, i / 3.0 AS weight FROM range(5000) t(i)`, 0)
	l.table("s.customers", "id bigint, region string", 8,
		`SELECT CASE WHEN i = 0 THEN NULL ELSE i END::BIGINT AS id, 'r' || (i % 5) AS region FROM range(30, 60) t(i)
		UNION ALL SELECT NULL, 'none'`, 0)
	l.table("s.nothing", "id bigint, region string", 8, "SELECT 1::BIGINT AS id, '' AS region WHERE false", 0)
	return l
}

// queries has one of each shape of plan; those in order have a total one.
var queries = []struct {
	sql     string
	inOrder bool
}{
	{"SELECT o.id, c.region FROM s.orders o JOIN s.customers c ON o.customer = c.id", false},
	{"SELECT o.id, c.region FROM s.orders o LEFT JOIN s.customers c ON o.customer = c.id", false},
	{"SELECT o.id, c.region FROM s.orders o RIGHT JOIN s.customers c ON o.customer = c.id", false},
	{"SELECT o.id, c.region FROM s.orders o FULL JOIN s.customers c ON o.customer = c.id", false},
	{"SELECT o.id, c.region FROM s.orders o FULL JOIN s.customers c ON o.customer <=> c.id AND o.id > 3000", false},
	{"SELECT id FROM s.orders WHERE customer IN (SELECT id FROM s.customers)", false},
	{"SELECT id FROM s.orders o WHERE NOT EXISTS (SELECT 1 FROM s.customers c WHERE c.id = o.customer)", false},
	{"SELECT customer, count(*), sum(total), avg(weight) FROM s.orders GROUP BY customer", false},
	{"SELECT o.id FROM s.orders o JOIN s.customers c ON o.customer = c.id ORDER BY o.id DESC LIMIT 7 OFFSET 3", true},
	{"SELECT o.id, region FROM s.orders o JOIN s.customers c ON o.customer = c.id ORDER BY region, o.id", true},
	{"SELECT region, count(*), sum(total), avg(total), max(o.id) FROM s.orders o JOIN s.customers c ON o.customer = c.id GROUP BY 1", false},
	{"SELECT count(*), sum(total) FROM s.orders o JOIN s.customers c ON o.customer = c.id", false},
	{"SELECT region, count(DISTINCT customer), median(o.id) FROM s.orders o JOIN s.customers c ON o.customer = c.id GROUP BY 1", false},
	{"SELECT region, rank() OVER (PARTITION BY region ORDER BY o.id) FROM s.orders o JOIN s.customers c ON o.customer = c.id", false},
	{"SELECT customer, row_number() OVER (PARTITION BY customer ORDER BY id) FROM s.orders", false},
	{"SELECT o.id FROM s.orders o JOIN s.customers c ON o.customer = c.id UNION ALL SELECT c.id FROM s.customers c JOIN s.customers d USING (id)", false},
	{"SELECT o.id FROM s.orders o JOIN s.customers c ON o.customer = c.id EXCEPT SELECT id FROM s.customers", false},
	{"SELECT l.n, r.n FROM (SELECT region, count(*) AS n FROM s.orders o JOIN s.customers c ON o.customer = c.id GROUP BY 1) l FULL JOIN (SELECT region, count(*) AS n FROM s.customers c JOIN s.customers d USING (id, region) GROUP BY 1) r USING (region)", false},
	{"SELECT id, (SELECT max(region) FROM s.customers) FROM s.orders WHERE id < 10", false},
	{"SELECT o.id, n.region FROM s.orders o LEFT JOIN s.nothing n ON o.customer = n.id", false},
	{"SELECT o.id, n.region FROM s.orders o JOIN s.nothing n ON o.customer = n.id", false},
	{"SELECT count(*), sum(o.total) FROM s.orders o JOIN s.nothing n ON o.customer = n.id", false},
	{"SELECT n.region, count(*) FROM s.orders o JOIN s.nothing n ON o.customer = n.id GROUP BY 1", false},
	{"SELECT customer FROM s.orders WHERE id = 17", false},
}

// TestPlansAgree runs each query whole, in packs of one group, and in packs of several, with one worker and with two.
func TestPlansAgree(t *testing.T) {
	l := shop(t)
	for _, q := range queries {
		want, _ := l.mustRun(l.graph(q.sql, spj.Off, task.Options{}), Options{Workers: 1}, q.inOrder)
		for _, opts := range []struct {
			pack   task.Options
			worker int
			memory int64
		}{{task.Options{}, 2, 0}, {task.Options{PackBytes: 1 << 30, Workers: 1}, 1, 0}, {task.Options{}, 2, 1 << 30}} {
			got, _ := l.mustRun(l.graph(q.sql, spj.Auto, opts.pack), Options{Workers: opts.worker, MemoryBytes: opts.memory}, q.inOrder)
			if !slices.Equal(got, want) {
				t.Errorf("%s\nin packs (%+v) gives %d rows, whole %d:\n%.300q\n%.300q", q.sql, opts, len(got), len(want), got, want)
			}
		}
	}
}

// TestLimitStopsEarly checks that a bare LIMIT leaves packs unread, and gives as many rows as it should.
func TestLimitStopsEarly(t *testing.T) {
	l := shop(t)
	const query = "SELECT o.id FROM s.orders o JOIN s.customers c ON o.customer = c.id LIMIT %d"
	for _, limit := range []int{0, 1, 10} {
		g := l.graph(fmt.Sprintf(query, limit), spj.Auto, task.Options{})
		rows, stats := l.mustRun(g, Options{Workers: 1}, false)
		if len(rows) != limit {
			t.Errorf("LIMIT %d gave %d rows", limit, len(rows))
		}
		if all := len(g.Cores[0].Packs); limit > 0 && len(stats.Packs) >= all {
			t.Errorf("LIMIT %d ran %d packs of %d", limit, len(stats.Packs), all)
		}
	}
	rows, stats := l.mustRun(l.graph(fmt.Sprintf(query, 1000000), spj.Auto, task.Options{}), Options{Workers: 2}, false)
	all, _ := l.mustRun(l.graph(queries[0].sql, spj.Auto, task.Options{}), Options{Workers: 2}, false)
	if len(rows) != len(all) || len(stats.Packs) < 2 {
		t.Errorf("a limit beyond the end gave %d rows of %d", len(rows), len(all))
	}
}

func TestNoPacksAtAll(t *testing.T) {
	l := shop(t)
	for query, want := range map[string]string{
		"SELECT n.id FROM s.nothing n JOIN s.nothing m USING (id)":                                           "[]",
		"SELECT count(*), max(n.region) FROM s.nothing n JOIN s.nothing m USING (id)":                        "[0|(null)]",
		"SELECT n.region, count(*) FROM s.nothing n JOIN s.nothing m USING (id) GROUP BY 1":                  "[]",
		"SELECT n.id FROM s.nothing n JOIN s.nothing m USING (id) ORDER BY 1 LIMIT 3":                        "[]",
		"SELECT count(DISTINCT n.region), sum(n.id) FROM s.nothing n JOIN s.nothing m USING (id)":            "[0|(null)]",
		"SELECT o.id FROM s.orders o JOIN s.customers c ON o.customer = c.id WHERE o.customer = 1 LIMIT 3":   "[]",
		"SELECT count(*) FROM s.orders o JOIN s.customers c ON o.customer = c.id WHERE o.id < 0 HAVING true": "[0]",
	} {
		g := l.graph(query, spj.Require, task.Options{})
		if rows, _ := l.mustRun(g, Options{Workers: 2}, true); fmt.Sprint(rows) != want {
			t.Errorf("%s gives %v, want %s", query, rows, want)
		}
	}
}

func TestProgressAndStats(t *testing.T) {
	l := shop(t)
	g := l.graph(queries[0].sql, spj.Auto, task.Options{})
	var calls, last atomic.Int64
	total := len(g.Cores[0].Packs)
	rows, stats := l.mustRun(g, Options{Workers: 2, Progress: func(done, all int) {
		calls.Add(1)
		last.Store(max(last.Load(), int64(done)))
		if all != total || done < 1 || done > all {
			t.Errorf("progress %d of %d, of %d packs", done, all, total)
		}
	}}, false)
	if calls.Load() != int64(total) || last.Load() != int64(total) {
		t.Errorf("%d calls of progress up to %d, for %d packs", calls.Load(), last.Load(), total)
	}
	var sum int64
	seen := map[int]bool{}
	for _, p := range stats.Packs {
		sum += p.Rows
		seen[p.Pack] = true
	}
	if sum != int64(len(rows)) || len(seen) != total {
		t.Errorf("packs %v gave %d rows, the stream %d", stats.Packs, sum, len(rows))
	}
}

func TestRunChecksTheGraph(t *testing.T) {
	l := shop(t)
	g := l.graph(queries[0].sql, spj.Auto, task.Options{})
	g.Cores[0].Packs = g.Cores[0].Packs[1:]
	_, err := Run(t.Context(), g, Options{})
	wantError(t, err, errs.Internal, "is in no pack")
}

// TestSpillsToAFile runs cores whose files pretend to be so large that their rows mustn't be kept in memory.
func TestSpillsToAFile(t *testing.T) {
	l := newLab(t)
	rows := `SELECT i % 50 AS k, i AS v, repeat('x', 100) AS s FROM range(20000) t(i)`
	l.table("s.a", "k bigint, v bigint, s string", 4, rows, 100<<20)
	l.table("s.b", "k bigint, v bigint", 4, "SELECT i AS k, i AS v FROM range(50) t(i)", 0)
	for _, query := range []string{
		"SELECT a.v, s FROM s.a JOIN s.b USING (k) ORDER BY a.v",
		"SELECT b.v, median(a.v), min(s) FROM s.a JOIN s.b USING (k) GROUP BY b.v ORDER BY 1",
	} {
		g := l.graph(query, spj.Require, task.Options{})
		want, _ := l.mustRun(g, Options{Workers: 2}, true)
		opts := Options{Workers: 2, MemoryBytes: 1 << 30}
		r := run{graph: g, opts: opts}
		if r.database(&g.Cores[0]) == "" {
			t.Fatalf("%s: the rows are kept in memory", query)
		}
		got, _ := l.mustRun(g, opts, true)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d rows by a file, %d by memory", query, len(got), len(want))
		}
	}
}

// TestTwoCores runs two cores, one after the other, into one final step that also reads a table whole.
func TestTwoCores(t *testing.T) {
	l := shop(t)
	l.table("s.plain", "region string, x int", 1, "SELECT 'r1' AS region, 1::INTEGER AS x", 0)
	query := `SELECT l.n, r.n, x FROM (SELECT region, count(*) AS n FROM s.orders o JOIN s.customers c ON o.customer = c.id GROUP BY 1) l
		JOIN (SELECT region, sum(c.id) AS n FROM s.customers c JOIN s.customers d USING (id, region) GROUP BY 1) r USING (region) LEFT JOIN s.plain USING (region)`
	g := l.graph(query, spj.Auto, task.Options{})
	if len(g.Cores) != 2 || len(g.Final.Tables) != 1 {
		t.Fatalf("%d cores, %d whole tables", len(g.Cores), len(g.Final.Tables))
	}
	got, stats := l.mustRun(g, Options{Workers: 2}, false)
	want, _ := l.mustRun(l.graph(query, spj.Off, task.Options{}), Options{}, false)
	if !slices.Equal(got, want) || len(got) != 5 {
		t.Errorf("two cores give %q, the whole query %q", got, want)
	}
	cores := map[int]bool{}
	for _, p := range stats.Packs {
		cores[p.Core] = true
	}
	if len(cores) != 2 {
		t.Errorf("packs of %d cores ran", len(cores))
	}
}

func TestColumns(t *testing.T) {
	l := shop(t)
	s, err := Run(t.Context(), l.graph("SELECT id AS n, region FROM s.customers", spj.Auto, task.Options{}), Options{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := fmt.Sprint(s.Columns()); got != "[{n BIGINT} {region VARCHAR}]" {
		t.Error(got)
	}
}

// TestKeyCheck puts a row into the wrong bucket: a run ends as Corrupt and names the file and how to go on.
func TestKeyCheck(t *testing.T) {
	l := newLab(t)
	l.table("s.a", "k bigint, v int", 4, "SELECT i AS k, 1::INTEGER AS v FROM range(100) t(i)", 0)
	l.add("create table s.b (k bigint, v int) partitioned by (bucket(4, k))")
	for b := range 4 {
		where := fmt.Sprintf("tarn_bucket(4, i) = %d", b)
		if b == 2 {
			where += " OR i = 0" // bucket 0 in truth
		}
		l.file("s.b", fmt.Sprint(b), "SELECT i AS k, 1::INTEGER AS v FROM range(100) t(i) WHERE "+where, 0)
	}
	for _, query := range []string{
		"SELECT a.k FROM s.a JOIN s.b USING (k)", "SELECT count(*) FROM s.a JOIN s.b USING (k)", "SELECT k, sum(v) FROM s.b GROUP BY k",
		"SELECT a.k FROM s.a LEFT JOIN s.b USING (k)", "SELECT a.k FROM s.a JOIN s.b USING (k) ORDER BY 1 LIMIT 1000",
	} {
		g := l.graph(query, spj.Require, task.Options{})
		dir := t.TempDir()
		_, _, err := run1(t.Context(), g, Options{Workers: 2, TempDir: dir}, false)
		wantError(t, err, errs.Corrupt, "test://s.b/002.parquet")
		if !strings.Contains(errs.HintOf(err), "rewrite the file") {
			t.Errorf("%s: the hint is %q", query, errs.HintOf(err))
		}
		wantEmpty(t, dir)
		if _, _, err := run1(t.Context(), g, Options{SkipKeyCheck: true, TempDir: dir}, false); err != nil {
			t.Errorf("%s without the check: %v", query, err)
		}
	}
}
