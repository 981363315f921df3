package tarn_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
)

// TestCreateTableAs makes tables of queries, with a layout and properties, and replaces tables, also by their own rows.
func TestCreateTableAs(t *testing.T) {
	for _, kind := range []string{"hadoop", "sql"} {
		i := &inserting{t: t, folder: t.TempDir()}
		i.Session = emptyLake(t, kind, i.folder).Session()
		i.run("CREATE NAMESPACE n")
		csv := filepath.Join(i.folder, "x.csv")
		if err := os.WriteFile(csv, []byte("k,s\n1,a\n2,b\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ stmt, counts string }{
			{
				"CREATE TABLE n.a USING iceberg PARTITIONED BY (bucket(4, k), day) COMMENT 'c' TBLPROPERTIES ('p'='q') AS " +
					"SELECT range AS k, DATE '2024-01-01' + (range % 2)::INT AS day, {'x': [range::VARCHAR]} AS s FROM range(100)", "[{rows-inserted 100} {files-added 8}]",
			},
			{"CREATE TABLE IF NOT EXISTS n.a AS SELECT nonsense", "[{rows-inserted 0} {files-added 0}]"},
			{"CREATE TABLE IF NOT EXISTS n.b AS FROM '" + csv + "'", "[{rows-inserted 2} {files-added 1}]"},
			{"CREATE TABLE n.v AS VALUES ([{'a': 1}, NULL], 'x'), (NULL, NULL)", "[{rows-inserted 2} {files-added 1}]"},
			{"CREATE TABLE n.empty AS SELECT k FROM n.a WHERE false", "[{rows-inserted 0} {files-added 0}]"},
			{"CREATE TABLE n.three TBLPROPERTIES ('format-version'='3') AS SELECT TIMESTAMP_NS '2024-01-01 00:00:00.123456789' AS t", "[{rows-inserted 1} {files-added 1}]"},
			{"CREATE TABLE n.joined PARTITIONED BY (bucket(4, k)) AS SELECT x.k, y.s FROM n.a x JOIN n.a y ON x.k = y.k", "[{rows-inserted 100} {files-added 4}]"},
		} {
			if got := i.run(c.stmt); got != c.counts {
				t.Errorf("%s counts %s, wanted %s", c.stmt, got, c.counts)
			}
		}
		i.want("SELECT count(*), sum(k), count(DISTINCT day), min(s.x[1]) FROM n.a", `100 4950 2 "0"`)
		i.want("SELECT count(*) FROM n.a.snapshots", "1")
		i.want("SELECT count(*), count(DISTINCT partition) FROM n.a.files", "8 8")
		i.want("SELECT * FROM n.b ORDER BY k", "1 \"a\"\n2 \"b\"")
		i.want("SELECT count(*) FROM n.v", "2")
		i.want("SELECT count(*) FROM n.empty", "0")
		i.want("SELECT count(*) FROM n.empty.snapshots", "0")
		i.want("SELECT epoch_ns(t) % 1000, _row_id FROM n.three", "789 0")
		i.want("SELECT count(*) FROM n.joined", "100")
		made := i.ask("SHOW CREATE TABLE n.a")
		for _, part := range []string{"bucket(4, k)", "day", "'p' = 'q'", "COMMENT 'c'", "s struct<x:array<string>>"} {
			if !strings.Contains(made, part) {
				t.Errorf("%s has no %s", made, part)
			}
		}
		// By its own rows, twice, then without any, then over a branch's.
		i.run("CREATE OR REPLACE TABLE n.a PARTITIONED BY (bucket(2, k)) AS SELECT k, day FROM n.a WHERE k < 10")
		i.run("REPLACE TABLE n.a PARTITIONED BY (bucket(2, k)) AS SELECT k + 1 AS k, 'z' AS z FROM n.a")
		i.want("SELECT count(*), sum(k), min(z) FROM n.a", `10 55 "z"`)
		i.want("SELECT operation, parent_id IS NULL FROM n.a.snapshots", "\"append\" true\n\"append\" true\n\"append\" true")
		i.want("SELECT count(*) FROM n.a FOR VERSION AS OF "+i.ask("SELECT snapshot_id FROM n.a.snapshots ORDER BY committed_at LIMIT 1"), "100")
		i.run("INSERT INTO n.a VALUES (5, 'w')")
		i.want("SELECT count(*) FROM n.a", "11")
		i.run("CREATE OR REPLACE TABLE n.a AS SELECT k FROM n.a WHERE false")
		i.want("SELECT count(*) FROM n.a", "0")
		i.run("CREATE OR REPLACE TABLE n.fresh AS SELECT 1 AS one")
		i.want("SELECT * FROM n.fresh", "1")
	}
}

// TestCreateTableAsFails leaves nothing behind of tables that couldn't be made, and replaced ones as they were.
func TestCreateTableAsFails(t *testing.T) {
	for _, kind := range []string{"hadoop", "sql"} {
		i := &inserting{t: t, folder: t.TempDir()}
		i.Session = emptyLake(t, kind, i.folder).Session()
		i.run("CREATE NAMESPACE n")
		i.run("CREATE TABLE n.a AS SELECT range AS k, 'x' AS s FROM range(10)")
		before := allFiles(t, i.folder)
		for stmt, want := range map[string]struct {
			kind errs.Kind
			text string
		}{
			"CREATE TABLE n.a AS SELECT 1 AS x":                          {errs.Exists, "exists"},
			"CREATE TABLE n.b AS SELECT nonsense":                        {errs.NotFound, "nonsense"},
			"CREATE TABLE n.b AS SELECT k, CAST(s AS INT) AS i FROM n.a": {errs.Invalid, "x"},
			"CREATE TABLE n.b PARTITIONED BY (k) AS SELECT k, CASE WHEN k < 9 THEN 1 ELSE error('stop') END AS e FROM n.a":   {errs.Invalid, "stop"},
			"CREATE TABLE n.b AS SELECT sum(k) AS h FROM n.a":                                                                {errs.Unsupported, "HUGEINT"},
			"CREATE TABLE n.b AS SELECT INTERVAL 1 DAY AS i":                                                                 {errs.Unsupported, "INTERVAL"},
			"CREATE TABLE n.b AS SELECT NULL AS x":                                                                           {errs.Unsupported, "NULL"},
			"CREATE TABLE n.b AS SELECT [NULL] AS x":                                                                         {errs.Unsupported, "NULL"},
			"CREATE TABLE n.b AS SELECT {'a': MAP {'k': NULL}} AS x":                                                         {errs.Unsupported, "NULL"},
			"CREATE TABLE n.b AS SELECT TIMESTAMP_NS '2024-01-01 00:00:00' AS t":                                             {errs.Invalid, "timestamp_ns"},
			"CREATE TABLE n.b AS SELECT 1 AS x, 2 AS X":                                                                      {errs.Exists, "x"},
			"CREATE TABLE n.b PARTITIONED BY (bucket(4, nope)) AS SELECT 1 AS x":                                             {errs.NotFound, "nope"},
			"CREATE TABLE n.b TBLPROPERTIES ('write.format.default'='orc') AS SELECT 1 AS x":                                 {errs.Unsupported, "orc"},
			"CREATE TABLE n.b (x int) AS SELECT 1 AS x":                                                                      {errs.Syntax, "none may be given"},
			"CREATE TABLE nope.b AS SELECT 1 AS x":                                                                           {errs.NotFound, "nope"},
			"REPLACE TABLE n.b AS SELECT 1 AS x":                                                                             {errs.NotFound, "n.b"},
			"CREATE OR REPLACE TABLE n.a AS SELECT k, CASE WHEN k < 9 THEN 1 ELSE error('stop') END AS e FROM n.a":           {errs.Invalid, "stop"},
			"CREATE OR REPLACE TABLE n.a PARTITIONED BY (nope) AS SELECT k FROM n.a":                                         {errs.NotFound, "nope"},
			"CREATE OR REPLACE TABLE n.a.files AS SELECT 1 AS x":                                                             {errs.Unsupported, "part or a version"},
			"CREATE TABLE n.b AS SELECT * FROM n.b":                                                                          {errs.NotFound, "n.b"},
			"CREATE TABLE n.b PARTITIONED BY (truncate(2, s)) TBLPROPERTIES ('commit.retry.num-retries'='x') AS FROM n.a":    {errs.Invalid, "commit.retry.num-retries"},
			"CREATE TABLE n.b LOCATION '" + filepath.Join(i.folder, "else") + "' AS SELECT k // (k - k) AS z, error('stop')": {errs.NotFound, "k"},
		} {
			_, err := i.Exec(t.Context(), stmt)
			if errs.KindOf(err) != want.kind || !strings.Contains(fmt.Sprint(err), want.text) {
				t.Errorf("%s: the error is %v (%v), wanted %v with %q", stmt, err, errs.KindOf(err), want.kind, want.text)
			}
			if got := allFiles(t, i.folder); got != before {
				t.Fatalf("%s has left\n%s\nof\n%s", stmt, got, before)
			}
		}
		i.want("SELECT count(*) FROM n.a", "10")
		if text := i.ask("EXPLAIN CREATE TABLE n.b PARTITIONED BY (bucket(4, k)) AS SELECT k FROM n.a"); !strings.Contains(text, "will write: n.b") || !strings.Contains(text, "bucket(4, k)") {
			t.Error(text)
		}
		if text := i.ask("EXPLAIN ANALYZE CREATE TABLE n.made AS SELECT k FROM n.a"); !strings.Contains(text, "rows-inserted=10") {
			t.Error(text)
		}
		i.want("SELECT count(*) FROM n.made", "10")
		i.want("SHOW NAMESPACES", `"lake" "n"`)
	}
}

// allFiles lists what lies in a folder, empty folders included.
func allFiles(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if !strings.Contains(path, "catalog.db") {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, "\n")
}
