package tarn_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
)

// hive makes folders of Parquet files as Hive has them, and a lake beside.
type hive struct {
	*inserting
	conn *duck.Conn
	dir  string
}

func newHive(t *testing.T) *hive {
	t.Helper()
	i := &inserting{t: t, folder: t.TempDir()}
	i.Session = emptyLake(t, "sql", i.folder).Session()
	i.run("CREATE NAMESPACE n")
	db, err := duck.Open(t.Context(), duck.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		_ = db.Close()
	})
	return &hive{i, conn, t.TempDir()}
}

// file writes a query's rows to a file, within a folder.
func (h *hive) file(path, query string) {
	h.t.Helper()
	full := filepath.Join(h.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := h.conn.Exec(h.t.Context(), "COPY ("+query+") TO '"+full+"' (FORMAT parquet)"); err != nil {
		h.t.Fatal(err)
	}
}

func (h *hive) add(table, folder, more string) string {
	return "CALL system.add_files(table => '" + table + "', source_table => '`parquet`.`" + filepath.Join(h.dir, folder) + "`'" + more + ")"
}

// TestAddFiles adds files where they lie, with partition values from their folders.
func TestAddFiles(t *testing.T) {
	h := newHive(t)
	h.file("sales/day=2024-01-01/region=eu/a.parquet", "SELECT range AS id, 1.5::DOUBLE AS x FROM range(10)")
	h.file("sales/day=2024-01-01/region=a%2Fb%3D/b.parquet", "SELECT 100::BIGINT AS id, 2.5::DOUBLE AS x, 7 AS other")
	h.file("sales/day=2024-01-02/region=__HIVE_DEFAULT_PARTITION__/c.parquet", "SELECT 200::BIGINT AS id")
	h.file("sales/day=2024-01-02/region=eu/_temporary/d.parquet", "SELECT 'none' AS id")
	h.file("sales/day=2024-01-02/region=eu/.hidden.parquet", "SELECT 'none' AS id")
	h.file("sales/day=2024-01-02/region=eu/empty.parquet", "SELECT 1::BIGINT AS id WHERE false")
	if err := os.WriteFile(filepath.Join(h.dir, "sales", "_SUCCESS"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h.run("CREATE TABLE n.sales (id bigint, x double, day date, region string, fresh int) PARTITIONED BY (day, region)")
	data, _ := filesOf(t, h.folder)
	h.want(h.add("n.sales", "sales", ", partition_filter => map('day', '2024-01-02')"), "1 1")
	h.want("SELECT * FROM n.sales", `200 NULL "2024-01-02" NULL NULL`)
	h.refuses(h.add("n.sales", "sales", ""), errs.Exists, "c.parquet")
	h.want(h.add("n.sales", "sales", ", partition_filter => map('DAY', '2024-01-01'), parallelism => 4"), "2 2")
	h.want("SELECT count(*), sum(id), count(x) FROM n.sales", "12 345 11")
	h.want("SELECT id, region FROM n.sales WHERE region LIKE '%/%'", `100 "a/b="`)
	h.want("SELECT count(*) FROM n.sales WHERE day = DATE '2024-01-01' AND region = 'eu' AND id >= 5", "5")
	h.want("SELECT file_path LIKE '%/sales/%', record_count, null_value_counts[1], readable_metrics.id.upper_bound FROM n.sales.files ORDER BY record_count DESC LIMIT 1", "true 10 0 9")
	h.run("ALTER TABLE n.sales RENAME COLUMN id TO key")
	h.run("ALTER TABLE n.sales ADD COLUMN idx int")
	h.want("SELECT sum(key), count(idx) FROM n.sales", "345 0")
	h.refuses(h.add("n.sales", "sales", ", check_duplicate_files => false"), errs.Exists, "already")
	h.want("SELECT count(*) FROM n.sales.snapshots", "2")
	now, _ := filesOf(t, h.folder)
	for _, f := range now {
		if strings.HasSuffix(strings.Fields(f)[0], ".parquet") {
			t.Errorf("%s was written, and there were %v", f, data)
		}
	}
	// One file, and folders that mean nothing, in a table without partitions.
	h.run("CREATE TABLE n.plain (id bigint, x double)")
	h.want(h.add("n.plain", "sales/day=2024-01-01/region=eu/a.parquet", ""), "1 1")
	h.file("flat/deep/e.parquet", "SELECT 1::INTEGER AS id, 2::FLOAT AS x")
	h.want(h.add("n.plain", "flat", ""), "1 1")
	h.want("SELECT count(*), sum(x) = 17 FROM n.plain", "11 true")
}

// TestAddFilesChecksRows finds folders whose names are wrong of their rows, by statistics or by reading them.
func TestAddFilesChecksRows(t *testing.T) {
	h := newHive(t)
	h.run("CREATE TABLE n.b (id bigint NOT NULL, ts timestamp_ntz, s string) PARTITIONED BY (bucket(4, id), days(ts), truncate(1, s))")
	rows := func(where string) string {
		return "SELECT * FROM (SELECT range AS id, TIMESTAMP '2024-01-01 10:00:00' + INTERVAL (range % 2) DAY AS ts, CASE WHEN range % 3 > 0 THEN 'x' || range END AS s FROM range(100)) WHERE " + where
	}
	bucket := func(n int) string {
		// By another way than the one that is tested.
		ids := h.ask("SELECT range FROM range(100) WHERE system.bucket(4, range) = " + string(rune('0'+n)))
		return "id IN (" + strings.ReplaceAll(ids, "\n", ", ") + ")"
	}
	h.file("good/id_bucket=1/ts_day=2024-01-01/s_trunc=x/a.parquet", rows(bucket(1)+" AND id % 2 = 0 AND s IS NOT NULL"))
	h.file("good/id_bucket=2/ts_day=2024-01-02/s_trunc=__HIVE_DEFAULT_PARTITION__/a.parquet", rows(bucket(2)+" AND id % 2 = 1 AND s IS NULL"))
	h.file("bucket/id_bucket=3/ts_day=2024-01-01/s_trunc=x/a.parquet", rows(bucket(1)+" AND id % 2 = 0 AND s IS NOT NULL"))
	h.file("day/id_bucket=1/ts_day=2024-01-02/s_trunc=x/a.parquet", rows(bucket(1)+" AND id % 2 = 0 AND s IS NOT NULL"))
	h.file("text/id_bucket=1/ts_day=2024-01-01/s_trunc=x/a.parquet", rows(bucket(1)+" AND id % 2 = 0"))
	h.file("type/id_bucket=one/ts_day=2024-01-01/s_trunc=x/a.parquet", rows("true"))
	h.file("date/id_bucket=1/ts_day=2024-01-32/s_trunc=x/a.parquet", rows("true"))
	h.file("key/id_bucket=1/what=2024-01-31/s_trunc=x/a.parquet", rows("true"))
	h.file("twice/id_bucket=1/id_bucket=2/ts_day=2024-01-01/s_trunc=x/a.parquet", rows("true"))
	h.file("less/id_bucket=1/ts_day=2024-01-01/a.parquet", rows("true"))
	h.file("lacks/id_bucket=1/ts_day=2024-01-01/s_trunc=x/a.parquet", "SELECT id, ts FROM ("+rows(bucket(1)+" AND id % 2 = 0")+")")
	h.file("null/id_bucket=__HIVE_DEFAULT_PARTITION__/ts_day=2024-01-01/s_trunc=x/a.parquet", "SELECT NULL::BIGINT AS id, TIMESTAMP '2024-01-01 10:00:00' AS ts, 'x' AS s")
	h.file("kind/id_bucket=1/ts_day=2024-01-01/s_trunc=x/a.parquet", "SELECT 'one' AS id, TIMESTAMP '2024-01-01 10:00:00' AS ts, 'x' AS s")
	h.file("case/id_bucket=1/ts_day=2024-01-01/s_trunc=x/a.parquet", "SELECT id AS ID, ts, s FROM ("+rows("true")+")")
	h.file("ids/id_bucket=1/ts_day=2024-01-01/s_trunc=x/a.parquet", rows("id = 1"))
	if err := h.conn.Exec(t.Context(), "COPY (SELECT 1::BIGINT AS other, TIMESTAMP '2024-01-01 10:00:00' AS ts, 'x' AS s) TO '"+h.dir+
		"/ids/id_bucket=1/ts_day=2024-01-01/s_trunc=x/a.parquet' (FORMAT parquet, FIELD_IDS {other: 1, ts: 2, s: 3})"); err != nil {
		t.Fatal(err)
	}
	h.file("garbage/id_bucket=1/ts_day=2024-01-01/s_trunc=x/a.parquet", rows("false"))
	if err := os.WriteFile(filepath.Join(h.dir, "garbage/id_bucket=1/ts_day=2024-01-01/s_trunc=x/garbage.parquet"), []byte("PAR1 none PAR1"), 0o600); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]struct {
		kind errs.Kind
		text string
	}{
		"bucket": {errs.Invalid, "id_bucket=3/ts_day=2024-01-01/s_trunc=x: it says that id_bucket is 3"}, "day": {errs.Invalid, "it says that ts_day is 2024-01-02"},
		"text": {errs.Invalid, "it says that s_trunc is x"}, "type": {errs.Invalid, "id_bucket=one"}, "date": {errs.Invalid, "2024-01-32"}, "key": {errs.Invalid, `"what"`},
		"twice": {errs.Invalid, "above it"}, "less": {errs.Invalid, `"s_trunc"`}, "lacks": {errs.Invalid, `no column "s"`}, "null": {errs.Invalid, "NOT NULL"},
		"kind": {errs.Corrupt, `id`}, "case": {errs.Invalid, `"ID"`}, "ids": {errs.Invalid, `"other"`}, "gone": {errs.NotFound, "gone"}, "garbage": {errs.Corrupt, "garbage.parquet"},
	} {
		h.refuses(h.add("n.b", folder, ""), want.kind, want.text)
	}
	h.want("SELECT count(*) FROM n.b.snapshots", "0")
	h.refuses("SHOW TBLPROPERTIES n.b ('schema.name-mapping.default')", errs.NotFound, "no such property")
	h.want(h.add("n.b", "good", ""), "2 2")
	h.want("SELECT count(*) = count(*) FILTER (id % 2 = 0 AND s IS NOT NULL OR id % 2 = 1 AND s IS NULL) AND count(*) > 0 FROM n.b", "true")
	h.run("CREATE TABLE n.i (id bigint, a int) PARTITIONED BY (a)")
	h.file("own/a=5/x.parquet", "SELECT 1::BIGINT AS id, 5 AS a")
	h.file("other/a=5/x.parquet", "SELECT 1::BIGINT AS id, 6 AS a")
	h.file("mixed/a=5/x.parquet", "SELECT 1::BIGINT AS id, unnest([5, NULL]) AS a")
	h.want(h.add("n.i", "own", ""), "1 1")
	for _, folder := range []string{"other", "mixed"} {
		h.refuses(h.add("n.i", folder, ""), errs.Invalid, folder+"/a=5: it says that a is 5")
	}
	for stmt, want := range map[string]struct {
		kind errs.Kind
		text string
	}{
		"CALL system.add_files('n.i', 'db.t')":                        {errs.Unsupported, "Hive metastore"},
		"CALL system.add_files('n.i', '`orc`.`/x`')":                  {errs.Unsupported, "orc"},
		h.add("n.i", "own", ", partition_filter => map('b', '1')"):    {errs.NotFound, `"b"`},
		h.add("n.i", "own", ", partition_filter => map('a', 'five')"): {errs.Invalid, "five"},
		h.add("n.nope", "own", ""):                                    {errs.NotFound, "nope"},
	} {
		h.refuses(stmt, want.kind, want.text)
	}
}

// TestAddedTextsThatAreNone: bytes that aren't UTF-8 are found when they are read, as damage of the file.
func TestAddedTextsThatAreNone(t *testing.T) {
	h := newHive(t)
	const stand = "zq7Zk1Wm9Xv3Bt5Y"
	h.file("texts/a.parquet", "SELECT 1::BIGINT AS id, 'fine' AS s")
	h.file("texts/b.parquet", "SELECT range AS id, CASE WHEN range = 7 THEN '"+stand+"' ELSE 'text ' || range END AS s FROM range(10)")
	path := filepath.Join(h.dir, "texts/b.parquet")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wrong := bytes.ReplaceAll(content, []byte(stand), []byte("zq\xffZk1Wm9Xv3Bt5Y"))
	if bytes.Equal(wrong, content) {
		t.Fatal("the text isn't in the file")
	}
	if err := os.WriteFile(path, wrong, 0o600); err != nil {
		t.Fatal(err)
	}
	h.run("CREATE TABLE n.texts (id bigint, s string) PARTITIONED BY (bucket(4, s))")
	h.run("CREATE TABLE n.plain (id bigint, s string)")
	h.want(h.add("n.plain", "texts", ""), "2 1")
	h.want("SELECT sum(id) FROM n.plain", "46")
	h.want("SELECT count(*) FROM n.plain WHERE id = 3 AND s = 'text 3'", "1")
	for _, query := range []string{
		"SELECT s FROM n.plain", "SELECT max(s) FROM n.plain", "SELECT count(*) FROM n.plain WHERE length(s) > 100", "SELECT id FROM n.plain WHERE s LIKE '%q'",
		"SELECT count(*) FROM n.plain a JOIN n.plain b USING (s)", "SELECT s, count(*) FROM n.plain GROUP BY s", "SELECT id FROM n.plain WHERE s > 'zp'",
		"SELECT id FROM n.plain ORDER BY s", "INSERT INTO n.texts SELECT * FROM n.plain",
	} {
		for _, set := range []string{"SET tarn.spj = 'auto'", "SET tarn.spj = 'off'"} {
			h.run(set)
			if err := h.readAll(query); errs.KindOf(err) != errs.Corrupt || err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), `zq\xFFZk1`) {
				t.Errorf("%s, %s: %v, wanted damage of %s and the text", query, set, err, path)
			}
		}
	}
	h.want("SELECT count(*) FROM n.texts", "0")
	h.want("SELECT sum(id) FROM n.plain", "46") // what doesn't read the texts isn't kept from the rest
}

// TestAddedBytesThatAreNoText: bytes of a binary column that are no text are damage of the file that was added, not of the copy that is
// made to read it.
func TestAddedBytesThatAreNoText(t *testing.T) {
	h := newHive(t)
	h.file("bytes/a.parquet", `SELECT 1::BIGINT AS id, unnest(['a'::BLOB, '\xFF'::BLOB]) AS s`)
	h.run("CREATE TABLE n.b (id bigint, s string)")
	h.want(h.add("n.b", "bytes", ""), "1 1")
	if err := h.readAll("SELECT s FROM n.b"); errs.KindOf(err) != errs.Corrupt || !strings.Contains(err.Error(), filepath.Join(h.dir, "bytes/a.parquet")) {
		t.Errorf("%v, wanted damage of bytes/a.parquet", err)
	}
}

// readAll runs a statement and reads its rows to the end.
func (h *hive) readAll(query string) error {
	rows, err := h.Query(h.t.Context(), query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for {
		batch, err := rows.Next(h.t.Context())
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		batch.Release()
	}
}
