package exec

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/internal/seed"
	"github.com/tarndb/tarn/internal/task"
	"github.com/tarndb/tarn/transform"
)

// hot is a lab with two tables of one bucket, of several files each, whose keys may be NULL.
func hot(t *testing.T) *lab {
	l := newLab(t)
	for _, name := range []string{"s.a", "s.b"} {
		l.add("create table " + name + " (k bigint, v int) partitioned by (bucket(1, k))\n")
		for i := range 4 {
			l.file(name, "0", fmt.Sprintf("SELECT i %% 97 AS k, i::INTEGER AS v FROM range(%d, %d) t(i)", 300*i, 300*i+300), 0)
		}
		l.file(name, "null", "SELECT NULL::BIGINT AS k, i::INTEGER AS v FROM range(5) t(i)", 0)
	}
	return l
}

// divided replaces each pack by others that divide its group.
func divided(g *task.Graph, divide func(task.Pack) []task.Pack) *task.Graph {
	c := &g.Cores[0]
	var packs []task.Pack
	for bin, p := range c.Packs {
		p.Bin = bin
		packs = append(packs, divide(p)...)
	}
	c.Bins, c.Packs = len(c.Packs), packs
	return g
}

// sliced divides the files of a table among packs; the others' are read by each.
func sliced(table, of int) func(task.Pack) []task.Pack {
	return func(p task.Pack) (out []task.Pack) {
		for i := range of {
			q := p
			q.Slice = &task.Slice{Table: table, Index: i, Of: of}
			q.Inputs = slices.Clone(p.Inputs)
			q.Inputs[table] = nil
			for at, f := range p.Inputs[table] {
				if at%of == i {
					q.Inputs[table] = append(q.Inputs[table], f)
				} else {
					q.Bytes -= f.Ref.Bytes
				}
			}
			out = append(out, q)
		}
		return out
	}
}

func parted(of int) func(task.Pack) []task.Pack {
	return func(p task.Pack) (out []task.Pack) {
		for i := range of {
			q := p
			q.Part = task.Part{Index: i, Of: of}
			out = append(out, q)
		}
		return out
	}
}

func alone(p task.Pack) []task.Pack {
	p.Alone = true
	return []task.Pack{p}
}

// TestDividedGroups runs a hot group in slices, in parts and alone, with all files where they lie and with some routed.
func TestDividedGroups(t *testing.T) {
	l, random := hot(t), seed.Rand(t)
	for _, query := range []string{
		"SELECT a.v, b.v FROM s.a LEFT JOIN s.b ON a.k = b.k", "SELECT a.v, b.v FROM s.a FULL JOIN s.b ON a.k = b.k",
		"SELECT a.v, b.v FROM s.a FULL JOIN s.b ON a.k <=> b.k", "SELECT v FROM s.a WHERE NOT EXISTS (SELECT 1 FROM s.b WHERE a.k = b.k AND b.v < 50)",
	} {
		want, _ := l.mustRun(l.graph(query, spj.Off, task.Options{}), Options{Workers: 1}, false)
		for name, divide := range map[string]func(task.Pack) []task.Pack{
			"sliced": sliced(0, 3), "parted": parted(1 + random.IntN(8)), "alone": alone,
			"some alone": func(p task.Pack) []task.Pack {
				out := parted(3)(p)
				out[random.IntN(3)].Alone = true
				return out
			},
		} {
			if name == "sliced" && strings.Contains(query, "FULL") {
				continue // each slice would keep the other side's rows
			}
			for _, often := range []int{0, 50, 100} {
				g := l.graph(query, spj.Require, task.Options{})
				scatter(g, random, often)
				divided(g, divide)
				got, stats := l.mustRunMade(g, Options{Workers: 2, MemoryBytes: 1 << 30, Measure: true})
				if !slices.Equal(got, want) {
					t.Errorf("%s\n%s, %d %% routed, gives %d rows, want %d:\n%.300q\n%.300q", query, name, often, len(got), len(want), got, want)
				}
				for _, p := range stats.Packs {
					if in := g.Cores[0].Packs[p.Pack]; p.Alone != in.Alone || p.Part != in.Part || p.Slice != in.Slice {
						t.Errorf("%+v are the stats of %+v", p, in)
					}
				}
			}
		}
	}
}

