package task

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Key is a text that tells groups apart, whatever graph of one core they are of.
func (g *Group) Key() string { return keyOf(g.Values) }

// keyOf is a text that tells lists of values apart, of which nil is NULL.
func keyOf(values [][]byte) string {
	var b strings.Builder
	for _, v := range values {
		if v == nil {
			b.WriteString("- ")
			continue
		}
		fmt.Fprintf(&b, "%x ", v)
	}
	return b.String()
}

// Changed compares a graph with one that was made of the same statement before, on older versions of its tables. It returns the keys of
// the groups that only one of them has, and of those that have other inputs; false says that it can't be told.
//
// The other groups give now what they gave then. Graphs of one core without a final step give the union, over the groups, of what
// the core's text gives over each group's inputs: that is what package layout proves of a core, and why packs may unite groups as
// they like. The text is the same here, and so are the tables as they have them in common, in which all conditions are, also those
// that were looked up. What a group's inputs are is told by the files: what metadata says of them, and what deletes rows of them. Files
// of a path don't change, as Iceberg demands. Rows that are routed to groups make that untrue, so that such graphs can't be told; and
// whether the text reads anything else than the tables is for the caller to know. A text that may give this or that, such as an aggregate
// whose result depends on the order of rows, may keep what it gave: it could give it again.
func Changed(before, now *Graph) (changed map[string]bool, ok bool) {
	a, b := before.groupsAlone(), now.groupsAlone()
	if a == nil || b == nil || !slices.Equal(before.Avoid, now.Avoid) || !sameCore(a, b) {
		return nil, false
	}
	changed = map[string]bool{}
	then, here := a.inputs(), b.inputs()
	for key, in := range then {
		changed[key] = in != here[key]
	}
	for key, in := range here {
		changed[key] = in != then[key]
	}
	for key, is := range changed {
		if !is {
			delete(changed, key)
		}
	}
	return changed, true
}

// groupsAlone returns the only core of a graph that gives nothing but what its groups give; nil of another graph.
func (g *Graph) groupsAlone() *Core {
	if g.Final != nil || len(g.Cores) != 1 || g.Cores[0].Limit >= 0 {
		return nil
	}
	c := &g.Cores[0]
	if slices.ContainsFunc(c.Tables, func(t Table) bool { return len(t.Routed) > 0 }) {
		return nil
	}
	return c
}

// sameCore says whether two cores are the same but for their groups.
func sameCore(a, b *Core) bool {
	same := a.Name == b.Name && a.SQL == b.SQL && a.Short == b.Short && reflect.DeepEqual(a.Views, b.Views) && reflect.DeepEqual(a.Keys, b.Keys) &&
		reflect.DeepEqual(a.Tree, b.Tree) && len(a.Tables) == len(b.Tables)
	for i := range a.Tables {
		same = same && sameTable(&a.Tables[i], &b.Tables[i])
	}
	return same
}

// sameTable says whether a table has the same columns and conditions and, where each pack reads it, the same files.
func sameTable(a, b *Table) bool {
	common := func(t *Table) Table {
		in := t.Input
		in.Deletes, in.Shapes = nil, nil   // which files name
		in.Sifts, in.IsSifted = nil, false // which change nothing of what comes out
		return Table{Input: in, Sources: t.Sources, Short: t.Short}
	}
	return reflect.DeepEqual(common(a), common(b)) && newTeller(&a.Input).sum(a.Everywhere) == newTeller(&b.Input).sum(b.Everywhere)
}

// sum is what tells inputs apart.
type sum [sha256.Size]byte

// inputs returns what the groups read, by their keys.
func (c *Core) inputs() map[string]sum {
	files := make([][][]File, len(c.Groups)) // by group and table
	for g := range files {
		files[g] = make([][]File, len(c.Tables))
	}
	for _, p := range c.Packs {
		for t, list := range p.Inputs {
			for _, f := range list {
				files[f.Group][t] = append(files[f.Group][t], f)
			}
		}
	}
	tellers := make([]*teller, len(c.Tables))
	for t := range c.Tables {
		tellers[t] = newTeller(&c.Tables[t].Input)
	}
	out := map[string]sum{}
	for g := range c.Groups {
		h := sha256.New()
		for t, list := range files[g] {
			s := tellers[t].sum(list)
			h.Write(s[:])
		}
		out[c.Groups[g].Key()] = sum(h.Sum(nil))
	}
	return out
}

// teller tells files of one table apart by all that is known of them, but for where they lie on this machine.
type teller struct {
	in      *Input
	deletes map[int]string
}

func newTeller(in *Input) *teller { return &teller{in: in, deletes: map[int]string{}} }

