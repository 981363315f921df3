package exec

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/internal/seed"
	"github.com/tarndb/tarn/internal/task"
	"github.com/tarndb/tarn/transform"
)

// TestRowsThatCannotMatterAreNotSent routes both sides of joins with conditions on one table alone: no row that fails them is
// sent, unless it comes out all the same.
func TestRowsThatCannotMatterAreNotSent(t *testing.T) {
	random := seed.Rand(t)
	l := newLab(t)
	keys := []keyCase{{"long", "long", []string{"0", "1", "2", "3"}}}
	l.plain("s.a", "k0 long, v int", rowsOf(t, random, keys, false, 60), 2)
	l.plain("s.b", "k0 long, v int", rowsOf(t, random, keys, true, 40), 2)
	bucket := []transform.Transform{mustTransform(t, "bucket[7]")}
	for _, c := range []struct {
		join, where string
		a, b        int64 // rows that are sent
	}{
		{"JOIN s.b ON a.k0 = b.k0 AND b.v % 4 = 0", "a.v % 3 = 0 AND a.v <> 0", 19, 10},
		{"LEFT JOIN s.b ON a.k0 = b.k0 AND b.v % 4 = 0 AND a.v % 5 = 0", "a.v % 3 = 0", 20, 10},
		{"LEFT JOIN s.b ON a.k0 = b.k0", "b.v < 10 AND coalesce(b.v % 2, 0) = 0", 60, 10},
		{"FULL JOIN s.b ON a.k0 = b.k0 AND b.v % 4 = 0", "coalesce(a.v, 0) % 3 = 0", 60, 40},
		{"RIGHT JOIN s.b ON a.k0 = b.k0 AND a.v % 3 = 0", "b.v % 4 = 0", 20, 10},
		{"ANTI JOIN s.b ON a.k0 = b.k0 AND b.v % 4 = 0", "a.v % 3 = 0", 20, 10},
	} {
		columns := "a.v, b.v"
		if strings.HasPrefix(c.join, "ANTI") {
			columns = "a.v"
		}
		query := fmt.Sprintf("SELECT %s FROM s.a %s WHERE %s", columns, c.join, c.where)
		g := l.graph(query, spj.Off, task.Options{})
		want, _ := l.mustRun(g, Options{Workers: 1}, false)
		got, stats := l.mustRunMade(exchanged(t, g, random, keys, bucket, 3), Options{Workers: 2})
		if !slices.Equal(got, want) {
			t.Errorf("%s\ngives %d rows, want %d:\n%.300q\n%.300q", query, len(got), len(want), got, want)
		}
		for i, rows := range []int64{c.a, c.b} {
			if stats.Routes[i].Rows != rows {
				t.Errorf("%s\nsends %d rows of table %d, want %d", query, stats.Routes[i].Rows, i, rows)
			}
		}
	}
}
