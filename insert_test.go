package tarn_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarndb/tarn"
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/golden"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/transform"
)

// inserting is a lake with tables to insert into, and a session.
type inserting struct {
	t      *testing.T
	folder string
	*tarn.Session
}

func newInserting(t *testing.T) *inserting {
	t.Helper()
	folder := t.TempDir()
	c, err := lake.Open(t.Context(), lake.Config{Name: "lake", Type: "hadoop", Warehouse: folder, CreateIfMissing: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	column := func(id int, name string, kind transform.Kind) catalog.Field {
		return catalog.Field{ID: catalog.FieldID(id), Name: name, Type: catalog.Type{Primitive: transform.Type{Kind: kind}}}
	}
	fields := []catalog.Field{column(1, "k", transform.Long), column(2, "v", transform.Int), column(3, "Note", transform.String)}
	spec := []catalog.PartitionField{{Name: "p", Sources: []catalog.FieldID{1}, Transform: transform.Transform{Op: transform.Bucket, N: 8}}}
	if err := c.CreateNamespace(t.Context(), catalog.Ident{"n"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		def := lake.NewTable{Ident: catalog.Ident{"n", name}, Schema: &catalog.Schema{Fields: fields}, Spec: spec}
		if name == "c" {
			def.Spec = nil
		}
		if _, err := c.CreateTable(t.Context(), def); err != nil {
			t.Fatal(err)
		}
	}
	engine, err := tarn.Open(t.Context(), tarn.Config{
		Catalogs: []tarn.CatalogConfig{{Name: "lake", Type: "hadoop", Warehouse: folder}}, TempDir: t.TempDir(), MemoryBytes: 1 << 30, Threads: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return &inserting{t, folder, engine.Session()}
}

// run runs a statement and returns what it counted.
func (i *inserting) run(stmt string, args ...any) string {
	i.t.Helper()
	rows, err := i.Query(i.t.Context(), stmt, args...)
	if err != nil {
		i.t.Fatalf("%s: %v", stmt, err)
	}
	defer rows.Close()
	if rows.HasRows() {
		i.t.Fatalf("%s gives rows", stmt)
	}
	return fmt.Sprint(rows.Counts())
}

// ask returns a query's rows as text.
func (i *inserting) ask(query string) string {
	i.t.Helper()
	rows, err := i.Query(i.t.Context(), query)
	if err != nil {
		i.t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var out []string
	for {
		b, err := rows.Next(i.t.Context())
		if errors.Is(err, io.EOF) {
			return strings.Join(out, "\n")
		}
		if err != nil {
			i.t.Fatalf("%s: %v", query, err)
		}
		more, err := golden.RowsOf(b)
		b.Release()
		if err != nil {
			i.t.Fatal(err)
		}
		for _, r := range more {
			var values []string
			for _, v := range r {
				values = append(values, golden.Text(v))
			}
			out = append(out, strings.Join(values, " "))
		}
	}
}

func (i *inserting) want(query, want string) {
	i.t.Helper()
	if got := i.ask(query); got != want {
		i.t.Errorf("%s gives\n%s\nwanted\n%s", query, got, want)
	}
}

func TestInsert(t *testing.T) {
	i := newInserting(t)
	for stmt, want := range map[string]string{
		"INSERT INTO n.a VALUES (1, 10, 'x'), (2, 20, NULL)":                               "[{rows-inserted 2} {files-added 1}]",
		"INSERT INTO n.a (note, k) SELECT 'y' || range, range FROM range(100, 200)":        "[{rows-inserted 100} {files-added 8}]",
		"insert into table lake.n.a by name (SELECT 1000 AS V, 300 AS K)":                  "[{rows-inserted 1} {files-added 1}]",
		"INSERT INTO n.a SELECT 1, 2, 'none' WHERE false":                                  "[{rows-inserted 0} {files-added 0}]",
		"INSERT INTO n.a WITH x AS (SELECT 400 AS one) SELECT one, one + 1, 'with' FROM x": "[{rows-inserted 1} {files-added 1}]",
		"INSERT INTO n.a FROM (VALUES (500, 1, 'from'))":                                   "[{rows-inserted 1} {files-added 1}]",
	} {
		if got := i.run(stmt); got != want {
			t.Errorf("%s counts %s, wanted %s", stmt, got, want)
		}
	}
	i.want("SELECT count(*), sum(k), count(v), sum(v) FROM n.a", "105 16153 5 1432")
	i.want("SELECT * FROM n.a WHERE k IN (2, 150, 300) ORDER BY k", "2 20 NULL\n150 NULL \"y150\"\n300 1000 NULL")
	if got := i.run("INSERT INTO n.b SELECT ?, $2, 'p'", 7, 8); got != "[{rows-inserted 1} {files-added 1}]" {
		t.Errorf("with arguments it counts %s", got)
	}
	i.want("SELECT * FROM n.b", `7 8 "p"`)
	// From joins that run by groups, into a table of the same layout, from itself, and into one without a layout.
	for n, mode := range []string{"SET tarn.spj = 'off'", "SET tarn.spj = 'auto'", "SET tarn.pack_bytes = 0"} {
		i.run(mode)
		base := (2*n + 1) * 10000
		i.run(fmt.Sprintf("INSERT INTO n.b SELECT x.k + %d, y.v, x.Note FROM n.a x JOIN n.a y ON x.k = y.k WHERE x.k < 1000", base))
		i.want(fmt.Sprintf("SELECT count(*), sum(k - %d) FROM n.b WHERE k >= %d AND k < %d", base, base, base+10000), "105 16153")
		i.run(fmt.Sprintf("INSERT INTO n.b SELECT k + 10000, v, Note FROM n.b WHERE k >= %d", base))
		i.want(fmt.Sprintf("SELECT count(*), sum(k - %d) FROM n.b WHERE k >= %d", base+10000, base+10000), "105 16153")
		i.run("INSERT INTO n.c SELECT max(k), count(*), Note FROM n.b GROUP BY Note ORDER BY 1 DESC LIMIT 3")
		i.want("SELECT count(*), min(k) FROM n.c", fmt.Sprintf("%d %s", 3*(n+1), "20300"))
	}
}

func TestInsertRefusals(t *testing.T) {
	i := newInserting(t)
	i.run("INSERT INTO n.a VALUES (1, 10, 'x')")
	i.run("ALTER TABLE n.a CREATE TAG t")
	for stmt, want := range map[string]struct {
		kind errs.Kind
		text string
	}{
		"INSERT INTO n.a VALUES (1, 2)":                            {errs.Invalid, "2 columns"},
		"INSERT INTO n.a (k, k) VALUES (1, 2)":                     {errs.Invalid, "named twice"},
		"INSERT INTO n.a (k, nope) VALUES (1, 2)":                  {errs.NotFound, "nope"},
		"INSERT INTO n.a BY NAME SELECT 1 AS nope":                 {errs.NotFound, "nope"},
		"INSERT INTO n.nope VALUES (1)":                            {errs.NotFound, "nope"},
		"INSERT INTO n.a VALUES ('x', 2, 'y')":                     {errs.Invalid, "can't be assigned"},
		"INSERT INTO n.a SELECT k, 5000000000, Note FROM n.a":      {errs.Invalid, "v is a int and can't hold 5000000000; the row is (1, 5000000000, x)"},
		"INSERT INTO n.a SELECT k, v, nope FROM n.a":               {errs.NotFound, "nope"},
		"INSERT INTO n.a.snapshots VALUES (1)":                     {errs.Invalid, "metadata"},
		"INSERT INTO n.a.changes SELECT * FROM n.a.changes":        {errs.Invalid, "metadata"},
		"INSERT INTO n.a PARTITION (k = 1) SELECT 1, 'x'":          {errs.Invalid, "isn't partitioned"},
		"INSERT OVERWRITE n.a PARTITION (nope = 1) SELECT 2, 'x'":  {errs.NotFound, "nope"},
		"INSERT OVERWRITE n.a SELECT k, 5000000000, Note FROM n.a": {errs.Invalid, "can't hold 5000000000"},
		"INSERT INTO n.a.branch_nope VALUES (1, 2, 'x')":           {errs.NotFound, "nope"},
		"INSERT INTO n.a.tag_t VALUES (1, 2, 'x')":                 {errs.Invalid, "branches only"},
		"INSERT n.a VALUES (1)":                                    {errs.Syntax, "INTO"},
		"INSERT INTO n.a":                                          {errs.Syntax, "a query or VALUES"},
		"INSERT INTO n.a (k, VALUES (1)":                           {errs.Syntax, ""},
		"INSERT INTO n.a SET k = 1":                                {errs.Syntax, ""},
	} {
		rows, err := i.Query(t.Context(), stmt)
		if err == nil {
			rows.Close()
		}
		if errs.KindOf(err) != want.kind || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%s: the error is %v (%v), wanted %v with %q", stmt, err, errs.KindOf(err), want.kind, want.text)
		}
	}
	i.want("SELECT * FROM n.a", `1 10 "x"`)
	i.onlyFiles("a", 1)
	text, err := i.Explain(t.Context(), "INSERT INTO n.a SELECT * FROM n.a", tarn.ExplainOptions{})
	if err != nil || !strings.Contains(text, "will write: n.a") || !strings.Contains(text, "bucket(8, k)") {
		t.Errorf("%s, %v", text, err)
	}
	i.onlyFiles("a", 1)
	text, err = i.Explain(t.Context(), "INSERT INTO n.a SELECT k + 1, v, Note FROM n.a", tarn.ExplainOptions{Analyze: true, JSON: true})
	for _, part := range []string{`"statement": "INSERT"`, `"codec": "zstd"`, `"rows": 1`, `"name": "rows-inserted"`} {
		if err != nil || !strings.Contains(text, part) {
			t.Errorf("%s isn't told: %s, %v", part, text, err)
		}
	}
	i.want("SELECT * FROM n.a ORDER BY k", "1 10 \"x\"\n2 10 \"x\"")
	i.onlyFiles("a", 2)
}

// TestInsertOverwrite replaces all rows, or those of the partitions that new rows are in.
func TestInsertOverwrite(t *testing.T) {
	i := newInserting(t)
	const rows = "INSERT INTO n.a SELECT range, 1, 'old' FROM range(100)"
	i.run(rows)
	if got := i.run("INSERT OVERWRITE n.a SELECT k + 1000, v, Note FROM n.a WHERE k < 10"); got != "[{rows-inserted 10} {files-added 7}]" {
		t.Errorf("it counts %s", got)
	}
	i.want("SELECT count(*), min(k) FROM n.a", "10 1000")
	i.run("INSERT OVERWRITE TABLE n.a SELECT * FROM n.a WHERE false")
	i.want("SELECT count(*) FROM n.a", "0")
	i.run("INSERT OVERWRITE n.a (k) VALUES (1)")
	i.want("SELECT * FROM n.a", "1 NULL NULL")
	i.run("SET spark.sql.sources.partitionOverwriteMode = dynamic")
	i.run("INSERT OVERWRITE n.a SELECT range, 1, 'old' FROM range(100)")
	i.want("SELECT count(*) FROM n.a", "100")
	bucket := "system.bucket(8, k) = system.bucket(8, 5::BIGINT)"
	i.want("SELECT count(*) > 1 FROM n.a WHERE "+bucket, "true")
	others := i.ask("SELECT count(*) FROM n.a WHERE NOT " + bucket)
	i.run("INSERT OVERWRITE n.a VALUES (5, 2, 'new')")
	i.want("SELECT * FROM n.a WHERE "+bucket, `5 2 "new"`)
	i.want("SELECT count(*) FROM n.a WHERE NOT "+bucket, others)
	i.run("INSERT OVERWRITE n.a SELECT * FROM n.a WHERE false")
	i.want("SELECT count(*) FROM n.a WHERE NOT "+bucket, others)
	i.run("INSERT INTO n.c VALUES (1, 1, 'x')")
	i.run("INSERT OVERWRITE n.c VALUES (2, 2, 'y')")
	i.want("SELECT * FROM n.c", `2 2 "y"`)
}

// TestInsertIntoBranch leaves main as it is.
func TestInsertIntoBranch(t *testing.T) {
	i := newInserting(t)
	i.run("INSERT INTO n.a VALUES (1, 1, 'main')")
	i.run("ALTER TABLE n.a CREATE BRANCH side")
	i.run("INSERT INTO n.a.branch_side VALUES (2, 2, 'side')")
	i.run("INSERT INTO n.a VALUES (3, 3, 'main')")
	i.want("SELECT k FROM n.a ORDER BY k", "1\n3")
	i.want("SELECT k FROM n.a.branch_side ORDER BY k", "1\n2")
	i.run("INSERT OVERWRITE n.a.branch_side VALUES (4, 4, 'side')")
	i.want("SELECT k FROM n.a ORDER BY k", "1\n3")
	i.want("SELECT k FROM n.a.branch_side", "4")
}

// TestFirstBranch makes a branch of a table without a snapshot, and fills it.
func TestFirstBranch(t *testing.T) {
	i := newInserting(t)
	i.run("ALTER TABLE n.a CREATE BRANCH audit RETAIN 7 DAYS")
	i.run("ALTER TABLE n.a CREATE BRANCH IF NOT EXISTS audit")
	i.want("SELECT name, type, max_reference_age_in_ms FROM n.a.refs", `"audit" "BRANCH" 604800000`)
	i.want("SELECT operation, parent_id FROM n.a.snapshots", `"append" NULL`)
	i.want("SELECT count(*) FROM n.a.branch_audit", "0")
	i.run("INSERT INTO n.a.branch_audit VALUES (1, 1, 'x')")
	i.want("SELECT count(*) FROM n.a.branch_audit", "1")
	i.want("SELECT count(*) FROM n.a", "0")
	for stmt, kind := range map[string]errs.Kind{
		"ALTER TABLE n.a CREATE BRANCH audit":            errs.Exists,
		"ALTER TABLE n.a CREATE OR REPLACE BRANCH audit": errs.Invalid,
		"ALTER TABLE n.a CREATE TAG t":                   errs.Invalid,
		"INSERT INTO n.a.branch_nope VALUES (1, 1, 'x')": errs.NotFound,
	} {
		if _, err := i.Exec(t.Context(), stmt); errs.KindOf(err) != kind {
			t.Errorf("%s: %v", stmt, err)
		}
	}
}

// TestInsertFromFiles reads files of other formats.
func TestInsertFromFiles(t *testing.T) {
	i := newInserting(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"x.csv": "v,k,Note\n10,1,a\n20,2,\n", "x.json": `[{"k": 3, "v": 30}]`, "x.jsonl": "{\"k\": 4, \"note\": \"d\"}\n{\"k\": 5}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	i.run("INSERT INTO n.a BY NAME FROM '" + dir + "/x.csv'")
	i.run("INSERT INTO n.a (k, v) FROM '" + dir + "/x.json'")
	i.run("INSERT INTO n.a BY NAME SELECT * FROM read_json('" + dir + "/x.jsonl')")
	i.run("INSERT INTO n.b SELECT * FROM n.a")
	path := strings.TrimPrefix(strings.Trim(i.ask("SELECT file_path FROM n.b.files LIMIT 1"), `"`), "file://")
	// By its own name, since DuckDB takes a folder such as p=3 for a column.
	if err := os.Link(path, filepath.Join(dir, "x.parquet")); err != nil {
		t.Fatal(err)
	}
	rows := i.run("INSERT INTO n.c FROM '" + dir + "/x.parquet'")
	if rows == "[{rows-inserted 0} {files-added 0}]" {
		t.Errorf("of a Parquet file %s", rows)
	}
	i.want("SELECT * FROM n.a ORDER BY k", "1 10 \"a\"\n2 20 NULL\n3 30 NULL\n4 NULL \"d\"\n5 NULL NULL")
	i.want("SELECT count(*) FROM n.c x JOIN n.a y ON x.k = y.k AND x.v IS NOT DISTINCT FROM y.v AND x.Note IS NOT DISTINCT FROM y.Note", i.ask("SELECT count(*) FROM n.c"))
}

// TestInsertFixed writes byte strings of one length, and refuses others.
func TestInsertFixed(t *testing.T) {
	i := newInserting(t)
	i.run("CREATE TABLE n.f (k int, f fixed(3), s struct<g: fixed(2), l: array<fixed(1)>>) PARTITIONED BY (bucket(4, f), f) TBLPROPERTIES ('format-version'='3')")
	i.run("INSERT INTO n.f VALUES (1, 'abc'::BLOB, {'g': 'xy'::BLOB, 'l': ['\\xFF'::BLOB, NULL]}), (2, NULL, NULL), (3, 'abd'::BLOB, NULL)")
	for stmt, want := range map[string]string{
		"INSERT INTO n.f VALUES (4, 'abcd'::BLOB, NULL)":                                                         "f is a fixed[3] and can't hold abcd; the row is (4, abcd, NULL)",
		"INSERT INTO n.f VALUES (4, ''::BLOB, NULL)":                                                             "f is a fixed[3] and can't hold",
		"INSERT INTO n.f VALUES (4, NULL, {'g': 'x'::BLOB, 'l': NULL})":                                          "s.g is a fixed[2] and can't hold x",
		"INSERT INTO n.f VALUES (4, NULL, {'g': NULL, 'l': ['ab'::BLOB]})":                                       "s.l.element is a fixed[1] and can't hold ab",
		"UPDATE n.f SET f = 'ab'::BLOB WHERE k = 1":                                                              "f is a fixed[3] and can't hold ab",
		"INSERT INTO n.f VALUES (4, 'abc', NULL)":                                                                "VARCHAR can't be assigned to a column of type fixed[3]",
		"INSERT INTO n.f SELECT range::int, repeat('a', 3 + (range // 9999)::int)::BLOB, NULL FROM range(10000)": "the row is (9999, aaaa, NULL)",
	} {
		i.refuses(stmt, errs.Invalid, want)
	}
	i.run("UPDATE n.f SET k = 10 WHERE f = 'abc'::BLOB")
	i.run("SET tarn.row_change_mode = 'merge-on-read'")
	i.run("MERGE INTO n.f AS t USING (VALUES ('abd'::BLOB, 30), ('zzz'::BLOB, 40)) AS u(f, k) ON t.f = u.f WHEN MATCHED THEN UPDATE SET k = u.k WHEN NOT MATCHED THEN INSERT (k, f) VALUES (u.k, u.f)")
	i.run("RESET tarn.row_change_mode")
	i.want("SELECT k, hex(f), hex(s.g), hex(s.l[1]) FROM n.f ORDER BY k", `2 NULL NULL NULL
10 "616263" "7879" "FF"
30 "616264" NULL NULL
40 "7A7A7A" NULL NULL`)
	i.want("SELECT count(*) FROM n.f x JOIN n.f y ON x.f = y.f WHERE x.f > 'abc'::BLOB", "2")
	i.want("SELECT DISTINCT type_length FROM parquet_schema('"+i.folder+"/n/f/data/*/*/*.parquet') WHERE name = 'f' AND type = 'FIXED_LEN_BYTE_ARRAY'", `"3"`)
	i.want("SELECT hex(partition.f), hex(readable_metrics.f.lower_bound) FROM n.f.files WHERE record_count = 1 AND partition.f = 'zzz'::BLOB", `"7A7A7A" "7A7A7A"`)
}

// onlyFiles fails unless so many data files lie in a table's folder.
func (i *inserting) onlyFiles(table string, want int) {
	i.t.Helper()
	files := 0
	err := filepath.WalkDir(filepath.Join(i.folder, "n", table, "data"), func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files++
		}
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) || files != want {
		i.t.Errorf("there are %d data files of %s, wanted %d, %v", files, table, want, err)
	}
}

// TestInsertCanceled leaves nothing of a write that is cancelled on its way.
func TestInsertCanceled(t *testing.T) {
	i := newInserting(t)
	i.run("INSERT INTO n.a VALUES (1, 10, 'x')")
	for _, query := range []string{
		"INSERT INTO n.a SELECT range, 1, repeat('x', 100) FROM range(1000000000)",
		"INSERT INTO n.c SELECT range, 1, repeat('x', 100) FROM range(1000000000)",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 300_000_000)
		_, err := i.Exec(ctx, query)
		cancel()
		if kind := errs.KindOf(err); kind != errs.Canceled && kind != errs.Resource {
			t.Errorf("%s: %v", query, err)
		}
	}
	i.want("SELECT count(*) FROM n.a", "1")
	i.want("SELECT count(*) FROM n.c", "0")
	i.onlyFiles("a", 1)
	i.onlyFiles("c", 0)
}

// TestRefusedByTypesAlone has statements without a row to work on whose types can never be assigned, and NULLs of no type in all places that a query
// may have them in.
func TestRefusedByTypesAlone(t *testing.T) {
	i := newInserting(t)
	i.run("CREATE TABLE n.t (d date, u uuid, id int)")
	i.run("CREATE TABLE n.empty (id int, s string)")
	i.run("CREATE TABLE n.src (id int, s string)")
	i.run("INSERT INTO n.src VALUES (1, 'a'), (2, NULL)")
	const asDate, asUUID = "write column d: a value of type INTEGER can't be assigned to a column of type date", "write column u: a value of type INTEGER can't be assigned to a column of type uuid"
	for stmt, want := range map[string]string{
		"INSERT INTO n.t SELECT id, NULL, 1 FROM n.empty":                                                               asDate,
		"INSERT INTO n.t SELECT NULL, id, 1 FROM n.empty":                                                               asUUID,
		"INSERT INTO n.t (id, d) SELECT 1, id FROM n.empty":                                                             asDate,
		"INSERT INTO n.t BY NAME SELECT id AS u FROM n.empty":                                                           asUUID,
		"INSERT OVERWRITE n.t SELECT NULL, NULL, 1 UNION ALL SELECT 1, NULL, 1 FROM n.empty":                            asDate,
		"INSERT INTO n.t SELECT NULL::INTEGER, NULL, 1 FROM n.empty":                                                    asDate,
		"INSERT INTO n.t SELECT CASE WHEN id > 1 THEN 1 END, NULL, 1 FROM n.empty":                                      asDate,
		"INSERT INTO n.t SELECT s, NULL, 1 FROM n.empty":                                                                "a value of type VARCHAR can't be assigned to a column of type date",
		"UPDATE n.t SET d = id":                                                                                         asDate,
		"UPDATE n.t SET u = 5":                                                                                          asUUID,
		"UPDATE n.t SET d = (SELECT max(id) FROM n.empty)":                                                              asDate,
		"MERGE INTO n.t USING n.empty e ON t.id = e.id WHEN MATCHED THEN UPDATE SET u = e.id":                           asUUID,
		"MERGE INTO n.t USING n.empty e ON t.id = e.id WHEN NOT MATCHED THEN INSERT (d, id) VALUES (coalesce(e.id), 1)": asDate,
	} {
		i.refuses(stmt, errs.Invalid, want)
	}
	for n, query := range []string{
		"SELECT NULL", "SELECT x FROM (SELECT NULL AS x, id FROM n.src LIMIT 5) AS q", "SELECT NULL FROM n.src UNION ALL SELECT NULL FROM n.src",
		"WITH c AS (SELECT NULL AS x FROM n.src) SELECT x FROM c", "WITH c AS MATERIALIZED (SELECT id, NULL AS x FROM n.src) SELECT c.x FROM c JOIN n.src USING (id)",
		"SELECT q.x FROM n.src LEFT JOIN (SELECT id, NULL AS x FROM n.src GROUP BY id) AS q USING (id)", "SELECT max(NULL) FROM n.src GROUP BY id",
		"SELECT CASE WHEN id > 1 THEN NULL END FROM n.src", "SELECT lag(NULL) OVER (ORDER BY id) FROM n.src", "SELECT first(x) FROM (SELECT id, NULL AS x FROM n.src) AS q GROUP BY id",
		"SELECT DISTINCT NULL FROM n.src", "VALUES (NULL), (NULL)", "SELECT (SELECT NULL FROM n.empty WHERE empty.id = src.id) FROM n.src", "SELECT unnest([NULL, NULL])",
		"SELECT x FROM (SELECT NULL AS x FROM n.src EXCEPT SELECT NULL FROM n.empty) AS q", "SELECT {'a': NULL, 'b': 1}.a", "SELECT ?",
	} {
		table := fmt.Sprintf("n.null%d", n)
		i.run("CREATE TABLE " + table + " (d date)")
		var args []any
		if strings.Contains(query, "?") {
			args = []any{nil}
		}
		i.run("INSERT INTO "+table+" "+query, args...)
		i.want("SELECT count(*) > 0, count(d), count(d) FROM "+table, "true 0 0")
		i.run("UPDATE " + table + " SET d = NULL")
		i.run("UPDATE " + table + " SET d = CASE WHEN random() < 2 THEN NULL END")
		i.want("SELECT count(*) > 0, count(d), count(d) FROM "+table, "true 0 0")
	}
	i.run("MERGE INTO n.t USING n.src ON t.id = src.id WHEN NOT MATCHED THEN INSERT (d, u, id) VALUES (NULL, (SELECT NULL), src.id)")
	i.run("MERGE INTO n.t USING (SELECT id, NULL AS x FROM n.src) AS q ON t.id = q.id WHEN MATCHED THEN UPDATE SET d = q.x, u = NULL")
	i.want("SELECT count(*), count(d), count(u) FROM n.t", "2 0 0")
}

// TestNestedKeysSayWhy: nothing runs by groups of what a spec has no partitions of, and the reason is that.
func TestNestedKeysSayWhy(t *testing.T) {
	i := &inserting{t: t, folder: t.TempDir()}
	i.Session = emptyLake(t, "sql", i.folder).Session()
	i.run("CREATE NAMESPACE n")
	i.run("CREATE TABLE n.s (p struct<id: bigint>, l array<bigint>, m map<string, bigint>, d double)")
	i.run("INSERT INTO n.s VALUES ({'id': 1}, [1], map {'a': 1}, 1)")
	for query, why := range map[string]string{
		"SELECT 1 FROM n.s a JOIN n.s b ON a.p.id = b.p.id":        "n.s.p is a struct<id: long>: a transform takes a primitive value, and groups are made by columns, not by fields",
		"SELECT a.d, a.l FROM n.s a JOIN n.s b ON a.p.id = b.p.id": "n.s.p is a struct<id: long>: a transform takes a primitive value, and groups are made by columns, not by fields",
		"SELECT l, count(*) FROM n.s GROUP BY l":                   "n.s.l is a list<long>: no transform takes one, nor what lies in one",
		"SELECT m, count(*) FROM n.s GROUP BY m":                   "n.s.m is a map<string, long>: no transform takes one, nor what lies in one",
		"SELECT d, count(*) FROM n.s GROUP BY d":                   "n.s.d is a double: of the transforms identity alone takes one",
	} {
		if text := i.ask("EXPLAIN " + query); !strings.Contains(text, why) {
			t.Errorf("%s\nwanted %s, got\n%s", query, why, text)
		}
	}
}
