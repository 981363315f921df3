package task_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/internal/plantest"
	"github.com/tarndb/tarn/internal/seed"
	"github.com/tarndb/tarn/internal/task"
	"github.com/tarndb/tarn/transform"
)

// TestGraphs prints the groups and packs of each query of testdata. Arguments are those of task.Options.
func TestGraphs(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		p := plantest.New(t, "")
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "tables" {
				if err := p.Catalog.Add(d.Input); err != nil {
					d.Fatalf(t, "%v", err)
				}
				return ""
			}
			opts := plantest.Options{}
			var packBytes int
			d.MaybeScanArgs(t, "pack_bytes", &packBytes)
			d.MaybeScanArgs(t, "workers", &opts.Task.Workers)
			opts.Task.PackBytes = int64(packBytes)
			planned, err := p.Plan(t.Context(), d.Input, opts)
			if err != nil {
				return fmt.Sprintf("error %s: %v\n", errs.KindOf(err), err)
			}
			if err := task.Check(planned.Graph); err != nil {
				t.Errorf("%s: %v", d.Pos, err)
			}
			return graphText(planned.Graph)
		})
	})
}

func graphText(g *task.Graph) string {
	var b strings.Builder
	for i := range g.Cores {
		coreText(&b, &g.Cores[i])
	}
	if g.Final != nil {
		for _, t := range g.Final.Tables {
			fmt.Fprintf(&b, "final %s: %d files\n", t.Name, len(t.Files))
		}
	}
	return b.String()
}

func coreText(b *strings.Builder, c *task.Core) {
	fmt.Fprintf(b, "core %s:", c.Name)
	for _, k := range c.Keys {
		fmt.Fprintf(b, " %s as %s", k.Text, k.Type)
	}
	fmt.Fprintf(b, ", dropped %+v\n", c.Dropped)
	for p, pack := range c.Packs {
		fmt.Fprintf(b, "pack %d, %d bytes:\n", p, pack.Bytes)
		for _, g := range pack.Groups {
			var values, files []string
			for k := range c.Keys {
				v, err := c.Value(g, k)
				if err != nil {
					v = err
				}
				values = append(values, transform.FormatValue(c.Keys[k].Type, v))
			}
			for t, inputs := range pack.Inputs {
				for _, f := range inputs {
					if f.Group == g {
						files = append(files, c.Tables[t].View+strings.TrimPrefix(f.Ref.Path, "test://"+c.Tables[t].Name))
					}
				}
			}
			fmt.Fprintf(b, "  group %d (%s): %s\n", g, strings.Join(values, ", "), strings.Join(files, " "))
		}
	}
}

const twoTables = `
create table s.a (k bigint, d date, s string, x int) partitioned by (bucket(16, k), s)
create table s.b (k bigint, d date, s string, x int) partitioned by (bucket(16, k), s)
`

// randomTables fills two tables with files of random sizes.
func randomTables(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString(twoTables)
	for _, name := range []string{"s.a", "s.b"} {
		fmt.Fprintf(&b, "files %s\n", name)
		for range r.IntN(60) {
			bucket, text := strconv.Itoa(r.IntN(16)), []string{"null", "''", "x", "'y z'"}[r.IntN(4)]
			if r.IntN(9) == 0 {
				bucket = "null"
			}
			fmt.Fprintf(&b, "  (%s, %s) bytes=%d\n", bucket, text, 1+r.IntN(1<<(4+r.IntN(20))))
		}
	}
	return b.String()
}

var joins = []string{"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN"}

// TestRandomGraphs checks what holds of every graph: it is whole, it survives a journey, groups are the same however they
// are packed, and packs are as even as longest-first makes them.
func TestRandomGraphs(t *testing.T) {
	r := seed.Rand(t)
	for range 25 {
		p := plantest.New(t, randomTables(r))
		query := fmt.Sprintf("SELECT a.x FROM s.a %s s.b ON a.k = b.k AND a.s %s b.s", joins[r.IntN(len(joins))], []string{"=", "<=>"}[r.IntN(2)])
		opts := task.Options{PackBytes: 1 << (5 + r.IntN(18)), Workers: 1 + r.IntN(4), Skew: task.SkewOff}
		one := p.MustPlan(t, query, plantest.Options{Task: task.Options{Workers: opts.Workers, Skew: task.SkewOff}}).Graph
		packed := p.MustPlan(t, query, plantest.Options{Task: opts}).Graph
		for _, g := range []*task.Graph{one, packed} {
			if err := task.Check(g); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
			checkJourney(t, g)
			checkPacks(t, &g.Cores[0])
		}
		if !reflect.DeepEqual(one.Cores[0].Groups, packed.Cores[0].Groups) || one.Cores[0].Dropped != packed.Cores[0].Dropped {
			t.Fatalf("%s: packing changed the groups", query)
		}
		if n := len(one.Cores[0].Packs); n != len(one.Cores[0].Groups) {
			t.Fatalf("%s: %d packs of one group each, of %d groups", query, n, len(one.Cores[0].Groups))
		}
		checkBalance(t, &one.Cores[0], &packed.Cores[0], opts)
	}
}

func checkJourney(t *testing.T, g *task.Graph) {
	t.Helper()
	data, err := g.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := task.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(g, back) {
		t.Fatalf("a graph changed on its way:\n%+v\n%+v", g, back)
	}
	if err := task.Check(back); err != nil {
		t.Fatal(err)
	}
}

