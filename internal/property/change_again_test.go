package property

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/golden"
	"github.com/tarndb/tarn/internal/seed"
)

// overtaken runs a statement, and another after its packs and before its commit, each of them once. It returns what the first counted.
func (c *changing) overtaken(m mode, statement string, meanwhile func()) map[string]int64 {
	c.t.Helper()
	s := c.session(append(slices.Clone(m), c.mode...))
	var once sync.Once
	s.OnProgress(func(done, total int) {
		if done == total {
			once.Do(meanwhile)
		}
	})
	rows, err := s.Query(context.Background(), c.text(statement))
	if err != nil {
		c.t.Fatalf("%v %s\n%v", c.mode, c.text(statement), err)
	}
	out := map[string]int64{}
	for _, n := range rows.Counts() {
		out[n.Name] = n.Value
	}
	c.must(rows.Close())
	return out
}

// noOrphans fails where a data or delete file lies in the folder of a table that no snapshot of it has.
func (c *changing) noOrphans(table string) {
	c.t.Helper()
	has := map[string]bool{}
	for _, name := range []string{".all_data_files", ".all_delete_files"} {
		a := c.ask(off, "SELECT file_path FROM "+c.text(table)+name)
		c.must(a.err)
		for _, row := range a.rows {
			has[filepath.Base(strings.Trim(golden.Text(row[0]), `"`))] = true
		}
	}
	folder := filepath.Join(c.warehouse, filepath.Join(strings.Split(c.text(table), ".")...), "data")
	c.must(filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !has[filepath.Base(path)] {
			c.t.Errorf("%v: no snapshot of %s has %s", c.mode, c.text(table), path)
		}
		return err
	}))
}

