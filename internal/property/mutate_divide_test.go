package property

import (
	"slices"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/task"
)

// table returns a random table of a random core that is so.
func (m *mutant) table(is func(c *task.Core, at int) bool) (*task.Core, int, bool) {
	c := m.core()
	if c == nil {
		return nil, 0, false
	}
	var all []int
	for t := range c.Tables {
		if is(c, t) {
			all = append(all, t)
		}
	}
	if len(all) == 0 {
		return nil, 0, false
	}
	return c, pick(m.Rand, all), true
}

func isRouted(c *task.Core, t int) bool { return len(c.Tables[t].Routed) > 0 }

func isEverywhere(c *task.Core, t int) bool { return len(c.Tables[t].Everywhere) > 0 }

func (m *mutant) loseRouted() bool {
	c, t, ok := m.table(isRouted)
	if ok {
		routed := &c.Tables[t].Routed
		c.Tables[t].Bytes -= (*routed)[0].Ref.Bytes
		*routed = (*routed)[1:]
	}
	return ok
}

func (m *mutant) doubleRouted() bool {
	c, t, ok := m.table(isRouted)
	if ok {
		f := pick(m.Rand, c.Tables[t].Routed)
		c.Tables[t].Routed = append(c.Tables[t].Routed, f)
		c.Tables[t].Files++
		c.Tables[t].Bytes += f.Ref.Bytes
	}
	return ok
}

// packRouted reads a routed file in a pack of all of whose groups it may be, too.
func (m *mutant) packRouted() bool {
	c, t, ok := m.table(func(c *task.Core, t int) bool { return isRouted(c, t) && len(c.Groups) > 0 })
	if !ok {
		return false
	}
	f := pick(m.Rand, c.Tables[t].Routed)
	f.Group = m.IntN(len(c.Groups))
	for p := range c.Packs {
		if slices.Contains(c.Packs[p].Groups, f.Group) {
			spot{core: c, table: t}.put(f, p)
		}
	}
	if m.IntN(2) == 0 {
		c.Tables[t].Files++
		c.Tables[t].Bytes += f.Ref.Bytes
	}
	return true
}

func (m *mutant) routePacked() bool {
	p, ok := m.where(anywhere)
	if !ok {
		return false
	}
	t := &p.core.Tables[p.table]
	t.Routed = append(t.Routed, *p.get())
	if t.Strays == nil {
		t.Strays = make([]bool, 1<<len(p.core.Keys))
	}
	t.Files++
	t.Bytes += p.get().Ref.Bytes
	return true
}

// dropStrays throws all routed rows of no group away.
func (m *mutant) dropStrays() bool {
	c, t, ok := m.table(func(c *task.Core, t int) bool { return slices.Contains(c.Tables[t].Strays, true) })
	if ok {
		for i := range c.Tables[t].Strays {
			c.Tables[t].Strays[i] = false
		}
	}
	return ok
}

func (m *mutant) forgetStrays() bool {
	c, t, ok := m.table(isRouted)
	if ok {
		c.Tables[t].Strays = c.Tables[t].Strays[1:]
	}
	return ok
}

func (m *mutant) inventStrays() bool {
	c, t, ok := m.table(func(c *task.Core, t int) bool { return !isRouted(c, t) })
	if ok {
		c.Tables[t].Strays = make([]bool, 1<<len(c.Keys))
	}
	return ok
}

// shareBin lets a pack read the bin of another one, with which it shares no group.
func (m *mutant) shareBin() bool {
	c, p, ok := m.pack()
	if !ok {
		return false
	}
	for i := range c.Packs {
		if c.Packs[i].Bin != c.Packs[p].Bin {
			c.Packs[p].Bin = c.Packs[i].Bin
			return true
		}
	}
	return false
}

func (m *mutant) addBin() bool {
	c := m.core()
	if c != nil {
		c.Bins++
	}
	return c != nil
}

