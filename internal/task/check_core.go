package task

import (
	"fmt"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan/layout"
	"github.com/tarndb/tarn/transform"
)

func checkCore(c *Core) error {
	if len(c.Keys) == 0 {
		return broken(c.Name, "the core has no keys")
	}
	if err := checkGroups(c); err != nil {
		return err
	}
	roles, err := checkTree(c)
	if err != nil {
		return err
	}
	home, err := homes(c, roles)
	if err != nil {
		return err
	}
	for t := range c.Tables {
		check := checkTable
		if roles[t] == everywhere {
			check = checkEverywhere
		}
		if err := check(c, t, home); err != nil {
			return err
		}
	}
	if err := checkTuples(c); err != nil {
		return err
	}
	return checkSums(c)
}

// checkTuples checks that a pack whose rows are of one partition tuple has all of that tuple's: another pack's would make
// another file of it. Rows that are routed may be of any tuple.
func checkTuples(c *Core) error {
	seen := map[string]int{}
	for p, pack := range c.Packs {
		if pack.Tuple == nil {
			continue
		}
		for _, t := range c.Tables {
			if len(t.Routed) > 0 {
				return broken(t.Name, "rows are routed to packs of one tuple")
			}
		}
		key := ""
		for _, v := range pack.Tuple {
			key += fmt.Sprintf("%t %q ", v == nil, v)
		}
		if other, ok := seen[key]; ok {
			return broken(c.Name, "packs %d and %d have one tuple", other, p)
		}
		if pack.Slice != nil || pack.Part.Of != 0 {
			return broken(c.Name, "pack %d has a tuple and divides a group", p)
		}
		seen[key] = p
	}
	return nil
}

// checkAlso checks that the columns by which a group's rows are divided besides its keys stand side by side in all tables that are read
// by groups: columns of types that compare alike. That the joins compare them is the planner's to prove.
func checkAlso(c *Core, at int) error {
	t, first := &c.Tables[at], &c.Tables[0]
	if len(t.Also) != len(first.Also) {
		return broken(t.Name, "its rows are divided by %d further columns, those of %s by %d", len(t.Also), first.Name, len(first.Also))
	}
	for i := range t.Also {
		own, ok := classOf(&t.Input, t.Also[i])
		other, ok2 := classOf(&first.Input, first.Also[i])
		if !ok || !ok2 || own != other {
			return broken(t.Name, "column %d, by which its rows are divided, isn't read, or is like none of %s", t.Also[i], first.Name)
		}
	}
	return nil
}

func classOf(in *Input, id catalog.FieldID) (layout.Class, bool) {
	for _, f := range in.Fields {
		if f.ID == id {
			return layout.ClassOf(f.Type.Primitive)
		}
	}
	return layout.Class{}, false
}

// checkGroups checks that groups are told apart by their values: rows that match would else be parted.
func checkGroups(c *Core) error {
	seen := map[string]int{}
	for g, group := range c.Groups {
		if len(group.Values) != len(c.Keys) {
			return broken(c.Name, "group %d has %d values for %d keys", g, len(group.Values), len(c.Keys))
		}
		var key []byte
		for k := range c.Keys {
			v, err := c.Value(g, k)
			if err != nil {
				return broken(c.Name, "group %d has no value of %s: %v", g, c.Keys[k].Text, err)
			}
			key = transform.AppendKey(key, c.Keys[k].Type, v)
		}
		if other, ok := seen[string(key)]; ok {
			return broken(c.Name, "groups %d and %d have the same values", other, g)
		}
		seen[string(key)] = g
	}
	return nil
}

// homes returns the packs of each group: one, or several that divide it.
func homes(c *Core, roles []role) ([][]int, error) {
	home := make([][]int, len(c.Groups))
	for p := range c.Packs {
		pack := &c.Packs[p]
		if len(pack.Inputs) != len(c.Tables) {
			return nil, broken(c.Name, "pack %d has inputs for %d of %d tables", p, len(pack.Inputs), len(c.Tables))
		}
		if pack.Bin < 0 || pack.Bin >= c.Bins {
			return nil, broken(c.Name, "pack %d reads bin %d of %d", p, pack.Bin, c.Bins)
		}
		for _, g := range pack.Groups {
			if g < 0 || g >= len(home) {
				return nil, broken(c.Name, "pack %d names group %d of %d", p, g, len(home))
			}
			if slices.Contains(home[g], p) {
				return nil, broken(c.Name, "group %d is twice in pack %d", g, p)
			}
			home[g] = append(home[g], p)
		}
	}
	for g, packs := range home {
		if len(packs) == 0 {
			return nil, broken(c.Name, "group %d is in no pack", g)
		}
		for _, p := range packs[1:] {
			if c.Packs[p].Bin != c.Packs[packs[0]].Bin {
				return nil, broken(c.Name, "group %d is in packs %d and %d, which don't divide it", g, packs[0], p)
			}
		}
	}
	return home, checkBins(c, roles)
}

