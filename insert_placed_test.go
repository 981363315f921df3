package tarn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tarndb/tarn"
)

// placing are INSERTs into tables by layout, and whether each pack's rows are one partition's. Where they aren't, why says so.
var placing = []struct {
	columns, layout, query string // fields of the layout are parted by |
	why                    string // "": each pack writes its own
}{
	// The key of a join, of its preserved side, of a grouping, of a union, of a table alone.
	{"k BIGINT, v INT, name STRING", "bucket(8, k)", "SELECT o.k, o.v, c.name FROM n.o o JOIN n.cust c ON o.k = c.k", ""},
	{"k BIGINT, v INT, name STRING", "bucket(8, k)", "SELECT o.k, o.v, c.name FROM n.o o LEFT JOIN n.cust c ON o.k = c.k", ""},
	{"k BIGINT, v INT, name STRING", "bucket(8, k)", "SELECT c.k, o.v, c.name FROM n.o o LEFT JOIN n.cust c ON o.k = c.k", "doesn't follow from the groups"},
	{"k BIGINT, v INT, name STRING", "bucket(8, k)", "SELECT k, o.v, c.name FROM n.o o FULL JOIN n.cust c USING (k)", ""},
	{"k BIGINT, n BIGINT", "bucket(8, k)", "SELECT o.k, count(*) FROM n.o o GROUP BY o.k", ""},
	{"k BIGINT, n BIGINT", "bucket(8, k)", "SELECT k, row_number() OVER (PARTITION BY k ORDER BY v, ts, day) FROM n.o", ""},
	{"k BIGINT, v INT", "bucket(8, k)", "SELECT k, v FROM n.o UNION ALL SELECT k, length(name) FROM n.cust", ""},
	{"k BIGINT, v INT, ts TIMESTAMP_NTZ, day DATE", "bucket(8, k)", "SELECT * FROM n.o", ""},
	{"k BIGINT, v INT, ts TIMESTAMP_NTZ, day DATE", "bucket(8, k)", "SELECT * FROM n.o WHERE v % 3 = 0 AND k IS NOT NULL", ""},
	{"k BIGINT, v INT, ts TIMESTAMP_NTZ, day DATE", "bucket(8, k)", "SELECT * FROM n.o WHERE v < 4", ""}, // most groups give nothing
	// The key's transforms, and what they reduce to.
	{"k BIGINT, v INT", "bucket(4, k)", "SELECT k, v FROM n.o", ""},
	{"k BIGINT, v INT", "bucket(1, k)", "SELECT k, v FROM n.o", ""},
	{"k BIGINT, v INT", "bucket(16, k)", "SELECT k, v FROM n.o", "bucket(16, k) doesn't follow from the groups, which are of bucket(8, k)"},
	{"k BIGINT, v INT", "bucket(6, k)", "SELECT k, v FROM n.o", "doesn't follow"},
	{"k BIGINT, v INT", "k", "SELECT k, v FROM n.o", "doesn't follow"},
	{"v INT, k BIGINT", "bucket(8, v)", "SELECT v, k FROM n.o", "doesn't follow"},
	{"k BIGINT, day DATE", "months(day)", "SELECT k, day FROM n.byday", ""},
	{"k BIGINT, day DATE", "bucket(4, k)|years(day)", "SELECT k, day FROM n.byday", ""},
	{"day DATE, k BIGINT", "days(day)|bucket(8, k)", "SELECT x.day, x.k FROM n.byday x JOIN n.byday y ON x.k = y.k AND x.day = y.day", ""},
	{"s STRING, i INT, dec DECIMAL(9,2)", "s", "SELECT s, i, dec FROM n.types WHERE true", ""},
	{"s STRING, i INT, dec DECIMAL(9,2)", "bucket(3, s)|i|truncate(300, dec)", "SELECT s, i, dec FROM n.types", ""},
	{"s STRING, i BIGINT, dec DECIMAL(9,2)", "i", "SELECT s, i, dec FROM n.types", "doesn't follow"}, // a cast
	// Columns that aren't the key's own.
	{"k BIGINT, v INT", "bucket(8, k)", "SELECT k + 1, v FROM n.o", "doesn't follow"},
	{"k BIGINT, v INT", "bucket(8, k)", "SELECT -k, v FROM n.o", "doesn't follow"},
	{"k BIGINT, v INT", "bucket(8, k)", "SELECT v, k FROM n.o", "doesn't follow"},
	{"k BIGINT, v INT", "bucket(8, k)", "SELECT k, v FROM n.o ORDER BY v LIMIT 50", "LIMIT inside the query needs rows of all groups"},
	{"k BIGINT, v INT", "bucket(8, k)", "SELECT * FROM (SELECT k, max(v) AS v FROM n.o GROUP BY k) AS g WHERE v > 3", ""},
	{"k BIGINT, v INT", "bucket(8, k)", "SELECT k, v FROM n.o WHERE k IN (SELECT k FROM n.cust)", ""},
	{"k BIGINT, v INT", "bucket(8, k)", "SELECT range, 1 FROM range(50)", "don't come out of groups"},
	{"s STRUCT<k: BIGINT>, v INT", "bucket(8, s.k)", "SELECT {'k': k}, v FROM n.o", "any part of the plan"},
	// What is checked of a column doesn't stand in the way.
	{"k BIGINT NOT NULL, v INT NOT NULL", "bucket(8, k)", "SELECT k, v FROM n.o WHERE k IS NOT NULL", ""},
	{"v INT, ts TIMESTAMP_NTZ", "hours(ts)", "SELECT v, ts FROM n.byhour", ""},
	{"v INT, ts TIMESTAMP_NTZ", "days(ts)", "SELECT v, ts FROM n.byhour", ""},
	// Some files lie in no group.
	{"k BIGINT, v INT", "bucket(8, k)", "SELECT k, v FROM n.mixed", "to their groups"},
	{"k BIGINT, v INT, name STRING", "bucket(8, k)", "SELECT o.k, o.v, c.name FROM n.mixed o JOIN n.cust c ON o.k = c.k", "to their groups"},
}

