package spj_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/internal/seed"
)

// TestDroppedGroupsGiveNoRows evaluates random join trees over the rows of one group, by brute force: a group that isn't
// alive gives no rows, and scans that aren't needed change nothing when they are left out.
func TestDroppedGroupsGiveNoRows(t *testing.T) {
	r := seed.Rand(t)
	dropped, spared := 0, 0
	for range 20000 {
		g := &group{Rand: r, slots: 1 + r.IntN(2), rows: map[*plan.Scan][]row{}}
		for range g.slots {
			g.null = append(g.null, r.IntN(3) == 0)
		}
		tree := g.tree(1 + r.IntN(3))
		all := g.eval(tree)
		alive := tree.node.Alive(g.present, g.null)
		if !alive {
			dropped++
			if len(all) > 0 {
				t.Fatalf("the group %v isn't alive and gives %v:\n%s", g.null, ids(all), tree)
			}
		}
		needed := map[*plan.Scan]bool{}
		tree.node.Needed(g.present, g.null, func(s *plan.Scan) {
			if !g.present(s) {
				t.Fatalf("a scan without files is needed:\n%s", tree)
			}
			needed[s] = true
		})
		if alive != (len(needed) > 0) {
			t.Fatalf("alive is %t, and %d scans are needed:\n%s", alive, len(needed), tree)
		}
		for s := range g.rows {
			if !needed[s] && len(g.rows[s]) > 0 {
				spared++
				g.rows[s] = nil
			}
		}
		if got := g.eval(tree); !slices.Equal(ids(got), ids(all)) {
			t.Fatalf("the group %v gives %v with all scans and %v with those needed:\n%s", g.null, ids(all), ids(got), tree)
		}
	}
	if dropped < 1000 || spared < 1000 {
		t.Errorf("only %d groups were dropped and %d scans spared: the trees are too simple", dropped, spared)
	}
}

// group is one group of a random tree: which keys are NULL in it, and its rows.
type group struct {
	*rand.Rand
	slots int
	null  []bool
	rows  map[*plan.Scan][]row
	files map[*plan.Scan]bool
	names int
}

// row is a row of a relation: what it is made of, and the key columns under the names of their carriers.
type row struct {
	id   string
	keys map[string][]int // one value per slot; a negative one is NULL
}

const nullKey = -1

// relation is a node, with what brute force needs to know of it.
type relation struct {
	node        *spj.Node
	left, right *relation
	on          [2]string // the carriers that the join compares
	union       []*relation
	from        []string // the carrier of each side that the union hands on
	carriers    []string
}

func (g *group) present(s *plan.Scan) bool { return g.files[s] }

func (g *group) name() string {
	g.names++
	return "c" + strconv.Itoa(g.names)
}

// tree makes a random relation.
func (g *group) tree(depth int) *relation {
	switch {
	case depth == 0:
		return g.scan()
	case g.IntN(6) == 0:
		u := &relation{node: &spj.Node{}, carriers: []string{g.name()}}
		for range 2 + g.IntN(2) {
			side := g.tree(depth - 1)
			u.union, u.from = append(u.union, side), append(u.from, side.carriers[g.IntN(len(side.carriers))])
			u.node.Union = append(u.node.Union, side.node)
		}
		return u
	}
	j := &relation{left: g.tree(depth - 1 - g.IntN(depth)), right: g.tree(depth - 1)}
	j.node = &spj.Node{Kind: plan.JoinKind(g.IntN(6)), Left: j.left.node, Right: j.right.node}
	for range g.slots {
		j.node.Strict = append(j.node.Strict, g.IntN(3) > 0)
	}
	j.on = [2]string{j.left.carriers[g.IntN(len(j.left.carriers))], j.right.carriers[g.IntN(len(j.right.carriers))]}
	j.carriers = append(j.carriers, j.left.carriers...)
	if j.node.Kind != plan.Semi && j.node.Kind != plan.Anti {
		j.carriers = append(j.carriers, j.right.carriers...)
	}
	return j
}

// scan makes a table, with or without files in the group; files may hold no rows.
func (g *group) scan() *relation {
	s := &plan.Scan{Source: plan.SourceID(g.names)}
	name := g.name()
	if g.files == nil {
		g.files = map[*plan.Scan]bool{}
	}
	if g.files[s] = g.IntN(3) > 0; g.files[s] {
		for i := range g.IntN(3) {
			keys := make([]int, g.slots)
			for k := range keys {
				if keys[k] = g.IntN(2); g.null[k] {
					keys[k] = nullKey
				}
			}
			g.rows[s] = append(g.rows[s], row{fmt.Sprintf("%s.%d", name, i), map[string][]int{name: keys}})
		}
	}
	return &relation{node: &spj.Node{Scan: &spj.ScanKeys{Scan: s}}, carriers: []string{name}}
}

// eval computes a relation's rows by SQL's rules alone.
func (g *group) eval(r *relation) []row {
	switch {
	case r.node.Scan != nil:
		return g.rows[r.node.Scan.Scan]
	case r.union != nil:
		var out []row
		for i, u := range r.union {
			for _, x := range g.eval(u) {
				out = append(out, row{x.id, map[string][]int{r.carriers[0]: x.keys[r.from[i]]}})
			}
		}
		return out
	}
	return g.join(r, g.eval(r.left), g.eval(r.right))
}

func (g *group) join(r *relation, left, right []row) []row {
	var out []row
	matched := make([]bool, len(right))
	kind := r.node.Kind
	for _, l := range left {
		hits := 0
		for i, x := range right {
			if !g.equal(r.node.Strict, l.keys[r.on[0]], x.keys[r.on[1]]) {
				continue
			}
			hits++
			matched[i] = true
			if kind != plan.Semi && kind != plan.Anti {
				out = append(out, joined(l, x))
			}
		}
		switch {
		case kind == plan.Semi && hits > 0, kind == plan.Anti && hits == 0:
			out = append(out, l)
		case (kind == plan.Left || kind == plan.Full) && hits == 0:
			out = append(out, joined(l, g.nulls(r.right)))
		}
	}
	for i, x := range right {
		if (kind == plan.Right || kind == plan.Full) && !matched[i] {
			out = append(out, joined(g.nulls(r.left), x))
		}
	}
	return out
}

func (g *group) equal(strict []bool, a, b []int) bool {
	for k := range a {
		if a[k] != b[k] || a[k] == nullKey && strict[k] {
			return false
		}
	}
	return true
}

// nulls is the row that an outer join fills in.
func (g *group) nulls(r *relation) row {
	keys := make([]int, g.slots)
	for k := range keys {
		keys[k] = nullKey
	}
	out := row{"-", map[string][]int{}}
	for _, c := range r.carriers {
		out.keys[c] = keys
	}
	return out
}

func joined(l, r row) row {
	out := row{"(" + l.id + " " + r.id + ")", map[string][]int{}}
	for _, side := range []row{l, r} {
		for name, keys := range side.keys {
			out.keys[name] = keys
		}
	}
	return out
}

func ids(rows []row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.id)
	}
	slices.Sort(out)
	return out
}

// String writes the tree for the message of a failed test.
func (r *relation) String() string {
	switch {
	case r.node.Scan != nil:
		return r.carriers[0]
	case r.union != nil:
		var sides []string
		for _, u := range r.union {
			sides = append(sides, u.String())
		}
		return "union(" + strings.Join(sides, ", ") + ")"
	}
	return fmt.Sprintf("%s(%s, %s on %s strict=%v)", r.node.Kind, r.left, r.right, r.on, r.node.Strict)
}
