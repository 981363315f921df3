package property

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/golden"
	"github.com/tarndb/tarn/internal/lake"
)

// changeModes are how rows may be changed, and the formats in which they can be so.
var changeModes = []struct {
	set    string
	format string
}{
	{"SET tarn.row_change_mode = 'copy-on-write'", "1"},
	{"SET tarn.row_change_mode = 'copy-on-write'", "2"},
	{"SET tarn.row_change_mode = 'copy-on-write'", "3"},
	{"SET tarn.row_change_mode = 'merge-on-read'", "2"},
	{"SET tarn.row_change_mode = 'merge-on-read'", "3"},
}

// TestChangeCases are the cases of statements that change rows, under their ids in the list of other engines' faults, in each way
// to change rows.
func TestChangeCases(t *testing.T) {
	cases := map[string]func(*changing){
		"MRG-1 two source rows match one target row": mergeTwice, "MRG-3 null keys": mergeNulls, "MRG-4 upsert on a partitioned table": mergeMove,
		"MRG-5 insert-only MERGE run twice at once": mergeAtOnce, "DEL-15 files with different schemas": deleteEvolved,
		"PRN-4 != on a file with nulls": deleteUnequal, "PRN-5 NULL and <>": deleteNotIn, "PRN-6 NaN hidden by bounds": deleteNaN,
		"MNT-1 compaction beside deletes": compactDeleted, "MNT-2 a file that was replaced": deleteReplaced, "MNT-3 a row that was deleted meanwhile": rewriteDeleted,
		"fields of structs": changeFields, "defaults": changeDefaults, "branches": changeBranch, "what is refused": refuseChanges,
		"an expression is for its rows alone": guardValues, "random values": changeRandomly, "parameters": changeParameters,
		"whole files": deleteWhole, "isolation": isolate, "write skew": skew, "deletes where no rows can be written": deleteUnwritable, "values that nobody assigns": keepValues, "groups that run again": runAgain, "both sides of the source": mergeForms,
	}
	for id, run := range cases {
		t.Run(id, func(t *testing.T) {
			l := newLab(t)
			for i, m := range changeModes {
				l.run(fmt.Sprintf("CREATE NAMESPACE c%d", i))
				run(&changing{l, mode{m.set}, fmt.Sprintf("c%d", i), m.format})
			}
		})
	}
}

// changing is a lab in one way to change rows; ns and v in statements stand for its namespace and its table's format.
type changing struct {
	*lab
	mode   mode
	space  string
	format string
}

func (c *changing) text(statement string) string {
	return strings.NewReplacer("ns.", c.space+".", "WITH v", "TBLPROPERTIES ('format-version' = '"+c.format+"')").Replace(statement)
}

func (c *changing) do(statements ...string) {
	c.t.Helper()
	for _, st := range statements {
		if _, err := c.session(c.mode).Exec(context.Background(), c.text(st)); err != nil {
			c.t.Fatalf("%v %s\n%v", c.mode, c.text(st), err)
		}
	}
}

func (c *changing) fails(kind errs.Kind, statement, says string) {
	c.t.Helper()
	_, err := c.session(c.mode).Exec(context.Background(), c.text(statement))
	if err == nil || errs.KindOf(err) != kind || !strings.Contains(err.Error()+errs.HintOf(err), says) {
		c.t.Errorf("%v %s: %v, wanted an error of kind %v that says %q", c.mode, c.text(statement), err, kind, says)
	}
}

// has compares the table's rows.
func (c *changing) has(table string, rows ...string) {
	c.t.Helper()
	c.gives("SELECT * FROM "+table, rows...)
}

// gives compares a query's rows, group by group and whole. Texts are written without quotes.
func (c *changing) gives(query string, rows ...string) {
	c.t.Helper()
	slices.Sort(rows)
	for _, m := range []mode{small, off} {
		a := c.ask(m, c.text(query))
		c.must(a.err)
		var got []string
		for _, row := range a.rows {
			parts := make([]string, len(row))
			for i, v := range row {
				parts[i] = strings.TrimSuffix(strings.Trim(golden.Text(v), `"`), "f")
			}
			got = append(got, "("+strings.Join(parts, ", ")+")")
		}
		if slices.Sort(got); !slices.Equal(got, rows) {
			c.t.Errorf("%v %v %s\ngives %q, wanted %q", c.mode, m, c.text(query), got, rows)
		}
	}
}

// racing runs a statement, and another meanwhile, after the first has planned and before it commits. It returns how often
// the first ran.
func (c *changing) racing(statement string, meanwhile func()) (runs int) {
	c.t.Helper()
	s := c.session(append(mode{"SET tarn.pack_bytes = 0"}, c.mode...))
	var once sync.Once
	var n atomic.Int32
	s.OnProgress(func(done, total int) {
		once.Do(meanwhile)
		if done == total {
			n.Add(1)
		}
	})
	if _, err := s.Exec(context.Background(), c.text(statement)); err != nil {
		c.t.Errorf("%v %s\n%v", c.mode, c.text(statement), err)
	}
	return int(n.Load())
}

