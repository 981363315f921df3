package property

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"github.com/tarndb/tarn/internal/task"
)

// mutant is a graph to be changed.
type mutant struct {
	*rand.Rand
	g *task.Graph
}

// mutations change a graph so that it would give wrong rows, or steer memory wrongly; each says whether it could. Sums
// that go with what is changed are changed too, where whoever made such a graph by mistake would have done so.
//
// A group's value, a file's group within its pack and a delete file that is for a partition can be changed into others that
// the graph doesn't contradict; the first two are found when rows are read.
var mutations = map[string]func(*mutant) bool{
	"a file is lost":                              (*mutant).loseFile,
	"a file is lost and so are its bytes":         (*mutant).loseFileOfTable,
	"a file is twice in a pack":                   (*mutant).doubleFile,
	"a file is in two packs":                      (*mutant).copyFile,
	"a file is in another pack":                   (*mutant).moveFile,
	"a file is in another pack as of its group":   (*mutant).adoptFile,
	"a file has changed places with another":      (*mutant).swapFiles,
	"a file replaces another":                     (*mutant).replaceFile,
	"a file is called dropped and is read":        (*mutant).readDropped,
	"a group is lost":                             (*mutant).loseGroup,
	"a group is lost with its files":              (*mutant).loseGroupAndFiles,
	"a group is in two packs":                     (*mutant).copyGroup,
	"a group is in another pack":                  (*mutant).moveGroup,
	"a group has another's values":                (*mutant).copyValues,
	"a group has a value of another type":         (*mutant).garbleValue,
	"a group has a value too few":                 (*mutant).loseValue,
	"a group is divided":                          (*mutant).divideGroup,
	"a pack is lost":                              (*mutant).losePack,
	"a pack is there twice":                       (*mutant).doublePack,
	"a pack lacks a table":                        (*mutant).loseInput,
	"a pack has one table's files for another":    (*mutant).swapInputs,
	"a table's files are counted wrongly":         (*mutant).miscountFiles,
	"bytes are counted wrongly":                   (*mutant).miscountBytes,
	"dropped groups are counted wrongly":          (*mutant).miscountDropped,
	"a key's column isn't read":                   (*mutant).hideKey,
	"a key is lost":                               (*mutant).loseKey,
	"a file names a delete file that isn't there": (*mutant).nameNoDelete,
	"a file names another file's deletes":         (*mutant).nameOtherDelete,
	"a delete is older than its file":             (*mutant).ageDelete,
	"a file is of no shape":                       (*mutant).unshape,
	"a core is lost":                              (*mutant).loseCore,
	"a core is there twice":                       (*mutant).doubleCore,
	"the final step is lost":                      (*mutant).loseFinal,
	"the final step reads a file twice":           (*mutant).doubleFinalFile,
	"a routed file is lost":                       (*mutant).loseRouted,
	"a routed file is twice there":                (*mutant).doubleRouted,
	"a routed file is in a pack, too":             (*mutant).packRouted,
	"a file of a pack is routed, too":             (*mutant).routePacked,
	"strays that matter are dropped":              (*mutant).dropStrays,
	"some strays aren't told of":                  (*mutant).forgetStrays,
	"strays are told of where none are":           (*mutant).inventStrays,
	"a bin is read by two packs":                  (*mutant).shareBin,
	"a bin is read by no pack":                    (*mutant).addBin,
	"a pack reads a bin that isn't there":         (*mutant).missBin,
	"a slice is of another table":                 (*mutant).sliceOther,
	"a table is sliced that may not be":           (*mutant).sliceIllegally,
	"a slice is of another number":                (*mutant).resizeSlice,
	"two slices are the same":                     (*mutant).repeatSlice,
	"a part is of another modulus":                (*mutant).resizePart,
	"two parts are the same":                      (*mutant).repeatPart,
	"a pack has all rows of a divided group":      (*mutant).undivide,
	"a whole pack says it is a part":              (*mutant).pretendPart,
	"a table that is read everywhere is lost":     (*mutant).loseEverywhere,
	"a file is read everywhere twice":             (*mutant).doubleEverywhere,
	"a table read everywhere is in a pack":        (*mutant).packEverywhere,
	"a table read everywhere gives rows itself":   (*mutant).preserveEverywhere,
	"a table has no place in the joins":           (*mutant).forgetPlace,
	"a table has two places in the joins":         (*mutant).doublePlace,
	"the joins are lost":                          (*mutant).loseTree,
}

func (m *mutant) core() *task.Core {
	if len(m.g.Cores) == 0 {
		return nil
	}
	return &m.g.Cores[m.IntN(len(m.g.Cores))]
}

