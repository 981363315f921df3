package property

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tarndb/tarn/internal/golden"
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
	// What shares a partition with what is taken back is run again, too: here each group has rows of every partition.
	c.do("CREATE OR REPLACE TABLE ns.t (k BIGINT, v BIGINT) PARTITIONED BY (bucket(2, k), v) WITH v", "INSERT INTO ns.t SELECT i, 0 FROM range(40) r(i)",
		"CREATE OR REPLACE TABLE ns.s (k BIGINT, v BIGINT) PARTITIONED BY (bucket(2, k))", "INSERT INTO ns.s SELECT i, i % 3 FROM range(50) r(i)")
	counts := c.overtaken(small, "MERGE INTO ns.t t USING ns.s s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = s.v + 1 WHEN NOT MATCHED THEN INSERT *",
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
