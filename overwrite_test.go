package tarn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
)

// newParted is a lake with n.p (id, a, s, ts), partitioned by a, s and day, with rows of eight partitions.
func newParted(t *testing.T) *inserting {
	t.Helper()
	i := &inserting{t: t, folder: t.TempDir()}
	i.Session = emptyLake(t, "sql", i.folder).Session()
	i.run("CREATE NAMESPACE n")
	i.run("CREATE TABLE n.p (id bigint, a int, s string, ts timestamp_ntz) PARTITIONED BY (a, s, days(ts))")
	i.run("INSERT INTO n.p SELECT range, range % 2, CASE WHEN range % 4 < 2 THEN 'x' END, TIMESTAMP '2024-01-01 12:00:00' + INTERVAL (range % 8 // 4) DAY FROM range(80)")
	i.want("SELECT count(*) FROM n.p.files", "8")
	return i
}

// TestInsertPartition gives columns the values that PARTITION says, and replaces the partitions of them.
func TestInsertPartition(t *testing.T) {
	i := newParted(t)
	now := ", TIMESTAMP '2024-01-01 12:00:00'"
	for _, c := range []struct{ stmt, query, want string }{
		{"INSERT INTO n.p PARTITION (a = 7, s) SELECT 1000, 'z'" + now, "SELECT id, a, s FROM n.p WHERE a = 7", `1000 7 "z"`},
		{"INSERT INTO n.p PARTITION (s = NULL, a = '8') SELECT 1001" + now, "SELECT id, a, s FROM n.p WHERE a = 8", "1001 8 NULL"},
		{"INSERT INTO n.p PARTITION (a = 9) (ts, id) SELECT NULL, 1002", "SELECT id, a, s, ts FROM n.p WHERE a = 9", "1002 9 NULL NULL"},
		{"INSERT INTO n.p PARTITION (a = 9) BY NAME SELECT 5 AS S, 1003 AS ID", "SELECT id, a, s FROM n.p WHERE id = 1003", `1003 9 "5"`},
		{"INSERT OVERWRITE n.p PARTITION (a = 9, s = '5') SELECT 1004" + now, "SELECT id FROM n.p WHERE a = 9 ORDER BY id", "1002\n1004"},
		{"INSERT OVERWRITE TABLE n.p PARTITION (a = 9, s = NULL) SELECT 1005" + now, "SELECT id FROM n.p WHERE a = 9 ORDER BY id", "1004\n1005"},
		{"INSERT OVERWRITE n.p PARTITION (a = 9) SELECT 1006, 'q'" + now, "SELECT id FROM n.p WHERE a = 9 ORDER BY id", "1006"},
		{"INSERT OVERWRITE n.p PARTITION (a = 9, s) SELECT 1, 'q'" + now + " WHERE false", "SELECT id FROM n.p WHERE a = 9 ORDER BY id", ""},
	} {
		i.run(c.stmt)
		i.want(c.query, c.want)
	}
	i.want("SELECT count(*), sum(id) FROM n.p WHERE a < 2", "80 3160")
	i.run("SET tarn.partition_overwrite_mode = dynamic")
	i.run("INSERT OVERWRITE n.p PARTITION (a = 1) SELECT 2000, 'x'" + now)
	i.want("SELECT count(*), count(*) FILTER (s = 'x') FROM n.p WHERE a = 1", "31 11")
	i.run("INSERT OVERWRITE n.p PARTITION (a, s) SELECT 2000, 0, 'x'" + now)
	i.want("SELECT count(*) FROM n.p WHERE a = 0", "31")
	for stmt, want := range map[string]struct {
		kind errs.Kind
		text string
	}{
		"INSERT INTO n.p PARTITION (a = 1) SELECT 1, 'x'":                                                             {errs.Invalid, "2 columns, and there are 3"},
		"INSERT INTO n.p PARTITION (a = 1) (a, id) SELECT 1, 2":                                                       {errs.Invalid, "named twice"},
		"INSERT INTO n.p PARTITION (ts = '2024-01-01') SELECT 1, 2, 'x'":                                              {errs.Invalid, `"ts"`},
		"INSERT INTO n.p PARTITION (a = 1, A = 2) SELECT 1, 'x'" + now:                                                {errs.Invalid, "twice"},
		"INSERT INTO n.p PARTITION (a = 'one') SELECT 1, 'x'" + now:                                                   {errs.Invalid, "one"},
		"INSERT INTO n.p PARTITION (a = 5000000000) SELECT 1, 'x'" + now:                                              {errs.Invalid, "5000000000"},
		"INSERT INTO n.p PARTITION (a = 1 + 1) SELECT 1, 'x'" + now:                                                   {errs.Syntax, ""},
		"INSERT OVERWRITE n.p PARTITION (a = 1) IF NOT EXISTS SELECT 1, 'x'" + now:                                    {errs.Unsupported, "IF NOT EXISTS"},
		"INSERT OVERWRITE n.p PARTITION (a = true) SELECT 1, 'x'" + now:                                               {errs.Invalid, "true"},
		"INSERT INTO n.p REPLACE USING (a) SELECT 1, 1, 'x'" + now:                                                    {errs.Unsupported, "USING"},
		"INSERT INTO n.p REPLACE WHERE a = ? SELECT 1, 1, 'x'" + now:                                                  {errs.Unsupported, "parameters"},
		"INSERT INTO n.p REPLACE WHERE id > 5 SELECT 1, 1, 'x'" + now:                                                 {errs.Unsupported, "for which id > 5 holds and others"},
		"INSERT INTO n.p REPLACE WHERE id < 40 AND a < 7 SELECT 1, 1, 'x'" + now:                                      {errs.Unsupported, "a="},
		"INSERT INTO n.p REPLACE WHERE a + 0 = 1 SELECT 1, 1, error('not run')" + now:                                 {errs.Unsupported, "can't be told"},
		"INSERT INTO n.p REPLACE WHERE nope = 1 SELECT 1, 1, 'x'" + now:                                               {errs.NotFound, "nope"},
		"INSERT INTO n.p REPLACE WHERE a = 1) UNION ALL SELECT count(*) FROM n.p WHERE (a = 2 SELECT 1, 1, 'x'" + now: {errs.Syntax, "column 36: found )"},
		"INSERT INTO n.p REPLACE WHERE a = 1 ORDER BY 1 SELECT 1, 1, 'x'" + now:                                       {errs.Invalid, "more than one expression"},
		"INSERT INTO n.p REPLACE WHERE a = 1, a = 2 SELECT 1, 1, 'x'" + now:                                           {errs.Invalid, "more than one expression"},
		"INSERT INTO n.p REPLACE WHERE a = 1 = SELECT 1, 1, 'x'" + now:                                                {errs.Syntax, "column 37"},
		"INSERT INTO n.p REPLACE WHERE a = 1":                                                                         {errs.Syntax, "a query"},
		"INSERT INTO n.p REPLACE WHERE SELECT 1":                                                                      {errs.Syntax, "condition"},
		"INSERT INTO n.p REPLACE WHERE a IN (SELECT 1) SELECT 1, 1, error('not run')" + now:                           {errs.Unsupported, "can't be told"},
	} {
		_, err := i.Exec(t.Context(), stmt)
		if errs.KindOf(err) != want.kind || !strings.Contains(fmt.Sprint(err), want.text) {
			t.Errorf("%s: the error is %v (%v), wanted %v with %q", stmt, err, errs.KindOf(err), want.kind, want.text)
		}
	}
}

