package catalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tarndb/tarn/transform"
)

// specOf makes a spec of fields such as "1000 a_bucket: bucket[4] of 1", parted by commas.
func specOf(t *testing.T, id SpecID, text string) PartitionSpec {
	t.Helper()
	spec := PartitionSpec{ID: id}
	for part := range strings.SplitSeq(text, ", ") {
		if part == "" {
			continue
		}
		head, tail, _ := strings.Cut(part, ": ")
		fn, source, _ := strings.Cut(tail, " of ")
		f := PartitionField{SourceType: transform.Type{Kind: transform.String}}
		var column FieldID
		if _, err := fmt.Sscanf(head+" "+source, "%d %s %d", &f.ID, &f.Name, &column); err != nil {
			t.Fatal(part, err)
		}
		f.Sources = []FieldID{column}
		var err error
		if f.Transform, err = transform.Parse(fn); err != nil {
			t.Fatal(err)
		}
		spec.Fields = append(spec.Fields, f)
	}
	return spec
}

func TestPartitionType(t *testing.T) {
	for _, c := range []struct {
		name  string
		specs []string // by their IDs
		want  string   // the struct's fields with their IDs, and where the specs' fields are in it
	}{
		{"unpartitioned", []string{""}, ""},
		{"one", []string{"1000 a: identity of 1, 1001 b: bucket[4] of 2"}, "1000 a string, 1001 b int; 0 1"},
		{"added first", []string{"1001 b: identity of 2", "1000 a: identity of 1, 1001 b: identity of 2"}, "1000 a string, 1001 b string; 1; 0 1"},
		{"renamed", []string{"1000 old: identity of 1", "1000 new: identity of 1"}, "1000 new string; 0; 0"},
		{"void in format version 1", []string{"1000 b: bucket[4] of 1", "1000 gone: void of 1, 1001 c: identity of 2"}, "1000 gone int, 1001 c string; 0; 0 1"},
		{"void only", []string{"1000 v: void of 1"}, "1000 v string; 0"},
		{"column is gone", []string{"1000 x: identity of 9, 1001 a: identity of 1"}, "1001 a string; -1 0"},
		{"nested column", []string{"1000 n: identity of 4"}, "1000 n string; 0"},
		{"unknown transform", []string{"1000 u: zorder of 1, 1001 a: identity of 1"}, "1001 a string; -1 0"},
		{"one ID, two columns", []string{"1000 a: identity of 1", "1000 b: identity of 2"}, "1000 b string, 1001 a string; 1; 0"},
		{"one ID, two transforms", []string{"1000 a: bucket[4] of 1, 1001 c: identity of 2", "1000 a: bucket[8] of 1"},
			"1000 a int, 1001 c string, 1002 a_1002 int; 2 1; 0"},
		{"one name, two fields", []string{"1000 x: bucket[4] of 1", "1001 X: bucket[8] of 1"}, "1000 x_1000 int, 1001 X int; 0; 1"},
	} {
		table := &Table{Specs: map[SpecID]PartitionSpec{}, Schema: &Schema{Fields: []Field{
			{ID: 1, Name: "a"}, {ID: 2, Name: "b"}, {ID: 3, Name: "s", Type: Type{Nested: Struct, Fields: []Field{{ID: 4, Name: "n"}}}},
		}}}
		for i, text := range c.specs {
			table.Specs[SpecID(i)] = specOf(t, SpecID(i), text)
		}
		var fields []string
		for _, f := range PartitionType(table).Fields {
			fields = append(fields, fmt.Sprintf("%d %s %s", f.ID, f.Name, f.Type))
		}
		got := strings.Join(fields, ", ")
		for i := range c.specs {
			if places := PartitionPlaces(table)[SpecID(i)]; len(places) > 0 {
				got += "; " + strings.Trim(fmt.Sprint(places), "[]")
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestPartitionPlaces(t *testing.T) {
	table := &Table{
		Schema: &Schema{Fields: []Field{{ID: 1, Name: "a"}, {ID: 2, Name: "b"}}},
		Specs: map[SpecID]PartitionSpec{
			0: specOf(t, 0, "1001 b: identity of 2, 1000 a: identity of 1"), 1: specOf(t, 1, "1001 b: identity of 2"),
		},
	}
	if got := fmt.Sprint(PartitionPlaces(table)); got != "map[0:[1 0] 1:[1]]" {
		t.Error(got)
	}
}
