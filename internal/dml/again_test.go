package dml

import (
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/task"
)

// TestTogether: what shares a group, a partition or a file with what is taken back is taken back with it.
func TestTogether(t *testing.T) {
	of := func(groups, partitions string, files ...string) part {
		p := part{groups: strings.Fields(groups), partitions: strings.Fields(partitions), files: map[string]bool{}}
		for _, f := range files {
			p.files[f] = true
		}
		return p
	}
	rewritten := map[string]string{"f": "P", "g": "Q"}
	partitionOf := func(path string) (string, bool) {
		key, ok := rewritten[path]
		return key, ok
	}
	for _, c := range []struct {
		name    string
		parts   []part
		changed string
		kept    string // the first group of each part
	}{
		{"nothing changed", []part{of("a", "P"), of("b", "P")}, "z", "a b"},
		{"apart", []part{of("a", "P"), of("b", "Q"), of("c", "")}, "a", "b c"},
		{"packs of one group", []part{of("a", "P"), of("a", "Q"), of("b", "R")}, "a", "b"},
		{"groups of one pack", []part{of("a b", ""), of("b c", ""), of("d", "")}, "c", "d"},
		{"a partition", []part{of("a", "P"), of("b", "P Q"), of("c", "Q"), of("d", "R")}, "a", "d"},
		{"a data file", []part{of("a", "", "x"), of("b", "", "x", "y"), of("c", "", "z")}, "a", "c"},
		{"rows beside those of a rewritten file", []part{of("a", "P"), of("b", "", "f"), of("c", "", "g")}, "a", "c"},
		{"files of one partition", []part{of("a", "", "g"), of("b", "Q"), of("c", "P", "f")}, "b", "c"},
	} {
		changed := map[string]bool{}
		for _, key := range strings.Fields(c.changed) {
			changed[key] = true
		}
		back, kept := together(c.parts, changed, partitionOf)
		var got []string
		for _, p := range kept {
			got = append(got, p.groups[0])
		}
		if want := strings.Fields(c.kept); !slices.Equal(got, want) || len(back)+len(kept) != len(c.parts) {
			t.Errorf("%s: kept are %v, wanted %v", c.name, got, want)
		}
	}
}

// TestMayMeet: of a table that each pack reads whole, what is kept and what runs again may change rows of one file.
func TestMayMeet(t *testing.T) {
	kept := []part{{files: map[string]bool{"a": true}}, {files: map[string]bool{"b": true, "c": true}}, {}}
	graph := &task.Graph{Cores: []task.Core{{
		Tables: []task.Table{{}, {Everywhere: []task.File{{Ref: catalog.FileRef{Path: "c"}}}}},
		Packs:  []task.Pack{{Inputs: [][]task.File{{{Ref: catalog.FileRef{Path: "d"}}}, nil}}},
	}}}
	if !mayMeet(kept, graph.Reads()) {
		t.Error("a file that is read everywhere isn't seen")
	}
	graph.Cores[0].Tables[1].Everywhere = nil
	if mayMeet(kept, graph.Reads()) {
		t.Error("no file is shared")
	}
	graph.Cores[0].Packs[0].Inputs[0][0].Ref.Path = "a"
	if !mayMeet(kept, graph.Reads()) {
		t.Error("a pack's file isn't seen")
	}
}