// TestStats looks at what is counted of each step.
func TestStats(t *testing.T) {
	l, random := hot(t), seed.Rand(t)
	g := l.graph("SELECT a.k, count(*), sum(b.v) FROM s.a LEFT JOIN s.b ON a.k = b.k GROUP BY a.k ORDER BY 2, 1", spj.Require, task.Options{})
	scatter(g, random, 100)
	g.Cores[0].Packs[0].Alone = true
	before := g.Cores[0].Tables[0].Routed
	_, stats := l.mustRunMade(g, Options{Workers: 2, Measure: true})
	var steps []string
	for _, s := range stats.Steps {
		steps = append(steps, string(s.Step))
		if s.Seconds <= 0 || s.MemoryBytes < 1<<20 {
			t.Errorf("%+v", s)
		}
	}
	if got := strings.Join(steps, " "); got != "route packs alone final" {
		t.Errorf("the steps are %s", got)
	}
	var rows int64
	for _, f := range before {
		rows += f.Rows
	}
	if len(stats.Routes) != 2 || stats.Routes[0].Rows != rows || stats.Routes[0].Dropped != 0 || stats.Routes[0].Bytes < rows*12 {
		t.Errorf("routed were %+v, want %d rows of the first table", stats.Routes, rows)
	}
}

// TestStraysAreDropped drops rows of no group where they can't matter, by which of their columns are NULL.
func TestStraysAreDropped(t *testing.T) {
	l, random := newLab(t), seed.Rand(t)
	keys := []keyCase{{"int", "int", nil}}
	l.plain("s.a", "k0 int, v int", "SELECT nullif(i % 5, 4)::INTEGER AS k0, i::INTEGER AS v FROM range(50) t(i)", 3)
	g := l.graph("SELECT k0, v FROM s.a", spj.Off, task.Options{})
	for _, tc := range []struct {
		strays []bool
		where  string
	}{
		{[]bool{true, true}, "true"}, {[]bool{true, false}, "k0 IS NOT NULL"}, {[]bool{false, true}, "k0 IS NULL OR k0 = 2"}, {nil, "k0 = 2"},
	} {
		x := exchanged(t, g, random, keys, []transform.Transform{{Op: transform.Identity}}, 3)
		c := &x.Cores[0]
		c.Groups = []task.Group{{Values: [][]byte{{2, 0, 0, 0, 0, 0, 0, 0}}}}
		for p := range c.Packs {
			c.Packs[p].Groups = nil
		}
		c.Packs[1].Groups = []int{0}
		c.Tables[0].Strays = tc.strays
		got, stats := l.mustRunMade(x, Options{Workers: 2})
		want, _ := l.mustRun(l.graph("SELECT k0, v FROM s.a WHERE "+tc.where, spj.Off, task.Options{}), Options{Workers: 1}, false)
		if !slices.Equal(got, want) || stats.Routes[0].Dropped != int64(50-len(want)) {
			t.Errorf("strays %v: %q, want %q; %+v", tc.strays, got, want, stats.Routes)
		}
	}
}