// TestInsertReplaceWhere replaces the rows of a condition, whatever the new ones are.
func TestInsertReplaceWhere(t *testing.T) {
	i := newParted(t)
	const day = "TIMESTAMP '2024-01-02 12:00:00'"
	for _, c := range []struct{ stmt, query, want string }{
		{"INSERT INTO n.p REPLACE WHERE a = 1 AND s IS NULL SELECT 1000, 1, NULL, " + day, "SELECT count(*), count(*) FILTER (id >= 1000) FROM n.p", "61 1"},
		{"INSERT INTO TABLE n.p REPLACE WHERE ts >= '2024-01-02' -- all of a day\nAND ts < '2024-01-03' SELECT 1001, 5, 'y', " + day, "SELECT count(*), max(id) FROM n.p", "31 1001"},
		{"INSERT INTO n.p REPLACE WHERE s IN ('y', 'x') AND a IN (0, 5) VALUES (1002, 0, 'x', NULL)", "SELECT count(*), count(*) FILTER (a = 0), max(id) FROM n.p", "21 11 1002"},
		{"INSERT INTO n.p REPLACE WHERE a BETWEEN 100 AND 200 SELECT 1003, 0, 'x', NULL", "SELECT count(*) FROM n.p", "22"},
		{"INSERT INTO n.p REPLACE WHERE a = 0 FROM n.p WHERE false", "SELECT count(*), min(a) FROM n.p", "10 1"},
		{"INSERT INTO n.p REPLACE WHERE a = NULL SELECT 1, 3, 'x', NULL", "SELECT count(*) FROM n.p", "11"},
		{"INSERT INTO n.p REPLACE WHERE p.a <= 1 OR a = 3 WITH q AS (SELECT 9) SELECT *, 1, 'x', NULL FROM q", "SELECT id FROM n.p", "9"},
		{"INSERT INTO n.p REPLACE WHERE a = 1 (SELECT 10, 1, 'x', NULL)", "SELECT id FROM n.p", "10"},
		{"INSERT INTO n.p REPLACE WHERE a IN (1) ((SELECT 11, 1, 'x', NULL) UNION (VALUES (12, 1, 'x', NULL))) ORDER BY 1", "SELECT id FROM n.p ORDER BY id", "11\n12"},
	} {
		i.run(c.stmt)
		i.want(c.query, c.want)
	}
	i.want("SELECT operation FROM n.p.snapshots ORDER BY committed_at DESC LIMIT 1", `"overwrite"`)
	// Files of an older spec: those that the condition can't tell are refused before any row, by bounds too.
	i.run("CREATE TABLE n.o (id bigint, a int) PARTITIONED BY (bucket(2, id))")
	i.run("INSERT INTO n.o VALUES (1, 1), (2, 2), (3, 3), (4, 4)")
	i.run("ALTER TABLE n.o REPLACE PARTITION FIELD bucket(2, id) WITH a")
	i.run("INSERT INTO n.o VALUES (5, 5), (6, 6), (7, 2)")
	i.run("INSERT INTO n.o REPLACE WHERE a = 5 SELECT 50, 5")
	i.want("SELECT id FROM n.o ORDER BY id", "1\n2\n3\n4\n6\n7\n50")
	for _, stmt := range []string{"INSERT INTO n.o REPLACE WHERE a = 2 SELECT error('not run'), 5", "INSERT OVERWRITE n.o PARTITION (a = 2) SELECT error('not run')"} {
		if _, err := i.Exec(t.Context(), stmt); errs.KindOf(err) != errs.Unsupported || !strings.Contains(err.Error(), "id_bucket=") {
			t.Errorf("%s: %v", stmt, err)
		}
	}
	i.want("SELECT count(*) FROM n.o", "7")
	text, err := i.ask("EXPLAIN INSERT INTO n.p REPLACE WHERE a = 1 SELECT 1, 1, 'x', NULL"), error(nil)
	if !strings.Contains(text, "all rows for which a = 1 holds") {
		t.Errorf("%s, %v", text, err)
	}
}