func newPlacing(t *testing.T) *inserting {
	i := newInserting(t)
	for _, stmt := range []string{
		"CREATE TABLE n.o (k BIGINT, v INT, ts TIMESTAMP_NTZ, day DATE) PARTITIONED BY (bucket(8, k))",
		"INSERT INTO n.o SELECT CASE WHEN range % 10 > 0 THEN range % 40 END, range, TIMESTAMP '2020-01-01' + to_hours(range), DATE '2020-01-01' + CAST(range % 9 AS INTEGER) FROM range(400)",
		"CREATE TABLE n.cust (k BIGINT, name STRING) PARTITIONED BY (bucket(8, k))",
		"INSERT INTO n.cust SELECT CASE WHEN range > 0 THEN range END, 'c' || range FROM range(30)",
		"CREATE TABLE n.byday (k BIGINT, day DATE) PARTITIONED BY (bucket(8, k), days(day))",
		"INSERT INTO n.byday SELECT range % 5, DATE '1969-12-25' + CAST(range * 11 % 60 AS INTEGER) FROM range(80)",
		"CREATE TABLE n.byhour (v INT, ts TIMESTAMP_NTZ) PARTITIONED BY (hours(ts))",
		"INSERT INTO n.byhour SELECT range, CASE WHEN range > 0 THEN TIMESTAMP '1969-12-31 20:30:00' + to_minutes(range * 25) END FROM range(60)",
		"CREATE TABLE n.types (s STRING, i INT, dec DECIMAL(9,2)) PARTITIONED BY (s, i, truncate(100, dec))",
		"INSERT INTO n.types SELECT CASE range % 4 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE 'a/b ' || range % 3 END, range % 3 - 1, range / 3 - 2 FROM range(40)",
		"CREATE TABLE n.mixed (k BIGINT, v INT)",
		"INSERT INTO n.mixed SELECT range % 40, range FROM range(40)",
		"ALTER TABLE n.mixed ADD PARTITION FIELD bucket(8, k)",
		"INSERT INTO n.mixed SELECT range % 40, range FROM range(300)",
	} {
		i.run(stmt)
	}
	return i
}

// TestInsertPlaced inserts what each pack writes by itself, and what it can't, with the same rows and partitions either way. Every
// partition has one file, whose values are computed again from the rows.
func TestInsertPlaced(t *testing.T) {
	i := newPlacing(t)
	for n, c := range placing {
		for way, set := range []string{"RESET tarn.pack_bytes", "SET tarn.pack_bytes = '1GiB'", "SET tarn.skew = 'slice'", "SET tarn.skew = 'bucket'"} {
			if way > 0 && n > 3 {
				continue // how groups are divided doesn't depend on the rest
			}
			i.run(set)
			name := fmt.Sprintf("n.t%d_%d", n, way)
			i.run(fmt.Sprintf("CREATE TABLE %s (%s) PARTITIONED BY (%s)", name, c.columns, strings.ReplaceAll(c.layout, "|", ", ")))
			insert := "INSERT INTO " + name + " " + c.query
			text, err := i.Explain(t.Context(), insert, tarn.ExplainOptions{})
			isPlaced := strings.Contains(text, "aren't redistributed")
			switch {
			case err != nil, isPlaced != (c.why == ""), !isPlaced && !strings.Contains(text, c.why):
				t.Errorf("%s: %v, wanted %q:\n%s", insert, err, c.why, text)
			}
			i.run(insert)
			i.run("RESET tarn.skew")
			i.run("SET tarn.spj = 'off'")
			i.sameRows(name, c.query)
			i.partitions(name, c.layout)
			var files int
			if _, err := fmt.Sscan(i.ask("SELECT count(*) FROM "+name+".files"), &files); err != nil {
				t.Fatal(err)
			}
			i.onlyFiles(strings.TrimPrefix(name, "n."), files)
			if way < 3 || !isPlaced { // a group that is divided by its keys has a file of each part
				i.want(fmt.Sprintf("SELECT count(*) - count(DISTINCT partition) FROM %s.files", name), "0")
			}
			i.run("RESET tarn.spj")
		}
	}
}

