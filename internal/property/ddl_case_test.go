package property

import (
	"context"
	"fmt"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/write"
)

// run runs statements of the engine, which must work.
func (l *lab) run(stmts ...string) {
	l.t.Helper()
	for _, stmt := range stmts {
		if _, err := l.engine.Session().Exec(context.Background(), stmt); err != nil {
			l.t.Fatalf("%s: %v", stmt, err)
		}
	}
}

// refuses runs statements that must fail with an error of the kind and leave the table at its version.
func (l *lab) refuses(name string, kind errs.Kind, stmts ...string) {
	l.t.Helper()
	before := l.load(name).MetadataLocation
	for _, stmt := range stmts {
		if _, err := l.engine.Session().Exec(context.Background(), stmt); err == nil || errs.KindOf(err) != kind {
			l.t.Errorf("%s: %v, wanted an error of kind %v", stmt, err, kind)
		}
	}
	if now := l.load(name).MetadataLocation; now != before {
		l.t.Errorf("statements that were refused took %s to %s", before, now)
	}
}

// insert appends a query's rows, which have the table's columns in their order.
func (l *lab) insert(name, query string) {
	l.t.Helper()
	t := l.load(name)
	columns := ""
	for i, f := range t.Schema.Fields {
		if i > 0 {
			columns += ", "
		}
		columns += catalog.ShownName(f.Name)
	}
	_, err := write.Append(context.Background(), l.conn, l.catalog, t, "SELECT * FROM ("+query+") v("+columns+")")
	l.must(err)
}

// TestDefinitionCases are the cases of specs and schemas that change, under their ids in the list of other engines' faults: what
// they say of the statements that change them.
func TestDefinitionCases(t *testing.T) {
	for id, run := range map[string]func(*lab){
		"EVP-1 drop the source of an old spec": dropOldSource, "EVP-4 another parameter, another ID": newParameter,
		"EVP-6 void fields in version 1": dropToVoid, "EVP-11 rename a source": renameSource, "EVP-12 drop the source of the spec": dropSource,
		"SCH-1 add a default": addDefault, "SCH-2 promote": promoteColumns, "SCH-4 drop and add again": addAgain, "SCH-5 next ID": addAfterDrop,
		"SCH-6 change nested fields": changeNested, "SCH-9 time travel": travelBack, "SCH-13 drop a default": dropDefault,
		"a date becomes a timestamp": dateToTimestamp, "a table is replaced": replaceTable,
	} {
		t.Run(id, func(t *testing.T) {
			l := newLab(t)
			l.run("CREATE NAMESPACE a")
			run(l)
		})
	}
}

func dropOldSource(l *lab) {
	for i, fn := range []string{"bucket(8, a)", "a", "truncate(10, a)"} {
		name := fmt.Sprintf("a.t%d", i)
		l.run("CREATE TABLE " + name + " (id int, a int, b int) PARTITIONED BY (" + fn + ")")
		l.insert(name, "SELECT 1::INTEGER, 1::INTEGER, 10::INTEGER")
		l.run("ALTER TABLE "+name+" REPLACE PARTITION FIELD "+fn+" WITH bucket(4, b)", "ALTER TABLE "+name+" DROP COLUMN a")
		l.tells("SELECT * FROM "+name, "(1, 10)")
		l.insert(name, "SELECT 2::INTEGER, 10::INTEGER")
		l.tells("SELECT x.id, y.id FROM "+name+" x JOIN "+name+" y ON x.b = y.b WHERE x.id = 1", "(1, 1)", "(1, 2)")
	}
}

func newParameter(l *lab) {
	l.run("CREATE TABLE a.t (id int, data string) PARTITIONED BY (bucket(4, data))")
	l.insert("a.t", "SELECT * FROM (VALUES (1, 'abcd'), (2, 'xyz'))")
	l.run("ALTER TABLE a.t REPLACE PARTITION FIELD data_bucket WITH bucket(10, data) AS data_bucket")
	l.insert("a.t", "SELECT * FROM (VALUES (3, 'abcd'), (4, NULL))")
	if f := l.load("a.t").Spec().Fields; len(f) != 1 || f[0].ID != 1001 || f[0].Name != "data_bucket" {
		l.t.Errorf("the spec is %+v", f)
	}
	l.tells("SELECT id FROM a.t WHERE data = 'abcd'", "(1)", "(3)")
	l.tells("SELECT count(*) FROM a.t.files", "(4)")
}

