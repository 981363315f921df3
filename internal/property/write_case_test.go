package property

import (
	"context"
	"fmt"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/manifest"
)

// TestWriteCases are the cases of INSERT, INSERT OVERWRITE and CREATE TABLE ... AS, under their ids in the list of other engines' faults. MNT-5 and
// MNT-6, whose catalog loses answers, are TestPostgresLostAnswers.
func TestWriteCases(t *testing.T) {
	for id, run := range map[string]func(*lab){
		"EVP-1 insert beside a spec without its source": insertWithoutSource, "EVP-3 overwrite of several specs": overwriteSpecs,
		"EVP-7 NULLs in several specs": insertNulls, "EVP-9 NULL and texts like it": insertTexts, "SCH-4 a name again": insertIntoSameName,
		"SCH-5 an ID of its own": replaceTakesNewIDs, "SCH-10 widths of bounds": insertBounds, "SCH-13 no write default": insertDefaults,
		"SCH-14 decimal without digits": insertWholeDecimals, "MNT-3 overwrite beside a position delete": overwriteDeleted, "PRN-12 summaries": insertSummaries,
	} {
		t.Run(id, func(t *testing.T) {
			l := newLab(t)
			l.run("CREATE NAMESPACE a")
			run(l)
		})
	}
}

func insertWithoutSource(l *lab) {
	l.run("CREATE TABLE a.t (id int, a int, b int) PARTITIONED BY (bucket(8, a))", "INSERT INTO a.t VALUES (1, 1, 10)",
		"ALTER TABLE a.t REPLACE PARTITION FIELD bucket(8, a) WITH bucket(4, b)", "ALTER TABLE a.t DROP COLUMN a", "INSERT INTO a.t VALUES (2, 10)")
	l.tells("SELECT spec_id, partition.b_bucket_4 FROM a.t.files", "(0, NULL)", "(1, 0)")
	l.run("INSERT OVERWRITE a.t SELECT id + 10, b FROM a.t")
	l.tells("SELECT * FROM a.t", "(11, 10)", "(12, 10)")
}

// overwriteSpecs replaces rows of files of several specs, and refuses what would lose rows or keep some twice.
func overwriteSpecs(l *lab) {
	l.run("CREATE TABLE a.t (cat string, region string, n int) PARTITIONED BY (cat)", "INSERT INTO a.t VALUES ('A', 'us', 1), ('A', 'eu', 2), ('B', 'us', 3)",
		"ALTER TABLE a.t ADD PARTITION FIELD region", "INSERT INTO a.t VALUES ('C', 'us', 4), ('C', 'eu', 5)")
	s := l.engine.Session()
	dynamic := func(stmt string) error {
		_, err := s.Exec(context.Background(), stmt)
		return err
	}
	l.must(dynamic("SET spark.sql.sources.partitionOverwriteMode = dynamic"))
	before := l.load("a.t").MetadataLocation
	stmt := "INSERT INTO a.t REPLACE WHERE cat = 'A' AND region = 'us' VALUES ('A', 'us', 9)"
	if err := dynamic(stmt); errs.KindOf(err) != errs.Unsupported {
		l.t.Errorf("%s: %v", stmt, err)
	}
	if now := l.load("a.t").MetadataLocation; now != before {
		l.t.Errorf("the table went from %s to %s", before, now)
	}
	l.must(dynamic("INSERT OVERWRITE a.t VALUES ('C', 'us', 9), ('D', 'us', 9)")) // no old file is of C
	l.tells("SELECT * FROM a.t", `("A", "us", 1)`, `("A", "eu", 2)`, `("B", "us", 3)`, `("C", "us", 9)`, `("C", "eu", 5)`, `("D", "us", 9)`)
	l.must(dynamic("INSERT OVERWRITE a.t PARTITION (cat = 'A', region) SELECT 'us', 8")) // the old file has another row, which stays
	l.tells("SELECT * FROM a.t", `("A", "us", 8)`, `("A", "eu", 2)`, `("B", "us", 3)`, `("C", "us", 9)`, `("C", "eu", 5)`, `("D", "us", 9)`)
	l.must(dynamic("INSERT INTO a.t REPLACE WHERE cat = 'A' VALUES ('A', 'eu', 2), ('A', 'us', 9)"))
	l.tells("SELECT n FROM a.t WHERE cat = 'A'", "(2)", "(9)")
}