// sameRows compares the rows of a table with those of a query.
func (i *inserting) sameRows(table, query string) {
	i.t.Helper()
	const sum = "SELECT count(*), sum(hash(CAST(r AS VARCHAR))) FROM (SELECT row(COLUMNS(*)) AS r FROM (%s) AS q) AS q"
	got, want := i.ask(fmt.Sprintf(sum, "SELECT * FROM "+table)), i.ask(fmt.Sprintf(sum, query))
	if got != want || strings.HasPrefix(got, "0 ") {
		i.t.Errorf("%s has the rows %s, and %s gives %s", table, got, query, want)
	}
}

// partitions computes the partition values of all rows again.
func (i *inserting) partitions(table, layout string) {
	i.t.Helper()
	for at, field := range strings.Split(layout, "|") {
		if strings.Contains(field, "(") {
			field = "system." + field
		}
		query := fmt.Sprintf("SELECT count(*) FROM (SELECT struct_extract_at(_partition, %d) AS has, %s AS wanted FROM %s) AS r WHERE CAST(has AS VARCHAR) IS DISTINCT FROM CAST(wanted AS VARCHAR)", at+1, field, table)
		i.want(query, "0")
	}
}

// TestInsertUnparted inserts into tables without a layout: as they come, but where they are to be sorted, or gathered from the
// parts of a plan. Files are cut at the target size, and those that were there stay.
func TestInsertUnparted(t *testing.T) {
	i := newPlacing(t)
	const wide = "SELECT range, repeat(CAST(hash(range) AS VARCHAR), 3) FROM range(60000)"
	i.run("CREATE TABLE n.cut (k BIGINT, s STRING) TBLPROPERTIES ('write.target-file-size-bytes'='200000', 'write.parquet.row-group-limit'='2048')")
	for n := range 2 {
		i.run("INSERT INTO n.cut " + wide)
		i.want(fmt.Sprintf("SELECT count(*), count(DISTINCT k), sum(k) = %d * 1799970000::BIGINT FROM n.cut", n+1), fmt.Sprintf("%d 60000 true", (n+1)*60000))
		i.want(fmt.Sprintf("SELECT count(*) > %d * 3, max(file_size_in_bytes) < 600000, sum(record_count) FROM n.cut.files", n+1), fmt.Sprintf("true true %d", (n+1)*60000))
	}
	i.run("INSERT INTO n.cut SELECT * FROM n.cut WHERE false")
	var files int
	if _, err := fmt.Sscan(i.ask("SELECT count(*) FROM n.cut.files"), &files); err != nil {
		t.Fatal(err)
	}
	i.onlyFiles("cut", files)
	i.run("SET tarn.pack_bytes = 0")
	const join = "SELECT o.k, c.name FROM n.o o JOIN n.cust c ON o.k = c.k"
	for mode, want := range map[string]string{"": "1", "none": "8", "NONE": "8", "hash": "1", "range": "1"} {
		name := "n.mode" + mode
		i.run("CREATE OR REPLACE TABLE " + name + " (k BIGINT, s STRING)")
		if mode != "" {
			i.run("ALTER TABLE " + name + " SET TBLPROPERTIES ('write.distribution-mode'='" + mode + "')")
		}
		i.run("INSERT INTO " + name + " " + join)
		i.sameRows(name, join)
		i.want("SELECT count(*) FROM "+name+".files", want)
	}
	i.run("CREATE TABLE n.ordered (k BIGINT, s STRING) TBLPROPERTIES ('write.target-file-size-bytes'='200000', 'write.parquet.row-group-limit'='2048')")
	i.run("ALTER TABLE n.ordered WRITE ORDERED BY s")
	i.run("INSERT INTO n.ordered " + wide)
	i.sameRows("n.ordered", wide)
	i.want("SELECT count(*) > 3, min(sort_order_id) FROM n.ordered.files", "true 1")
	i.want("SELECT count(*) FROM n.ordered.files a, n.ordered.files b WHERE a.file_path <> b.file_path AND a.readable_metrics.s.lower_bound < b.readable_metrics.s.lower_bound AND a.readable_metrics.s.upper_bound > b.readable_metrics.s.upper_bound", "0")
}