func dropToVoid(l *lab) {
	l.run("CREATE TABLE a.t (id int, ts timestamp_ntz, s string) TBLPROPERTIES ('format-version'='1')")
	day := "TIMESTAMP '1969-12-31 23:30:00'"
	for i, change := range []string{
		"ADD PARTITION FIELD years(ts)", "DROP PARTITION FIELD years(ts)", "ADD PARTITION FIELD months(ts)", "DROP PARTITION FIELD ts_month",
		"ADD PARTITION FIELD days(ts)", "ADD PARTITION FIELD bucket(2, s)", "DROP PARTITION FIELD bucket(2, s)",
	} {
		l.run("ALTER TABLE a.t " + change)
		l.insert("a.t", fmt.Sprintf("SELECT %d, %s, 'x'", i, day))
	}
	fields := l.load("a.t").Spec().Fields
	for i, want := range []string{"ts_year=void", "ts_month=void", "ts_day=day", "s_bucket_2=void"} {
		if got := fields[i].Name + "=" + fields[i].Transform.String(); got != want || int(fields[i].ID) != 1000+i {
			l.t.Errorf("field %d is %s with the ID %d, wanted %s", i, got, fields[i].ID, want)
		}
	}
	l.tells("SELECT count(*) FROM a.t WHERE ts = "+day, "(7)")
	l.tells("SELECT count(*) FROM a.t WHERE ts < TIMESTAMP '1969-12-31 00:00:00'", "(0)")
	l.tells("SELECT count(*) FROM a.t WHERE s = 'x'", "(7)")
}

func renameSource(l *lab) {
	l.run("CREATE TABLE a.t (id int, name string) PARTITIONED BY (name)")
	l.insert("a.t", "SELECT * FROM (VALUES (1, 'x'), (2, 'y'))")
	l.run("ALTER TABLE a.t RENAME COLUMN name TO name1")
	if f := l.load("a.t").Spec().Fields[0]; f.Sources[0] != 2 || f.Name != "name" {
		l.t.Errorf("the partition field is %+v", f)
	}
	l.refuses("a.t", errs.Exists, "ALTER TABLE a.t ADD COLUMN name int", "ALTER TABLE a.t RENAME COLUMN id TO NAME")
	l.run("ALTER TABLE a.t REPLACE PARTITION FIELD name1 WITH name1 AS by_name", "ALTER TABLE a.t ADD COLUMN name int")
	l.insert("a.t", "SELECT 3, 'x', 7")
	l.tells("SELECT id FROM a.t WHERE name1 = 'x'", "(1)", "(3)")
	l.tells("SELECT id FROM a.t WHERE name = 7", "(3)")
	l.tells("SELECT id FROM a.t WHERE name IS NULL", "(1)", "(2)")
}

func dropSource(l *lab) {
	l.run("CREATE TABLE a.t (id int, name string, ts timestamp) PARTITIONED BY (name, days(ts))")
	l.insert("a.t", "SELECT 1, 'x', TIMESTAMPTZ '2024-01-01 00:00:00+00'")
	l.refuses("a.t", errs.Invalid, "ALTER TABLE a.t DROP COLUMN name", "ALTER TABLE a.t DROP COLUMNS (id, name)", "ALTER TABLE a.t ADD PARTITION FIELD hours(ts)")
	l.tells("SELECT id, name FROM a.t", `(1, "x")`)
}

func addDefault(l *lab) {
	l.run("CREATE TABLE a.t (id int) TBLPROPERTIES ('format-version'='3')")
	l.insert("a.t", "SELECT 1")
	for _, c := range [][4]string{ // name, type, default, the same in a query
		{"s", "string", "'X1'", "'X1'"}, {"d", "date", "DATE '2024-02-29'", "DATE '2024-02-29'"}, {"n", "decimal(9,2)", "14.20", "14.20"},
		{"b", "binary", "X'00ff'", `'\x00\xFF'::BLOB`}, {"f", "double", "0.1", "0.1"}, {"l", "bigint", "9007199254740993", "9007199254740993"},
		{"z", "timestamp", "TIMESTAMP '2024-02-29 01:02:03.000004'", "TIMESTAMPTZ '2024-02-29 01:02:03.000004+00'"},
		{"u", "uuid", "'00000000-0000-0000-0000-0000000000ff'", "'00000000-0000-0000-0000-0000000000ff'::UUID"}, {"o", "boolean", "true", "true"},
		{"r", "int NOT NULL", "-5", "-5"},
	} {
		l.run("ALTER TABLE a.t ADD COLUMN " + c[0] + " " + c[1] + " DEFAULT " + c[2])
		l.tells("SELECT id FROM a.t WHERE "+c[0]+" = "+c[3], "(1)")
		l.tells("SELECT id FROM a.t WHERE " + c[0] + " IS NULL")
	}
	l.run("ALTER TABLE a.t ALTER COLUMN s SET DEFAULT 'later'")
	l.tells("SELECT s FROM a.t", `("X1")`) // what is there keeps the initial default
}