func mergeTwice(c *changing) {
	c.do("CREATE TABLE ns.t (k BIGINT, v STRING) PARTITIONED BY (bucket(2, k)) WITH v", "CREATE TABLE ns.s (k BIGINT, v STRING)",
		"INSERT INTO ns.t VALUES (1, 'a'), (2, 'b')", "INSERT INTO ns.t VALUES (3, 'c')", "INSERT INTO ns.s VALUES (1, 'x'), (1, 'y')")
	for _, clauses := range []string{
		"WHEN MATCHED THEN UPDATE SET v = s.v", "WHEN MATCHED AND s.v = 'x' THEN UPDATE SET v = s.v", "WHEN MATCHED AND s.v = 'x' THEN DELETE",
		"WHEN MATCHED AND false THEN DELETE WHEN MATCHED THEN DELETE",
	} {
		c.fails(errs.Invalid, "MERGE INTO ns.t t USING ns.s s ON t.k = s.k "+clauses, "k = 1, v = a")
		c.fails(errs.Invalid, "MERGE INTO ns.t t USING (SELECT k FROM ns.t UNION ALL SELECT k FROM ns.t WHERE k = 3) s(k) ON t.k = s.k "+
			strings.ReplaceAll(clauses, "s.v", "t.v"), "k = 3, v = c")
	}
	c.fails(errs.Invalid, "UPDATE ns.t t SET v = s.v FROM ns.s s WHERE t.k = s.k", "k = 1, v = a")
	c.has("ns.t", "(1, a)", "(2, b)", "(3, c)")
	c.do("MERGE INTO ns.t t USING ns.s s ON t.k = s.k WHEN MATCHED THEN DELETE", "DELETE FROM ns.t t USING ns.t x, ns.s s WHERE t.k = 2")
	c.has("ns.t", "(3, c)")
}

func mergeNulls(c *changing) {
	for name, on := range map[string]string{"ns.a": "t.k = s.k", "ns.b": "t.k IS NOT DISTINCT FROM s.k", "ns.d": "t.k <=> s.k"} {
		c.do("CREATE TABLE "+name+" (k BIGINT, v BIGINT) PARTITIONED BY (bucket(4, k)) WITH v", "INSERT INTO "+name+" VALUES (NULL, 1), (2, NULL)",
			"MERGE INTO "+name+" t USING (VALUES (NULL, 9), (2, 7)) s(k, v) ON "+on+" WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *")
	}
	c.has("ns.a", "(NULL, 1)", "(NULL, 9)", "(2, 7)")
	c.has("ns.b", "(NULL, 9)", "(2, 7)")
	c.has("ns.d", "(NULL, 9)", "(2, 7)")
}

func mergeMove(c *changing) {
	c.do("CREATE TABLE ns.t (k STRING, v INT, ts TIMESTAMP_NTZ) PARTITIONED BY (days(ts)) WITH v",
		"INSERT INTO ns.t VALUES ('a', 1, TIMESTAMP '2024-01-01 01:00:00'), ('b', 2, TIMESTAMP '2024-01-01 02:00:00'), ('c', 3, TIMESTAMP '2024-01-02 00:00:00')",
		"MERGE INTO ns.t t USING (SELECT 'a' AS k, 10 AS v, TIMESTAMP '2024-01-02 03:00:00' AS ts) s ON t.k = s.k WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *")
	c.gives("SELECT k, v, day(ts) FROM ns.t", "(a, 10, 2)", "(b, 2, 1)", "(c, 3, 2)")
	c.gives("SELECT count(*) FROM ns.t WHERE ts >= TIMESTAMP '2024-01-02 00:00:00'", "(2)")
}

func mergeAtOnce(c *changing) {
	c.do("CREATE TABLE ns.t (k BIGINT) PARTITIONED BY (bucket(2, k)) WITH v", "CREATE TABLE ns.s (k BIGINT) PARTITIONED BY (bucket(2, k))",
		"INSERT INTO ns.s VALUES (1), (2)")
	const merge = "MERGE INTO ns.t t USING ns.s s ON t.k = s.k WHEN NOT MATCHED THEN INSERT *"
	if runs := c.racing(merge, func() { c.do(merge) }); runs != 2 {
		c.t.Errorf("%v: the first ran %d times", c.mode, runs)
	}
	c.has("ns.t", "(1)", "(2)")
}

func deleteEvolved(c *changing) {
	c.do("CREATE TABLE ns.t (n BIGINT) WITH v", "INSERT INTO ns.t SELECT * FROM range(10)", "ALTER TABLE ns.t ADD COLUMN c INT",
		"INSERT INTO ns.t SELECT i, 1 FROM range(10, 20) r(i)", "DELETE FROM ns.t WHERE c = 1")
	c.gives("SELECT count(*), sum(n), count(c) FROM ns.t", "(10, 45, 0)")
	c.do("DELETE FROM ns.t WHERE n = 3", "UPDATE ns.t SET c = 7 WHERE n > 7")
	c.gives("SELECT count(*), sum(n), count(c), max(c) FROM ns.t", "(9, 42, 2, 7)")
}