// spot is where a file of a pack stands.
type spot struct {
	core              *task.Core
	pack, table, file int
}

func (p spot) files() *[]task.File { return &p.core.Packs[p.pack].Inputs[p.table] }
func (p spot) get() *task.File     { return &(*p.files())[p.file] }

// spots returns where the files of a core's packs stand.
func spots(c *task.Core) []spot {
	var out []spot
	for p := range c.Packs {
		for t := range c.Packs[p].Inputs {
			for f := range c.Packs[p].Inputs[t] {
				out = append(out, spot{c, p, t, f})
			}
		}
	}
	return out
}

// where returns a random file of a random core that is so.
func (m *mutant) where(is func(spot) bool) (spot, bool) {
	c := m.core()
	if c == nil {
		return spot{}, false
	}
	all := slices.DeleteFunc(spots(c), func(p spot) bool { return !is(p) })
	if len(all) == 0 {
		return spot{}, false
	}
	return pick(m.Rand, all), true
}

func anywhere(spot) bool { return true }

// others returns the packs of other groups than the file's.
func (p spot) others() []int {
	var out []int
	for i := range p.core.Packs {
		if groups := p.core.Packs[i].Groups; len(groups) > 0 && !slices.Contains(groups, p.get().Group) {
			out = append(out, i)
		}
	}
	return out
}

func (m *mutant) other(p spot) int { return pick(m.Rand, p.others()) }

func hasOtherPack(p spot) bool { return len(p.others()) > 0 }

// take takes the file out of its pack.
func (p spot) take() task.File {
	f := *p.get()
	*p.files() = slices.Delete(slices.Clone(*p.files()), p.file, p.file+1)
	p.core.Packs[p.pack].Bytes -= f.Ref.Bytes
	return f
}

// put puts a file of the same table into a pack.
func (p spot) put(f task.File, pack int) {
	in := &p.core.Packs[pack].Inputs[p.table]
	*in = append(slices.Clone(*in), f)
	p.core.Packs[pack].Bytes += f.Ref.Bytes
}

func (m *mutant) loseFile() bool {
	p, ok := m.where(anywhere)
	if ok {
		p.take()
	}
	return ok
}

func (m *mutant) loseFileOfTable() bool {
	p, ok := m.where(anywhere)
	if ok {
		p.core.Tables[p.table].Bytes -= p.take().Ref.Bytes
	}
	return ok
}

func (m *mutant) doubleFile() bool {
	p, ok := m.where(anywhere)
	if ok {
		f := *p.get()
		p.put(f, p.pack)
		p.core.Tables[p.table].Files++
		p.core.Tables[p.table].Bytes += f.Ref.Bytes
	}
	return ok
}

func (m *mutant) copyFile() bool {
	p, ok := m.where(hasOtherPack)
	if ok {
		f, to := *p.get(), m.other(p)
		f.Group = pick(m.Rand, p.core.Packs[to].Groups)
		p.put(f, to)
		p.core.Tables[p.table].Files++
		p.core.Tables[p.table].Bytes += f.Ref.Bytes
	}
	return ok
}

func (m *mutant) moveFile() bool {
	p, ok := m.where(hasOtherPack)
	if ok {
		to := m.other(p)
		p.put(p.take(), to)
	}
	return ok
}

// adoptFile lets a file stay where it is and says that it is of a group of another pack.
func (m *mutant) adoptFile() bool {
	p, ok := m.where(hasOtherPack)
	if ok {
		p.get().Group = pick(m.Rand, p.core.Packs[m.other(p)].Groups)
	}
	return ok
}

func (m *mutant) swapFiles() bool {
	p, ok := m.where(hasOtherPack)
	if !ok {
		return false
	}
	to := m.other(p)
	if len(p.core.Packs[to].Inputs[p.table]) == 0 {
		return false
	}
	f, g := p.take(), spot{p.core, to, p.table, 0}.take()
	p.put(f, to)
	p.put(g, p.pack)
	return true
}

func (m *mutant) replaceFile() bool {
	p, ok := m.where(func(p spot) bool { return len(*p.files()) > 1 })
	if ok {
		at := p.file
		p.file = (at + 1) % len(*p.files())
		f := *p.get()
		p.file = at
		p.core.Packs[p.pack].Bytes += f.Ref.Bytes - p.get().Ref.Bytes
		*p.get() = f
	}
	return ok
}

func (m *mutant) readDropped() bool {
	p, ok := m.where(anywhere)
	if ok {
		p.core.Tables[p.table].Dropped++
		p.core.Dropped.Files++
	}
	return ok
}