func promoteColumns(l *lab) {
	for i, spec := range []string{"", "PARTITIONED BY (n)", "PARTITIONED BY (bucket(4, n))", "PARTITIONED BY (truncate(10, n))"} {
		name := fmt.Sprintf("a.t%d", i)
		l.run("CREATE TABLE " + name + " (n int, f float, d decimal(9,2)) " + spec)
		l.insert(name, "SELECT -5::INTEGER, 1.5::FLOAT, -6.59::DECIMAL(9,2)")
		l.insert(name, "SELECT 7::INTEGER, 8::FLOAT, 8::DECIMAL(9,2)")
		l.run("ALTER TABLE " + name + " ALTER COLUMN n TYPE bigint, f TYPE double, d TYPE decimal(20,2)")
		l.insert(name, "SELECT 4294967291::BIGINT, 1e300, 123456789012.34::DECIMAL(20,2)")
		l.tells("SELECT n FROM "+name+" WHERE n = -5", "(-5)")
		l.tells("SELECT n FROM "+name+" WHERE f = 1.5", "(-5)")
		l.tells("SELECT n FROM "+name+" WHERE d < 0", "(-5)")
		l.tells("SELECT n FROM "+name+" WHERE n > 7", "(4294967291)")
		l.refuses(name, errs.Invalid, "ALTER TABLE "+name+" ALTER COLUMN n TYPE int", "ALTER TABLE "+name+" ALTER COLUMN d TYPE decimal(9,2)")
	}
}

func addAgain(l *lab) {
	l.run("CREATE TABLE a.t (id int, a string)")
	l.insert("a.t", "SELECT 1, 'old'")
	l.run("ALTER TABLE a.t DROP COLUMN a", "ALTER TABLE a.t ADD COLUMN a string")
	l.insert("a.t", "SELECT 2, 'new'")
	l.tells("SELECT * FROM a.t", "(1, NULL)", `(2, "new")`)
	l.tells("SELECT id FROM a.t WHERE a IS NULL", "(1)")
}

func addAfterDrop(l *lab) {
	l.run("CREATE TABLE a.t (id int, l array<int>, m map<string, struct<x: int>>)", "ALTER TABLE a.t ADD COLUMN tmp struct<y: int>", "ALTER TABLE a.t DROP COLUMN tmp")
	l.run("ALTER TABLE a.t ADD COLUMN x int")
	s, err := l.catalog.StateOf(l.load("a.t"))
	l.must(err)
	fields := s.Schema().Fields
	if last := fields[len(fields)-1]; last.ID != 10 || s.LastColumnID != 10 || len(s.Schemas) != 3 {
		l.t.Errorf("the new column has the ID %d of %d in %d schemas", last.ID, s.LastColumnID, len(s.Schemas))
	}
}

func changeNested(l *lab) {
	l.run("CREATE TABLE a.t (id int, s struct<a: int, b: int>, l array<struct<x: int>>, m map<string, struct<y: int>>)")
	l.insert("a.t", "SELECT 1, {'a': 10, 'b': 20}, [{'x': 1}], map {'k': {'y': 2}}")
	l.run("ALTER TABLE a.t RENAME COLUMN s.a TO a2", "ALTER TABLE a.t RENAME COLUMN l.element.x TO x2", "ALTER TABLE a.t ADD COLUMN m.value.z int",
		"ALTER TABLE a.t ADD COLUMNS (l2 array<int>, m2 map<int, int>)", "ALTER TABLE a.t ALTER COLUMN s.b TYPE bigint")
	l.tells("SELECT s.a2, s.b FROM a.t WHERE s.a2 = 10", "(10, 20)")
	l.tells("SELECT l[1].x2, m['k'].y, m['k'].z, l2, m2 FROM a.t", "(1, 2, NULL, NULL, NULL)")
	l.run("CREATE TABLE a.k (m map<struct<x: int>, int>)")
	l.refuses("a.k", errs.Invalid, "ALTER TABLE a.k ADD COLUMN m.key.y int", "ALTER TABLE a.k RENAME COLUMN m.key.x TO y", "ALTER TABLE a.k ALTER COLUMN m.key.x TYPE bigint")
}