func deleteUnequal(c *changing) {
	for i, where := range []string{"x <> 5", "x NOT IN (5, 6)", "NOT x = 5"} {
		table := fmt.Sprintf("ns.t%d", i)
		c.do("CREATE TABLE "+table+" (x INT) WITH v", "INSERT INTO "+table+" VALUES (NULL), (5)", "INSERT INTO "+table+" VALUES (NULL)",
			"INSERT INTO "+table+" VALUES (7)", "DELETE FROM "+table+" WHERE "+where)
		c.has(table, "(NULL)", "(5)", "(NULL)")
	}
}

func deleteNotIn(c *changing) {
	c.do("CREATE TABLE ns.t (x INT) WITH v", "INSERT INTO ns.t VALUES (1), (5), (NULL)", "DELETE FROM ns.t WHERE x NOT IN (5, NULL)",
		"DELETE FROM ns.t WHERE x NOT IN (SELECT x FROM ns.t)")
	c.has("ns.t", "(1)", "(5)", "(NULL)")
	c.do("DELETE FROM ns.t WHERE x <> 5")
	c.has("ns.t", "(5)", "(NULL)")
}

func deleteNaN(c *changing) {
	c.do("CREATE TABLE ns.t (d DOUBLE) WITH v", "INSERT INTO ns.t VALUES (3), ('NaN'::DOUBLE), (3)", "DELETE FROM ns.t WHERE d = 3")
	c.has("ns.t", "(NaN)")
	c.do("INSERT INTO ns.t VALUES (3), ('NaN'::DOUBLE)", "DELETE FROM ns.t WHERE d <> 3")
	c.has("ns.t", "(3)")
	c.do("INSERT INTO ns.t VALUES (3), ('NaN'::DOUBLE)", "DELETE FROM ns.t WHERE d > 5")
	c.has("ns.t", "(3)", "(3)")
}

// bucketed makes a table of 6 rows in two files.
func (c *changing) bucketed(table string) {
	c.t.Helper()
	c.do("CREATE TABLE "+table+" (k BIGINT, v BIGINT) PARTITIONED BY (bucket(2, k)) WITH v", "INSERT INTO "+table+" SELECT i, 0 FROM range(6) r(i)")
}

func deleteReplaced(c *changing) {
	c.bucketed("ns.t")
	c.bucketed("ns.s")
	runs := c.racing("DELETE FROM ns.t t USING ns.s s WHERE t.k = s.k AND s.k = 3", func() {
		c.session(mode{}).Exec(context.Background(), c.text("UPDATE ns.t SET v = v + 1 WHERE k <> 3")) // copies each file
	})
	if runs != 2 {
		c.t.Errorf("%v: it ran %d times", c.mode, runs)
	}
	c.has("ns.t", "(0, 1)", "(1, 1)", "(2, 1)", "(4, 1)", "(5, 1)")
}

func rewriteDeleted(c *changing) {
	c.bucketed("ns.t")
	c.bucketed("ns.s")
	runs := c.racing("UPDATE ns.t t SET v = 7 FROM ns.s s WHERE t.k = s.k AND s.k = 1", func() { c.do("DELETE FROM ns.t WHERE k = 4") })
	if runs != 2 && !strings.Contains(c.mode[0], "read") {
		c.t.Errorf("%v: it ran %d times", c.mode, runs)
	}
	c.has("ns.t", "(0, 0)", "(1, 7)", "(2, 0)", "(3, 0)", "(5, 0)")
	c.racing("UPDATE ns.t t SET v = t.v + 1 FROM ns.s s WHERE t.k = s.k AND s.k = 1", func() { c.do("UPDATE ns.t SET v = v + 10 WHERE k = 1") })
	c.has("ns.t", "(0, 0)", "(1, 18)", "(2, 0)", "(3, 0)", "(5, 0)")
}

func changeFields(c *changing) {
	c.do("CREATE TABLE ns.t (k BIGINT, s STRUCT<a: INT, b: STRUCT<x: INT, y: STRING>>) WITH v",
		"INSERT INTO ns.t VALUES (1, {'a': 1, 'b': {'x': 2, 'y': 'z'}}), (2, {'a': 3, 'b': NULL}), (3, NULL)",
		"UPDATE ns.t SET s.b.x = k + 10, s.a = 5 WHERE k < 3", "UPDATE ns.t AS u SET u.s.b.y = 'new' WHERE k = 3")
	c.gives("SELECT k, s.a, s.b.x, s.b.y FROM ns.t", "(1, 5, 11, z)", "(2, 5, 12, NULL)", "(3, NULL, NULL, new)")
	c.do("MERGE INTO ns.t t USING (VALUES (1, 'm')) m(k, y) ON t.k = m.k WHEN MATCHED THEN UPDATE SET t.s.b.y = m.y WHEN NOT MATCHED BY SOURCE AND t.k = 2 THEN UPDATE SET s = NULL")
	c.gives("SELECT k, s.a, s.b.x, s.b.y FROM ns.t", "(1, 5, 11, m)", "(2, NULL, NULL, NULL)", "(3, NULL, NULL, new)")
	c.fails(errs.Invalid, "UPDATE ns.t SET s.a = 1, s = NULL", "assigned twice")
	c.fails(errs.Invalid, "UPDATE ns.t SET s.a = 1, s.a = 2", "assigned twice")
	c.fails(errs.NotFound, "UPDATE ns.t SET s.c = 1", "no column s.c")
}