// TestEverywhere reads a table whole in each pack, from memory and from its files, with deletes.
func TestEverywhere(t *testing.T) {
	l := hot(t)
	l.plain("s.dim", "x int, name string", "SELECT i::INTEGER AS x, 'n' || i AS name FROM range(400) t(i)", 3)
	l.add("create table s.none (x int, name string)\n")
	for _, dim := range []string{"s.dim", "s.none"} {
		query := "SELECT a.v, name FROM s.a JOIN s.b ON a.k = b.k LEFT JOIN " + dim + " d ON d.x = a.v"
		whole := l.graph(query, spj.Off, task.Options{})
		at := slices.IndexFunc(whole.Final.Tables, func(w task.Whole) bool { return w.Name == dim })
		l.deleteRows(&whole.Final.Tables[at].Input, whole.Final.Tables[at].Files, 5)
		want, _, err := l.runMade(whole, Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		g := l.graph("SELECT a.v FROM s.a JOIN s.b ON a.k = b.k", spj.Require, task.Options{})
		divided(g, parted(3))
		c := &g.Cores[0]
		c.Tree = nil // it knows nothing of the table
		table := task.Table{Input: whole.Final.Tables[at].Input, Everywhere: whole.Final.Tables[at].Files}
		c.Tables = append(c.Tables, table)
		for p := range c.Packs {
			c.Packs[p].Inputs = append(slices.Clone(c.Packs[p].Inputs), nil)
		}
		c.SQL, c.Views, g.Output = whole.Final.SQL, whole.Final.Views, whole.Output
		for i := range c.Tables {
			w := slices.IndexFunc(whole.Final.Tables, func(w task.Whole) bool { return w.Name == c.Tables[i].Name })
			c.Tables[i].View, c.Tables[i].Fields, c.Tables[i].Names = whole.Final.Tables[w].View, whole.Final.Tables[w].Fields, whole.Final.Tables[w].Names
		}
		for _, large := range []bool{false, true} {
			for i := range c.Tables[2].Everywhere {
				if large {
					c.Tables[2].Everywhere[i].Ref.Bytes = 1 << 40
				}
			}
			for _, memory := range []int64{0, 1 << 30} {
				got, _ := l.mustRunMade(g, Options{Workers: 2, MemoryBytes: memory})
				if !slices.Equal(got, want) {
					t.Errorf("%s, large %t: %d rows, want %d:\n%.300q\n%.300q", dim, large, len(got), len(want), got, want)
				}
			}
		}
	}
}

// deleteRows deletes every n-th row of files by a file of position deletes each.
func (l *lab) deleteRows(in *task.Input, files []task.File, n int) {
	l.t.Helper()
	for i := range files {
		l.files++
		path := filepath.Join(l.dir, fmt.Sprintf("%04d.parquet", l.files))
		sql := fmt.Sprintf("SELECT '%s' AS file_path, i * %d AS pos FROM range(%d) t(i)", files[i].Ref.Path, n, files[i].Rows/int64(n))
		if _, err := l.conn.CopyParquet(l.t.Context(), sql, catalog.PositionDeleteColumns(), path, duck.CopyOptions{}); err != nil {
			l.t.Fatal(err)
		}
		files[i].Deletes = append(files[i].Deletes, len(in.Deletes))
		in.Deletes = append(in.Deletes, task.Delete{Kind: catalog.PositionDeletes, Files: []task.DeleteFile{{Ref: catalog.FileRef{Path: path, Local: path}, Sequence: 1}}})
	}
}

// TestUnits looks at how the files to route are divided: each row of each is in one unit.
func TestUnits(t *testing.T) {
	random := seed.Rand(t)
	for range 200 {
		c := task.Core{Bins: 1, Tables: make([]task.Table, 1+random.IntN(3))}
		for i := range c.Tables {
			for range random.IntN(20) {
				f := task.File{Rows: random.Int64N(1000)}
				f.Ref.Path, f.Ref.Bytes = fmt.Sprint(i, len(c.Tables[i].Routed)), random.Int64N(1<<(10+random.IntN(20)))
				c.Tables[i].Routed = append(c.Tables[i].Routed, f)
			}
		}
		ends := map[string]int64{}
		units := unitsOf(&c, 1+random.IntN(8))
		slices.SortStableFunc(units, func(a, b unit) int { return int(a.from - b.from) }) // ranges of a file in their order
		for _, u := range units {
			if u.to > 0 && len(u.files) != 1 {
				t.Errorf("%+v is a range of several files", u)
			}
			for _, f := range u.files {
				end, seen := ends[f.Ref.Path]
				if seen && u.from != end || !seen && u.from != 0 {
					t.Errorf("%s is read from %d on, after %d", f.Ref.Path, u.from, end)
				}
				if ends[f.Ref.Path] = u.to; u.to == 0 {
					ends[f.Ref.Path] = math.MaxInt64
				}
			}
		}
		for i := range c.Tables {
			for _, f := range c.Tables[i].Routed {
				if ends[f.Ref.Path] != math.MaxInt64 {
					t.Errorf("%s of %d rows is read to %d", f.Ref.Path, f.Rows, ends[f.Ref.Path])
				}
			}
		}
	}
}

// TestRoutedDeletes routes files with deleted rows.
func TestRoutedDeletes(t *testing.T) {
	l, random := newLab(t), seed.Rand(t)
	l.plain("s.a", "k0 long, v int", "SELECT i % 10 AS k0, i::INTEGER AS v FROM range(5000) t(i)", 5)
	g := l.graph("SELECT k0, v FROM s.a", spj.Off, task.Options{})
	l.deleteRows(&g.Final.Tables[0].Input, g.Final.Tables[0].Files, 3)
	g.Final.Tables[0].Files[1].Ref.Bytes = 100 << 20 // it is divided
	want, _, err := l.runMade(g, Options{})
	if err != nil || len(want) != 5000-5*333 {
		t.Fatalf("%d rows, %v", len(want), err)
	}
	got, stats := l.mustRunMade(exchanged(t, g, random, []keyCase{{"long", "long", nil}}, []transform.Transform{{Op: transform.Identity}}, 4), Options{Workers: 2})
	if !slices.Equal(got, want) || stats.Routes[0].Rows != int64(len(want)) {
		t.Errorf("%d rows, want %d; %+v", len(got), len(want), stats.Routes)
	}
}

// TestManyBins routes to 300 bins within little memory.
func TestManyBins(t *testing.T) {
	l, random := newLab(t), seed.Rand(t)
	keys := []keyCase{{"long", "long", nil}}
	l.plain("s.a", "k0 long, v int, w string", "SELECT i * 7919 % 100003 AS k0, i::INTEGER AS v, repeat('x', 300) AS w FROM range(60000) t(i)", 4)
	l.plain("s.b", "k0 long, v int", "SELECT i AS k0, i::INTEGER AS v FROM range(30000) t(i)", 2)
	g := l.graph("SELECT a.v, b.v, length(w) FROM s.a LEFT JOIN s.b ON a.k0 = b.k0", spj.Off, task.Options{})
	want, _ := l.mustRun(g, Options{Workers: 1}, false)
	x := exchanged(t, g, random, keys, []transform.Transform{mustTransform(t, "bucket[1000]")}, 300)
	got, stats := l.mustRunMade(x, Options{Workers: 2, MemoryBytes: 256 << 20, Measure: true})
	if !slices.Equal(got, want) {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
	if len(stats.Packs) != 300 {
		t.Errorf("%d packs ran", len(stats.Packs))
	}
}

// TestCancelWhileRouting ends a run as soon as rows are spilled: nothing is left.
func TestCancelWhileRouting(t *testing.T) {
	l, random := newLab(t), seed.Rand(t)
	l.plain("s.a", "k0 long, v int, w string", "SELECT i AS k0, i::INTEGER AS v, repeat('x', 1000) AS w FROM range(50000) t(i)", 4)
	g := l.graph("SELECT v, w FROM s.a WHERE k0 >= 0", spj.Off, task.Options{})
	x := exchanged(t, g, random, []keyCase{{"long", "long", nil}}, []transform.Transform{{Op: transform.Identity}}, 5)
	c := &x.Cores[0]
	for range 5 { // so many rows that they aren't through before anybody looks
		c.Tables[0].Routed = append(c.Tables[0].Routed, c.Tables[0].Routed...)
	}
	for _, name := range []string{"canceled", "closed"} {
		ctx, cancel := context.WithCancel(t.Context())
		dir := t.TempDir()
		s := start(ctx, x, Options{Workers: 2, TempDir: dir})
		for begin := time.Now(); ; time.Sleep(time.Millisecond) {
			if found, _ := filepath.Glob(dir + "/tarn-routed-*/*"); len(found) > 0 {
				break
			}
			if time.Since(begin) > 10*soon {
				t.Fatal("no rows were spilled")
			}
		}
		begin := time.Now()
		if name == "canceled" {
			cancel()
			_, err := s.Next(ctx)
			wantError(t, err, errs.Canceled, "")
		}
		s.Close()
		cancel()
		if d := time.Since(begin); d > soon {
			t.Errorf("%s: it took %v to end", name, d)
		}
		if len(s.Stats().Packs) > 0 {
			t.Errorf("%s: a pack ran", name)
		}
		wantEmpty(t, dir)
	}
}

// TestNoPlaceToSpill has a folder for temporary files that nobody may write to.
func TestNoPlaceToSpill(t *testing.T) {
	const dir = "/proc/self/fdinfo"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the system has no folder that root can't write to")
	}
	l, random := newLab(t), seed.Rand(t)
	l.plain("s.a", "k0 long, v int", "SELECT i AS k0, i::INTEGER AS v FROM range(50) t(i)", 2)
	g := l.graph("SELECT k0, v FROM s.a", spj.Off, task.Options{})
	s := start(t.Context(), exchanged(t, g, random, []keyCase{{"long", "long", nil}}, []transform.Transform{{Op: transform.Identity}}, 2), Options{Workers: 2, TempDir: dir})
	defer s.Close()
	_, err := drain(t.Context(), s)
	wantError(t, err, errs.Resource, dir)
	if !strings.Contains(errs.HintOf(err), "temporary files") {
		t.Errorf("the hint is %q", errs.HintOf(err))
	}
}

// TestPartsCheckKeys has a row in the wrong bucket: each pack that reads its file finds it, be the row in its part or not.
func TestPartsCheckKeys(t *testing.T) {
	l := newLab(t)
	l.table("s.a", "k bigint, v int", 2, "SELECT i AS k, 1::INTEGER AS v FROM range(100) t(i)", 0)
	l.add("create table s.b (k bigint, v int) partitioned by (bucket(2, k))")
	for b := range 2 {
		l.file("s.b", fmt.Sprint(b), fmt.Sprintf("SELECT i AS k, 1::INTEGER AS v FROM range(100) t(i) WHERE tarn_bucket(2, i) = %d OR i = 0", b), 0)
	}
	for name, divide := range map[string]func(task.Pack) []task.Pack{"parted": parted(5), "sliced": sliced(0, 2), "alone": alone} {
		for _, query := range []string{"SELECT a.k FROM s.a JOIN s.b USING (k)", "SELECT count(*) FROM s.a JOIN s.b USING (k)", "SELECT a.k FROM s.a LEFT JOIN s.b USING (k)"} {
			g := divided(l.graph(query, spj.Require, task.Options{}), divide)
			failed := 0
			packs := g.Cores[0].Packs
			for p := range packs {
				g.Cores[0].Packs, g.Cores[0].Tree = packs[p:p+1], nil
				if _, _, err := l.runMade(g, Options{Workers: 2}); err != nil {
					wantError(t, err, errs.Corrupt, "test://s.b/")
					failed++
				}
			}
			if failed != len(packs)/2 { // the row is right in the other group
				t.Errorf("%s, %s: %d packs of %d find the row", name, query, failed, len(packs))
			}
		}
	}
}