func insertNulls(l *lab) {
	l.run("CREATE TABLE a.t (a int, b int, c int) PARTITIONED BY (a)", "INSERT INTO a.t VALUES (NULL, NULL, NULL)", "ALTER TABLE a.t ADD PARTITION FIELD b",
		"INSERT INTO a.t VALUES (NULL, NULL, NULL)", "ALTER TABLE a.t ADD PARTITION FIELD c", "INSERT INTO a.t VALUES (NULL, NULL, NULL)")
	l.tells("SELECT spec_id, record_count FROM a.t.partitions", "(0, 1)", "(1, 1)", "(2, 1)")
	l.run("CREATE TABLE a.u (p1 int, p2 int) PARTITIONED BY (p1, p2)", "INSERT INTO a.u VALUES (1, 2)", "ALTER TABLE a.u DROP PARTITION FIELD p1",
		"ALTER TABLE a.u ADD PARTITION FIELD p1", "INSERT INTO a.u VALUES (1, 2)")
	l.tells("SELECT partition.p1, partition.p2 FROM a.u.files", "(1, 2)", "(1, 2)")
	l.tells("SELECT count(*) FROM a.u WHERE p1 = 1 AND p2 = 2", "(2)")
}

func insertTexts(l *lab) {
	l.run("CREATE TABLE a.t (id int, s string) PARTITIONED BY (s)", "INSERT INTO a.t VALUES (1, NULL), (2, 'null'), (3, ''), (4, '__HIVE_DEFAULT_PARTITION__')")
	l.tells("SELECT count(*) FROM a.t.partitions", "(4)")
	for where, id := range map[string]int{"s IS NULL": 1, "s = 'null'": 2, "s = ''": 3, "s = '__HIVE_DEFAULT_PARTITION__'": 4} {
		l.tells("SELECT id FROM a.t WHERE "+where, fmt.Sprintf("(%d)", id))
	}
	for i, partition := range []string{"'null'", "NULL", "''", "'__HIVE_DEFAULT_PARTITION__'"} {
		l.run(fmt.Sprintf("INSERT OVERWRITE a.t PARTITION (s = %s) SELECT id + 10 FROM a.t WHERE s IS NOT DISTINCT FROM %s", partition, partition))
		l.tells("SELECT count(*) FROM a.t WHERE id > 10", fmt.Sprintf("(%d)", i+1))
	}
	l.tells("SELECT id, s FROM a.t", "(11, NULL)", `(12, "null")`, `(13, "")`, `(14, "__HIVE_DEFAULT_PARTITION__")`)
}

func insertIntoSameName(l *lab) {
	l.run("CREATE TABLE a.t (id int, a string)", "INSERT INTO a.t VALUES (1, 'old')", "ALTER TABLE a.t DROP COLUMN a", "ALTER TABLE a.t ADD COLUMN a string",
		"INSERT INTO a.t BY NAME SELECT 'new' AS a, 2 AS id")
	l.tells("SELECT * FROM a.t", "(1, NULL)", `(2, "new")`)
	l.tells("SELECT id FROM a.t WHERE a IS NULL", "(1)")
}

// replaceTakesNewIDs takes the IDs of a table that a query replaces from all that it ever had.
func replaceTakesNewIDs(l *lab) {
	l.run("CREATE TABLE a.t (a int, b array<int>)", "ALTER TABLE a.t ADD COLUMN tmp int", "ALTER TABLE a.t DROP COLUMN tmp",
		"INSERT INTO a.t VALUES (1, [2])", "CREATE OR REPLACE TABLE a.t AS SELECT a, 'x' AS x, {'f': 1} AS s FROM a.t")
	t := l.load("a.t")
	got := []catalog.FieldID{}
	for _, f := range t.Schema.Fields {
		got = append(got, f.ID)
	}
	if fmt.Sprint(got, t.Schema.Fields[2].Type.Fields[0].ID) != "[1 5 6] 7" {
		l.t.Errorf("the columns have the IDs %v, and %d", got, t.Schema.Fields[2].Type.Fields[0].ID)
	}
	l.tells("SELECT * FROM a.t", `(1, "x", {f: 1})`)
}

func insertBounds(l *lab) {
	l.run("CREATE TABLE a.t AS SELECT 34 AS i, DATE '2026-01-01' AS d, 34::BIGINT AS n, -6.59::DECIMAL(9,2) AS x, UUID '00112233-4455-6677-8899-aabbccddeeff' AS u, true AS b")
	for i, want := range []string{"22000000", "e64f0000", "2200000000000000", "fd6d", "00112233445566778899aabbccddeeff", "01"} {
		l.tells(fmt.Sprintf("SELECT lower(hex(lower_bounds[%[1]d])), lower(hex(upper_bounds[%[1]d])) FROM a.t.files", i+1), fmt.Sprintf("(%[1]q, %[1]q)", want))
	}
}

func insertDefaults(l *lab) {
	l.run("CREATE TABLE a.t (id int, x int) TBLPROPERTIES ('format-version'='3')", "INSERT INTO a.t VALUES (1, 1)", "ALTER TABLE a.t ADD COLUMN c int DEFAULT 5",
		"INSERT INTO a.t (id) VALUES (2)", "ALTER TABLE a.t ALTER COLUMN c SET DEFAULT 6", "INSERT INTO a.t (id) VALUES (3)", "INSERT INTO a.t VALUES (4, NULL, NULL)")
	l.refuses("a.t", errs.Unsupported, "ALTER TABLE a.t ALTER COLUMN c DROP DEFAULT")
	l.tells("SELECT id, c FROM a.t", "(1, 5)", "(2, 5)", "(3, 6)", "(4, NULL)")
	l.tells("SELECT id FROM a.t WHERE c = 5", "(1)", "(2)")
}