func changeDefaults(c *changing) {
	if c.format != "3" {
		return
	}
	c.do("CREATE TABLE ns.t (k BIGINT, v BIGINT) WITH v", "INSERT INTO ns.t VALUES (1, 1), (2, 2)", "ALTER TABLE ns.t ADD COLUMN d INT DEFAULT 5",
		"UPDATE ns.t SET v = DEFAULT, d = 7 WHERE k = 1", "UPDATE ns.t SET d = DEFAULT WHERE k = 1",
		"MERGE INTO ns.t t USING (VALUES (3), (4)) s(k) ON t.k = s.k WHEN NOT MATCHED AND s.k = 3 THEN INSERT (k) VALUES (s.k) WHEN NOT MATCHED THEN INSERT VALUES (s.k, 9, DEFAULT)")
	c.has("ns.t", "(1, NULL, 5)", "(2, 2, 5)", "(3, NULL, 5)", "(4, 9, 5)")
}

func changeBranch(c *changing) {
	c.bucketed("ns.t")
	c.do("ALTER TABLE ns.t CREATE BRANCH b", "DELETE FROM ns.t WHERE k > 0", "MERGE INTO ns.t.branch_b t USING ns.t s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = 9 WHEN NOT MATCHED BY SOURCE AND t.k > 1 THEN DELETE",
		"UPDATE ns.t.branch_b SET v = branch_b.v + 1")
	c.has("ns.t", "(0, 0)")
	c.gives("SELECT * FROM ns.t.branch_b", "(0, 10)", "(1, 1)")
	c.do("ALTER TABLE ns.t CREATE TAG g")
	c.fails(errs.Invalid, "DELETE FROM ns.t.tag_g WHERE k = 0", "branches only")
	c.fails(errs.Invalid, "DELETE FROM ns.t.files", "metadata")
}

func refuseChanges(c *changing) {
	c.do("CREATE TABLE ns.t (k BIGINT NOT NULL, v INT) WITH v", "CREATE TABLE ns.s (k BIGINT, w INT)", "INSERT INTO ns.t VALUES (1, 1)", "INSERT INTO ns.s VALUES (1, 1), (NULL, 2)",
		"CREATE TABLE ns.d (k BIGINT, d DATE, s STRUCT<a: DATE>) WITH v", "INSERT INTO ns.d VALUES (1, DATE '2020-01-01', NULL)")
	// What is refused is so whatever rows there are, and a NULL isn't.
	for _, value := range []string{"5", "1 + 1", "length('x')", "{'a': 5}"} {
		column := "d"
		if value[0] == '{' {
			column = "s"
		}
		c.fails(errs.Invalid, "UPDATE ns.d SET "+column+" = "+value+" WHERE k = 100", "can't be assigned")
		c.fails(errs.Invalid, "MERGE INTO ns.d USING ns.s ON d.k = s.k AND s.k > 100 WHEN NOT MATCHED AND s.k > 100 THEN INSERT ("+column+") VALUES ("+value+")", "can't be assigned")
	}
	c.fails(errs.Invalid, "UPDATE ns.d SET s.a = 5 WHERE k = 100", "can't be assigned")
	c.do("UPDATE ns.d SET d = CASE WHEN k = 1 THEN NULL END, s.a = NULL", "UPDATE ns.d SET d = (SELECT NULL), s = {'a': NULL}")
	c.gives("SELECT k, d, s.a FROM ns.d", "(1, NULL, NULL)")
	const merge = "MERGE INTO ns.t t USING ns.s s ON t.k = s.k "
	for statement, kind := range map[string]errs.Kind{
		"UPDATE ns.t SET v = sum(v)":                                                          errs.Invalid,
		"UPDATE ns.t SET v = row_number() OVER ()":                                            errs.Invalid,
		"UPDATE ns.t SET v = unnest([1, 2])":                                                  errs.Invalid,
		"UPDATE ns.t SET v = 'text'":                                                          errs.Invalid,
		"UPDATE ns.t SET v = 3000000000":                                                      errs.Invalid,
		"UPDATE ns.t SET k = NULL":                                                            errs.Invalid,
		"UPDATE ns.t SET x = 1":                                                               errs.NotFound,
		"UPDATE ns.t SET v = x":                                                               errs.NotFound,
		"UPDATE ns.t SET v = 1 +":                                                             errs.Syntax,
		"UPDATE ns.t SET _pos = 1":                                                            errs.NotFound,
		"DELETE FROM ns.t WHERE count(*) > 0":                                                 errs.Invalid,
		"DELETE FROM ns.nothing":                                                              errs.NotFound,
		merge + "AND random() < 0.5 WHEN MATCHED THEN DELETE":                                 errs.Unsupported,
		merge + "WHEN MATCHED AND random() < 0.5 THEN DELETE":                                 errs.Unsupported,
		merge + "WHEN MATCHED THEN UPDATE SET *":                                              errs.Invalid,
		merge + "WHEN NOT MATCHED THEN INSERT *":                                              errs.Invalid,
		merge + "WHEN NOT MATCHED THEN INSERT (v) VALUES (s.w)":                               errs.Invalid,
		merge + "WHEN NOT MATCHED THEN INSERT (k) VALUES (s.k)":                               errs.Invalid, // a NULL
		merge + "WHEN NOT MATCHED THEN INSERT (k, k) VALUES (1, 2)":                           errs.Invalid,
		merge + "WHEN NOT MATCHED THEN INSERT VALUES (1)":                                     errs.Invalid,
		merge + "WHEN NOT MATCHED THEN INSERT VALUES (s.*)":                                   errs.Invalid,
		merge + "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (k) VALUES (t.k)":      errs.NotFound,
		merge + "WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY SOURCE AND s.k = 1 THEN DELETE": errs.NotFound,
		merge + "WHEN MATCHED THEN DELETE WHEN MATCHED THEN UPDATE SET v = 1":                 errs.Invalid,
		"MERGE INTO ns.t USING ns.t ON true WHEN MATCHED THEN DELETE":                         errs.Invalid,
	} {
		c.refuses(c.space+".t", kind, c.text(statement))
	}
}