// checkPacks checks that packs come largest first, and groups in their order.
func checkPacks(t *testing.T, c *task.Core) {
	t.Helper()
	for i, p := range c.Packs {
		if i > 0 && p.Bytes > c.Packs[i-1].Bytes {
			t.Fatalf("pack %d has %d bytes, the one before %d", i, p.Bytes, c.Packs[i-1].Bytes)
		}
		for k := 1; k < len(p.Groups); k++ {
			if p.Groups[k] <= p.Groups[k-1] {
				t.Fatalf("pack %d has the groups %v", i, p.Groups)
			}
		}
	}
}

// checkBalance checks the promise of longest processing time first: no pack is beyond 4/3 of the best possible, which is
// at least the mean and at least the largest group.
func checkBalance(t *testing.T, one, packed *task.Core, opts task.Options) {
	t.Helper()
	if len(packed.Packs) == 0 {
		return
	}
	var total int64
	for _, p := range packed.Packs {
		total += p.Bytes
	}
	n := int64(len(packed.Packs))
	best := max((total+n-1)/n, one.Packs[0].Bytes)
	if n < int64(len(one.Packs)) && n >= 1 {
		// Two groups must share a pack when there are more than packs.
		if len(one.Packs) > int(n) {
			best = max(best, one.Packs[n-1].Bytes+one.Packs[n].Bytes)
		}
		if largest := packed.Packs[0].Bytes; largest*3 > best*4+3 {
			t.Fatalf("the largest of %d packs has %d bytes; at best it would have %d", n, largest, best)
		}
	}
	if want := min((total+opts.PackBytes-1)/opts.PackBytes, int64(len(one.Packs))); n < want {
		t.Fatalf("%d packs of %d bytes in all, for packs of %d", n, total, opts.PackBytes)
	}
}

// TestPacksOfRoutedRows: rows that are routed and whose groups nobody knows get packs by their size, but no more than are
// worth a statement, or a few for each worker.
func TestPacksOfRoutedRows(t *testing.T) {
	tables := func(bytes int) string {
		return fmt.Sprintf("create table s.a (k bigint)\ncreate table s.b (k bigint)\nfiles s.a\n () bytes=%d\nfiles s.b\n () bytes=%d", bytes/2, bytes/2)
	}
	for _, c := range []struct{ bytes, packBytes, want int }{
		{100 << 20, 2 << 20, 50}, {100 << 20, 25 << 20, 8}, {100 << 20, 200 << 20, 8}, {100 << 20, 1, 100}, {100 << 20, 0, 8},
		{20000, 1, 8}, {20000, 10000, 2}, {20000, 2 << 20, 1}, {20000, 0, 8},
	} {
		opts := plantest.Options{Exchange: spj.ExchangeForce, Task: task.Options{PackBytes: int64(c.packBytes), Workers: 2}}
		g := plantest.New(t, tables(c.bytes)).MustPlan(t, "SELECT a.k FROM s.a JOIN s.b USING (k)", opts).Graph
		if n := len(g.Cores[0].Packs); n != c.want {
			t.Errorf("%d bytes in packs of %d are %d packs, wanted %d", c.bytes, c.packBytes, n, c.want)
		}
		if err := task.Check(g); err != nil {
			t.Error(err)
		}
	}
}

func TestBuildFails(t *testing.T) {
	p := plantest.New(t, twoTables+"files s.a\n (0..3, x)\nfiles s.b\n (0..3, x)")
	planned := p.MustPlan(t, "SELECT a.x FROM s.a JOIN s.b ON a.k = b.k", plantest.Options{})
	whole := p.MustPlan(t, "SELECT x FROM s.a", plantest.Options{})
	ctx := t.Context()
	for scan, l := range planned.Layouts {
		kept := *l
		l.Files = func(context.Context, func(catalog.DataFile) error) error { return fmt.Errorf("no manifest") }
		if _, err := task.Build(ctx, planned.Physical, planned.Layouts, task.Options{}); err == nil || !strings.Contains(err.Error(), "no manifest") {
			t.Errorf("an error of the cursor is lost: %v", err)
		}
		l.Files = func(ctx context.Context, yield func(catalog.DataFile) error) error {
			return kept.Files(ctx, func(f catalog.DataFile) error { f.Partition = nil; return yield(f) })
		}
		_, err := task.Build(ctx, planned.Physical, planned.Layouts, task.Options{})
		wantError(t, err, errs.Corrupt, scan.Table.Ident.String()+"/000.parquet: the partition tuple has 0 values for the 2 fields of spec 0")
		l.Files = twice(kept)
		_, err = task.Build(ctx, planned.Physical, planned.Layouts, task.Options{})
		wantError(t, err, errs.Corrupt, "has the data file twice")
		*l = kept
	}
	for _, l := range whole.Layouts {
		kept := *l
		l.Files = twice(kept)
		_, err := task.Build(ctx, whole.Physical, whole.Layouts, task.Options{})
		wantError(t, err, errs.Corrupt, "has the data file twice")
		*l = kept
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	_, err := task.Build(canceled, planned.Physical, planned.Layouts, task.Options{})
	wantError(t, err, errs.Canceled, "")
}

func twice(l catalog.TableLayout) func(context.Context, func(catalog.DataFile) error) error {
	return func(ctx context.Context, yield func(catalog.DataFile) error) error {
		if err := l.Files(ctx, yield); err != nil {
			return err
		}
		return l.Files(ctx, yield)
	}
}

func wantError(t *testing.T, err error, kind errs.Kind, part string) {
	t.Helper()
	if err == nil || errs.KindOf(err) != kind || !strings.Contains(err.Error(), part) {
		t.Errorf("got %v (%v), want %v with %q", err, errs.KindOf(err), kind, part)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, bad := range []string{"", "{", `{"Cores": 3}`, "[]"} {
		_, err := task.Decode([]byte(bad))
		wantError(t, err, errs.Corrupt, "")
	}
}