func insertWholeDecimals(l *lab) {
	l.run("CREATE TABLE a.t (d decimal(10, 2), b int) PARTITIONED BY (bucket(16, d))", "INSERT INTO a.t SELECT 1E+2, system.bucket(16, 100.00::DECIMAL(10,2))")
	l.tells("SELECT d, lower(hex(lower_bounds[1])), partition.d_bucket = (SELECT b FROM a.t) FROM a.t.files, a.t", `(100, "2710", true)`)
}

// overwriteDeleted has a writer replace a file of which another one has deleted a row meanwhile: at no isolation may the row come back.
func overwriteDeleted(l *lab) {
	l.table(definition{name: "b.t", columns: []string{"id int", "v int"}}, []string{"(1, 0)", "(2, 0)", "(3, 0)", "(4, 0)"})
	base := l.load("b.t")
	layout, err := l.catalog.Survey(context.Background(), base, catalog.Filter{})
	l.must(err)
	var old []catalog.DataFile
	l.must(layout.Files(context.Background(), func(f catalog.DataFile) error { old = append(old, f); return nil }))
	mine := l.dataFile("b.t", nil, "(1, 1)", "(2, 0)", "(3, 0)", "(4, 0)")
	l.delta("b.t", nil, l.at("b.t", nil, place(old[0].Ref.Path, 3)))
	for _, isolation := range []commit.Isolation{commit.Serializable, commit.Snapshot, commit.Blind} {
		_, err := l.catalog.Commit(context.Background(), base, commit.Change{Kind: commit.Overwrite, Isolation: isolation, Add: []manifest.File{mine.File}, Remove: old})
		if errs.KindOf(err) != errs.Conflict {
			l.t.Errorf("isolation %d: %v", isolation, err)
		}
	}
	l.tells("SELECT id, v FROM b.t", "(1, 0)", "(2, 0)", "(3, 0)")
	again := l.dataFile("b.t", nil, "(1, 1)", "(2, 0)", "(3, 0)")
	_, err = l.catalog.Commit(context.Background(), l.load("b.t"), commit.Change{Kind: commit.Overwrite, Add: []manifest.File{again.File}, Remove: old})
	l.must(err)
	l.tells("SELECT id, v FROM b.t", "(1, 1)", "(2, 0)", "(3, 0)")
}

// insertSummaries looks at what manifest lists say of the partitions that INSERT makes, and that nobody leaves a manifest out by it that has them.
func insertSummaries(l *lab) {
	l.run("CREATE TABLE a.days (ts timestamp_ntz) PARTITIONED BY (days(ts))", "INSERT INTO a.days VALUES (TIMESTAMP '2024-01-01 10:00:00'), (TIMESTAMP '2023-12-31 10:00:00')",
		"CREATE TABLE a.nulls (ts timestamp_ntz) PARTITIONED BY (days(ts))", "INSERT INTO a.nulls VALUES (NULL)",
		"CREATE TABLE a.nans (x float) PARTITIONED BY (x)", "INSERT INTO a.nans VALUES ('nan'::FLOAT)", "CREATE TABLE a.both (x float) PARTITIONED BY (x)",
		"INSERT INTO a.both VALUES ('nan'::FLOAT), (1.5)", "CREATE TABLE a.buckets (k bigint) PARTITIONED BY (bucket(16, k))", "INSERT INTO a.buckets SELECT range FROM range(100)")
	for name, want := range map[string]string{
		"days": `("2023-12-31", "2024-01-01", false, NULL)`, "nulls": `("null", "null", true, NULL)`, "nans": `("null", "null", false, true)`, "both": `("1.5", "1.5", false, true)`,
		"buckets": `("0", "15", false, NULL)`,
	} {
		l.tells("SELECT s.lower_bound, s.upper_bound, s.contains_null, CASE WHEN s.contains_nan THEN true END FROM (SELECT unnest(partition_summaries) AS s FROM a."+name+".manifests)", want)
	}
	l.tells("SELECT count(*) FROM a.days WHERE ts >= TIMESTAMP '2024-01-01'", "(1)")
	l.tells("SELECT count(*) FROM a.nulls WHERE ts IS NULL", "(1)")
	l.tells("SELECT count(*) FROM a.nans WHERE isnan(x)", "(1)")
	l.tells("SELECT count(*) FROM a.both WHERE x > 1", "(2)")
	l.tells("SELECT count(*) FROM a.buckets WHERE k = 7", "(1)")
}