func guardValues(c *changing) {
	c.do("CREATE TABLE ns.t (k BIGINT, v INT) WITH v", "INSERT INTO ns.t VALUES (1, 1), (2, 2), (3, 3)",
		`MERGE INTO ns.t t USING (VALUES (1, '7'), (2, 'x'), (4, '9'), (5, 'y')) s(k, w) ON t.k = s.k
			WHEN MATCHED AND s.w <> 'x' THEN UPDATE SET v = CAST(s.w AS INT) WHEN MATCHED THEN DELETE
			WHEN NOT MATCHED AND s.w = '9' THEN INSERT (k, v) VALUES (s.k, CAST(s.w AS INT)) WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = 1000000 * t.v`)
	c.has("ns.t", "(1, 7)", "(3, 3000000)", "(4, 9)")
	c.do("MERGE INTO ns.t t USING (VALUES (1, 5000000000), (3, 8)) s(k, v) ON t.k = s.k WHEN MATCHED AND s.v > 10 THEN DELETE WHEN MATCHED THEN UPDATE SET *")
	c.has("ns.t", "(3, 8)", "(4, 9)")
}

func changeRandomly(c *changing) {
	c.do("CREATE TABLE ns.t (k BIGINT, v DOUBLE, w DOUBLE) WITH v", "INSERT INTO ns.t SELECT i, 0, 0 FROM range(1000) r(i)", "UPDATE ns.t SET v = random(), w = random()")
	c.gives("SELECT count(DISTINCT v) > 990, count(DISTINCT w) > 990, count_if(v = w) < 10, min(v) >= 0, max(v) < 1 FROM ns.t", "(true, true, true, true, true)")
	c.do("DELETE FROM ns.t WHERE random() < 0.5")
	c.gives("SELECT count(*) BETWEEN 300 AND 700 FROM ns.t", "(true)")
}

func changeParameters(c *changing) {
	c.bucketed("ns.t")
	for _, st := range []struct {
		text string
		args []any
	}{
		{"UPDATE ns.t SET v = ? WHERE k = ? OR k = ?", []any{5, 1, 2}},
		{"DELETE FROM ns.t WHERE k = ?", []any{3}},
		{"MERGE INTO ns.t t USING (SELECT CAST(? AS BIGINT) AS k UNION ALL SELECT 2) s ON t.k = s.k WHEN MATCHED AND t.v = ? THEN UPDATE SET v = t.v + ? WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, ?)", []any{10, 5, 100, 7}},
		{"MERGE INTO ns.t t USING ns.t s ON t.k = s.k + 20 AND s.k > $1 WHEN NOT MATCHED AND s.k = $2 THEN INSERT VALUES ($2 + $1, $1)", []any{3, 5}},
	} {
		if _, err := c.session(c.mode).Exec(context.Background(), c.text(st.text), st.args...); err != nil {
			c.t.Errorf("%s: %v", st.text, err)
		}
	}
	c.has("ns.t", "(0, 0)", "(1, 5)", "(2, 105)", "(4, 0)", "(5, 0)", "(8, 3)", "(10, 7)")
}