// TestReplaceWhereByBounds replaces files of which the bounds of columns prove that all rows satisfy a condition.
func TestReplaceWhereByBounds(t *testing.T) {
	i := newParted(t)
	i.run("CREATE TABLE n.u (id bigint, s string, x double) TBLPROPERTIES ('format-version'='3')")
	fill := func(from, to int) {
		i.run(fmt.Sprintf("INSERT INTO n.u SELECT range, 'k' || range, range / 2 FROM range(%d, %d)", from, to))
	}
	fill(0, 10)
	fill(10, 20)
	fill(20, 30)
	i.run("INSERT INTO n.u VALUES (NULL, NULL, NULL)")
	i.run("SET tarn.row_change_mode = 'merge-on-read'")
	i.run("DELETE FROM n.u WHERE id IN (12, 29)")
	i.run("INSERT INTO n.u REPLACE WHERE id >= 10 AND id < 20 SELECT 100, 'new', 0")
	i.want("SELECT count(*), sum(id), count(*) FILTER (id BETWEEN 10 AND 19) FROM n.u", "21 361 0")
	i.want("SELECT summary['deleted-data-files'], summary['added-data-files'], summary['removed-dvs'] FROM n.u.snapshots ORDER BY committed_at DESC LIMIT 1", `"1" "1" "1"`)
	i.run("INSERT INTO n.u REPLACE WHERE id = 100 OR id IS NULL SELECT id + 100, s, x FROM n.u WHERE s = 'new'")
	i.want("SELECT count(*), sum(id), max(id) FROM n.u", "20 461 200")
	for _, where := range []string{"id >= 5", "id > 20", "id <= 28", "s < 'k5'"} {
		i.refuses("INSERT INTO n.u REPLACE WHERE "+where+" SELECT error('not run'), '', 0", errs.Unsupported, ".parquet")
	}
	for where, why := range map[string]string{
		"x > 5": "x is a double, whose bounds", "s = 'a' OR 5 < x": "x is a double, whose bounds", "x BETWEEN 1 AND 2": "x is a double, whose bounds", "x IN (1, 2)": "x is a double, whose bounds",
		"id = 1.5": "id, of type long, is compared with what isn't a constant of just that type", "id = x": "id, of type long, is compared", "s LIKE 'k%'": "s is tested by a function",
		"id + 1 = 2": "a part of it isn't a comparison of a column with constants", "id IN (SELECT 1)": "n.u WHERE id IN",
	} {
		i.refuses("INSERT INTO n.u REPLACE WHERE "+where+" SELECT error('not run'), '', 0", errs.Unsupported, why)
	}
	i.refuses("INSERT INTO n.u REPLACE WHERE x > 5 SELECT error('not run'), '', 0", errs.Unsupported, "DELETE FROM n.u WHERE x > 5, and INSERT INTO n.u")
	// Within a partition, beside files that satisfy it as a partition.
	i.run("CREATE TABLE n.b (id bigint, a int) PARTITIONED BY (a)")
	i.run("INSERT INTO n.b SELECT range, range % 2 FROM range(10)")
	i.run("INSERT INTO n.b SELECT range, range % 2 FROM range(10, 20)")
	i.run("INSERT INTO n.b REPLACE WHERE a = 1 OR id >= 10 SELECT 50, 0")
	i.want("SELECT count(*), sum(id) FROM n.b", "6 70")
	// Without bounds nothing is known.
	i.run("CREATE TABLE n.m (id bigint) TBLPROPERTIES ('write.metadata.metrics.default'='counts')")
	i.run("INSERT INTO n.m VALUES (1), (2)")
	i.refuses("INSERT INTO n.m REPLACE WHERE id > 0 SELECT error('not run')", errs.Unsupported, ".parquet")
	i.run("INSERT INTO n.m REPLACE WHERE id IS NULL SELECT 3")
	i.want("SELECT sum(id) FROM n.m", "6")
}