func travelBack(l *lab) {
	l.run("CREATE TABLE a.t (a int, b int)")
	l.insert("a.t", "SELECT 1, 2")
	id := l.load("a.t").Snapshot.ID
	l.run("ALTER TABLE a.t CREATE TAG then", "ALTER TABLE a.t CREATE BRANCH dev", "ALTER TABLE a.t DROP COLUMN b", "ALTER TABLE a.t RENAME COLUMN a TO a2", "ALTER TABLE a.t ADD COLUMN c int")
	l.tells(fmt.Sprintf("SELECT a, b FROM a.t VERSION AS OF %d", id), "(1, 2)")
	l.tells("SELECT a, b FROM a.t VERSION AS OF 'then'", "(1, 2)")
	l.tells("SELECT a2, c FROM a.t VERSION AS OF 'dev'", "(1, NULL)")
	l.run("ALTER TABLE a.t DROP TAG then", "ALTER TABLE a.t DROP BRANCH dev")
	l.refuses("a.t", errs.NotFound, "SELECT * FROM a.t VERSION AS OF 'then'")
}

func dropDefault(l *lab) {
	l.run("CREATE TABLE a.t (id int) TBLPROPERTIES ('format-version'='3')", "ALTER TABLE a.t ADD COLUMN c int DEFAULT 5", "ALTER TABLE a.t ADD COLUMN d int", "ALTER TABLE a.t ALTER COLUMN d SET DEFAULT 6")
	l.refuses("a.t", errs.Unsupported, "ALTER TABLE a.t ALTER COLUMN c DROP DEFAULT", "ALTER TABLE a.t ALTER COLUMN c SET DEFAULT NULL")
	l.run("ALTER TABLE a.t ALTER COLUMN d DROP DEFAULT")
}

// replaceTable gives a table with rows another definition: the rows are history, which branches and snapshots still show.
func replaceTable(l *lab) {
	l.run("CREATE TABLE a.t (id int, name string, v int) PARTITIONED BY (bucket(4, id))")
	l.insert("a.t", "SELECT i::INTEGER, 'n' || i, i::INTEGER FROM range(10) r(i)")
	old := l.load("a.t").Snapshot.ID
	l.run("ALTER TABLE a.t CREATE TAG before", "CREATE OR REPLACE TABLE a.t (v string, id bigint) PARTITIONED BY (id, bucket(4, id))")
	l.tells("SELECT count(*) FROM a.t", "(0)")
	l.insert("a.t", "SELECT 'new', 7::BIGINT")
	l.tells("SELECT v, id FROM a.t", `("new", 7)`)
	l.tells(fmt.Sprintf("SELECT name, v FROM a.t VERSION AS OF %d WHERE id = 7", old), `("n7", 7)`)
	l.tells("SELECT sum(v) FROM a.t VERSION AS OF 'before'", "(45)")
	if s := l.load("a.t").Schema; s.Fields[0].ID == 3 || s.Fields[1].ID != 1 {
		l.t.Errorf("the columns are %+v", s.Fields)
	}
	l.tells("SELECT x.id FROM a.t x JOIN a.t VERSION AS OF 'before' y ON x.id = y.id", "(7)")
}

func dateToTimestamp(l *lab) {
	l.run("CREATE TABLE a.t (id int, d date, e date, n date) PARTITIONED BY (months(d), bucket(4, e)) TBLPROPERTIES ('format-version'='3')")
	l.insert("a.t", "SELECT * FROM (VALUES (1, DATE '1969-12-31', DATE '2024-01-01', DATE '2024-02-29'), (2, DATE '2024-02-29', NULL, NULL))")
	l.run("ALTER TABLE a.t ALTER COLUMN d TYPE timestamp_ntz, n TYPE timestamp_ns")
	l.refuses("a.t", errs.Invalid, "ALTER TABLE a.t ALTER COLUMN e TYPE timestamp_ntz")
	l.insert("a.t", "SELECT 3, TIMESTAMP '2024-02-29 12:00:00', NULL::DATE, TIMESTAMP_NS '2024-02-29 00:00:00'")
	l.tells("SELECT id, d FROM a.t WHERE d < TIMESTAMP '1970-01-01 00:00:00'", `(1, "1969-12-31 00:00:00.000000")`)
	l.tells("SELECT id FROM a.t WHERE d >= TIMESTAMP '2024-02-29 00:00:00'", "(2)", "(3)")
	l.tells("SELECT id FROM a.t WHERE n = TIMESTAMP_NS '2024-02-29 00:00:00'", "(1)", "(3)")
	l.tells("SELECT min(d), max(d) FROM a.t", `("1969-12-31 00:00:00.000000", "2024-02-29 12:00:00.000000")`)
}