// pack returns a random pack of a random core.
func (m *mutant) pack() (*task.Core, int, bool) {
	c := m.core()
	if c == nil || len(c.Packs) == 0 {
		return nil, 0, false
	}
	return c, m.IntN(len(c.Packs)), true
}

func (m *mutant) loseGroup() bool {
	c, p, ok := m.pack()
	if ok = ok && len(c.Packs[p].Groups) > 0; ok {
		at := m.IntN(len(c.Packs[p].Groups))
		c.Packs[p].Groups = slices.Delete(c.Packs[p].Groups, at, at+1)
	}
	return ok
}

func (m *mutant) loseGroupAndFiles() bool {
	c, p, ok := m.pack()
	if !ok {
		return false
	}
	pack := &c.Packs[p]
	if len(pack.Groups) == 0 {
		return false
	}
	group := pick(m.Rand, pack.Groups)
	pack.Groups = slices.DeleteFunc(pack.Groups, func(g int) bool { return g == group })
	for t := range pack.Inputs {
		pack.Inputs[t] = slices.DeleteFunc(pack.Inputs[t], func(f task.File) bool {
			if f.Group == group {
				pack.Bytes -= f.Ref.Bytes
			}
			return f.Group == group
		})
	}
	return true
}

func (m *mutant) copyGroup() bool {
	p, ok := m.where(hasOtherPack)
	if ok {
		to := &p.core.Packs[m.other(p)]
		to.Groups = append(to.Groups, p.get().Group)
		slices.Sort(to.Groups)
	}
	return ok
}

func (m *mutant) moveGroup() bool {
	p, ok := m.where(hasOtherPack)
	if ok {
		from, to, group := &p.core.Packs[p.pack], &p.core.Packs[m.other(p)], p.get().Group
		from.Groups = slices.DeleteFunc(from.Groups, func(g int) bool { return g == group })
		to.Groups = append(to.Groups, group)
		slices.Sort(to.Groups)
	}
	return ok
}

func (m *mutant) copyValues() bool {
	c := m.core()
	if c == nil || len(c.Groups) < 2 {
		return false
	}
	i := m.IntN(len(c.Groups))
	c.Groups[i].Values = slices.Clone(c.Groups[(i+1)%len(c.Groups)].Values)
	return true
}

// garbleValue gives a group a value that can't be one of the key's type, where the type has such.
func (m *mutant) garbleValue() bool {
	c := m.core()
	if c == nil || len(c.Groups) == 0 {
		return false
	}
	g, k := m.IntN(len(c.Groups)), m.IntN(len(c.Keys))
	if old, err := c.Value(g, k); err != nil || old == nil {
		return false
	}
	c.Groups[g].Values[k] = bytes.Repeat([]byte{0xff}, 19)
	_, err := c.Value(g, k)
	return err != nil
}

func (m *mutant) loseValue() bool {
	c := m.core()
	if c == nil || len(c.Groups) == 0 {
		return false
	}
	g := &c.Groups[m.IntN(len(c.Groups))]
	g.Values = g.Values[1:]
	return true
}

// divideGroup makes two groups, in a pack each, of one.
func (m *mutant) divideGroup() bool {
	p, ok := m.where(func(p spot) bool {
		group := p.get().Group
		n := 0
		for _, files := range p.core.Packs[p.pack].Inputs {
			for _, f := range files {
				if f.Group == group {
					n++
				}
			}
		}
		return n > 1
	})
	if !ok {
		return false
	}
	f := p.take()
	p.core.Groups = append(p.core.Groups, task.Group{Values: slices.Clone(p.core.Groups[f.Group].Values)})
	f.Group = len(p.core.Groups) - 1
	p.core.Packs = append(p.core.Packs, task.Pack{Groups: []int{f.Group}, Inputs: make([][]task.File, len(p.core.Tables))})
	p.put(f, len(p.core.Packs)-1)
	return true
}

func (m *mutant) losePack() bool {
	c, p, ok := m.pack()
	if ok {
		c.Packs = slices.Delete(c.Packs, p, p+1)
	}
	return ok
}

func (m *mutant) doublePack() bool {
	c, p, ok := m.pack()
	if ok {
		c.Packs = append(c.Packs, c.Packs[p])
	}
	return ok
}

func (m *mutant) loseInput() bool {
	c, p, ok := m.pack()
	if ok {
		c.Packs[p].Inputs = c.Packs[p].Inputs[1:]
	}
	return ok
}