func (m *mutant) missBin() bool {
	c, p, ok := m.pack()
	if ok {
		c.Packs[p].Bin = c.Bins
		if m.IntN(2) == 0 {
			c.Packs[p].Bin = -1
		}
	}
	return ok
}

// divided returns a pack that has a part of its group.
func (m *mutant) divided(is func(p *task.Pack) bool) (*task.Core, *task.Pack, bool) {
	c := m.core()
	if c == nil {
		return nil, nil, false
	}
	var all []*task.Pack
	for i := range c.Packs {
		if is(&c.Packs[i]) {
			all = append(all, &c.Packs[i])
		}
	}
	if len(all) == 0 {
		return nil, nil, false
	}
	return c, pick(m.Rand, all), true
}

func isSlice(p *task.Pack) bool { return p.Slice != nil }

func isPart(p *task.Pack) bool { return p.Part.Of > 1 }

// sliceOther says of all packs of a group that they have slices of another table, whose files they all have.
func (m *mutant) sliceOther() bool {
	c, p, ok := m.divided(isSlice)
	if !ok || len(c.Tables) < 2 {
		return false
	}
	to := (p.Slice.Table + 1 + m.IntN(len(c.Tables)-1)) % len(c.Tables)
	for i := range c.Packs {
		if c.Packs[i].Bin == p.Bin {
			c.Packs[i].Slice.Table = to
		}
	}
	return true
}

// sliceIllegally divides the files of a table of which the joins need all rows at once, and does that well.
func (m *mutant) sliceIllegally() bool {
	p, ok := m.where(func(p spot) bool {
		pack := &p.core.Packs[p.pack]
		return pack.Slice == nil && pack.Part.Of == 0 && len(pack.Groups) == 1 && len(*p.files()) > 1 && !mayDivide(p.core.Tree, p.table)
	})
	if !ok {
		return false
	}
	first := p.core.Packs[p.pack]
	second := first
	first.Slice, second.Slice = &task.Slice{Table: p.table, Index: 0, Of: 2}, &task.Slice{Table: p.table, Index: 1, Of: 2}
	first.Inputs, second.Inputs = slices.Clone(first.Inputs), slices.Clone(second.Inputs)
	files := *p.files()
	first.Inputs[p.table], second.Inputs[p.table] = slices.Clone(files[:1]), slices.Clone(files[1:])
	for _, f := range files[1:] {
		first.Bytes -= f.Ref.Bytes
	}
	second.Bytes -= files[0].Ref.Bytes
	p.core.Packs[p.pack] = first
	p.core.Packs = append(p.core.Packs, second)
	return true
}

// mayDivide says whether rows of a table come out of a tree's joins one by one, whatever other rows of the table there are.
func mayDivide(t *task.Tree, table int) bool {
	switch {
	case t == nil || t.Whole || t.Union != nil || t.Everywhere != nil:
		return false
	case t.Left == nil:
		return t.Table == table
	}
	inLeft, inRight := mayDivide(t.Left, table), mayDivide(t.Right, table)
	switch t.Kind {
	case plan.Inner:
		return inLeft || inRight
	case plan.Left, plan.Semi, plan.Anti:
		return inLeft
	case plan.Right:
		return inRight
	}
	return false
}

func (m *mutant) resizeSlice() bool {
	_, p, ok := m.divided(isSlice)
	if ok {
		p.Slice.Of++
	}
	return ok
}

func (m *mutant) repeatSlice() bool {
	_, p, ok := m.divided(isSlice)
	if ok {
		p.Slice.Index = (p.Slice.Index + 1) % p.Slice.Of
	}
	return ok
}

func (m *mutant) resizePart() bool {
	_, p, ok := m.divided(isPart)
	if ok {
		p.Part.Of++
	}
	return ok
}

func (m *mutant) repeatPart() bool {
	_, p, ok := m.divided(isPart)
	if ok {
		p.Part.Index = (p.Part.Index + 1) % p.Part.Of
	}
	return ok
}