func deleteWhole(c *changing) {
	c.do("CREATE TABLE ns.t (k BIGINT, v BIGINT) PARTITIONED BY (k) WITH v", "INSERT INTO ns.t VALUES (1, 1), (1, NULL), (2, 2), (3, 3), (3, 4), (NULL, 5)")
	plan, err := c.session(c.mode).Explain(context.Background(), c.text("DELETE FROM ns.t WHERE k = 1 OR k = 3 AND v = 3"), tarn.ExplainOptions{})
	if err != nil || !strings.Contains(plan, "removed unread: 1 file") || !strings.Contains(plan, "1 file of 3 kept") {
		c.t.Errorf("%v: %v\n%s", c.mode, err, plan)
	}
	c.do("DELETE FROM ns.t WHERE k = 1 OR k = 3 AND v = 3")
	c.has("ns.t", "(2, 2)", "(3, 4)", "(NULL, 5)")
	c.do("DELETE FROM ns.t WHERE k IS NULL", "DELETE FROM ns.t WHERE k > 2 AND v >= 4")
	c.has("ns.t", "(2, 2)")
	c.do("DELETE FROM ns.t")
	c.has("ns.t")
	c.do("DELETE FROM ns.t")
}

// deleteUnwritable deletes rows of tables whose data files nobody here can write.
func deleteUnwritable(c *changing) {
	c.do("CREATE TABLE ns.t (k BIGINT, v BIGINT) PARTITIONED BY (k) WITH v", "INSERT INTO ns.t VALUES (1, 1), (2, 2), (2, 3), (3, 3)",
		"ALTER TABLE ns.t SET TBLPROPERTIES ('write.format.default' = 'orc')", "DELETE FROM ns.t WHERE k = 1")
	c.gives("SELECT k, v FROM ns.t", "(2, 2)", "(2, 3)", "(3, 3)")
	if strings.Contains(c.mode[0], "copy") {
		c.fails(errs.Unsupported, "DELETE FROM ns.t WHERE v = 2", "only Parquet files")
	} else {
		c.do("DELETE FROM ns.t WHERE v = 2")
		c.gives("SELECT k, v FROM ns.t", "(2, 3)", "(3, 3)")
	}
	c.fails(errs.Unsupported, "UPDATE ns.t SET v = 4", "only Parquet files")
}

// keepValues changes one column of rows of which others have what no statement could write.
func keepValues(c *changing) {
	name := c.text("ns.f")
	c.spaces[c.space] = true
	c.exec("CREATE SCHEMA %s", c.space)
	c.table(definition{name: name, columns: []string{"k long", "d date", "t time", "n long"}, version: int(c.format[0] - '0')})
	c.delta(name, []lake.NewDataFile{c.dataFile(name, nil, "(1, 'infinity'::DATE, '24:00:00'::TIME, 1)", "(2, '-infinity'::DATE, NULL, 1)", "(3, NULL, NULL, 1)")})
	c.do("UPDATE ns.f SET n = n + 1 WHERE k < 3", "MERGE INTO ns.f f USING (SELECT 1::BIGINT AS k) s ON f.k = s.k WHEN MATCHED THEN UPDATE SET n = f.n + 1",
		"MERGE INTO ns.f f USING (SELECT 1::BIGINT AS k UNION ALL SELECT 2::BIGINT) s ON f.k = s.k WHEN MATCHED AND f.k = 1 THEN UPDATE SET n = f.n + 1 WHEN MATCHED THEN UPDATE SET n = 7")
	c.gives("SELECT k, CAST(d AS VARCHAR), CAST(t AS VARCHAR), n FROM ns.f", "(1, infinity, 24:00:00, 4)", "(2, -infinity, NULL, 7)", "(3, NULL, NULL, 1)")
	c.fails(errs.Invalid, "UPDATE ns.f SET d = 'infinity'::DATE", "can't hold")
	c.do("CREATE TABLE ns.r (k BIGINT, s STRUCT<a: BIGINT NOT NULL, b: BIGINT>) WITH v", "INSERT INTO ns.r VALUES (1, NULL), (2, {'a': 1, 'b': 2})", "UPDATE ns.r SET s.b = 3 WHERE k = 2")
	c.fails(errs.Invalid, "UPDATE ns.r SET s.b = 1", "NOT NULL")
	c.gives("SELECT k, s.a, s.b FROM ns.r", "(1, NULL, NULL)", "(2, 1, 3)")
}

func isolate(c *changing) {
	c.bucketed("ns.t")
	c.bucketed("ns.s")
	const update = "UPDATE ns.t t SET v = t.v + 1 FROM ns.s s WHERE t.k = s.k AND t.k = 2 AND t.v < 1000"
	// A row that the statement would not have seen is no conflict.
	if runs := c.racing(update, func() { c.do("INSERT INTO ns.t VALUES (2, 5000)") }); runs != 1 {
		c.t.Errorf("%v: ran %d times beside a row that doesn't matter", c.mode, runs)
	}
	if runs := c.racing(update, func() { c.do("INSERT INTO ns.t VALUES (2, 500)") }); runs != 2 {
		c.t.Errorf("%v: ran %d times beside a row that matters", c.mode, runs)
	}
	c.do("ALTER TABLE ns.t SET TBLPROPERTIES ('write.update.isolation-level' = 'snapshot')")
	if runs := c.racing(update, func() { c.do("INSERT INTO ns.t VALUES (2, 600)") }); runs != 1 {
		c.t.Errorf("%v: ran %d times in snapshot isolation", c.mode, runs)
	}
	c.gives("SELECT v FROM ns.t WHERE k = 2", "(3)", "(5000)", "(502)", "(600)")
	c.do("ALTER TABLE ns.t SET TBLPROPERTIES ('write.update.isolation-level' = 'none')")
	c.fails(errs.Invalid, update, "serializable or snapshot")
}

