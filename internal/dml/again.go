package dml

import (
	"context"
	"slices"

	"github.com/tarndb/tarn/internal/task"
	"github.com/tarndb/tarn/internal/write"
)

// keysOf returns the keys of a pack's groups.
func keysOf(g *task.Graph, p *task.Pack) []string {
	groups := g.Cores[0].Groups
	out := make([]string, len(p.Groups))
	for i, at := range p.Groups {
		out[i] = groups[at].Key()
	}
	return out
}

// Again has a statement that met a conflict go on, where only some of its groups have to be run again. The graph is planned on the newer
// version of the table, like target; alone says that the statement's text reads nothing but the tables of the graph. What came of groups
// that changed, and all that is mixed with it, is taken back. What is returned is the graph of the groups that have to be run, and how
// many they are; false says that the whole statement has to be run again, by another sink and another job.
//
// The outcome is that of a whole run of the new graph. Groups that didn't change give what they gave (task.Changed), so that what is
// to be shown is that exactly what came of the others is taken back, and exactly those are run. Everything that comes of a pack
// goes to one of these places: to partitions, whose new files have its new rows; and to data files, of which it has edits. What is
// in a partition's new files came from the parts that gave rows to it, and from the data files that were rewritten into it. So parts
// are together that share a group, a partition or a data file, and so are those of a data file and of the partition that it was
// rewritten into. With a part that has a group that changed all parts that are together with it are taken back, with their groups,
// partitions and data files, to which no other part gave anything; their groups are run. A data file that others rewrote or deleted
// from meanwhile has changed its group, so that the edits that are kept are of files that are as they were. What runs reads none of
// those files, and so has no edits of them: of a table that each pack reads whole, any group might, and the whole statement runs.
func (s *Sink) Again(ctx context.Context, target *write.Target, graph *task.Graph, alone bool) (some *task.Graph, groups int, ok bool, err error) {
	if !alone || !s.job.CanResume(target) || slices.ContainsFunc(s.parts, func(p part) bool { return p.isMixed }) {
		return nil, 0, false, nil
	}
	changed, ok := task.Changed(s.planned, graph)
	if !ok {
		return nil, 0, false, nil
	}
	back, kept := together(s.parts, changed, s.job.PartitionOf)
	partitions, files := map[string]bool{}, map[string]bool{}
	for _, p := range back {
		for _, key := range p.groups {
			changed[key] = true
		}
		for _, key := range p.partitions {
			partitions[key] = true
		}
		for path := range p.files {
			files[path] = true
			if key, ok := s.job.PartitionOf(path); ok {
				partitions[key] = true
			}
		}
	}
	running := graph.Only(func(key string) bool { return changed[key] })
	if mayMeet(kept, running.Reads()) {
		return nil, 0, false, nil
	}
	for path := range files {
		s.edits.Forget(path)
		if s.matched != nil {
			s.matched.Forget(path)
		}
	}
	s.parts, s.planned = kept, graph
	s.follow(running)
	return running, len(running.Cores[0].Groups), true, s.job.Resume(ctx, target, partitions, files)
}

// mayMeet says whether what reads the files of some paths may have edits of a file that parts have edits of.
func mayMeet(parts []part, reads map[string]bool) bool {
	for _, p := range parts {
		for path := range p.files {
			if reads[path] {
				return true
			}
		}
	}
	return false
}

// together parts what came of packs into what belongs together with a group that changed, and the rest. partitionOf tells the partition
// that a data file was rewritten into.
func together(parts []part, changed map[string]bool, partitionOf func(path string) (string, bool)) (back, kept []part) {
	// What parts share: texts that begin with what they are.
	shared := map[string][]int{}
	of := make([][]string, len(parts))
	for i, p := range parts {
		for _, key := range p.groups {
			of[i] = append(of[i], "group "+key)
		}
		for _, key := range p.partitions {
			of[i] = append(of[i], "partition "+key)
		}
		for path := range p.files {
			of[i] = append(of[i], "file "+path)
			if key, ok := partitionOf(path); ok {
				of[i] = append(of[i], "partition "+key)
			}
		}
		for _, what := range of[i] {
			shared[what] = append(shared[what], i)
		}
	}
	isBack := make([]bool, len(parts))
	var todo []int
	take := func(i int) {
		if !isBack[i] {
			isBack[i], todo = true, append(todo, i)
		}
	}
	for i, p := range parts {
		if slices.ContainsFunc(p.groups, func(key string) bool { return changed[key] }) {
			take(i)
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, what := range of[i] {
			for _, other := range shared[what] {
				take(other)
			}
			delete(shared, what)
		}
	}
	for i, p := range parts {
		if isBack[i] {
			back = append(back, p)
		} else {
			kept = append(kept, p)
		}
	}
	return back, kept
}