func (m *mutant) undivide() bool {
	_, p, ok := m.divided(func(p *task.Pack) bool { return isSlice(p) || isPart(p) })
	if ok {
		p.Slice, p.Part = nil, task.Part{}
	}
	return ok
}

func (m *mutant) pretendPart() bool {
	_, p, ok := m.divided(func(p *task.Pack) bool { return !isSlice(p) && !isPart(p) })
	if ok {
		p.Part = task.Part{Index: m.IntN(2), Of: 2}
	}
	return ok
}

func (m *mutant) loseEverywhere() bool {
	c, t, ok := m.table(isEverywhere)
	if !ok {
		return false
	}
	if m.IntN(2) == 0 {
		c.Tables[t].Bytes -= c.Tables[t].Everywhere[0].Ref.Bytes
		c.Tables[t].Everywhere = c.Tables[t].Everywhere[1:]
		return true
	}
	for _, f := range c.Tables[t].Everywhere {
		c.Tables[t].Bytes -= f.Ref.Bytes
	}
	c.Tables[t].Everywhere = nil
	return true
}

func (m *mutant) doubleEverywhere() bool {
	c, t, ok := m.table(isEverywhere)
	if ok {
		f := pick(m.Rand, c.Tables[t].Everywhere)
		c.Tables[t].Everywhere = append(c.Tables[t].Everywhere, f)
		c.Tables[t].Files++
		c.Tables[t].Bytes += f.Ref.Bytes
	}
	return ok
}

func (m *mutant) packEverywhere() bool {
	c, t, ok := m.table(isEverywhere)
	if !ok || len(c.Packs) == 0 {
		return false
	}
	p := m.IntN(len(c.Packs))
	if len(c.Packs[p].Groups) == 0 {
		return false
	}
	f := c.Tables[t].Everywhere[0]
	f.Group = c.Packs[p].Groups[0]
	c.Tables[t].Everywhere = c.Tables[t].Everywhere[1:]
	spot{core: c, table: t}.put(f, p)
	return true
}

// joins returns the nodes of a tree.
func nodes(t *task.Tree) []*task.Tree {
	if t == nil {
		return nil
	}
	out := append([]*task.Tree{t}, append(nodes(t.Left), nodes(t.Right)...)...)
	for _, u := range t.Union {
		out = append(out, nodes(u)...)
	}
	return out
}

// preserveEverywhere makes a join with a table that is read everywhere one out of which rows of that table come: each pack
// would give them.
func (m *mutant) preserveEverywhere() bool {
	c, _, ok := m.table(isEverywhere)
	if !ok {
		return false
	}
	for _, n := range nodes(c.Tree) {
		if n.Left != nil && (n.Left.Everywhere != nil || n.Right.Everywhere != nil) {
			n.Kind = plan.Full
			return true
		}
	}
	return false
}

// leaf returns a random leaf of a core's tree.
func (m *mutant) leaf() (*task.Core, *task.Tree, bool) {
	c := m.core()
	if c == nil {
		return nil, nil, false
	}
	var all []*task.Tree
	for _, n := range nodes(c.Tree) {
		if n.Left == nil && n.Union == nil && n.Everywhere == nil {
			all = append(all, n)
		}
	}
	if len(all) == 0 {
		return nil, nil, false
	}
	return c, pick(m.Rand, all), true
}

func (m *mutant) forgetPlace() bool {
	c, n, ok := m.leaf()
	if ok {
		n.Table = (n.Table + 1) % len(c.Tables)
		if len(c.Tables) == 1 {
			n.Table = 1
		}
	}
	return ok
}

func (m *mutant) doublePlace() bool {
	c, n, ok := m.leaf()
	if ok {
		c.Tree = &task.Tree{Kind: plan.Inner, Left: c.Tree, Right: &task.Tree{Table: n.Table}, Strict: make([]bool, len(c.Keys))}
	}
	return ok
}

func (m *mutant) loseTree() bool {
	c := m.core()
	if c != nil {
		c.Tree = nil
	}
	return c != nil
}