// skew has two statements at once that depend on a row that the other one deletes: in no order do both find it.
func skew(c *changing) {
	door := fmt.Sprintf("iceberg('%s/%s/t')", c.warehouse, c.space)
	for _, own := range []string{"ns.t", door} {
		c.do("CREATE OR REPLACE TABLE ns.t (g BIGINT, id BIGINT) PARTITIONED BY (bucket(2, g)) WITH v", "INSERT INTO ns.t VALUES (1, 1)", "INSERT INTO ns.t VALUES (1, 2)")
		unlessGone := func(id, other int) string {
			return fmt.Sprintf("DELETE FROM ns.t t WHERE id = %d AND EXISTS (SELECT 1 FROM %s u WHERE u.g = t.g AND u.id = %d)", id, own, other)
		}
		c.racing(unlessGone(1, 2), func() { c.do(unlessGone(2, 1)) })
		c.has("ns.t", "(1, 1)")
		// A row that only the subquery would have seen.
		c.do("DELETE FROM ns.t", "INSERT INTO ns.t VALUES (1, 1)", "INSERT INTO ns.t VALUES (1, 2)")
		c.racing("DELETE FROM ns.t t WHERE id = 1 AND NOT EXISTS (SELECT 1 FROM "+own+" u WHERE u.g = t.g AND u.id = 3)", func() { c.do("INSERT INTO ns.t VALUES (1, 3)") })
		c.has("ns.t", "(1, 1)", "(1, 2)", "(1, 3)")
		// One that nobody asks for.
		const other = "DELETE FROM ns.t t WHERE id = 1 AND EXISTS (SELECT 1 FROM ns.t u WHERE u.g = t.g AND u.id = 2)"
		if runs := c.racing(other, func() { c.do("INSERT INTO ns.t VALUES (1, 4)") }); runs != 1 {
			c.t.Errorf("%v: ran %d times beside a row that doesn't matter", c.mode, runs)
		}
		c.has("ns.t", "(1, 2)", "(1, 3)", "(1, 4)")
	}
	// A matched row keeps others from being inserted: one that goes meanwhile doesn't.
	c.do("CREATE TABLE ns.s (g BIGINT, id BIGINT) PARTITIONED BY (bucket(2, g))", "INSERT INTO ns.s VALUES (1, 2), (1, 5)")
	for _, merge := range []string{
		"MERGE INTO ns.t t USING ns.s s ON t.g = s.g AND t.id = s.id WHEN NOT MATCHED THEN INSERT *",
		"MERGE INTO ns.t t USING ns.s s ON t.g = s.g AND t.id = s.id WHEN MATCHED AND t.id > 2 THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
	} {
		c.do("DELETE FROM ns.t", "INSERT INTO ns.t VALUES (1, 2)")
		c.racing(merge, func() { c.do("DELETE FROM ns.t WHERE id = 2") })
		c.has("ns.t", "(1, 2)", "(1, 5)")
	}
}

