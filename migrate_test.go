package tarn_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
)

// contents are the files of a folder, with their bytes.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		out[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// unchanged fails unless all files are there with the same bytes.
func unchanged(t *testing.T, dir string, before map[string]string) {
	t.Helper()
	now := contents(t, dir)
	for path, text := range before {
		if now[path] != text {
			t.Errorf("%s isn't what it was", path)
		}
	}
	if len(now) != len(before) {
		t.Errorf("there are %d files, and there were %d", len(now), len(before))
	}
}

// sales makes a tree of two levels, whose files differ in types and columns.
func (h *hive) sales() {
	h.file("sales/day=2024-01-01/region=eu/a.parquet", "SELECT range::INTEGER AS id, {'x': range::INTEGER, 'y': ['a', NULL]} AS st, TIMESTAMP '2024-01-01' AS ts FROM range(10)")
	h.file("sales/day=2024-01-01/region=a%2Fb%3D/b.parquet", "SELECT 5000000000::BIGINT AS id, TIMESTAMPTZ '2024-01-01 12:00:00+00' AS tz")
	h.file("sales/day=2024-01-02/region=__HIVE_DEFAULT_PARTITION__/c.parquet", "SELECT 7::BIGINT AS id, {'x': 1::BIGINT, 'y': []::VARCHAR[], 'z': 2} AS st")
	h.file("sales/day=2024-01-02/region=eu/empty.parquet", "SELECT 1::BIGINT AS id WHERE false")
	if err := os.WriteFile(filepath.Join(h.dir, "sales", "_SUCCESS"), nil, 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *hive) snapshot(folder, table, more string) string {
	return "CALL lake.system.snapshot(source_table => 'parquet.`" + filepath.Join(h.dir, folder) + "`', table => '" + table + "'" + more + ")"
}

// TestSnapshotTable makes a table of files that stay another's: nothing that the table does changes or deletes one.
func TestSnapshotTable(t *testing.T) {
	h := newHive(t)
	h.sales()
	before := contents(t, h.dir)
	h.want(h.snapshot("sales", "n.s", ", properties => map('p', 'q', 'format-version', '3'), parallelism => 2"), "3")
	h.want("SELECT count(*), sum(id), count(ts), count(tz), sum(st.x), count(st.z), sum(len(st.y)), min(st.y[1]) FROM n.s", "12 5000000052 10 1 46 1 20 \"a\"")
	h.want("SELECT id, day, region FROM n.s WHERE id > 6 AND day > DATE '2023-12-31' AND region IS DISTINCT FROM 'eu' ORDER BY id", "7 \"2024-01-02\" NULL\n5000000000 \"2024-01-01\" \"a/b=\"")
	h.want("SHOW COLUMNS IN n.s", "\"id\"\n\"tz\"\n\"st\"\n\"ts\"\n\"day\"\n\"region\"")
	h.want("SELECT count(*), min(operation), min(summary['added-data-files']) FROM n.s.snapshots", "1 \"append\" \"3\"")
	for key, want := range map[string]string{"gc.enabled": "false", "snapshot": "true", "p": "q", "format-version": "3"} {
		h.want("SHOW TBLPROPERTIES n.s ('"+key+"')", `"`+key+`" "`+want+`"`)
	}
	h.want("SELECT DISTINCT partition.day, partition.region FROM n.s.files ORDER BY ALL", "\"2024-01-01\" \"a/b=\"\n\"2024-01-01\" \"eu\"\n\"2024-01-02\" NULL")
	h.run("ALTER TABLE n.s RENAME COLUMN id TO key")
	h.run("UPDATE n.s SET key = key + 1 WHERE region = 'eu'")
	h.run("DELETE FROM n.s WHERE key = 7 OR region IS NULL")
	h.run("INSERT OVERWRITE n.s PARTITION (day, region) SELECT 1, NULL, NULL, NULL, DATE '2024-01-01', 'a/b='")
	h.want("SELECT count(*), sum(key) FROM n.s", "1 1")
	h.refuses("DROP TABLE n.s PURGE", errs.Invalid, "gc.enabled")
	h.run("CREATE OR REPLACE TABLE n.s (x int)")
	h.refuses("DROP TABLE n.s PURGE", errs.Invalid, "gc.enabled")
	unchanged(t, h.dir, before)
	// Even when somebody takes the property away.
	h.run("ALTER TABLE n.s UNSET TBLPROPERTIES ('gc.enabled')")
	h.ask("DROP TABLE n.s PURGE")
	unchanged(t, h.dir, before)
	// By its path alone, under a name of another namespace's folder, with types that are given.
	h.want("CALL system.snapshot('"+filepath.Join(h.dir, "sales")+"', 'n.other', partition_types => map('day', 'string'), location => '"+filepath.Join(h.folder, "elsewhere")+"')", "3")
	h.want("SELECT typeof(day), count(*) FROM n.other GROUP BY ALL", `"VARCHAR" 12`)
	if _, err := os.Stat(filepath.Join(h.folder, "elsewhere", "metadata")); err != nil {
		t.Error(err)
	}
	h.run("DROP TABLE n.other")
	unchanged(t, h.dir, before)
}

// TestSnapshotTableInHadoop drops such a table where its folder is its only entry.
func TestSnapshotTableInHadoop(t *testing.T) {
	h := newHive(t)
	h.folder = t.TempDir()
	h.Session = emptyLake(t, "hadoop", h.folder).Session()
	h.run("CREATE NAMESPACE n")
	h.sales()
	before := contents(t, h.dir)
	h.want(h.snapshot("sales", "n.s", ""), "3")
	h.run("DELETE FROM n.s WHERE id < 5")
	h.want("SELECT count(*) FROM n.s", "7")
	h.refuses("DROP TABLE n.s PURGE", errs.Invalid, "UNSET TBLPROPERTIES")
	h.run("ALTER TABLE n.s UNSET TBLPROPERTIES ('gc.enabled')")
	h.ask("DROP TABLE n.s PURGE")
	unchanged(t, h.dir, before)
	if left := contents(t, filepath.Join(h.folder, "warehouse")); len(left) > 0 {
		t.Errorf("left are %d files", len(left))
	}
}

// TestSnapshotIsAllOrNothing finds what is wrong with a folder, and leaves no table and no file.
func TestSnapshotIsAllOrNothing(t *testing.T) {
	h := newHive(t)
	h.file("fine/a=1/x.parquet", "SELECT 1 AS id")
	h.file("folder/a=1/x.parquet", "SELECT 1 AS id, 1 AS a")
	h.file("folder/a=2/x.parquet", "SELECT 1 AS id, 1 AS a")
	h.file("value/a=1/x.parquet", "SELECT 1 AS id, 1 AS a")
	h.file("value/a=one/x.parquet", "SELECT 1 AS id, 1 AS a")
	h.file("types/1.parquet", "SELECT 1 AS id")
	h.file("types/2.parquet", "SELECT 'one' AS id")
	h.file("letters/1.parquet", "SELECT 1 AS id")
	h.file("letters/2.parquet", "SELECT 1 AS ID")
	h.file("nano/1.parquet", "SELECT TIMESTAMP_NS '2024-01-01 00:00:00.123456789' AS ts")
	h.file("other/1.parquet", "SELECT 1 AS id")
	h.file("empty/1.parquet", "SELECT 1 AS id WHERE false")
	h.file("ids/1.parquet", "SELECT 1 AS id")
	h.file("float/f=1.5/1.parquet", "SELECT 1 AS id, 1.5::DOUBLE AS f")
	if err := h.conn.Exec(t.Context(), "COPY (SELECT {'b': 1, 'a': 2} AS s) TO '"+h.dir+"/ids/1.parquet' (FORMAT parquet, FIELD_IDS {s: {__duckdb_field_id: 1, b: 3, a: 2}})"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.dir, "other", "2.csv"), []byte("id\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(h.dir, "nothing", "a=1"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.run("CREATE TABLE n.taken (id int)")
	before, mine := contents(t, h.dir), contents(t, h.folder)
	for stmt, want := range map[string]struct {
		kind errs.Kind
		text string
	}{
		h.snapshot("folder", "n.s", ""):                                                            {errs.Invalid, "folder/a=2: it says that a is 2"},
		h.snapshot("value", "n.s", ""):                                                             {errs.Invalid, "a=one"},
		h.snapshot("types", "n.s", ""):                                                             {errs.Invalid, "types/2.parquet"},
		h.snapshot("letters", "n.s", ""):                                                           {errs.Invalid, "letters/2.parquet"},
		h.snapshot("nano", "n.s", ""):                                                              {errs.Invalid, "format-version"},
		h.snapshot("other", "n.s", ""):                                                             {errs.Corrupt, "other/2.csv"},
		h.snapshot("ids", "n.s", ""):                                                               {errs.Invalid, "ids/1.parquet"},
		h.snapshot("nothing", "n.s", ""):                                                           {errs.NotFound, "no files"},
		h.snapshot("gone", "n.s", ""):                                                              {errs.NotFound, "gone"},
		h.snapshot("fine", "n.taken", ""):                                                          {errs.Exists, "n.taken"},
		h.snapshot("fine", "nope.s", ""):                                                           {errs.NotFound, "nope"},
		h.snapshot("fine", "n.s", ", properties => map('gc.enabled', 'true')"):                     {errs.Invalid, "gc.enabled"},
		h.snapshot("fine", "n.s", ", properties => map('format-version', '9')"):                    {errs.Unsupported, "9"},
		h.snapshot("fine", "n.s", ", partition_types => map('a', 'array<int>')"):                   {errs.Invalid, "array<int>"},
		h.snapshot("fine", "n.s", ", partition_types => map('a', 'date')"):                         {errs.Invalid, "a=1"},
		h.snapshot("fine", "n.s", ", partition_types => map('b', 'int')"):                          {errs.NotFound, `"b"`},
		h.snapshot("fine", "n.s", ", location => '"+h.dir+"/fine/a=1/t'"):                          {errs.Invalid, "location"},
		h.snapshot("fine/a=1", "n.s", ", location => '"+h.dir+"/fine'"):                            {errs.Invalid, "location"},
		h.snapshot("fine", "n.s", ", properties => map('write.data.path', '"+h.dir+"/fine/data')"): {errs.Invalid, "location"},
		"CALL system.snapshot('db.t', 'n.s')":                                                      {errs.Unsupported, "Hive metastore"},
		"CALL system.migrate('n.s')":                                                               {errs.NotFound, "n/s"},
		"CALL system.migrate('n.taken')":                                                           {errs.Exists, "n.taken"},
		"CALL system.migrate('n.s', drop_backup => true)":                                          {errs.Unsupported, "drop_backup"},
		"CALL system.migrate('n.s', backup_table_name => 'b')":                                     {errs.Unsupported, "backup_table_name"},
	} {
		h.refuses(stmt, want.kind, want.text)
	}
	h.want("SHOW TABLES IN n", `"lake" "n" "taken"`)
	unchanged(t, h.dir, before)
	unchanged(t, h.folder, mine)
	if _, err := os.Stat(filepath.Join(h.folder, "warehouse", "n", "s")); !os.IsNotExist(err) {
		t.Errorf("the folder of the table is there: %v", err)
	}
	h.want(h.snapshot("empty", "n.s", ""), "0")
	h.want("SELECT count(*) FROM n.s.snapshots", "0")
	h.want(h.snapshot("float", "n.f", ""), "1")
	h.want("SELECT * FROM n.f", "1 1.5f")
	h.want(h.snapshot("nano", "n.ns", ", properties => map('format-version', '3')"), "1")
	h.want("SELECT epoch_ns(ts) FROM n.ns", "1704067200123456789")
}

// TestMigrateTable turns a folder of the warehouse into a table where it is, in both kinds of catalogs.
func TestMigrateTable(t *testing.T) {
	for _, kind := range []string{"hadoop", "sql"} {
		t.Run(kind, func(t *testing.T) {
			h := newHive(t)
			h.folder = t.TempDir()
			h.Session = emptyLake(t, kind, h.folder).Session()
			h.run("CREATE NAMESPACE n")
			h.dir = filepath.Join(h.folder, "warehouse", "n")
			h.sales()
			before := contents(t, h.dir)
			h.file("bad/day=2024-01-01/a.parquet", "SELECT 1 AS id, DATE '2024-01-02' AS day")
			all := contents(t, h.folder)
			h.refuses("CALL system.migrate('n.bad')", errs.Invalid, "bad/day=2024-01-01")
			unchanged(t, h.folder, all)
			if err := os.RemoveAll(filepath.Join(h.dir, "bad")); err != nil {
				t.Fatal(err)
			}
			h.want("CALL system.migrate(table => 'lake.n.sales', properties => map('p', 'q'))", "3")
			h.want("SELECT count(*), sum(id) FROM n.sales", "12 5000000052")
			h.want("SELECT count(*) FROM n.sales WHERE region = 'eu'", "10")
			h.want("SHOW TABLES IN n", `"lake" "n" "sales"`)
			h.want("SHOW TBLPROPERTIES n.sales ('migrated')", `"migrated" "true"`)
			h.refuses("SHOW TBLPROPERTIES n.sales ('gc.enabled')", errs.NotFound, "no such property")
			h.refuses("CALL system.migrate('n.sales')", errs.Exists, "n.sales")
			now := contents(t, h.dir)
			for path, text := range before {
				if now[path] != text {
					t.Errorf("%s isn't what it was", path)
				}
			}
			h.run("INSERT INTO n.sales (id, day, region) VALUES (1, DATE '2024-01-01', 'eu')")
			h.want("SELECT count(*) FROM n.sales WHERE region = 'eu' AND day = DATE '2024-01-01'", "11")
			// Its files are its own.
			h.ask("DROP TABLE n.sales PURGE")
			for path := range contents(t, h.dir) {
				if strings.HasSuffix(path, "a.parquet") || strings.Contains(path, "metadata") {
					t.Errorf("%s is left", path)
				}
			}
			// What was a table isn't taken for a folder of files: rows of them may have been deleted.
			if kind == "sql" {
				h.file("old/a.parquet", "SELECT 1 AS id")
				h.want("CALL system.migrate('n.old')", "1")
				h.run("DROP TABLE n.old")
				h.refuses("CALL system.migrate('n.old')", errs.Invalid, "metadata.json")
			}
		})
	}
}

// TestPurgeLeavesImportedFiles makes the folder of files that were added where they lay the table's own in every way there is, before and after
// they are added, and purges: they stay, and what the table wrote goes.
func TestPurgeLeavesImportedFiles(t *testing.T) {
	h := newHive(t)
	h.file("src/a=1/x.parquet", "SELECT 1 AS id")
	h.file("src/a=2/y.parquet", "SELECT 2 AS id")
	src := filepath.Join(h.dir, "src")
	before := contents(t, h.dir)
	create := "CREATE TABLE n.t (id int, a int) PARTITIONED BY (a)"
	mine := []string{
		"ALTER TABLE n.t SET TBLPROPERTIES ('write.data.path'='" + src + "', 'gc.enabled'='true')",
		"ALTER TABLE n.t SET TBLPROPERTIES ('write.object-storage.path'='file://" + src + "/', 'gc.enabled'='true')",
		"ALTER TABLE n.t SET TBLPROPERTIES ('write.folder-storage.path'='" + h.dir + "', 'gc.enabled'='true')",
		"ALTER TABLE n.t SET LOCATION '" + h.dir + "'; ALTER TABLE n.t UNSET TBLPROPERTIES ('gc.enabled')",
		"ALTER TABLE n.t SET TBLPROPERTIES ('write.data.path'='" + src + "', 'gc.enabled'='true'); ALTER TABLE n.t UNSET TBLPROPERTIES ('tarn.imported-from', 'snapshot')",
	}
	for _, own := range mine {
		for _, ways := range [][]string{
			{h.snapshot("src", "n.t", ""), own},
			{h.snapshot("src", "n.t", ""), own, "INSERT INTO n.t VALUES (3, 3)", "DELETE FROM n.t WHERE id = 1"},
			{h.snapshot("src", "n.t", ""), own, "CREATE OR REPLACE TABLE n.t (id int)"},
			{h.snapshot("src", "n.s", ""), "ALTER TABLE n.s RENAME TO n.t", own},
			{create, h.add("n.t", "src", ""), own},
			{create, own, h.add("n.t", "src", "")},
			{create, own, h.add("n.t", "src", ", partition_filter => map('a', '1')"), h.add("n.t", "src", ", partition_filter => map('a', '2')")},
			{"CREATE TABLE n.t (id int)", own, h.add("n.t", "src/a=1", "")},
			{"CREATE TABLE n.t (id int)", own, h.add("n.t", "src/a=1/x.parquet", ""), "INSERT INTO n.t VALUES (3)", h.add("n.t", "src/a=2/y.parquet", "")},
			{strings.Replace(create, " PART", " LOCATION '"+h.dir+"' PART", 1), h.add("n.t", "src", ""), own},
		} {
			for _, way := range ways {
				for stmt := range strings.SplitSeq(way, "; ") {
					h.ask(stmt)
				}
			}
			name := own + " of " + strings.Join(ways, "; ")
			if told := h.ask("EXPLAIN DROP TABLE n.t PURGE"); !strings.Contains(told, `"files of others, which stay" `) {
				t.Errorf("%s: told is %s", name, told)
			}
			h.ask("DROP TABLE n.t PURGE")
			now := contents(t, h.dir)
			for path, text := range before {
				if now[path] != text {
					t.Errorf("%s: %s is gone", name, path)
				}
			}
			if t.Failed() {
				return
			}
			// What the table wrote into a folder that others' files were added from can't be told from those by then, and stays.
			for path := range now {
				if before[path] != "" {
					continue
				}
				if !strings.HasPrefix(path, src) || !strings.HasSuffix(path, ".parquet") {
					t.Errorf("%s: %s is left", name, path)
				}
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	// The property says so once, however the files came.
	h.run("CREATE TABLE n.t (id int)")
	h.ask(h.add("n.t", "src/a=1", ""))
	h.ask(h.add("n.t", "src/a=2", ""))
	h.want("SHOW TBLPROPERTIES n.t ('tarn.imported-from')", `"tarn.imported-from" "[\"`+src+`\"]"`)
	h.run("ALTER TABLE n.t SET TBLPROPERTIES ('tarn.imported-from'='[')")
	h.refuses("DROP TABLE n.t PURGE", errs.Invalid, "tarn.imported-from")
	// A snapshot that another engine made doesn't say where its files come from.
	h.run("CREATE TABLE n.spark (id int) TBLPROPERTIES ('snapshot'='true')")
	h.refuses("DROP TABLE n.spark PURGE", errs.Invalid, "another table's")
	h.run("ALTER TABLE n.spark UNSET TBLPROPERTIES ('snapshot')")
	h.ask("DROP TABLE n.spark PURGE")
	unchanged(t, h.dir, before)
}

// TestSnapshotLiesApart has the table's folders reach into the source's, or around it, by symbolic links.
func TestSnapshotLiesApart(t *testing.T) {
	h := newHive(t)
	h.file("src/a=1/x.parquet", "SELECT 1 AS id")
	for name, to := range map[string]string{"link": "src", "inner": "src/a=1", "above": "."} {
		if err := os.Symlink(to, filepath.Join(h.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range []string{"link", "link/t", "inner/new/t", "above/src/t", "above", "src/../link/t"} {
		h.refuses(h.snapshot("src", "n.t", ", location => '"+h.dir+"/"+at+"'"), errs.Invalid, "would lie among")
		h.refuses(h.snapshot("src", "n.t", ", properties => map('write.data.path', '"+h.dir+"/"+at+"')"), errs.Invalid, "would lie among")
	}
	h.refuses(h.snapshot("link", "n.t", ", location => '"+h.dir+"/src/t'"), errs.Invalid, "would lie among")
	h.refuses(h.snapshot("inner", "n.t", ", location => '"+h.dir+"/src'"), errs.Invalid, "would lie among")
	h.want(h.snapshot("link", "n.t", ", location => '"+h.dir+"/apart'"), "1")
}

// TestMigrateOfLinks refuses folders that are in the warehouse by a symbolic link alone, and tells of tables below a folder.
func TestMigrateOfLinks(t *testing.T) {
	for _, kind := range []string{"hadoop", "sql"} {
		h := newHive(t)
		h.folder = t.TempDir()
		h.Session = emptyLake(t, kind, h.folder).Session()
		h.run("CREATE NAMESPACE n")
		h.file("src/x.parquet", "SELECT 1 AS id")
		before := contents(t, h.dir)
		place := filepath.Join(h.folder, "warehouse", "n")
		if err := os.MkdirAll(place, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(h.dir, "src"), filepath.Join(place, "t")); err != nil {
			t.Fatal(err)
		}
		h.refuses("CALL system.migrate('n.t')", errs.Invalid, "n/t: it is a symbolic link to "+h.dir+"/src")
		source := h.dir
		h.dir = place
		h.run("CREATE NAMESPACE n.up")
		h.file("up/x.parquet", "SELECT 1 AS id")
		h.run("CREATE TABLE n.up.low (id int)")
		h.refuses("CALL system.migrate('n.up')", errs.Invalid, "the Iceberg table in "+place+"/up/low")
		unchanged(t, source, before)
	}
}
