package task

import (
	"fmt"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// Check proves a graph whole, from the graph alone: each file of a table is in one pack or was dropped, each group is in
// one pack and no other has its values, no file is in a pack without its group, and all of a group's files are there. It
// runs before every graph, and knows nothing of how graphs are built.
func Check(g *Graph) error {
	names := map[string]bool{}
	for i := range g.Cores {
		c := &g.Cores[i]
		if names[c.Name] {
			return broken(c.Name, "two cores have the name")
		}
		names[c.Name] = true
		if err := checkCore(c); err != nil {
			return err
		}
	}
	if g.Final == nil {
		if len(g.Cores) != 1 {
			return broken("", "%d cores and no final step", len(g.Cores))
		}
		return nil
	}
	for _, t := range g.Final.Tables {
		if err := checkWhole(t); err != nil {
			return err
		}
	}
	return nil
}

func broken(object, format string, args ...any) error {
	return errs.New(errs.Internal, "check task graph", object, format, args...)
}

// checkNames checks that an input's fields have a name each.
func checkNames(in *Input) error {
	if in.Names != nil && len(in.Names) != len(in.Fields) {
		return broken(in.Name, "there are %d names of %d columns", len(in.Names), len(in.Fields))
	}
	return nil
}

// checkWhole checks a table that is read whole: no file twice.
func checkWhole(t Whole) error {
	if err := checkNames(&t.Input); err != nil {
		return err
	}
	seen, newest := map[string]bool{}, newestOf(&t.Input)
	for _, f := range t.Files {
		if seen[f.Ref.Path] && !t.Repeats {
			return broken(f.Ref.Path, "the final step reads the file twice")
		}
		seen[f.Ref.Path] = true
		if err := checkFile(&t.Input, f, newest); err != nil {
			return err
		}
	}
	return nil
}

func checkCore(c *Core) error {
	if len(c.Keys) == 0 {
		return broken(c.Name, "the core has no keys")
	}
	if err := checkGroups(c); err != nil {
		return err
	}
	home, err := homes(c)
	if err != nil {
		return err
	}
	for t := range c.Tables {
		if err := checkTable(c, t, home); err != nil {
			return err
		}
	}
	return checkSums(c)
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

// homes returns the one pack of each group.
func homes(c *Core) ([]int, error) {
	home := make([]int, len(c.Groups))
	for i := range home {
		home[i] = -1
	}
	for p := range c.Packs {
		if len(c.Packs[p].Inputs) != len(c.Tables) {
			return nil, broken(c.Name, "pack %d has inputs for %d of %d tables", p, len(c.Packs[p].Inputs), len(c.Tables))
		}
		for _, g := range c.Packs[p].Groups {
			if g < 0 || g >= len(home) {
				return nil, broken(c.Name, "pack %d names group %d of %d", p, g, len(home))
			}
			if home[g] >= 0 {
				return nil, broken(c.Name, "group %d is in packs %d and %d", g, home[g], p)
			}
			home[g] = p
		}
	}
	for g, p := range home {
		if p < 0 {
			return nil, broken(c.Name, "group %d is in no pack", g)
		}
	}
	return home, nil
}

// checkTable checks one table's files, and that the columns that carry the keys are read: each row's key is compared with
// its file's group.
func checkTable(c *Core, at int, home []int) error {
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
	}
	if t.Repeats {
		return broken(t.Name, "files that come more than once are no groups")
	}
	seen, newest := map[string]int{}, newestOf(&t.Input)
	for p, pack := range c.Packs {
		for _, f := range pack.Inputs[at] {
			if other, ok := seen[f.Ref.Path]; ok {
				return broken(f.Ref.Path, "the file is in packs %d and %d", other, p)
			}
			seen[f.Ref.Path] = p
			if f.Group < 0 || f.Group >= len(home) || home[f.Group] != p {
				return broken(f.Ref.Path, "the file of group %d is in pack %d", f.Group, p)
			}
			if err := checkFile(&t.Input, f, newest); err != nil {
				return err
			}
		}
	}
	if len(seen)+t.Dropped != t.Files {
		return broken(t.Name, "%d files are read and %d dropped, of %d", len(seen), t.Dropped, t.Files)
	}
	return nil
}

// newestOf returns the highest sequence number of each of an input's deletes.
func newestOf(in *Input) []int64 {
	newest := make([]int64, len(in.Deletes))
	for i := range in.Deletes {
		newest[i] = -1
		for _, f := range in.Deletes[i].Files {
			newest[i] = max(newest[i], f.Sequence)
		}
	}
	return newest
}

// checkFile checks what a file names: its delete files must be meant for it, or a row would come back or be lost, and its
// shape must be there.
func checkFile(in *Input, f File, newest []int64) error {
	if f.Shape < 0 || f.Shape > len(in.Shapes) || f.ByName && f.Shape == 0 {
		return broken(f.Ref.Path, "the file is of shape %d of %d", f.Shape, len(in.Shapes))
	}
	vectors := 0
	for _, at := range append(slices.Clone(f.Deletes), f.Newly...) {
		if at < 0 || at >= len(in.Deletes) {
			return broken(f.Ref.Path, "it names delete file %d of %d", at, len(in.Deletes))
		}
		d := &in.Deletes[at]
		switch {
		case d.Kind != catalog.EqualityDeletes && len(d.Files) != 1:
			return broken(f.Ref.Path, "%s of %d files", d.Kind, len(d.Files))
		case d.Target != "" && d.Target != f.Ref.Path:
			return broken(f.Ref.Path, "it names a delete file of %s", d.Target)
		case d.Kind == catalog.EqualityDeletes && newest[at] <= f.Sequence, newest[at] < f.Sequence:
			return broken(f.Ref.Path, "its sequence number is %d, that of its %s %d", f.Sequence, d.Kind, newest[at])
		case d.Kind == catalog.DeletionVector:
			vectors++
		}
	}
	if vectors > 1 && !in.Repeats {
		return broken(f.Ref.Path, "it has %d deletion vectors", vectors)
	}
	return nil
}

func reads(t *Table, id catalog.FieldID) bool {
	for _, f := range t.Fields {
		if f.ID == id {
			return true
		}
	}
	return false
}

// checkSums checks what is counted: packs' bytes, which steer memory, and what was dropped.
func checkSums(c *Core) error {
	var all, read int64
	files, dropped := 0, 0
	for _, t := range c.Tables {
		all += t.Bytes
		files += t.Files
		dropped += t.Dropped
	}
	for p, pack := range c.Packs {
		var bytes int64
		for _, inputs := range pack.Inputs {
			bytes += bytesOf(inputs)
		}
		if bytes != pack.Bytes {
			return broken(c.Name, "pack %d says %d bytes and has %d", p, pack.Bytes, bytes)
		}
		read += bytes
	}
	d := c.Dropped
	if d.Files != dropped || read+d.Bytes != all || d.Groups < d.NullGroups || d.NullGroups < 0 || d.Groups > d.Files {
		return broken(c.Name, "of %s %s are read, and dropped are %+v", amount(files, all), amount(files-dropped, read), d)
	}
	return nil
}

func amount(files int, bytes int64) string { return fmt.Sprintf("%d files (%d bytes)", files, bytes) }