func mergeForms(c *changing) {
	c.bucketed("ns.t")
	c.do("CREATE TABLE ns.s (k BIGINT, v BIGINT)", "INSERT INTO ns.s VALUES (1, 10), (2, 20), (7, 70)", "ALTER TABLE ns.s CREATE TAG old", "DELETE FROM ns.s WHERE k = 7")
	for _, m := range []struct{ source, rows string }{
		{"ns.s", "s"}, {"ns.s AS src", "src"}, {"ns.s FOR VERSION AS OF 'old'", "s"}, {"ns.s VERSION AS OF 'old' AS x", "x"}, {"ns.s.tag_old", "tag_old"},
		{"(SELECT * FROM ns.s WHERE k < 100) q", "q"}, {"(VALUES (1, 10)) AS w(k, v)", "w"},
	} {
		c.do("MERGE INTO ns.t USING "+m.source+" ON t.k = "+m.rows+".k WHEN MATCHED THEN UPDATE SET v = t.v + "+m.rows+".v WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED BY SOURCE AND t.k = 0 THEN UPDATE SET v = t.v + 1",
			"DELETE FROM ns.t WHERE k = 7 AND v <> 70")
	}
	c.has("ns.t", "(0, 7)", "(1, 70)", "(2, 120)", "(3, 0)", "(4, 0)", "(5, 0)", "(7, 70)")
	// A source keeps its longer names and its metadata columns, beside whatever clauses.
	c.do("CREATE TABLE ns.w (k BIGINT, v BIGINT)", "INSERT INTO ns.w VALUES (1, 1), (2, 2)", "CREATE TABLE ns.m (k BIGINT, _spec_id INT)", "INSERT INTO ns.m VALUES (1, NULL)")
	c.do("MERGE INTO ns.w USING ns.s ON ns.w.k = ns.s.k AND ns.s._pos >= 0 WHEN MATCHED AND ns.s.v = 10 THEN UPDATE SET v = length(ns.s._file) - length(s._file) - ns.s.v WHEN NOT MATCHED BY SOURCE THEN DELETE",
		"MERGE INTO ns.w USING ns.s VERSION AS OF 'old' ON w.k = ns.s.k WHEN MATCHED AND s.k = 1 THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (ns.s.k, ns.s.v) WHEN NOT MATCHED BY SOURCE THEN DELETE")
	c.has("ns.w", "(2, 2)", "(7, 70)")
	c.do("MERGE INTO ns.w USING ns.m ON w.k = m.k WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (k) VALUES (m.k) WHEN NOT MATCHED BY SOURCE AND w.k = 7 THEN DELETE",
		"MERGE INTO ns.w USING ns.w.snapshots f ON w.k = f.parent_id WHEN MATCHED THEN UPDATE SET v = 5 WHEN NOT MATCHED BY SOURCE AND w.k = 2 THEN DELETE")
	c.has("ns.w", "(1, NULL)")
	// A bare name is of the side that a clause is about, and ambiguous where it is about both.
	c.do("MERGE INTO ns.t t USING (VALUES (1, 10), (8, 80)) w(k, v) ON t.k = w.k WHEN MATCHED AND w.v = 10 THEN DELETE " +
		"WHEN NOT MATCHED AND v > 70 AND k IS NOT NULL THEN INSERT (k, v) VALUES (k, CASE k WHEN 8 THEN v + length('k.v') END) WHEN NOT MATCHED BY SOURCE AND k = 2 THEN UPDATE SET v = v + 1")
	c.has("ns.t", "(0, 7)", "(2, 121)", "(3, 0)", "(4, 0)", "(5, 0)", "(7, 70)", "(8, 83)")
	c.fails(errs.Invalid, "MERGE INTO ns.t t USING ns.s s ON t.k = s.k WHEN MATCHED AND k = 1 THEN DELETE", "ambiguous")
	// Subqueries in conditions of clauses, however they are written.
	for _, when := range []string{"EXISTS (FROM ns.s x WHERE x.k = t.k)", "2 IN (TABLE two)", "t.k = (VALUES (2))", "t.k IN (WITH w AS (FROM ns.s) SELECT k FROM w)", "'select' = 'select' AND t.k = 2"} {
		c.do("CREATE OR REPLACE TABLE ns.u (k BIGINT, v BIGINT) WITH v", "INSERT INTO ns.u VALUES (1, 1), (2, 2)",
			"MERGE INTO ns.u t USING (SELECT 2 AS k) w ON t.k = w.k WHEN MATCHED AND "+strings.ReplaceAll(when, "TABLE two", "FROM (VALUES (2)) two(k)")+
				" THEN UPDATE SET v = t.v + 10 WHEN MATCHED THEN DELETE")
		c.has("ns.u", "(1, 1)", "(2, 12)")
	}
}

// TestChangesAtOnce lets many writers change rows of one table, in both ways to do so, beside others that insert: each change is
// there once in the end.
func TestChangesAtOnce(t *testing.T) {
	const writers, rounds = 4, 4
	l := newLab(t)
	l.run("CREATE NAMESPACE o", "CREATE TABLE o.t (k BIGINT, v BIGINT) PARTITIONED BY (bucket(2, k)) TBLPROPERTIES ('format-version' = '3', 'commit.retry.num-retries' = '100')",
		"INSERT INTO o.t SELECT i, 0 FROM range(8) r(i)")
	var group errgroup.Group
	for w := range writers {
		group.Go(func() error {
			s := l.engine.Session()
			if _, err := s.Exec(t.Context(), changeModes[1+2*(w%2)].set); err != nil {
				return err
			}
			for n := range rounds {
				for _, st := range []string{
					"UPDATE o.t SET v = v + 1 WHERE k < 4",
					fmt.Sprintf("MERGE INTO o.t t USING (SELECT %d AS k, 1 AS v UNION ALL SELECT 100 AS k, 1) s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = t.v + s.v WHEN NOT MATCHED THEN INSERT *", 10+w),
					fmt.Sprintf("INSERT INTO o.t VALUES (%d, 0)", 1000+w*rounds+n),
					fmt.Sprintf("DELETE FROM o.t WHERE k = %d", 1000+w*rounds+n),
				} {
					if _, err := s.Exec(t.Context(), st); err != nil {
						return fmt.Errorf("%s: %w", st, err)
					}
				}
			}
			return nil
		})
	}
	l.must(group.Wait())
	c := &changing{lab: l, space: "o"}
	want := []string{fmt.Sprintf("(100, %d)", writers*rounds)}
	for k := range 8 {
		v := 0
		if k < 4 {
			v = writers * rounds
		}
		want = append(want, fmt.Sprintf("(%d, %d)", k, v))
	}
	for w := range writers {
		want = append(want, fmt.Sprintf("(%d, %d)", 10+w, rounds))
	}
	c.gives("SELECT * FROM o.t", want...)
}