// swapInputs lets a pack read each of two tables' files as the other's.
func (m *mutant) swapInputs() bool {
	c, p, ok := m.pack()
	if !ok || len(c.Tables) < 2 {
		return false
	}
	i := m.IntN(len(c.Tables))
	j := (i + 1 + m.IntN(len(c.Tables)-1)) % len(c.Tables)
	in := c.Packs[p].Inputs
	if c.Tables[i].Name == c.Tables[j].Name || len(in[i]) == len(in[j]) {
		return false
	}
	in[i], in[j] = in[j], in[i]
	return true
}

func (m *mutant) miscountFiles() bool {
	c := m.core()
	if c == nil {
		return false
	}
	c.Tables[m.IntN(len(c.Tables))].Files += 1 - 2*m.IntN(2)
	return true
}

func (m *mutant) miscountBytes() bool {
	c, p, ok := m.pack()
	if !ok {
		return false
	}
	switch m.IntN(3) {
	case 0:
		c.Packs[p].Bytes--
	case 1:
		c.Tables[m.IntN(len(c.Tables))].Bytes++
	case 2:
		c.Dropped.Bytes++
	}
	return true
}

func (m *mutant) miscountDropped() bool {
	c := m.core()
	if c == nil {
		return false
	}
	switch m.IntN(3) {
	case 0:
		c.Dropped.Files++
	case 1:
		c.Dropped.Groups = c.Dropped.Files + 1
	case 2:
		c.Dropped.NullGroups = c.Dropped.Groups + 1
	}
	return true
}

func (m *mutant) hideKey() bool {
	c := m.core()
	if c == nil {
		return false
	}
	t := &c.Tables[m.IntN(len(c.Tables))]
	if len(t.Sources) == 0 {
		return false
	}
	id := pick(m.Rand, t.Sources).Field
	for i, f := range t.Fields {
		if f.ID == id {
			t.Fields[i].ID = 1000
		}
	}
	return true
}

func (m *mutant) loseKey() bool {
	c := m.core()
	if c == nil {
		return false
	}
	if m.IntN(2) == 0 {
		c.Keys = c.Keys[1:]
		return true
	}
	t := &c.Tables[m.IntN(len(c.Tables))]
	if len(t.Sources) == 0 {
		return false
	}
	t.Sources = t.Sources[1:]
	return true
}

func (m *mutant) nameNoDelete() bool {
	p, ok := m.where(anywhere)
	if ok {
		f := p.get()
		f.Deletes = append(slices.Clone(f.Deletes), len(p.core.Tables[p.table].Deletes))
	}
	return ok
}

func (m *mutant) nameOtherDelete() bool {
	at := 0
	p, ok := m.where(func(p spot) bool {
		at = slices.IndexFunc(p.core.Tables[p.table].Deletes, func(d task.Delete) bool { return d.Target != "" && d.Target != p.get().Ref.Path })
		return at >= 0
	})
	if ok {
		at = slices.IndexFunc(p.core.Tables[p.table].Deletes, func(d task.Delete) bool { return d.Target != "" && d.Target != p.get().Ref.Path })
		p.get().Deletes = []int{at}
	}
	return ok
}

func (m *mutant) ageDelete() bool {
	p, ok := m.where(func(p spot) bool { return len(p.get().Deletes) > 0 })
	if ok {
		d := &p.core.Tables[p.table].Deletes[pick(m.Rand, p.get().Deletes)]
		for i := range d.Files {
			d.Files[i].Sequence = p.get().Sequence - 1
		}
	}
	return ok
}

func (m *mutant) unshape() bool {
	p, ok := m.where(anywhere)
	if ok {
		p.get().Shape = len(p.core.Tables[p.table].Shapes) + 1
	}
	return ok
}

func (m *mutant) loseCore() bool {
	if len(m.g.Cores) == 0 || m.g.Final != nil {
		return false
	}
	m.g.Cores = m.g.Cores[1:]
	return true
}

func (m *mutant) doubleCore() bool {
	c := m.core()
	if c != nil {
		m.g.Cores = append(m.g.Cores, *c)
	}
	return c != nil
}

func (m *mutant) loseFinal() bool {
	if m.g.Final == nil || len(m.g.Cores) == 1 {
		return false
	}
	m.g.Final = nil
	return true
}

func (m *mutant) doubleFinalFile() bool {
	if m.g.Final == nil {
		return false
	}
	for i := range m.g.Final.Tables {
		if t := &m.g.Final.Tables[i]; len(t.Files) > 0 {
			t.Files = append(t.Files, t.Files[0])
			return true
		}
	}
	return false
}
