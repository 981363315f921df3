package exec

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/internal/task"
)

// TestSieves: a sieve of each pack leaves out rows without a match, of columns of other widths and with NULLs too, and changes nothing
// of what comes out, whether packs are of one group or of several.
func TestSieves(t *testing.T) {
	l := newLab(t)
	l.table("s.big", "k long, v long", 4, "SELECT nullif(i % 1000, 7) AS k, i AS v FROM range(5000) r(i)", 0)
	l.table("s.few", "k int, w long", 4, "SELECT CAST(nullif(i * 37 % 1100 - 50, 13) AS INTEGER) AS k, i AS w FROM range(40) r(i)", 0)
	for _, join := range []string{
		"SELECT v, w FROM s.big JOIN s.few ON big.k = few.k", "SELECT v, w FROM s.big RIGHT JOIN s.few ON big.k = few.k",
		"SELECT v, w FROM s.few LEFT JOIN s.big ON big.k = few.k", "SELECT v FROM s.big SEMI JOIN s.few ON big.k = few.k",
		"SELECT w FROM s.few ANTI JOIN s.big ON big.k = few.k", "SELECT v, w FROM s.big JOIN s.few ON big.k = few.k WHERE few.w % 3 = 0",
		"SELECT k, count(v), max(w) FROM s.big JOIN s.few USING (k) GROUP BY k",
	} {
		for _, packs := range []task.Options{{}, {PackBytes: 1 << 30, Workers: 1}} {
			g := l.graph(join, spj.Auto, packs)
			want, _ := l.mustRun(g, Options{Workers: 2}, false)
			sifted(t, g, "s.big", "s.few")
			got, _ := l.mustRun(g, Options{Workers: 2}, false)
			if len(want) == 0 || !slices.Equal(got, want) {
				t.Errorf("%s\ngives %d rows, want %d:\n%.300q\n%.300q", join, len(got), len(want), got, want)
			}
		}
	}
	// A row that isn't in its group may have its match in another pack: it is seen though the pack has no key like it.
	const away = "SELECT CAST(0 AS BIGINT) AS k, CAST(-1 AS BIGINT) AS v WHERE tarn_bucket(4, CAST(0 AS BIGINT)) <> %d"
	for bucket := range 4 {
		l.file("s.big", fmt.Sprint(bucket), fmt.Sprintf(away, bucket), 0)
	}
	g := l.graph("SELECT v, w FROM s.big RIGHT JOIN s.few ON big.k = few.k", spj.Auto, task.Options{})
	sifted(t, g, "s.big", "s.few")
	_, _, err := run1(t.Context(), g, Options{Workers: 1, TempDir: t.TempDir()}, false)
	wantError(t, err, errs.Corrupt, "s.big.k")
}

// TestSievesByMisplacedRows: a row of the other table that isn't in its group is found, though its match is in another pack.
func TestSievesByMisplacedRows(t *testing.T) {
	l := newLab(t)
	l.table("s.big", "k long, v long", 4, "SELECT i AS k, i AS v FROM range(1, 5000) r(i)", 0)
	l.table("s.few", "k long, w long", 4, "SELECT i AS k, i AS w FROM range(80000) r(i)", 0)
	for bucket := range 4 {
		const away = "SELECT CAST(1 AS BIGINT) AS k, CAST(1 AS BIGINT) AS w WHERE tarn_bucket(4, CAST(1 AS BIGINT)) <> %d"
		l.file("s.few", fmt.Sprint(bucket), fmt.Sprintf(away, bucket), 0)
	}
	g := l.graph("SELECT v, w FROM s.big JOIN s.few ON big.k = few.k", spj.Auto, task.Options{})
	sifted(t, g, "s.big", "s.few")
	_, _, err := run1(t.Context(), g, Options{Workers: 1, TempDir: t.TempDir()}, false)
	wantError(t, err, errs.Corrupt, "s.few.k")
}

// sifted has the first column of a table in a graph of one core sifted by that of another.
func sifted(t *testing.T, g *task.Graph, table, by string) {
	t.Helper()
	at := func(name string) int {
		return slices.IndexFunc(g.Cores[0].Tables, func(t task.Table) bool { return t.Name == name })
	}
	s := task.Sieve{Table: at(by), Key: 1, Column: 1, IsFew: true}
	g.Cores[0].Tables[at(table)].Sieves = []task.Sieve{s}
	if err := task.Check(g); err != nil {
		t.Fatal(err)
	}
}
