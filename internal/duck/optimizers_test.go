package duck

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
)

// unplannable is a valid statement over unplannableTables that DuckDB can't plan: by their statistics neither join has a
// match, the anti join gives way to its left side, and a list of columns by position goes wrong.
const (
	unplannable = `SELECT t1.s, count(t3.x) AS n FROM t1 ANTI JOIN t3 t2 ON t1.b = t2.b AND t1.a = t2.a
		LEFT JOIN t0 t3 ON t1.a = t3.a GROUP BY t1.s ORDER BY t1.s`
	unplannableTables = `CREATE TABLE t0 (a INTEGER, x DOUBLE); INSERT INTO t0 VALUES (1, 1), (1, 1), (2, 3);
		CREATE TABLE t1 (a INTEGER, b VARCHAR, s VARCHAR); INSERT INTO t1 VALUES (NULL, 'abc', 'p'), (9, 'e', 'q');
		CREATE TABLE t3 (a INTEGER, b VARCHAR); INSERT INTO t3 VALUES (NULL, 'j'), (2, 'k'), (1, NULL)`
)

var unplannableRows = []string{"p|0", "q|0"}

// wantOff checks which optimizers are off.
func wantOff(t *testing.T, c *Conn, want ...string) {
	t.Helper()
	off := strings.Split(mustRows(t, c, "SELECT current_setting('disabled_optimizers')")[0], ",")
	slices.Sort(off)
	if got := strings.Join(off, ","); got != strings.Join(want, ",") {
		t.Errorf("%q are off, not %q", got, want)
	}
}

func TestStatementsThatCannotBePlanned(t *testing.T) {
	db, c := session(t, Options{Threads: 1})
	mustExec(t, c, unplannableTables)
	// The fault must still be there, or the test shows nothing.
	if _, err := c.plan(t.Context(), unplannable); !isFault(err) {
		t.Fatalf("DuckDB plans the statement, or fails otherwise: %v", err)
	}
	wantRows(t, c, unplannable, unplannableRows...)
	wantRows(t, c, "SELECT * FROM ("+unplannable+") ORDER BY s", unplannableRows...)
	mustExec(t, c, "CREATE TABLE made AS "+unplannable)
	wantRows(t, c, "FROM made", unplannableRows...)
	mustExec(t, c, "CREATE VIEW v AS "+unplannable)
	wantRows(t, c, "FROM v", unplannableRows...)
	columns, err := c.Describe(t.Context(), unplannable)
	if want := []Column{{"s", "VARCHAR"}, {"n", "BIGINT"}}; err != nil || !slices.Equal(columns, want) {
		t.Errorf("describes %v (%v), not %v", columns, err, want)
	}
	other, err := db.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	wantRows(t, other, "SELECT 1", "1")
	wantOff(t, other)
}

// A statement over files is planned again when it is run.
func TestStatementsThatCannotBePlannedWhenRun(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	path := quote.Text(filepath.Join(t.TempDir(), "t.parquet"))
	mustExec(t, c, "COPY (SELECT i AS a, i * 10 AS v FROM range(6) AS t(i)) TO "+path)
	query := "SELECT a, v FROM (SELECT a + CAST(floor(random()) AS BIGINT) AS a, v FROM " + path + ") WHERE a BETWEEN 2 AND 3 QUALIFY row_number() OVER (PARTITION BY a ORDER BY v) <= 2"
	stmt, err := c.prepare(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer bindings.DestroyPrepare(&stmt)
	if _, err := c.readyOnce(t.Context(), stmt, bindings.PendingPreparedStreaming); !isFault(err) {
		t.Fatalf("DuckDB plans the statement, or fails otherwise: %v", err)
	}
	wantRows(t, c, "FROM ("+query+") ORDER BY a", "2|20", "3|30")
	mustExec(t, c, "CREATE TABLE made AS "+query)
	wantRows(t, c, "FROM made ORDER BY a", "2|20", "3|30")
	wantOff(t, c)
}

func TestAvoid(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	mustExec(t, c, unplannableTables)
	for _, avoided := range [][]string{{"join_filter_pushdown", "top_n"}, {"column_lifetime"}, nil} {
		if err := c.Avoid(t.Context(), avoided); err != nil {
			t.Fatal(err)
		}
		wantRows(t, c, unplannable, unplannableRows...)
		wantOff(t, c, avoided...)
	}
	if err := c.Avoid(t.Context(), []string{"nope"}); err == nil {
		t.Error("DuckDB takes any name")
	}
}

// Each retreat must be one that DuckDB takes, and lose more than the one before.
func TestRetreats(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	for i, off := range retreats {
		if err := c.disable(t.Context(), off); err != nil {
			t.Errorf("retreat %d: %v", i, err)
		}
		for _, name := range slices.Concat(retreats[:i]...) {
			if !slices.Contains(off, name) {
				t.Errorf("retreat %d has %s on again", i, name)
			}
		}
	}
}

// The last retreat is a plan without any optimizer, and it is for one statement.
func TestLastRetreat(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	mustExec(t, c, unplannableTables)
	before := retreats
	defer func() { retreats = before }()
	retreats = [][]string{{"top_n"}} // which doesn't help
	wantRows(t, c, unplannable, unplannableRows...)
	retreats = nil
	wantRows(t, c, unplannable, unplannableRows...)
	if _, err := c.plan(t.Context(), unplannable); !isFault(err) {
		t.Errorf("the optimizers are still off: %v", err)
	}
}

// Connections of one instance may prepare such statements at once.
func TestUnplannableAtOnce(t *testing.T) {
	db, c := session(t, Options{Threads: 2})
	mustExec(t, c, unplannableTables)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			own, err := db.Connect()
			if err != nil {
				t.Error(err)
				return
			}
			defer own.Close()
			for range 20 {
				rows, err := rowsOf(context.Background(), own, unplannable)
				if err != nil || !slices.Equal(rows, unplannableRows) {
					t.Errorf("gives %q (%v), not %q", rows, err, unplannableRows)
				}
			}
		})
	}
	all.Wait()
	wantOff(t, c)
}

// A statement that no retreat helps fails as it did at first, and leaves all as it was.
func TestUnplannableForGood(t *testing.T) {
	_, c := session(t, Options{Threads: 1})
	if err := c.Avoid(t.Context(), []string{"top_n"}); err != nil {
		t.Fatal(err)
	}
	mustExec(t, c, "CREATE TABLE t (a INTEGER)")
	// DuckDB's binder itself fails at this one. The column's number in the message tells how far the plan had come.
	const query = "SELECT a FROM t GROUP BY a HAVING (SELECT count(*) FROM t u WHERE TRY(t.a + t.a) > 0) > 0"
	_, first := c.plan(t.Context(), query)
	for range 2 {
		_, err := rowsOf(t.Context(), c, query)
		wantError(t, err, errs.Internal, first.Error())
		wantError(t, c.Exec(t.Context(), query), errs.Internal, "column reference")
		wantRows(t, c, "SELECT 1", "1")
		wantOff(t, c, "top_n")
	}
}
