package tarn_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/write"
)

// examples has a statement for each one of the cost table in docs/ddl.md, in an order in which they can run.
var examples = [][2]string{
	{"CREATE NAMESPACE", "CREATE NAMESPACE other"}, {"DROP NAMESPACE", "DROP NAMESPACE other"},
	{"CREATE TABLE", "CREATE TABLE a.u (id int)"}, {"CREATE OR REPLACE TABLE", "CREATE OR REPLACE TABLE a.u (id bigint)"}, {"REPLACE TABLE", "REPLACE TABLE a.u (id int)"},
	{"CREATE TABLE ... AS", "CREATE TABLE a.w AS SELECT id FROM a.t"}, {"CREATE OR REPLACE TABLE ... AS", "CREATE OR REPLACE TABLE a.w AS SELECT id FROM a.t"},
	{"REPLACE TABLE ... AS", "REPLACE TABLE a.w AS SELECT id FROM a.w"},
	{"ADD COLUMN", "ALTER TABLE a.t ADD COLUMN d int DEFAULT 5"}, {"DROP COLUMN", "ALTER TABLE a.t DROP COLUMN c"}, {"RENAME COLUMN", "ALTER TABLE a.t RENAME COLUMN b TO bb"},
	{"ALTER COLUMN", "ALTER TABLE a.t ALTER COLUMN bb TYPE bigint"}, {"SET TBLPROPERTIES", "ALTER TABLE a.t SET TBLPROPERTIES ('p'='q')"},
	{"UNSET TBLPROPERTIES", "ALTER TABLE a.t UNSET TBLPROPERTIES ('p')"}, {"ADD PARTITION FIELD", "ALTER TABLE a.t ADD PARTITION FIELD truncate(10, bb)"},
	{"REPLACE PARTITION FIELD", "ALTER TABLE a.t REPLACE PARTITION FIELD bucket(4, id) WITH bucket(8, id)"}, {"DROP PARTITION FIELD", "ALTER TABLE a.t DROP PARTITION FIELD truncate(10, bb)"},
	{"WRITE", "ALTER TABLE a.t WRITE ORDERED BY bucket(8, id), bb"}, {"SET IDENTIFIER FIELDS", "ALTER TABLE a.t SET IDENTIFIER FIELDS id"},
	{"DROP IDENTIFIER FIELDS", "ALTER TABLE a.t DROP IDENTIFIER FIELDS id"}, {"CREATE BRANCH", "ALTER TABLE a.t CREATE BRANCH b"},
	{"REPLACE BRANCH", "ALTER TABLE a.t REPLACE BRANCH b RETAIN 5 DAYS"}, {"DROP BRANCH", "ALTER TABLE a.t DROP BRANCH b"}, {"CREATE TAG", "ALTER TABLE a.t CREATE TAG x"},
	{"REPLACE TAG", "ALTER TABLE a.t REPLACE TAG x RETAIN 5 DAYS"}, {"DROP TAG", "ALTER TABLE a.t DROP TAG x"},
	{"CALL system.rollback_to_snapshot", "CALL system.rollback_to_snapshot('a.p', OLDEST)"}, {"CALL system.set_current_snapshot", "CALL system.set_current_snapshot('a.p', NEWEST)"},
	{"CALL system.rollback_to_timestamp", "CALL system.rollback_to_timestamp('a.p', 'TIME')"}, {"CALL system.fast_forward", "CALL system.fast_forward('a.p', 'main', 'ahead')"},
	{"CALL system.publish_changes", "CALL system.publish_changes('a.p', 'one')"}, {"CALL system.cherrypick_snapshot", "CALL system.cherrypick_snapshot('a.p', STAGED)"},
	{"CALL system.add_files", "CALL system.add_files('a.p', '`parquet`.`DIR/more`')"}, {"CALL system.register_table", "CALL system.register_table('a.q', 'METADATA')"},
	{"CALL system.snapshot", "CALL system.snapshot('`parquet`.`DIR/more`', 'a.copied')"}, {"CALL system.migrate", "CALL system.migrate('a.there')"},
	{"SET LOCATION", "ALTER TABLE a.t SET LOCATION 'DIR/warehouse/moved'"},
	{"RENAME TO", "ALTER TABLE a.t RENAME TO v"}, {"DROP TABLE", "DROP TABLE a.v"}, {"DROP TABLE ... PURGE", "DROP TABLE a.u PURGE"},
}

// picked makes the table a.p with snapshots for procedures: two of main, a branch ahead of it, and two that are staged. The files of a.gone are those of no table.
var picked = []string{
	"CREATE TABLE a.p (id int) TBLPROPERTIES ('write.wap.enabled'='true')", "INSERT INTO a.p VALUES (1)", "INSERT INTO a.p VALUES (2)",
	"ALTER TABLE a.p CREATE BRANCH ahead", "SET tarn.wap_id = 'one'", "INSERT INTO a.p VALUES (3)", "SET tarn.wap_id = 'two'", "INSERT INTO a.p VALUES (4)", "RESET tarn.wap_id",
	"CREATE TABLE a.gone AS SELECT 1 AS id", "DROP TABLE a.gone",
}

