package duck

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/deletes"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// registerDeletes registers a spec until the test ends.
func registerDeletes(t testing.TB, db *DB, files ...FileDeletes) int64 {
	t.Helper()
	id, release, err := db.RegisterDeletes(DeletesSpec{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return id
}

func positions(at ...int64) *deletes.Positions {
	p := &deletes.Positions{}
	p.Add(at...)
	return p
}

func atPositions(at ...int64) FileDeletes {
	return FileDeletes{Deleted: RowSet{Positions: positions(at...)}}
}

// columnsOf reads each field under its own name.
func columnsOf(fields ...catalog.Field) []ScanColumn {
	out := make([]ScanColumn, len(fields))
	for i, f := range fields {
		out[i] = ScanColumn{f, f.Name}
	}
	return out
}

// valuesOf returns the keys of the rows that sql gives, deleted in a scope at a sequence number.
func valuesOf(t testing.TB, c *Conn, sql string, scope int, sequence int64) *deletes.Values {
	t.Helper()
	set := &deletes.Values{}
	addValues(t, c, set, sql, scope, sequence)
	return set
}

func addValues(t testing.TB, c *Conn, set *deletes.Values, sql string, scope int, sequence int64) {
	t.Helper()
	res, err := c.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	columns := make([]int, len(res.Columns()))
	for i := range columns {
		columns[i] = i
	}
	for {
		chunk, err := res.Next(t.Context())
		if err != nil {
			return
		}
		err = chunk.EachKey(columns, func(_ int, key []byte) error {
			set.Add(scope, key, sequence)
			return nil
		})
		chunk.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A position counts all rows of the file, whatever is filtered before or skipped (DEL-1).
func TestPositionsCountAllRows(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	id := primitive(1, "id", longType)
	small := writeFile(t, c, "small.parquet", "FROM (VALUES (4::BIGINT), (5), (6)) v(id)", id)
	s := Scan{Files: []ScanFile{small}, Columns: columnsOf(id), Deletes: registerDeletes(t, db, atPositions(1))}
	wantRows(t, c, "FROM ("+mustScan(t, s)+") WHERE id IN (4, 6)", "4", "6")
	s.Filter = "id IN (4, 6)"
	wantRows(t, c, mustScan(t, s), "4", "6")
	large := writeFile(t, c, "large.parquet", "SELECT i AS id FROM range(3 * 2048) t(i)", id)
	s = Scan{Files: []ScanFile{large}, Columns: columnsOf(id), Deletes: registerDeletes(t, db, atPositions(4098))}
	wantRows(t, c, "FROM ("+mustScan(t, s)+") WHERE id > 4096 AND id < 4101", "4097", "4099", "4100")
}

// deletedTables makes a view "seen" of two files with deletes, and a table "truth" of what it must show.
func deletedTables(t *testing.T, threads int) *Conn {
	db, c := session(t, Options{Threads: threads})
	id, text, group := primitive(1, "id", longType), primitive(2, "s", stringType), primitive(3, "g", longType)
	const rows = 30_000
	var files []ScanFile
	var gone []FileDeletes
	mustExec(t, c, "CREATE TABLE truth (id BIGINT, s VARCHAR, g BIGINT)")
	for i, isGone := range []string{"i % 100 = 7", "i BETWEEN 2000 AND 9000 OR i % 2 = 0"} {
		from := fmt.Sprintf("FROM (SELECT %d + i AS id, 'text ' || i AS s, i // 1000 AS g, i FROM range(%d) t(i))", i*rows, rows)
		files = append(files, writeFile(t, c, fmt.Sprintf("%d.parquet", i), "SELECT id, s, g "+from, id, text, group))
		mustExec(t, c, "INSERT INTO truth SELECT id, s, g "+from+" WHERE NOT ("+isGone+")")
		p := &deletes.Positions{}
		for _, row := range mustRows(t, c, fmt.Sprintf("SELECT i FROM range(%d) t(i) WHERE %s", rows, isGone)) {
			var at int64
			if _, err := fmt.Sscan(row, &at); err != nil {
				t.Fatal(err)
			}
			p.Add(at)
		}
		gone = append(gone, FileDeletes{Deleted: RowSet{Positions: p}})
	}
	s := Scan{Files: files, Columns: columnsOf(id, text, group), Deletes: registerDeletes(t, db, gone...)}
	mustExec(t, c, "CREATE VIEW seen AS "+mustScan(t, s))
	return c
}

// Whatever DuckDB's optimizer does with a scan (filters in the reader, a join's too, rows looked up again after a LIMIT,
// rows out of order, counts), the same rows are gone.
func TestStatementsOverDeletes(t *testing.T) {
	statements := []string{
		"SELECT count(*), sum(id), min(id), max(id), min(s), max(s), count(DISTINCT g) FROM @ T",
		"SELECT * FROM @ T ORDER BY id LIMIT 10",
		"SELECT * FROM @ T ORDER BY id DESC LIMIT 10 OFFSET 5",
		"SELECT s FROM @ T WHERE g = 12 ORDER BY id LIMIT 3",
		"SELECT * FROM @ T WHERE id BETWEEN 29990 AND 30020 ORDER BY ALL",
		"SELECT * FROM @ T WHERE s = 'text 2001' ORDER BY ALL",
		"SELECT * FROM @ T WHERE s IN ('text 7', 'text 8', 'text 107', 'text 9001') ORDER BY ALL",
		"SELECT count(*), sum(id) FROM @ T WHERE id > 55555 OR s LIKE '%99'",
		"SELECT count(*), sum(T.id) FROM @ T JOIN range(2000, 2100) r(i) ON T.id = r.i",
		"SELECT count(*), sum(T.id) FROM @ T JOIN (SELECT i * 3000 AS i FROM range(20) t(i)) r ON T.id = r.i",
		"SELECT count(*), sum(x.id) FROM @ x JOIN @ y USING (id) WHERE y.g < 3",
		"SELECT count(*) FROM @ x ANTI JOIN (FROM @ T WHERE g > 2) y USING (id)",
		"SELECT count(*) FROM @ x SEMI JOIN (SELECT s FROM @ T WHERE g = 3 ORDER BY id LIMIT 5) y USING (s)",
		"SELECT count(*) FROM range(60000) r(i) LEFT JOIN @ T ON T.id = r.i WHERE T.id IS NULL",
		"SELECT g, count(*), min(id) FROM @ T GROUP BY g HAVING count(*) > 500 ORDER BY g",
		"SELECT id, row_number() OVER (PARTITION BY g ORDER BY id) AS n FROM @ T QUALIFY n = 1 ORDER BY id",
		"WITH x AS (SELECT id, g FROM @ T WHERE g BETWEEN 8 AND 9) SELECT count(*), sum(a.id) FROM x a, x b WHERE a.id = b.id + 1",
		"SELECT count(*) FROM @ T WHERE g = (SELECT max(g) FROM @ T WHERE id < 4000)",
		"SELECT count(*) FROM @ T WHERE EXISTS (FROM @ y WHERE y.id = T.id AND y.g % 2 = 0)",
	}
	for _, threads := range []int{1, 2} {
		c := deletedTables(t, threads)
		for _, s := range statements {
			want := mustRows(t, c, strings.ReplaceAll(s, "@", "truth"))
			wantRows(t, c, strings.ReplaceAll(s, "@", "seen"), want...)
		}
		if plan := mustRows(t, c, "EXPLAIN SELECT s FROM seen WHERE id = 5")[0]; !strings.Contains(plan, "Filters") {
			t.Errorf("the filter doesn't reach the scan:\n%s", plan)
		}
		wantRows(t, c, "SELECT count(*) FROM (SELECT * FROM seen LIMIT 40000) SEMI JOIN truth USING (id, s, g)", "40000")
	}
}

// A row that is deleted is neither filtered, which may fail, nor checked.
func TestDeletedRowsAreNotLookedAt(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	key, text := primitive(1, "k", longType), primitive(2, "s", stringType)
	file := writeFile(t, c, "a.parquet", "FROM (VALUES (10::BIGINT, '1'), (99, 'bad'), (11, '2')) v(k, s)", key, text)
	check := registerCheck(t, db, KeyCheck{Column: "k", Type: longType, Transform: transform.Transform{Op: transform.Truncate, N: 10},
		Files: []string{"a"}, Expected: []transform.Value{int64(10)}})
	s := Scan{Files: []ScanFile{file}, Columns: columnsOf(key, text), Checks: []ScanCheck{{1, check}}, Deletes: registerDeletes(t, db, atPositions(1))}
	wantRows(t, c, mustScan(t, s), "10|1", "11|2")
	wantRows(t, c, "SELECT k FROM ("+mustScan(t, s)+") WHERE s::INTEGER + k > 11", "11")
	wantRows(t, c, "SELECT s FROM ("+mustScan(t, s)+") WHERE s::INTEGER > 1", "2")
	s.Filter = "s::INTEGER > 1"
	wantRows(t, c, mustScan(t, s), "11|2")
	s.Filter = ""
	s.Deletes = registerDeletes(t, db, atPositions(0))
	_, err := rowsOf(t.Context(), c, mustScan(t, s))
	wantError(t, err, errs.Corrupt, "k = 99")
}

// A scan without columns counts what is left.
func TestDeletesOfScanWithoutColumns(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	key := primitive(1, "k", longType)
	file := writeFile(t, c, "a.parquet", "SELECT i AS k FROM range(10) t(i)", key)
	file.Equality = []catalog.EqualityColumn{{Root: key}}
	set := valuesOf(t, c, "SELECT 5::BIGINT", 0, 2)
	gone := atPositions(1, 2)
	gone.Deleted.Equality = []EqualityTest{{Columns: []int{0}, Set: set, Scopes: []int{0}}}
	s := Scan{Files: []ScanFile{file}, Deletes: registerDeletes(t, db, gone)}
	wantRows(t, c, "SELECT count(*) FROM ("+mustScan(t, s)+")", "7")
	if columns, err := c.Describe(t.Context(), mustScan(t, s)); err != nil || len(columns) != 1 {
		t.Errorf("%v, %v", columns, err)
	}
}

// A scan of changes gives the rows that are newly deleted, by position or by value, and weren't before.
func TestOnlyNewlyDeletedRows(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	key := primitive(1, "k", longType)
	file := writeFile(t, c, "a.parquet", "SELECT i AS k FROM range(10) t(i)", key)
	file.Equality = []catalog.EqualityColumn{{Root: key}}
	byValue := func(sql string) RowSet {
		return RowSet{Equality: []EqualityTest{{Columns: []int{0}, Set: valuesOf(t, c, sql, 0, 2), Scopes: []int{0}}}}
	}
	newly := byValue("FROM (VALUES (7::BIGINT), (8), (9))")
	newly.Positions = positions(0, 1, 2)
	before := byValue("SELECT 8::BIGINT")
	before.Positions = positions(1, 5)
	s := Scan{Files: []ScanFile{file}, Columns: columnsOf(key)}
	for _, test := range []struct {
		gone FileDeletes
		want []string
	}{
		{FileDeletes{Deleted: before, Only: &newly, Sequence: 1}, []string{"0", "2", "7", "9"}},
		{FileDeletes{Deleted: before, Only: &RowSet{}, Sequence: 1}, nil},
		{FileDeletes{Only: &RowSet{Positions: positions(3)}}, []string{"3"}},
	} {
		s.Deletes = registerDeletes(t, db, test.gone)
		wantRows(t, c, mustScan(t, s), test.want...)
	}
}

// Positions of each file are its own, wherever the file stands in the scan and in which part of it.
func TestDeletesOfFilesInParts(t *testing.T) {
	db, c := session(t, Options{Threads: 2})
	key, extra := primitive(1, "k", longType), primitive(2, "e", longType)
	s := Scan{Columns: columnsOf(key, extra)}
	var gone []FileDeletes
	var want []string
	for i := range 7 {
		f := writeFile(t, c, fmt.Sprintf("%d.parquet", i), fmt.Sprintf("SELECT %d + i AS k FROM range(5) t(i)", i*10), key)
		if i%3 != 1 { // parts of files 0 2 3 5 6, 1 4
			f.Constants = map[catalog.FieldID]transform.Value{2: int64(i)}
		}
		s.Files = append(s.Files, f)
		gone = append(gone, atPositions(int64(i%5)))
		for k := range 5 {
			if k != i%5 {
				want = append(want, fmt.Sprintf("%d|%s", i*10+k, map[bool]string{true: fmt.Sprint(i), false: "(null)"}[i%3 != 1]))
			}
		}
	}
	s.Deletes = registerDeletes(t, db, gone...)
	wantRows(t, c, "FROM ("+mustScan(t, s)+") ORDER BY k", want...)
	s.Files, s.Deletes = s.Files[4:], registerDeletes(t, db, gone[4:]...) // part 4, part 5 6
	wantRows(t, c, "FROM ("+mustScan(t, s)+") ORDER BY k", want[16:]...)
}

func TestDeletesThatDontFit(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	key := primitive(1, "k", longType)
	file := writeFile(t, c, "a.parquet", "SELECT 1::BIGINT AS k", key)
	other := file
	other.Equality = []catalog.EqualityColumn{{Root: key}}
	for _, test := range []struct {
		files []ScanFile
		id    int64
	}{
		{[]ScanFile{file}, 1 << 40},
		{[]ScanFile{file, file}, registerDeletes(t, db, FileDeletes{})},
		{[]ScanFile{file}, registerDeletes(t, db, FileDeletes{Deleted: RowSet{Equality: []EqualityTest{{Columns: []int{0}, Set: &deletes.Values{}}}}})},
		{[]ScanFile{other}, registerDeletes(t, db, FileDeletes{Deleted: RowSet{Equality: []EqualityTest{{Columns: []int{1}, Set: &deletes.Values{}}}}})},
	} {
		_, err := rowsOf(t.Context(), c, mustScan(t, Scan{Files: test.files, Columns: columnsOf(key), Deletes: test.id}))
		wantError(t, err, errs.Internal, "")
	}
	_, _, err := db.RegisterDeletes(DeletesSpec{Files: []FileDeletes{{Deleted: RowSet{Equality: []EqualityTest{{Columns: []int{0}}}}}}})
	wantError(t, err, errs.Internal, "lacks its set")
}