// sum is of files in any order. One that several packs read counts once.
func (t *teller) sum(files []File) sum {
	texts := make([]string, len(files))
	for i := range files {
		texts[i] = t.file(&files[i])
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	return sha256.Sum256([]byte(strings.Join(texts, "\n")))
}

func (t *teller) file(f *File) string {
	first := int64(-1)
	if f.FirstRowID != nil {
		first = *f.FirstRowID
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%q %d %d %d %d %d %t %s %s", f.Ref.Path, f.Ref.Bytes, f.Rows, f.Spec, f.Sequence, first, f.ByName, t.shape(f.Shape), keyOf(f.Partition))
	fmt.Fprintf(&b, " %+v", f.Constants) // maps are printed in the order of their keys
	for _, list := range [][]int{f.Deletes, f.Newly} {
		fmt.Fprintf(&b, " of %d:", len(list))
		texts := make([]string, len(list))
		for i, at := range list {
			texts[i] = t.delete(at)
		}
		slices.Sort(texts)
		b.WriteString(strings.Join(texts, " "))
	}
	return b.String()
}

func (t *teller) shape(at int) string {
	if s := t.in.ShapeOf(at); s != nil {
		return fmt.Sprintf("%+v", *s)
	}
	return ""
}

func (t *teller) delete(at int) string {
	if text, ok := t.deletes[at]; ok {
		return text
	}
	d := &t.in.Deletes[at]
	var files []string
	for _, f := range d.Files {
		files = append(files, fmt.Sprintf("%q %d %d %d %s", f.Ref.Path, f.Ref.Bytes, f.Sequence, f.Rows, t.shape(f.Shape)))
	}
	slices.Sort(files)
	whole := sha256.Sum256([]byte(fmt.Sprintf("%d %q %d %d %v %s", d.Kind, d.Target, d.Offset, d.Length, d.Equality, strings.Join(files, ","))))
	t.deletes[at] = fmt.Sprintf("%x", whole)
	return t.deletes[at]
}

// Only returns the graph of those groups of a graph of one core whose keys are wanted. The others count as dropped.
func (g *Graph) Only(wanted func(key string) bool) *Graph {
	out := *g
	out.Cores = slices.Clone(g.Cores)
	c := &out.Cores[0]
	places, groups := map[int]int{}, c.Groups
	c.Groups = nil
	for i := range groups {
		if wanted(groups[i].Key()) {
			places[i] = len(c.Groups)
			c.Groups = append(c.Groups, groups[i])
		}
	}
	packs, bins := c.Packs, map[int]int{}
	c.Packs = nil
	before, read := make([]map[string]int64, len(c.Tables)), make([]map[string]int64, len(c.Tables))
	for t := range c.Tables {
		before[t], read[t] = map[string]int64{}, map[string]int64{}
	}
	for _, p := range packs {
		noteRead(before, &p)
		if p = p.only(places); len(p.Groups) == 0 {
			continue
		}
		noteRead(read, &p)
		if _, ok := bins[p.Bin]; !ok {
			bins[p.Bin] = len(bins)
		}
		p.Bin = bins[p.Bin]
		c.Packs = append(c.Packs, p)
	}
	bySize(c.Packs)
	c.Bins = len(bins)
	c.Dropped.Groups += len(groups) - len(c.Groups)
	c.Tables = slices.Clone(c.Tables)
	for t := range c.Tables {
		for path, bytes := range before[t] {
			if _, ok := read[t][path]; !ok {
				c.Tables[t].Dropped++
				c.Dropped.Files, c.Dropped.Bytes = c.Dropped.Files+1, c.Dropped.Bytes+bytes
			}
		}
	}
	return &out
}

// Reads returns the paths of the data files that a graph of one core reads.
func (g *Graph) Reads() map[string]bool {
	out := map[string]bool{}
	c := &g.Cores[0]
	for t := range c.Tables {
		for _, f := range c.Tables[t].Everywhere {
			out[f.Ref.Path] = true
		}
	}
	for _, p := range c.Packs {
		for _, files := range p.Inputs {
			for _, f := range files {
				out[f.Ref.Path] = true
			}
		}
	}
	return out
}

// noteRead adds the files that a pack reads, with their bytes, table by table.
func noteRead(to []map[string]int64, p *Pack) {
	for t, files := range p.Inputs {
		for _, f := range files {
			to[t][f.Ref.Path] = f.Ref.Bytes
		}
	}
}

// only returns what a pack has of some groups, which have new places.
func (p Pack) only(places map[int]int) Pack {
	var groups []int
	for _, g := range p.Groups {
		if at, ok := places[g]; ok {
			groups = append(groups, at)
		}
	}
	inputs := make([][]File, len(p.Inputs))
	p.Bytes = 0
	for t, files := range p.Inputs {
		for _, f := range files {
			if at, ok := places[f.Group]; ok {
				f.Group = at
				inputs[t] = append(inputs[t], f)
			}
		}
		p.Bytes += BytesOf(inputs[t])
	}
	p.Groups, p.Inputs = groups, inputs
	return p
}