// marks are what examples mention that is known only by then.
var marks = map[string]string{
	"OLDEST":   "SELECT snapshot_id FROM a.p.snapshots ORDER BY committed_at LIMIT 1",
	"NEWEST":   "SELECT snapshot_id FROM a.p.refs WHERE name = 'ahead'",
	"TIME":     "SELECT CAST(committed_at AS VARCHAR) FROM a.p.snapshots JOIN a.p.refs USING (snapshot_id) WHERE name = 'ahead'",
	"STAGED":   "SELECT snapshot_id FROM a.p.snapshots WHERE summary['wap.id'] = 'two'",
	"METADATA": "SELECT file FROM glob('DIR/warehouse/a/gone/metadata/*.metadata.json')",
}

// costs reads the cost table: whether each statement is said to be metadata only.
func costs(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("docs/ddl.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "## What a statement costs")
	section, _, _ := strings.Cut(rest, "\n## ")
	out := map[string]string{}
	for _, line := range strings.Split(section, "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if !strings.HasPrefix(line, "| `") || len(cells) != 2 {
			continue
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[0], -1) {
			out[strings.TrimPrefix(m[1], "ALTER TABLE ... ")] = cells[1]
		}
	}
	return out
}

// files returns what lies in a folder: data and delete files, manifests and their lists, and metadata files.
func filesOf(t *testing.T, dir string) (data, metadata []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || e.IsDir() || strings.Contains(path, "catalog.db"):
		case strings.HasSuffix(path, ".metadata.json"):
			metadata = append(metadata, path)
		default:
			info, err := e.Info()
			if err != nil {
				return err
			}
			data = append(data, path+" "+info.ModTime().String())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return data, metadata
}

// TestStatementsCost runs each statement of the cost table on a table with rows, and looks which files it writes.
func TestStatementsCost(t *testing.T) {
	want := costs(t)
	dir := t.TempDir()
	s := emptyLake(t, "sql", dir).Session()
	exec := func(stmt string) {
		t.Helper()
		stmt = strings.ReplaceAll(stmt, "DIR", dir)
		for mark, query := range marks {
			if strings.Contains(stmt, mark) {
				found, err := texts(t.Context(), s, strings.ReplaceAll(query, "DIR", dir))
				if err != nil || len(found) != 1 {
					t.Fatalf("%s: %v, %v", query, found, err)
				}
				stmt = strings.ReplaceAll(stmt, mark, strings.Trim(found[0], `"`))
			}
		}
		if _, err := s.Exec(t.Context(), stmt); err != nil {
			t.Fatalf("%s: %v", stmt, err)
		}
	}
	exec("CREATE NAMESPACE a")
	exec("CREATE TABLE a.t (id int NOT NULL, b int, c int) PARTITIONED BY (bucket(4, id)) TBLPROPERTIES ('format-version'='3')")
	fill(t, dir)
	for _, stmt := range picked {
		exec(stmt)
	}
	found, _ := filepath.Glob(dir + "/warehouse/a/p/data/*.parquet")
	for _, folder := range []string{"more", "warehouse/a/there"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(found[0], filepath.Join(dir, folder, "x.parquet")); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range examples {
		cost, ok := want[e[0]]
		if !ok {
			t.Errorf("the cost table doesn't have %s", e[0])
		}
		delete(want, e[0])
		data, metadata := filesOf(t, dir)
		exec(e[1])
		dataNow, metadataNow := filesOf(t, dir)
		added := 0
		if strings.HasPrefix(cost, "metadata") {
			added = 1
		}
		if strings.Contains(cost, "deletes all files") {
			if len(metadataNow) >= len(metadata) {
				t.Errorf("%s deleted nothing", e[1])
			}
			continue
		}
		if strings.HasPrefix(cost, "writes") {
			if len(dataNow) <= len(data) || !containsAll(dataNow, data) || len(metadataNow) != len(metadata)+1 {
				t.Errorf("%s: %s, and it took %d other files and %d metadata files to %d and %d", e[1], cost, len(data), len(metadata), len(dataNow), len(metadataNow))
			}
			continue
		}
		if strings.Contains(cost, "manifests") { // beside which no data file is written
			if isData := func(f string) bool { return strings.Contains(f, ".parquet ") }; slices.ContainsFunc(dataNow, func(f string) bool { return isData(f) && !slices.Contains(data, f) }) ||
				len(metadataNow) <= len(metadata) {
				t.Errorf("%s: %s, and it took %v and %d metadata files to %v and %d", e[1], cost, data, len(metadata), dataNow, len(metadataNow))
			}
			continue
		}
		if !slices.Equal(data, dataNow) || len(metadataNow) != len(metadata)+added {
			t.Errorf("%s: %s, and it took %d other files and %d metadata files to %d and %d", e[1], cost, len(data), len(metadata), len(dataNow), len(metadataNow))
		}
	}
	for left := range want {
		t.Errorf("no example of %s", left)
	}
}

func containsAll(all, some []string) bool {
	for _, s := range some {
		if !slices.Contains(all, s) {
			return false
		}
	}
	return true
}

// fill gives the table a.t rows.
func fill(t *testing.T, dir string) {
	t.Helper()
	ctx := context.Background()
	c, err := lake.Open(ctx, lake.Config{Name: "lake", Type: "sql", URI: "sqlite:///" + filepath.Join(dir, "catalog.db"), Warehouse: filepath.Join(dir, "warehouse")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	table, err := c.LoadTable(ctx, catalog.Ident{"a", "t"}, catalog.Version{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := duck.Open(ctx, duck.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := write.Append(ctx, conn, c, table, "SELECT i::INTEGER AS id, i::INTEGER AS b, 7::INTEGER AS c FROM range(100) r(i)"); err != nil {
		t.Fatal(err)
	}
}