// runAgain has changes of others come between the packs of a MERGE and its commit.
func runAgain(c *changing) {
	const merge = "MERGE INTO ns.t t USING ns.s s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = t.v + s.v WHEN NOT MATCHED THEN INSERT *"
	c.do("CREATE TABLE ns.s (k BIGINT, v BIGINT) PARTITIONED BY (k)", "INSERT INTO ns.s VALUES (1, 10), (2, 20), (3, 30), (7, 70)")
	begin := func(partitions string) {
		c.do("CREATE OR REPLACE TABLE ns.t (k BIGINT, v BIGINT) PARTITIONED BY ("+partitions+") WITH v",
			"INSERT INTO ns.t VALUES (1, 0), (2, 0), (3, 0), (4, 0)", "INSERT INTO ns.t VALUES (1, 1), (2, 1), (3, 1), (4, 1)", "DELETE FROM ns.t WHERE k < 4 AND v = 1")
	}
	for _, r := range []struct {
		name, partitions, meanwhile string
		again                       int64
		rows                        []string
	}{
		{"another group", "k", "UPDATE ns.t SET v = 5 WHERE k = 4", 0, []string{"(1, 10)", "(2, 20)", "(3, 30)", "(4, 5)", "(4, 5)", "(7, 70)"}},
		{"one group of many", "k", "UPDATE ns.t SET v = 5 WHERE k = 2", 1, []string{"(1, 10)", "(2, 25)", "(3, 30)", "(4, 0)", "(4, 1)", "(7, 70)"}},
		{"a group that is gone", "k", "DELETE FROM ns.t WHERE k = 2", 1, []string{"(1, 10)", "(2, 20)", "(3, 30)", "(4, 0)", "(4, 1)", "(7, 70)"}},
		{"a group that is new", "k", "INSERT INTO ns.t VALUES (7, 7)", 1, []string{"(1, 10)", "(2, 20)", "(3, 30)", "(4, 0)", "(4, 1)", "(7, 77)"}},
		{"all groups", "k", merge, 4, []string{"(1, 20)", "(2, 40)", "(3, 60)", "(4, 0)", "(4, 1)", "(7, 140)"}},
		{"the source", "k", "UPDATE ns.s SET v = 31 WHERE k = 3; UPDATE ns.t SET v = 5 WHERE k = 2", 2, []string{"(1, 10)", "(2, 25)", "(3, 31)", "(4, 0)", "(4, 1)", "(7, 70)"}},
	} {
		modes := []mode{small}
		if r.name == "one group of many" {
			modes = append(modes, append(mode{"SET tarn.skew = 'slice'"}, small...))
		}
		for _, m := range modes {
			begin(r.partitions)
			counts := c.overtaken(m, merge, func() { c.do(strings.Split(r.meanwhile, "; ")...) })
			if counts["groups-run-again"] != r.again || counts["groups-touched"] != 4 {
				c.t.Errorf("%v %v, %s: %v, wanted %d groups", c.mode, m, r.name, counts, r.again)
			}
			if inserted, updated := counts["rows-inserted"], counts["rows-updated"]; r.name != "a group that is new" && r.name != "all groups" && inserted+updated != 4 {
				c.t.Errorf("%v %v, %s: %v", c.mode, m, r.name, counts)
			}
			c.has("ns.t", r.rows...)
			c.noOrphans("ns.t")
			c.do("DELETE FROM ns.s WHERE k = 3", "INSERT INTO ns.s VALUES (3, 30)")
		}
	}
	// What runs again is told the time that the rest was.
	begin("k")
	counts := c.overtaken(small, "MERGE INTO ns.t t USING ns.s s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = epoch_us(now()) WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, epoch_us(current_timestamp))",
		func() { c.do("UPDATE ns.t SET v = 5 WHERE k = 2") })
	if counts["groups-run-again"] != 1 {
		c.t.Errorf("%v: a statement that reads the clock ran %v", c.mode, counts)
	}
	c.gives("SELECT count(*), count(DISTINCT v) FROM ns.t WHERE v > 1000", "(4, 1)")
	c.noOrphans("ns.t")
	// Any group may change rows of a table that each pack reads whole: files of which rows were changed may get more.
	c.do("CREATE OR REPLACE TABLE ns.t (k BIGINT, v BIGINT) WITH v", "INSERT INTO ns.t SELECT i, 0 FROM range(10) r(i)", "INSERT INTO ns.t VALUES (999, 0)",
		"CREATE OR REPLACE TABLE ns.s (k BIGINT, v BIGINT) PARTITIONED BY (k)", "INSERT INTO ns.s SELECT i, i FROM range(6) r(i)")
	c.overtaken(small, "MERGE INTO ns.t t USING (SELECT k, max(v) AS v FROM ns.s GROUP BY k) s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.v",
		func() {
			c.do("INSERT INTO ns.t VALUES (998, 0)", "DELETE FROM ns.t WHERE k = 998", "INSERT INTO ns.s VALUES (7, 7)")
		})
	c.gives("SELECT count(*), sum(k), sum(v) FROM ns.t", "(11, 1044, 22)")
	c.noOrphans("ns.t")
	// Those that share no partition aren't: here each partition is of one group.
	c.do("CREATE OR REPLACE TABLE ns.t (k BIGINT, v BIGINT) PARTITIONED BY (bucket(2, k), v) WITH v", "INSERT INTO ns.t SELECT i, 0 FROM range(40) r(i)",
		"CREATE OR REPLACE TABLE ns.s (k BIGINT, v BIGINT) PARTITIONED BY (bucket(2, k))", "INSERT INTO ns.s SELECT i, i % 3 FROM range(50) r(i)")
	counts = c.overtaken(small, "MERGE INTO ns.t t USING ns.s s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.v + 1 WHEN NOT MATCHED THEN INSERT *",
		func() { c.do("DELETE FROM ns.t WHERE k = 5") })
	if counts["groups-run-again"] != 1 {
		c.t.Errorf("%v: %v", c.mode, counts)
	}
	c.gives("SELECT count(*), sum(k), sum(v) FROM ns.t", fmt.Sprintf("(50, %d, %d)", 49*25, sumOf(50, func(k int) int {
		if k < 40 && k != 5 {
			return k%3 + 1
		}
		return k % 3
	})))
	c.noOrphans("ns.t")
}

func sumOf(n int, f func(int) int) (sum int) {
	for i := range n {
		sum += f(i)
	}
	return sum
}

// TestChangesAreOvertaken lets another statement come between the packs of each of many and its commit, and compares the table with a
// model that makes the other one first. TARN_OVERTAKEN is how many.
func TestChangesAreOvertaken(t *testing.T) {
	from, wanted := seed.Of(t), count(t, "TARN_OVERTAKEN", 72)
	l := newLab(t)
	l.run("CREATE NAMESPACE ov")
	outcomes := map[string]int{}
	for world, done := 0, 0; done < wanted && !t.Failed(); world++ {
		specs := changeSpecs
		if world%4 > 0 {
			specs = []string{"id", "id, p", "bucket(8, id)"} // more groups, and more often some
		}
		w := newChangeWorldOf(l, from+uint64(world), fmt.Sprintf("ov.t%d", world), fmt.Sprintf("ov.s%d", world), specs)
		for n := range 6 {
			outcomes[w.overtakenStep(w.seed*100+uint64(n))]++
			done++
		}
	}
	t.Logf("%v", outcomes)
	for _, o := range []string{"some groups again", "again", "no conflict"} {
		if wanted >= 72 && outcomes[o] == 0 {
			t.Errorf("no statement came to %q", o)
		}
	}
}

