package task

import (
	"github.com/tarndb/tarn/internal/errs"
)

// Check proves a graph whole, from the graph alone: each file of a table is in one pack or was dropped, each group is in
// one pack, no file is in a pack without its group, and all of a group's files are there. It runs before every graph, and
// knows nothing of how graphs are built.
func Check(g *Graph) error {
	for i := range g.Cores {
		if err := checkCore(&g.Cores[i]); err != nil {
			return err
		}
	}
	if g.Final == nil && len(g.Cores) != 1 {
		return broken("", "%d cores and no final step", len(g.Cores))
	}
	return nil
}

func broken(object, format string, args ...any) error {
	return errs.New(errs.Internal, "check task graph", object, format, args...)
}

func checkCore(c *Core) error {
	home := make([]int, len(c.Groups))
	for i := range home {
		home[i] = -1
	}
	for p := range c.Packs {
		for _, g := range c.Packs[p].Groups {
			if g < 0 || g >= len(home) {
				return broken(c.Name, "pack %d names group %d of %d", p, g, len(home))
			}
			if home[g] >= 0 {
				return broken(c.Name, "group %d is in packs %d and %d", g, home[g], p)
			}
			home[g] = p
		}
	}
	for g, p := range home {
		if p < 0 {
			return broken(c.Name, "group %d is in no pack", g)
		}
	}
	for g, group := range c.Groups {
		if len(group.Values) != len(c.Keys) {
			return broken(c.Name, "group %d has %d values for %d keys", g, len(group.Values), len(c.Keys))
		}
	}
	return checkFiles(c, home)
}

func checkFiles(c *Core, home []int) error {
	var read, readBytes, all, allBytes int64
	for t, table := range c.Tables {
		all += int64(table.Files)
		allBytes += table.Bytes
		if len(table.Sources) != len(c.Keys) {
			return broken(table.Name, "%d sources for %d keys", len(table.Sources), len(c.Keys))
		}
		seen := map[string]int{}
		for p, pack := range c.Packs {
			if len(pack.Inputs) != len(c.Tables) {
				return broken(c.Name, "pack %d has inputs for %d of %d tables", p, len(pack.Inputs), len(c.Tables))
			}
			for _, f := range pack.Inputs[t] {
				if other, ok := seen[f.Ref.Path]; ok {
					return broken(f.Ref.Path, "the file is in packs %d and %d", other, p)
				}
				seen[f.Ref.Path] = p
				if f.Group < 0 || f.Group >= len(home) || home[f.Group] != p {
					return broken(f.Ref.Path, "the file of group %d is in pack %d", f.Group, p)
				}
				read++
				readBytes += f.Ref.Bytes
			}
		}
	}
	if read+int64(c.Dropped.Files) != all || readBytes+c.Dropped.Bytes != allBytes {
		return broken(c.Name, "%d files are read and %d dropped, of %d", read, c.Dropped.Files, all)
	}
	return nil
}
