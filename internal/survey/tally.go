package survey

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/tarndb/tarn/catalog"
)

// tally gathers what a survey counts, of one manifest or of all.
type tally struct {
	catalog.ScanCounts
	groups   map[string]*group
	manifest int
	key      []byte // of the group at hand
	sums     *columnSums
}

// group is a GroupSum, of files that are contradicted in the same fields, and the places of its liars' manifests, so that the liars named don't depend on who was faster.
type group struct {
	catalog.GroupSum
	liarIn map[int]int
}

func (t *tally) add(f catalog.DataFile) {
	t.key = binary.BigEndian.AppendUint64(catalog.AppendTupleKey(t.key[:0], f.Spec, f.Partition), f.Contradicts)
	g, ok := t.groups[string(t.key)]
	if !ok {
		g = &group{GroupSum: catalog.GroupSum{Spec: f.Spec, Partition: f.Partition, Contradicts: f.Contradicts}}
		t.groups[string(t.key)] = g
	}
	one := group{GroupSum: catalog.GroupSum{Files: 1, Rows: f.Rows, Bytes: f.Ref.Bytes}}
	for at := range f.Partition {
		if f.Contradicts&(1<<uint(at)) != 0 {
			one.blame(at, f.Ref.Path, t.manifest)
		}
	}
	g.join(one)
	t.Rows += f.Rows
	t.Bytes += f.Ref.Bytes
}

func (g *group) join(other group) {
	g.Files += other.Files
	g.Rows += other.Rows
	g.Bytes += other.Bytes
	for at, path := range other.Liars {
		if in, known := g.liarIn[at]; !known || other.liarIn[at] < in {
			g.blame(at, path, other.liarIn[at])
		}
	}
}

// blame names the file whose bounds contradict a field, and the place of its manifest.
func (g *group) blame(at int, path string, manifest int) {
	if g.Liars == nil {
		g.Liars, g.liarIn = map[int]string{}, map[int]int{}
	}
	g.Liars[at], g.liarIn[at] = path, manifest
}

func (t *tally) merge(part tally) {
	t.Files += part.Files
	t.FilesPruned += part.FilesPruned
	t.PrunedByPartition += part.PrunedByPartition
	t.PrunedByBounds += part.PrunedByBounds
	t.Rows += part.Rows
	t.Bytes += part.Bytes
	t.sums.merge(part.sums)
	for key, g := range part.groups {
		if mine, ok := t.groups[key]; ok {
			mine.join(*g)
		} else {
			t.groups[key] = g
		}
	}
}

func (t *tally) sorted() []catalog.GroupSum {
	keys := make([]string, 0, len(t.groups))
	for key := range t.groups {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, cmp.Compare[string])
	sums := make([]catalog.GroupSum, len(keys))
	for i, key := range keys {
		sums[i] = t.groups[key].GroupSum
	}
	return sums
}
