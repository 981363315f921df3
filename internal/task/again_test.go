package task_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plantest"
	"github.com/tarndb/tarn/internal/seed"
	"github.com/tarndb/tarn/internal/task"
	"github.com/tarndb/tarn/transform"
)

// again is a query whose graph is one core alone.
const again = "SELECT a.x, b.x FROM s.a LEFT JOIN s.b ON a.k = b.k"

func planAgain(t *testing.T, opts task.Options) *task.Graph {
	t.Helper()
	p := plantest.New(t, `
create table s.a (k bigint, x int) partitioned by (bucket(8, k))
create table s.b (k bigint, x int) partitioned by (bucket(8, k))
files s.a
  (0..6)
  (0..6)
  (null)
files s.b
  (1..7)
  (null)
`)
	return copyOf(t, p.MustPlan(t, again, plantest.Options{Task: opts}).Graph)
}

// TestChangedGroups changes one thing of a graph after the other, and looks which groups have to be run again.
func TestChangedGroups(t *testing.T) {
	opts := task.Options{PackBytes: 0, Workers: 1}
	groupOf := func(g *task.Graph, f *task.File) string { return g.Cores[0].Groups[f.Group].Key() }
	first := func(g *task.Graph) *task.File { return &g.Cores[0].Packs[0].Inputs[0][0] }
	for name, change := range map[string]func(*task.Graph){
		"another file": func(g *task.Graph) { first(g).Ref.Path += "x" },
		"a file less":  func(g *task.Graph) { in := g.Cores[0].Packs[0].Inputs; in[0] = in[0][:len(in[0])-1] },
		"a file of its source": func(g *task.Graph) {
			in := g.Cores[0].Packs[0].Inputs
			in[1] = append(in[1], task.File{Group: first(g).Group})
		},
		"its age":       func(g *task.Graph) { first(g).Sequence++ },
		"its rows' IDs": func(g *task.Graph) { id := int64(0); first(g).FirstRowID = &id },
		"its spec":      func(g *task.Graph) { first(g).Spec++ },
		"its constants": func(g *task.Graph) { first(g).Constants = map[catalog.FieldID][]byte{1: {1}} },
		"its partition": func(g *task.Graph) { first(g).Partition = [][]byte{nil} },
		"its shape": func(g *task.Graph) {
			g.Cores[0].Tables[0].Shapes = append(g.Cores[0].Tables[0].Shapes, &catalog.Schema{Fields: []catalog.Field{{ID: 1, InitialDefault: int32(1)}}})
			first(g).Shape = len(g.Cores[0].Tables[0].Shapes)
		},
		"what deletes rows of it": func(g *task.Graph) {
			g.Cores[0].Tables[0].Deletes = append(g.Cores[0].Tables[0].Deletes, task.Delete{Kind: catalog.DeletionVector})
			first(g).Deletes = []int{len(g.Cores[0].Tables[0].Deletes) - 1}
		},
	} {
		before, now := planAgain(t, opts), planAgain(t, opts)
		if len(before.Cores) != 1 || len(before.Cores[0].Packs) < 3 || len(first(before).Ref.Path) == 0 {
			t.Fatalf("the graph is too simple:\n%s", graphText(before))
		}
		key := groupOf(now, first(now))
		change(now)
		for _, pair := range [][2]*task.Graph{{before, now}, {now, before}} {
			changed, ok := task.Changed(pair[0], pair[1])
			if !ok || !maps.Equal(changed, map[string]bool{key: true}) {
				t.Errorf("%s: %v %v, wanted %q", name, changed, ok, key)
			}
		}
	}
	for name, change := range map[string]func(*task.Graph){
		"the text":            func(g *task.Graph) { g.Cores[0].SQL += " " },
		"a key":               func(g *task.Graph) { g.Cores[0].Keys[0].Type = transform.Type{Kind: transform.String} },
		"a view":              func(g *task.Graph) { g.Cores[0].Views = append(g.Cores[0].Views, task.View{}) },
		"a condition":         func(g *task.Graph) { g.Cores[0].Tables[1].Dynamic = []string{"k = 1"} },
		"a column's type":     func(g *task.Graph) { g.Cores[0].Tables[0].Fields[0].Type.Primitive.Kind = transform.Int },
		"a column's default":  func(g *task.Graph) { g.Cores[0].Tables[0].Fields[0].InitialDefault = int64(1) },
		"a routed file":       func(g *task.Graph) { g.Cores[0].Tables[0].Routed = []task.File{{}} },
		"a file of all packs": func(g *task.Graph) { g.Cores[0].Tables[0].Everywhere = []task.File{{}} },
		"a final step":        func(g *task.Graph) { g.Final = &task.Final{} },
		"a limit":             func(g *task.Graph) { g.Cores[0].Limit = 1 },
	} {
		before, now := planAgain(t, opts), planAgain(t, opts)
		change(now)
		if changed, ok := task.Changed(before, now); ok {
			t.Errorf("%s: %v", name, changed)
		}
		if changed, ok := task.Changed(now, before); ok {
			t.Errorf("%s, before: %v", name, changed)
		}
	}
}

// TestPacksDontChangeGroups: whatever packs groups lie in, they are the same.
func TestPacksDontChangeGroups(t *testing.T) {
	for _, opts := range []task.Options{{PackBytes: 3000, Workers: 1}, {Workers: 2, Skew: task.SkewSlice}, {Workers: 2, Skew: task.SkewBucket}} {
		changed, ok := task.Changed(planAgain(t, task.Options{Workers: 1}), planAgain(t, opts))
		if !ok || len(changed) > 0 {
			t.Errorf("%+v: %v %v", opts, changed, ok)
		}
	}
}

// TestSiftsDontChangeGroups: a Bloom filter, which has another text each time, leaves out no row that anything comes of.
func TestSiftsDontChangeGroups(t *testing.T) {
	before, now := planAgain(t, task.Options{Workers: 1}), planAgain(t, task.Options{Workers: 1})
	before.Cores[0].Tables[1].Sifts, now.Cores[0].Tables[1].Sifts = []string{"tarn_may_match(1, k)"}, []string{"tarn_may_match(2, k)"}
	now.Cores[0].Tables[1].IsSifted = true
	if changed, ok := task.Changed(before, now); !ok || len(changed) > 0 {
		t.Errorf("%v %v", changed, ok)
	}
}

// TestSomeGroups takes any of a graph's groups: what is left is whole.
func TestSomeGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 0))
	for range 200 {
		opts := task.Options{PackBytes: []int64{0, 3000}[r.IntN(2)], Workers: 1 + r.IntN(2), Skew: []task.Skew{"", task.SkewSlice, task.SkewBucket, task.SkewAlone}[r.IntN(4)]}
		g := planAgain(t, opts)
		want := map[string]bool{}
		for i := range g.Cores[0].Groups {
			if r.IntN(2) == 0 {
				want[g.Cores[0].Groups[i].Key()] = true
			}
		}
		before := graphText(g)
		some := g.Only(func(key string) bool { return want[key] })
		if err := task.Check(some); err != nil {
			t.Fatalf("%+v: %v\n%s", opts, err, graphText(some))
		}
		var got []string
		for i := range some.Cores[0].Groups {
			got = append(got, some.Cores[0].Groups[i].Key())
		}
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			t.Errorf("%v, wanted %v", got, want)
		}
		changed, ok := task.Changed(g, some)
		if graphText(g) != before || !ok || len(changed) != len(g.Cores[0].Groups)-len(want) {
			t.Errorf("%d groups differ of %d, of which %d were taken, %v", len(changed), len(g.Cores[0].Groups), len(want), ok)
		}
	}
}