// drawn returns the change that a seed gives over some rows: any, or, of another statement and one that it overtakes, a small and a large
// one.
func (w *changeWorld) drawn(from uint64, before []modelRow) modelChange {
	old, tag := w.r, w.tag
	defer func() { w.r, w.tag = old, max(tag, w.tag) }()
	w.r, w.tag = rand.New(rand.NewPCG(from, 3)), int64(from)<<8
	switch from % 4 {
	case 0:
		return w.touch()
	case 1:
		return w.upsert()
	}
	if w.oneIn(4) {
		return w.change(before)
	}
	return w.merge(before)
}

// overtakenStep runs a statement and another one meanwhile.
func (w *changeWorld) overtakenStep(from uint64) string {
	w.l.t.Helper()
	m := mode{"SET tarn.pack_bytes = 0"}
	if w.oneIn(3) {
		m = append(w.settings(), m...)
	} else if w.format > 1 && w.oneIn(2) {
		m = append(m, "SET tarn.row_change_mode = 'merge-on-read'")
	}
	other := w.drawn(2*from, w.rows)
	between, _, otherWrong := other.do(w.rows)
	if otherWrong != nil {
		between = w.rows
	}
	one, alone := w.drawn(2*from+1, between), w.drawn(2*from+1, w.rows)
	_, _, wrongAlone := alone.do(w.rows)
	after, n, wrong := one.do(between)
	if one.sql != alone.sql {
		w.l.t.Fatalf("%s\n%s", one.sql, alone.sql)
	}
	s := w.l.session(m)
	runs, came := 0, false
	var mu sync.Mutex
	s.OnProgress(func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if done < total {
			return
		}
		if runs++; runs > 1 {
			return
		}
		came = true
		if _, err := w.l.session(nil).Exec(context.Background(), other.sql); (err != nil) != (otherWrong != nil) {
			w.l.t.Errorf("%s: %v", other.sql, err)
		}
	})
	rows, err := s.Query(context.Background(), one.sql)
	if !came { // it ran whole
		after, n, wrong = alone.do(w.rows)
	}
	counts := map[string]int64{}
	if err == nil {
		for _, c := range rows.Counts() {
			counts[c.Name] = c.Value
		}
		w.l.must(rows.Close())
	}
	fail := func(format string, args ...any) string {
		w.l.t.Helper()
		w.l.t.Errorf("TARN_SEED=%d\n%s;\n%v\n%s\novertaken by %s: %v, %v\n%s",
			w.seed, strings.Join(w.log, ";\n"), m, one.sql, other.sql, came, counts, fmt.Sprintf(format, args...))
		return "failed"
	}
	outcome := "no conflict"
	switch isTwice := errs.KindOf(err) == errs.Invalid && strings.Contains(fmt.Sprint(err), "more than one row"); {
	case isTwice && (wrong != nil || wrongAlone != nil): // as if it had come first, or after
		outcome = "twice"
		if after = between; !came {
			after = w.rows
		}
	case err != nil:
		return fail("%v", err)
	case wrong != nil:
		return fail("nothing is wrong, wanted %v", wrong)
	case counts["rows-inserted"] != n.inserted || counts["rows-updated"] != n.updated || counts["rows-deleted"] != n.deleted:
		// It came first, and nobody minds: it had nothing to do then, or deleted what the other one deletes, too.
		_, n, err := alone.do(w.rows)
		if runs > 1 || counts["groups-run-again"] > 0 || err != nil || n.inserted+n.updated > 0 || counts["rows-deleted"] != n.deleted {
			return fail("wanted %+v", n)
		}
		if n.deleted == 0 {
			after = between
		}
	case !came:
		outcome = "ran whole"
	case counts["groups-run-again"] > 0 && counts["groups-run-again"] < counts["groups-touched"]:
		outcome = "some groups again"
	case runs > 1:
		outcome = "again"
	}
	w.log = append(w.log, fmt.Sprintf("%s -- %v, overtaken by %s", one.sql, m, other.sql))
	if d := w.compare(after, false); d != "" {
		return fail("%s", d)
	}
	return outcome
}
