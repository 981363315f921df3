package task

import (
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

// Check proves a graph whole, from the graph alone: each file of a table is in one pack, is routed, is read everywhere, or
// was dropped; each group is in one pack, or in several that divide it as its joins allow, and no other has its values; no
// file is in a pack without its group, and all of a group's files are there; a place tells one row. It runs before every graph, and knows nothing
// of how graphs are built.
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
		return checkPlaces(g)
	}
	for _, t := range g.Final.Tables {
		if err := checkWhole(t); err != nil {
			return err
		}
	}
	return checkPlaces(g)
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