// checkBins checks that each bin of routed rows is read by one pack, or by packs that divide one group and it.
func checkBins(c *Core, roles []role) error {
	readers := make([][]int, c.Bins)
	for p := range c.Packs {
		readers[c.Packs[p].Bin] = append(readers[c.Packs[p].Bin], p)
	}
	for bin, packs := range readers {
		if len(packs) == 0 {
			return broken(c.Name, "no pack reads bin %d", bin)
		}
		first := c.Packs[packs[0]]
		count := 1
		switch {
		case first.Slice != nil:
			count = first.Slice.Of
		case first.Part.Of != 0:
			count = first.Part.Of
		}
		if count != len(packs) {
			return broken(c.Name, "bin %d is read by %d packs, not %d", bin, len(packs), count)
		}
		for i, p := range packs {
			if err := checkShare(c, roles, p, packs[:i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkShare checks one of the packs that read a bin against those before it: they divide the same group in the same way,
// and no part comes twice.
func checkShare(c *Core, roles []role, at int, before []int) error {
	p := &c.Packs[at]
	switch {
	case p.Slice != nil && p.Part.Of != 0:
		return broken(c.Name, "pack %d is divided in two ways", at)
	case p.Slice != nil && (p.Slice.Table < 0 || p.Slice.Table >= len(c.Tables) || roles[p.Slice.Table] != divisible):
		return broken(c.Name, "pack %d divides table %d, of which the joins need all rows at once", at, p.Slice.Table)
	case p.Slice != nil && (p.Slice.Index < 0 || p.Slice.Index >= p.Slice.Of):
		return broken(c.Name, "pack %d is slice %d of %d", at, p.Slice.Index, p.Slice.Of)
	case p.Part.Of != 0 && (p.Part.Index < 0 || p.Part.Index >= p.Part.Of), p.Part.Of < 0:
		return broken(c.Name, "pack %d is part %d of %d", at, p.Part.Index, p.Part.Of)
	case (p.Slice != nil || p.Part.Of != 0) && len(p.Groups) != 1:
		return broken(c.Name, "pack %d divides %d groups", at, len(p.Groups))
	}
	for _, other := range before {
		q := &c.Packs[other]
		sameWay := (p.Slice == nil) == (q.Slice == nil) && p.Part.Of == q.Part.Of &&
			(p.Slice == nil || p.Slice.Table == q.Slice.Table && p.Slice.Of == q.Slice.Of && p.Slice.Index != q.Slice.Index) &&
			(p.Part.Of == 0 || p.Part.Index != q.Part.Index)
		if !sameWay || !slices.Equal(p.Groups, q.Groups) {
			return broken(c.Name, "packs %d and %d read one bin and don't divide a group between them", other, at)
		}
	}
	return nil
}

// checkTable checks one table's files, and that the columns that carry the keys are read: each row's key is compared with
// its file's group.
func checkTable(c *Core, at int, home [][]int) error {
	t := &c.Tables[at]
	if err := checkNames(&t.Input); err != nil {
		return err
	}
	if len(t.Sources) != len(c.Keys) {
		return broken(t.Name, "%d sources for %d keys", len(t.Sources), len(c.Keys))
	}
	for k, s := range t.Sources {
		if !reads(t, s.Field) {
			return broken(t.Name, "the column of %s isn't read", c.Keys[k].Text)
		}
		if !s.Transform.CanApply(s.Type) {
			return broken(t.Name, "%s is not defined on %s", s.Transform, s.Type)
		}
	}
	switch {
	case t.Repeats:
		return broken(t.Name, "files that come more than once are no groups")
	case len(t.Everywhere) > 0:
		return broken(t.Name, "files are read everywhere of a table that is joined by groups")
	}
	if err := checkAlso(c, at); err != nil {
		return err
	}
	if err := checkSieves(c, at); err != nil {
		return err
	}
	readers, err := readersOf(c, at, home)
	if err != nil {
		return err
	}
	for path, packs := range readers {
		if want := wanted(c, at, packs[0]); len(packs) != want {
			return broken(path, "the file is read by %d packs, not %d", len(packs), want)
		}
	}
	newest := newestOf(&t.Input)
	for _, f := range t.Routed {
		if readers[f.Ref.Path] != nil {
			return broken(f.Ref.Path, "the file is read twice")
		}
		readers[f.Ref.Path] = []int{-1}
		if err := checkFile(&t.Input, f, newest); err != nil {
			return err
		}
	}
	if len(readers)+t.Dropped != t.Files {
		return broken(t.Name, "%d files are read and %d dropped, of %d", len(readers), t.Dropped, t.Files)
	}
	return checkStrays(c, at)
}

// readersOf returns which packs read each of a table's files, and checks that each file's group is there.
func readersOf(c *Core, at int, home [][]int) (map[string][]int, error) {
	t := &c.Tables[at]
	readers, newest := map[string][]int{}, newestOf(&t.Input)
	for p, pack := range c.Packs {
		for _, f := range pack.Inputs[at] {
			if slices.Contains(readers[f.Ref.Path], p) {
				return nil, broken(f.Ref.Path, "the file is twice in pack %d", p)
			}
			readers[f.Ref.Path] = append(readers[f.Ref.Path], p)
			if f.Group < 0 || f.Group >= len(home) || !slices.Contains(home[f.Group], p) {
				return nil, broken(f.Ref.Path, "the file of group %d is in pack %d", f.Group, p)
			}
			if err := checkFile(&t.Input, f, newest); err != nil {
				return nil, err
			}
		}
	}
	return readers, nil
}

// wanted returns how many packs must read a file of a table that the pack reads.
func wanted(c *Core, table, pack int) int {
	switch p := &c.Packs[pack]; {
	case p.Slice != nil && p.Slice.Table != table:
		return p.Slice.Of
	case p.Part.Of != 0:
		return p.Part.Of
	}
	return 1
}

// checkEverywhere checks a table that each pack reads whole.
func checkEverywhere(c *Core, at int, _ [][]int) error {
	t := &c.Tables[at]
	for p := range c.Packs {
		if len(c.Packs[p].Inputs[at]) > 0 {
			return broken(t.Name, "pack %d has files of a table that is read everywhere", p)
		}
	}
	switch {
	case len(t.Routed) > 0 || len(t.Sources) > 0 || t.Dropped > 0 || t.Strays != nil:
		return broken(t.Name, "a table that is read everywhere has groups")
	case len(t.Everywhere) != t.Files:
		return broken(t.Name, "%d of %d files are read everywhere", len(t.Everywhere), t.Files)
	}
	return checkWhole(Whole{Input: t.Input, Files: t.Everywhere})
}

func reads(t *Table, id catalog.FieldID) bool {
	return slices.ContainsFunc(t.Fields, func(f catalog.Field) bool { return f.ID == id })
}

// checkSums checks what is counted: packs' bytes, which steer memory, and what was dropped.
func checkSums(c *Core) error {
	var all, read int64
	files, dropped := 0, 0
	seen := map[string]bool{}
	for at, t := range c.Tables {
		all += t.Bytes
		files += t.Files
		dropped += t.Dropped
		read += BytesOf(t.Routed) + BytesOf(t.Everywhere)
		clear(seen)
		for p := range c.Packs {
			for _, f := range c.Packs[p].Inputs[at] {
				if !seen[f.Ref.Path] {
					read += f.Ref.Bytes
				}
				seen[f.Ref.Path] = true
			}
		}
	}
	for p, pack := range c.Packs {
		var bytes int64
		for _, inputs := range pack.Inputs {
			bytes += BytesOf(inputs)
		}
		if bytes != pack.Bytes {
			return broken(c.Name, "pack %d says %d bytes and has %d", p, pack.Bytes, bytes)
		}
	}
	d := c.Dropped
	if d.Files != dropped || read+d.Bytes != all || d.Groups < d.NullGroups || d.NullGroups < 0 || d.Groups > d.Files {
		return broken(c.Name, "of %s %s are read, and dropped are %+v", amount(files, all), amount(files-dropped, read), d)
	}
	return nil
}

func amount(files int, bytes int64) string { return fmt.Sprintf("%d files (%d bytes)", files, bytes) }