// TestDynamicOverwriteOfOlderSpecs: of files that an older spec laid out the rows of the replaced partitions go, and no others.
func TestDynamicOverwriteOfOlderSpecs(t *testing.T) {
	for _, version := range []string{"1", "2", "3"} {
		i := newInserting(t)
		i.run("CREATE TABLE n.o (id bigint, a int, d double) PARTITIONED BY (bucket(2, id)) TBLPROPERTIES ('format-version'='" + version + "')")
		i.run("INSERT INTO n.o SELECT range, range % 3, CASE WHEN range % 3 = 2 THEN 2.5 ELSE 0 END FROM range(30)")
		i.run("INSERT INTO n.o VALUES (100, NULL, 'nan'::DOUBLE)")
		if version > "1" {
			i.run("SET tarn.row_change_mode = 'merge-on-read'")
			i.run("DELETE FROM n.o WHERE id IN (4, 5)")
			i.run("RESET tarn.row_change_mode")
		}
		i.run("ALTER TABLE n.o REPLACE PARTITION FIELD bucket(2, id) WITH a")
		i.run("INSERT INTO n.o VALUES (101, 1, 5), (102, 7, 5)")
		i.run("SET tarn.partition_overwrite_mode = dynamic")
		lineage := "SELECT id FROM n.o WHERE a = 2 OR a IS NULL ORDER BY id"
		if version == "3" {
			lineage = "SELECT id, _row_id, _last_updated_sequence_number FROM n.o WHERE a = 2 OR a IS NULL ORDER BY id"
		}
		before, gone := i.ask(lineage), 0
		if version > "1" {
			gone = 1 // of those that aren't of a = 1
		}
		if got := i.run("INSERT OVERWRITE n.o VALUES (200, 1, 1), (201, 1, 1)"); got != "[{rows-inserted 2} {files-added 1}]" {
			t.Errorf("it counts %s", got)
		}
		i.want("SELECT id FROM n.o WHERE a = 1 ORDER BY id", "200\n201")
		i.want("SELECT count(*) FROM n.o", fmt.Sprint(2+20+1+1-gone))
		i.want(lineage, before)
		i.want("SELECT count(DISTINCT spec_id), min(spec_id) FROM n.o.files WHERE content = 0", "1 1")
		i.run("ALTER TABLE n.o REPLACE PARTITION FIELD a WITH d")
		i.run("INSERT OVERWRITE n.o VALUES (300, 9, 2.5), (301, 9, 'nan'::DOUBLE)")
		i.want("SELECT count(*) FILTER (a = 2), count(*) FILTER (id = 100), count(*) FILTER (a = 0) FROM n.o", "0 0 10")
		// Where nothing came between, what is staged can be published, and else it depends on what it saw.
		i.run("ALTER TABLE n.o REPLACE PARTITION FIELD d WITH truncate(100, id)")
		i.run("ALTER TABLE n.o SET TBLPROPERTIES ('write.wap.enabled'='true')")
		i.run("SET tarn.wap_id = 'w'")
		i.run("INSERT OVERWRITE n.o VALUES (205, 9, 1)")
		i.run("RESET tarn.wap_id")
		i.run("INSERT INTO n.o VALUES (900, 9, 1)")
		i.refuses("CALL system.publish_changes('n.o', 'w')", errs.Unsupported, "dynamic overwrite")
		i.want("SELECT count(*) FROM n.o WHERE id IN (200, 201)", "2")
	}
}

// TestDynamicOverwriteOfManyPartitions: more than have a bin of their own while rows are parted.
func TestDynamicOverwriteOfManyPartitions(t *testing.T) {
	i := newInserting(t)
	i.run("CREATE TABLE n.m (id int, v int)")
	i.run("INSERT INTO n.m SELECT range, range % 5 FROM range(540)")
	i.run("ALTER TABLE n.m ADD PARTITION FIELD id")
	i.run("SET tarn.partition_overwrite_mode = dynamic")
	i.run("INSERT OVERWRITE n.m SELECT range, 9 FROM range(3, 540, 5)")
	i.want("SELECT count(*), count(DISTINCT id), sum(v), count(*) FILTER (v = 9), count(*) FILTER (v = 3) FROM n.m", "540 540 1728 108 0")
}
