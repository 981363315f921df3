package task_test

import (
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plantest"
	"github.com/tarndb/tarn/internal/task"
	"github.com/tarndb/tarn/transform"
)

// checked is a query whose graph has two cores, packs of several groups, dropped groups and sides, and a final step with
// a table read whole.
const checked = `SELECT l.n FROM (SELECT a.x AS n FROM s.a LEFT JOIN s.b ON a.k = b.k) l
	JOIN (SELECT b.x AS n FROM s.b JOIN s.c ON b.k = c.k) r USING (n) JOIN s.w ON w.x = n`

func validGraph(t *testing.T, p *plantest.Planner) *task.Graph {
	t.Helper()
	return copyOf(t, p.MustPlan(t, checked, plantest.Options{Task: task.Options{PackBytes: 3000, Workers: 1}}).Graph)
}

// copyOf returns a copy of a graph, so that what a test changes is changed for it alone.
func copyOf(t *testing.T, g *task.Graph) *task.Graph {
	t.Helper()
	data, err := g.Encode()
	if err != nil {
		t.Fatal(err)
	}
	out, err := task.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCheckFindsEveryFault breaks a whole graph in one way after the other.
func TestCheckFindsEveryFault(t *testing.T) {
	p := plantest.New(t, `
create table s.a (k bigint, x int) partitioned by (bucket(8, k))
create table s.b (k bigint, x int) partitioned by (bucket(8, k))
create table s.c (k bigint, x int) partitioned by (bucket(8, k))
create table s.w (x int)
files s.a
  (0..6)
  (0..6)
  (null)
files s.b
  (1..7)
  (null)
files s.c
  (0..5)
files s.w
  ()
  ()
`)
	g := validGraph(t, p)
	if err := task.Check(g); err != nil {
		t.Fatal(err)
	}
	if c := g.Cores[0]; len(g.Cores) != 2 || len(c.Packs) < 3 || len(c.Packs[0].Groups) < 2 || c.Dropped.Files == 0 || len(g.Final.Tables) != 1 {
		t.Fatalf("the graph is too simple:\n%s", graphText(g))
	}
	for name, fault := range faults {
		g := validGraph(t, p)
		fault(g, &g.Cores[0], &g.Cores[0].Packs[0], &g.Cores[0].Packs[1])
		if err := task.Check(g); errs.KindOf(err) != errs.Internal || err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var faults = map[string]func(g *task.Graph, c *task.Core, p, q *task.Pack){
	"two packs of one tuple": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		p.Tuple, q.Tuple = [][]byte{{1}, nil}, [][]byte{{1}, nil}
	},
	"rows divided by a further column of one table alone": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Tables[1].Also = []catalog.FieldID{2}
	},
	"rows divided by a further column that isn't read": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		for t := range c.Tables {
			c.Tables[t].Also = []catalog.FieldID{77}
		}
	},
	"rows divided by further columns that don't compare": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Tables[0].Also, c.Tables[1].Also = []catalog.FieldID{1}, []catalog.FieldID{2}
		c.Tables[1].Fields[1].Type.Primitive.Kind = transform.String
	},
	"a file twice in a pack": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		p.Inputs[0][1] = p.Inputs[0][0]
	},
	"a file in two packs": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		q.Inputs[0][0].Ref = p.Inputs[0][0].Ref
	},
	"a file missing": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		p.Bytes -= p.Inputs[0][0].Ref.Bytes
		p.Inputs[0] = p.Inputs[0][1:]
	},
	"a file missing and counted as dropped, not its bytes": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		p.Bytes -= p.Inputs[0][0].Ref.Bytes
		p.Inputs[0] = p.Inputs[0][1:]
		c.Tables[0].Dropped++
		c.Dropped.Files++
	},
	"a file missing from one table, a strange one in another": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		f := p.Inputs[0][0]
		p.Inputs[0] = p.Inputs[0][1:]
		f.Ref.Path = "test://strange.parquet"
		p.Inputs[1] = append(p.Inputs[1], f)
	},
	"a file in the wrong pack": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		p.Inputs[0][0], q.Inputs[0][0] = q.Inputs[0][0], p.Inputs[0][0]
	},
	"a delete file that isn't there": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		p.Inputs[0][0].Deletes = []int{0}
	},
	"position deletes of another file": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Tables[0].Deletes = []task.Delete{{Target: q.Inputs[0][0].Ref.Path, Files: make([]task.DeleteFile, 1)}}
		p.Inputs[0][0].Deletes = []int{0}
	},
	"equality deletes as old as the file": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Tables[0].Deletes = []task.Delete{{Kind: catalog.EqualityDeletes, Files: []task.DeleteFile{{Sequence: 6}, {Sequence: 7}}}}
		p.Inputs[0][0].Deletes, p.Inputs[0][0].Sequence = []int{0}, 7
	},
	"position deletes older than the file": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Tables[0].Deletes = []task.Delete{{Files: []task.DeleteFile{{Sequence: 6}}}}
		p.Inputs[0][0].Deletes, p.Inputs[0][0].Sequence = []int{0}, 7
	},
	"two deletion vectors of a file": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		vector := task.Delete{Kind: catalog.DeletionVector, Files: make([]task.DeleteFile, 1)}
		c.Tables[0].Deletes = []task.Delete{vector, vector}
		p.Inputs[0][0].Deletes = []int{0, 1}
	},
	"a shape that isn't there": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		p.Inputs[0][0].Shape = 1
	},
	"a file without IDs and shape": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		p.Inputs[0][0].ByName = true
	},
	"files that come more than once, by groups": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Tables[0].Repeats = true
	},
	"a file of no group": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		p.Inputs[0][0].Group = len(c.Groups)
	},
	"a file of a group below 0": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		p.Inputs[0][0].Group = -1
	},
	"a group in two packs": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		q.Groups = append(q.Groups, p.Groups[0])
	},
	"a group twice in a pack": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		p.Groups = append(p.Groups, p.Groups[0])
	},
	"a group in no pack": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		p.Groups = p.Groups[1:]
	},
	"a group that isn't there": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		p.Groups = append(p.Groups, len(c.Groups))
	},
	"a pack missing": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Packs = c.Packs[1:]
	},
	"a pack without one table's inputs": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		p.Inputs = p.Inputs[:1]
	},
	"a pack's bytes": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		p.Bytes++
	},
	"a group with a value too few": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Groups[0].Values = nil
	},
	"a group with a value too many": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Groups[0].Values = append(c.Groups[0].Values, nil)
	},
	"a value that is none of its type": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Groups[0].Values[0] = []byte{1, 2, 3}
	},
	"a group divided in two": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Groups[0].Values = c.Groups[1].Values
	},
	"a key too many": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Keys = append(c.Keys, c.Keys[0])
	},
	"no keys": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Keys = nil
	},
	"a source too few": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Tables[1].Sources = nil
	},
	"a key whose column isn't read": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Tables[0].Fields = c.Tables[0].Fields[1:]
	},
	"a file too many in a table": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Tables[0].Files++
	},
	"a table's bytes": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Tables[0].Bytes++
	},
	"dropped files too few": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Dropped.Files--
	},
	"dropped bytes": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Dropped.Bytes--
	},
	"more dropped groups than files": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Dropped.Groups = c.Dropped.Files + 1
	},
	"more dropped NULL groups than groups": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Dropped.NullGroups = c.Dropped.Groups + 1
	},
	"no final step": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		g.Final = nil
	},
	"two cores of one name": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		g.Cores[1].Name = c.Name
	},
	"two files of one number": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		place, _ := catalog.MetadataColumn(&catalog.Table{}, catalog.PlaceID)
		c.Tables[0].Fields, c.Tables[0].Names = append(c.Tables[0].Fields, place), append(c.Tables[0].Names, "p")
		if err := task.Check(g); err != nil {
			panic(err)
		}
		q.Inputs[0][0].Number = p.Inputs[0][0].Number
	},
	"a sieve of a side that comes out by itself": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		sieve := []task.Sieve{{Table: 0, Key: 1, Column: 1}}
		if c.Tables[1].Sieves = sieve; task.Check(g) != nil {
			panic("the other way is wrong too")
		}
		sieve[0].Table, c.Tables[0].Sieves, c.Tables[1].Sieves = 1, sieve, nil
	},
	"a sieve of a column that isn't checked": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Tables[1].Sieves = []task.Sieve{{Table: 0, Key: 1, Column: 2}}
	},
	"a sieve by no integers": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Tables[1].Sieves = []task.Sieve{{Table: 0, Key: 77, Column: 1}}
	},
	"a sieve by the table itself": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		c.Tables[1].Sieves = []task.Sieve{{Table: 1, Key: 1, Column: 1}}
	},
	"a fault in the second core": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		g.Cores[1].Packs = g.Cores[1].Packs[1:]
	},
	"a file twice in the final step": func(g *task.Graph, c *task.Core, p, q *task.Pack) {
		g.Final.Tables[0].Files[1] = g.Final.Tables[0].Files[0]
	},
}
