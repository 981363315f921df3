package blackbox

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/seed"
)

// killsEnv has how many statements are killed; 20 take half a minute.
const killsEnv = "TARN_TEST_KILLS"

// killedRows are what each statement writes, which takes some tenths of a second.
const killedRows = 150_000

// killed is a lake whose writers are killed.
type killed struct {
	t     *testing.T
	flags []string
	rows  map[int]bool // the runs whose rows n.t has
}

func newKilled(t *testing.T, kind string) *killed {
	t.Helper()
	dir := t.TempDir()
	k := &killed{t: t, rows: map[int]bool{}, flags: []string{"--catalog", "lake", "--type", kind, "--warehouse", "file://" + dir + "/warehouse"}}
	uri := "sqlite:///" + dir + "/catalog.db"
	if kind == "sql" {
		k.flags = append(k.flags, "--uri", uri)
	}
	c, err := lake.Open(t.Context(), lake.Config{Name: "lake", Type: kind, URI: uri, Warehouse: dir + "/warehouse", CreateIfMissing: true})
	if err == nil {
		err = errors.Join(c.CreateNamespace(t.Context(), catalog.Ident{"n"}), c.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *killed) args(stmt string) []string {
	return append([]string{"sql", "--format", "csv", "-c", stmt}, k.flags...)
}

func (k *killed) ask(stmt string) string {
	return strings.TrimSpace(tarn(k.t, k.args(stmt)...).ok(k.t))
}

// statement returns what is run as the n-th, and the query that counts the rows that it leaves: those of the run and of all others.
func (k *killed) statement(n int) (stmt string, isTable bool) {
	rows := fmt.Sprintf("SELECT range AS k, %d AS run, hash(range)::VARCHAR AS s FROM range(%d)", n, killedRows)
	switch n % 4 {
	case 0:
		return fmt.Sprintf("CREATE TABLE n.c%d PARTITIONED BY (bucket(4, k)) AS %s", n, rows), true
	case 1:
		return "INSERT OVERWRITE n.t " + rows, false
	case 2:
		return "CREATE OR REPLACE TABLE n.t PARTITIONED BY (bucket(8, k)) AS " + rows + " UNION ALL FROM n.t", false
	}
	return "INSERT INTO n.t " + rows, false
}

// check looks at what a run left: all of its rows or none, and of earlier ones all that it should.
func (k *killed) check(n int, done bool) {
	k.t.Helper()
	stmt, isTable := k.statement(n)
	if isTable {
		there := strings.Contains(k.ask("SHOW TABLES IN n"), fmt.Sprintf("c%d", n))
		if done && !there {
			k.t.Errorf("run %d: %s was done, and there is no table", n, stmt)
		}
		if there {
			if got := k.ask(fmt.Sprintf("SELECT count(*) AS c, count(DISTINCT k) AS d FROM n.c%d", n)); got != fmt.Sprintf("c,d\n%d,%d", killedRows, killedRows) {
				k.t.Errorf("run %d: %s left %s", n, stmt, got)
			}
		}
		return
	}
	got := map[int]bool{}
	for _, line := range strings.Split(k.ask("SELECT run, count(*) AS c, count(DISTINCT k) AS d FROM n.t GROUP BY run"), "\n")[1:] {
		run, counts, _ := strings.Cut(line, ",")
		id, err := strconv.Atoi(run)
		if err != nil || counts != fmt.Sprintf("%d,%d", killedRows, killedRows) {
			k.t.Errorf("run %d: of a run there are %s", n, line)
		}
		got[id] = true
	}
	after := map[int]bool{n: true}
	if n%4 != 1 {
		for run := range k.rows {
			after[run] = true
		}
	}
	switch want := k.rows; {
	case equalRuns(got, after):
		k.rows = after
	case done || !equalRuns(got, want):
		k.t.Errorf("run %d (done: %v): %s left the runs %v, before there were %v", n, done, stmt, got, want)
	}
}

func equalRuns(a, b map[int]bool) bool {
	for run := range a {
		if !b[run] {
			return false
		}
	}
	return len(a) == len(b)
}

// TestKilledStatements kills the program at any moment of a statement that writes. Afterwards a table has all of the statement's rows or none, and
// no file of it is missing: what else is left is in nobody's way.
func TestKilledStatements(t *testing.T) {
	rng := seed.Rand(t)
	kills := 20
	if n, err := strconv.Atoi(os.Getenv(killsEnv)); err == nil {
		kills = n
	}
	lakes := []*killed{newKilled(t, "sql"), newKilled(t, "hadoop")}
	var longest time.Duration
	for _, k := range lakes {
		k.ask("CREATE TABLE n.t (k bigint, run int, s string) PARTITIONED BY (bucket(8, k))")
		begin := time.Now()
		stmt, _ := k.statement(3)
		k.ask(stmt)
		longest = time.Since(begin)
		k.rows[3] = true
	}
	hit := 0
	for n := 4; n < kills+4; n++ {
		k := lakes[n/4%2]
		stmt, _ := k.statement(n)
		r := start(t, t.TempDir(), nil, k.args(stmt)...)
		time.Sleep(time.Duration(rng.Int64N(int64(longest * 5 / 4))))
		code, _, sent := r.signal(t, syscall.SIGKILL)
		if sent {
			hit++
		} else if code != 0 {
			t.Errorf("run %d: %s ended with %d: %s", n, stmt, code, r.stderr)
		}
		k.check(n, !sent)
	}
	if hit < kills/2 {
		t.Errorf("only %d of %d statements were killed", hit, kills)
	}
	for _, k := range lakes { // the next writer goes on
		k.ask("INSERT INTO n.t VALUES (1, 1, 'x')")
		if got := k.ask("SELECT count(*) AS c FROM n.t"); got != fmt.Sprintf("c\n%d", 1+killedRows*len(k.rows)) {
			t.Errorf("at the end there are %s, of the runs %v", got, k.rows)
		}
	}
}
