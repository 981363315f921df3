package blackbox

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/seed"
)

// killsEnv has how many statements are killed; 20, one of each kind in both kinds of catalogs, take a minute.
const killsEnv = "TARN_TEST_KILLS"

// killedRows are what each statement writes, which takes some tenths of a second.
const killedRows = 150_000

// rowsOf are the rows of one run: what the column v is, by k.
type rowsOf map[int]int

// killed is a lake whose writers are killed.
type killed struct {
	t     *testing.T
	flags []string
	rows  map[int]rowsOf // what n.t has, by the runs whose rows they were
}

func newKilled(t *testing.T, kind string) *killed {
	t.Helper()
	dir := t.TempDir()
	k := &killed{t: t, rows: map[int]rowsOf{}, flags: []string{"--catalog", "lake", "--type", kind, "--warehouse", "file://" + dir + "/warehouse"}}
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

func (k *killed) args(stmts ...string) []string {
	out := append([]string{"sql", "--format", "csv"}, k.flags...)
	for _, stmt := range stmts {
		out = append(out, "-c", stmt)
	}
	return out
}

func (k *killed) ask(stmts ...string) string {
	return strings.TrimSpace(tarn(k.t, k.args(stmts...)...).ok(k.t))
}

// kinds is how many kinds of statements there are.
const kinds = 10

// statement is what a run does.
type statement struct {
	set, text string
	table     string               // that it makes; "": it changes n.t
	change    func(map[int]rowsOf) // what it makes of the rows of n.t
}

// statement returns what is run as the n-th.
func (k *killed) statement(n int) statement {
	rows := fmt.Sprintf("SELECT range AS k, %d AS run, hash(range)::VARCHAR AS s, 0::BIGINT AS v FROM range(%d)", n, killedRows)
	add := func(to map[int]rowsOf) {
		to[n] = rowsOf{}
		for key := range killedRows {
			to[n][key] = 0
		}
	}
	mode := "SET tarn.row_change_mode = 'copy-on-write'"
	if n%2 == 1 {
		mode = "SET tarn.row_change_mode = 'merge-on-read'"
	}
	switch n % kinds {
	case 0:
		return statement{text: fmt.Sprintf("CREATE TABLE n.c%d PARTITIONED BY (bucket(4, k)) AS %s", n, rows), table: fmt.Sprintf("c%d", n)}
	case 1:
		return statement{text: "INSERT OVERWRITE n.t " + rows, change: func(to map[int]rowsOf) {
			clear(to)
			add(to)
		}}
	case 2:
		return statement{text: "CREATE OR REPLACE TABLE n.t PARTITIONED BY (bucket(8, k)) AS " + rows + " UNION ALL FROM n.t", change: add}
	case 3:
		return statement{text: "INSERT INTO n.t " + rows, change: add}
	case 4, 7:
		return statement{set: mode, text: fmt.Sprintf("UPDATE n.t SET v = v + %d WHERE k %% 3 = %d", n, n%3), change: func(to map[int]rowsOf) {
			edit(to, func(key, v int) (int, bool) {
				if key%3 == n%3 {
					v += n
				}
				return v, true
			})
		}}
	case 5, 8:
		return statement{set: mode, text: fmt.Sprintf("DELETE FROM n.t WHERE k %% 11 = %d", n%11), change: func(to map[int]rowsOf) {
			edit(to, func(key, v int) (int, bool) { return v, key%11 != n%11 })
		}}
	}
	newest := slices.Max(slices.Collect(maps.Keys(k.rows)))
	text := fmt.Sprintf("MERGE INTO n.t USING (SELECT range * 2 AS k FROM range(%d)) q ON t.k = q.k AND t.run = %d WHEN MATCHED AND t.k %% 10 = 0 THEN DELETE "+
		"WHEN MATCHED THEN UPDATE SET v = v + 1 WHEN NOT MATCHED THEN INSERT (k, run, s, v) VALUES (q.k, %d, 'merged', 5)", killedRows, newest, n)
	return statement{set: mode, text: text, change: func(to map[int]rowsOf) {
		of := to[newest]
		to[n] = rowsOf{}
		for at := range killedRows {
			key := at * 2
			v, isThere := of[key]
			switch {
			case !isThere:
				to[n][key] = 5
			case key%10 == 0:
				delete(of, key)
			default:
				of[key] = v + 1
			}
		}
	}}
}

// edit gives each row another value, or takes it away.
func edit(rows map[int]rowsOf, of func(key, v int) (int, bool)) {
	for run := range rows {
		for key, v := range rows[run] {
			if now, stays := of(key, v); stays {
				rows[run][key] = now
			} else {
				delete(rows[run], key)
			}
		}
	}
}

// after returns what n.t has after a change.
func (k *killed) after(change func(map[int]rowsOf)) map[int]rowsOf {
	out := map[int]rowsOf{}
	for run, rows := range k.rows {
		out[run] = maps.Clone(rows)
	}
	change(out)
	return out
}

// told is how the query sumsSQL tells rows.
func told(all map[int]rowsOf) string {
	out := []string{"run,c,d,k,v,kv"}
	for _, run := range slices.Sorted(maps.Keys(all)) {
		var keys, values, both int
		for key, v := range all[run] {
			keys, values, both = keys+key, values+v, both+key*v
		}
		if count := len(all[run]); count > 0 {
			out = append(out, fmt.Sprintf("%d,%d,%d,%d,%d,%d", run, count, count, keys, values, both))
		}
	}
	return strings.Join(out, "\n")
}

const sumsSQL = "SELECT run, count(*) AS c, count(DISTINCT k) AS d, sum(k)::BIGINT AS k, sum(v)::BIGINT AS v, sum(k * v)::BIGINT AS kv FROM n.t GROUP BY run ORDER BY run"

// check looks at what a run left: all of what it does or nothing, and of earlier ones all that it should.
func (k *killed) check(n int, st statement, done bool) {
	k.t.Helper()
	if st.table != "" {
		there := slices.Contains(strings.Split(k.ask("SHOW TABLES IN n"), "\n"), "lake,n,"+st.table)
		if done && !there {
			k.t.Errorf("run %d: %s was done, and there is no table", n, st.text)
		}
		if there {
			if got := k.ask("SELECT count(*) AS c, count(DISTINCT k) AS d FROM n." + st.table); got != fmt.Sprintf("c,d\n%d,%d", killedRows, killedRows) {
				k.t.Errorf("run %d: %s left %s", n, st.text, got)
			}
		}
		return
	}
	after := k.after(st.change)
	got, before, wanted := k.ask(sumsSQL), told(k.rows), told(after)
	switch {
	case got == wanted:
		k.rows = after
	case done || got != before:
		k.t.Errorf("run %d (done: %v): %s; %s left\n%s\nBefore there were\n%s\nand it should make\n%s", n, done, st.set, st.text, got, before, wanted)
	}
}

// TestKilledStatements kills the program at any moment of a statement that writes. Afterwards a table is as the statement makes it or as it
// was, and no file of it is missing: what else is left is in nobody's way.
func TestKilledStatements(t *testing.T) {
	rng := seed.Rand(t)
	kills := 2 * kinds
	if n, err := strconv.Atoi(os.Getenv(killsEnv)); err == nil {
		kills = n
	}
	lakes := []*killed{newKilled(t, "sql"), newKilled(t, "hadoop")}
	var took time.Duration
	for version, k := range lakes { // deletion vectors in the one, position deletes in the other
		k.ask(fmt.Sprintf("CREATE TABLE n.t (k bigint, run int, s string, v bigint) PARTITIONED BY (bucket(8, k)) TBLPROPERTIES ('format-version' = '%d')", 3-version))
		begin := time.Now()
		st := k.statement(3)
		k.ask(st.text)
		took = time.Since(begin)
		st.change(k.rows)
	}
	hit := 0
	longest := map[int]time.Duration{} // of each kind, as far as is known: a bound from below
	for n := kinds; n < kills+kinds; n++ {
		k := lakes[n/kinds%len(lakes)]
		st := k.statement(n)
		stmts := []string{st.text}
		if st.set != "" {
			stmts = []string{st.set, st.text}
		}
		r := start(t, t.TempDir(), nil, k.args(stmts...)...)
		wait := time.Duration(rng.Int64N(int64(max(took, longest[n%kinds]) * 5 / 4)))
		time.Sleep(wait)
		code, _, sent := r.signal(t, syscall.SIGKILL)
		if sent { // it takes longer than that, and is given more time when its turn comes again
			hit++
			longest[n%kinds] = max(longest[n%kinds], wait*3/2)
		} else if code != 0 {
			t.Errorf("run %d: %s ended with %d: %s", n, st.text, code, r.stderr)
		}
		k.check(n, st, !sent)
	}
	if hit < kills/2 {
		t.Errorf("only %d of %d statements were killed", hit, kills)
	}
	for _, k := range lakes { // the next writers go on
		for n := range kinds {
			if n == 2 || n == 1 {
				continue // they would hide what was left
			}
			st := k.statement(kills + 3*kinds + n)
			k.ask(append(slices.DeleteFunc([]string{st.set}, func(s string) bool { return s == "" }), st.text)...)
			k.check(kills+3*kinds+n, st, true)
		}
	}
}
