package duck

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// lyingJoin is one group of a join whose left side has a file with rows that belong elsewhere. Their keys lie outside
// the range of all others, so that whatever skips rows by ranges would skip just those.
type lyingJoin struct {
	conn        *Conn
	left, right string // scans, with checks
	unchecked   string // the left one without
	liar        string
	check       int64
}

const (
	groups     = 8
	group      = 3
	goodKeys   = 100_000
	lyingFirst = 50_000_000
)

func newLyingJoin(t *testing.T, threads int) lyingJoin {
	db, c := session(t, Options{Threads: threads})
	key, value := primitive(1, "k", longType), primitive(2, "v", stringType)
	inGroup := fmt.Sprintf("tarn_bucket(%d, i) = %d", groups, group)
	file := func(name, from, where string) ScanFile {
		return writeFile(t, c, name, fmt.Sprintf("SELECT i AS k, 'v' || i AS v FROM range(%s) t(i) WHERE %s", from, where), key, value)
	}
	lies := fmt.Sprintf("%d, %d", lyingFirst, lyingFirst+20_000)
	left := []ScanFile{
		file("good.parquet", fmt.Sprint(goodKeys), inGroup),
		file("liar.parquet", lies, "NOT "+inGroup),
	}
	right := []ScanFile{file("right.parquet", fmt.Sprint(goodKeys/2), inGroup)}
	j := lyingJoin{conn: c, liar: left[1].Ref.Path}
	columns := []ScanColumn{{Field: key, As: "k"}, {Field: value, As: "v"}}
	j.unchecked = mustScan(t, Scan{Columns: columns, Files: left})
	scan := func(files []ScanFile) (string, int64) {
		check := KeyCheck{Column: "k", Type: longType, Transform: transform.Transform{Op: transform.Bucket, N: groups}}
		for _, f := range files {
			check.Files = append(check.Files, f.Ref.Path)
			check.Expected = append(check.Expected, int32(group))
		}
		id := registerCheck(t, db, check)
		return mustScan(t, Scan{Columns: columns, Files: files, Checks: []ScanCheck{{Field: 1, Check: id}}}), id
	}
	j.left, j.check = scan(left)
	j.right, _ = scan(right)
	return j
}

// The statements that a plan may make of a group, L being the side with the lying file, R the honest one.
var groupStatements = []string{
	`SELECT count(*) FROM L JOIN R USING (k)`,
	`SELECT count(*) FROM R JOIN L USING (k)`,
	`SELECT count(*) FROM R, L WHERE R.k = L.k`,
	`SELECT L.v, R.v FROM L JOIN R USING (k)`,
	`SELECT count(*) FROM L SEMI JOIN R USING (k)`,
	`SELECT count(*) FROM R SEMI JOIN L USING (k)`,
	`SELECT count(*) FROM L ANTI JOIN R USING (k)`,
	`SELECT count(*) FROM R ANTI JOIN L USING (k)`,
	`SELECT count(*) FROM L LEFT JOIN R USING (k)`,
	`SELECT count(*) FROM R LEFT JOIN L USING (k)`,
	`SELECT count(*) FROM L RIGHT JOIN R USING (k)`,
	`SELECT count(*) FROM R RIGHT JOIN L USING (k)`,
	`SELECT count(*) FROM L FULL JOIN R USING (k)`,
	`SELECT count(*) FROM R FULL JOIN L USING (k)`,
	`SELECT count(*) FROM L JOIN R ON L.k IS NOT DISTINCT FROM R.k`,
	`SELECT count(*) FROM R WHERE k IN (SELECT k FROM L)`,
	`SELECT count(*) FROM L WHERE EXISTS (SELECT 1 FROM R WHERE R.k = L.k)`,
	`SELECT count(*) FROM R WHERE NOT EXISTS (SELECT 1 FROM L WHERE R.k = L.k)`,
	`SELECT k, count(*) FROM L GROUP BY k ORDER BY k LIMIT 3`,
	`SELECT count(DISTINCT k) FROM L`,
	`SELECT DISTINCT k FROM L ORDER BY k LIMIT 1`,
	`SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v) AS n FROM L QUALIFY n = 1`,
	`SELECT k, v FROM L ORDER BY k LIMIT 3`,
	`SELECT k, v FROM L ORDER BY k DESC LIMIT 3`,
	`SELECT * FROM L WHERE k = 17`,
	`SELECT * FROM L WHERE k < 100`,
	`SELECT * FROM L WHERE k IN (1, 2, 3)`,
	`SELECT count(*) FROM L WHERE k IS NULL`,
	`SELECT min(k), max(k) FROM L`,
	`SELECT count(*) FROM (SELECT k FROM L UNION SELECT k FROM R)`,
	`SELECT count(*) FROM (SELECT k FROM R EXCEPT SELECT k FROM L)`,
	`SELECT count(*) FROM (SELECT k FROM L INTERSECT SELECT k FROM R)`,
	`SELECT count(*) FROM L JOIN R USING (k) WHERE R.k < 100 AND L.v <> 'x'`,
	`SELECT count(*) FROM L JOIN R USING (k) JOIN R AS S USING (k)`,
}

// Every row that a statement over a group could miss by a wrong tuple is checked, whatever DuckDB does to the plan.
func TestLyingFileIsFoundByEveryStatement(t *testing.T) {
	for _, threads := range []int{1, 4} {
		j := newLyingJoin(t, threads)
		for _, statement := range groupStatements {
			text := fmt.Sprintf("WITH L AS NOT MATERIALIZED (%s), R AS NOT MATERIALIZED (%s) %s", j.left, j.right, statement)
			rows, err := rowsOf(t.Context(), j.conn, text)
			if err == nil {
				t.Errorf("%d threads: %s: no error, %d rows\n%s", threads, statement, len(rows),
					strings.Join(mustRows(t, j.conn, "EXPLAIN "+text), "\n"))
				continue
			}
			var e *errs.Error
			if !errors.As(err, &e) || e.Kind != errs.Corrupt || e.Object != j.liar {
				t.Errorf("%d threads: %s: %v", threads, statement, err)
			}
		}
	}
}

// The check as a condition beside the join is skipped with the rows that it should find. That is why it stands for the
// key itself; should this test fail one day, either place would do.
func TestCheckBesideJoinIsSkipped(t *testing.T) {
	j := newLyingJoin(t, 1)
	left := strings.Replace(j.unchecked, "SELECT ", "SELECT file_index AS fi, ", 1)
	beside := fmt.Sprintf(`SELECT count(*) FROM (SELECT * FROM (%s) WHERE %s(%d, k, fi) IS NOT NULL) L JOIN (%s) R USING (k)`,
		left, verifyName(longType), j.check, j.right)
	if _, err := rowsOf(t.Context(), j.conn, beside); err != nil {
		t.Errorf("DuckDB no longer skips it: %v", err)
	}
}
