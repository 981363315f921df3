package plainreader

import (
	"testing"

	"github.com/tarndb/tarn/internal/golden"
)

// TestWhichPositionsApply tries the rules that choose position deletes and deletion vectors, the sequence numbers above all:
// a commit's deletes apply to its own files too, older ones to none.
func TestWhichPositionsApply(t *testing.T) {
	data := File{Path: "a", sequence: 5, filed: "0 1"}
	positions := func(sequence int64, filed, target string) positionDeletes {
		return positionDeletes{File{sequence: sequence, filed: filed, target: target}, map[string]map[int64]bool{"a": {1: true}, "b": {2: true}}}
	}
	dv := func(sequence int64, target string) vector {
		return vector{File{sequence: sequence, filed: "0 1", target: target}, map[int64]bool{3: true}}
	}
	for name, c := range map[string]struct {
		d    deletes
		want string
	}{
		"same commit":            {deletes{positions: []positionDeletes{positions(5, "0 1", "")}}, "1"},
		"younger":                {deletes{positions: []positionDeletes{positions(6, "0 1", "")}}, "1"},
		"older":                  {deletes{positions: []positionDeletes{positions(4, "0 1", "")}}, ""},
		"other partition":        {deletes{positions: []positionDeletes{positions(5, "0 2", "")}}, ""},
		"other spec":             {deletes{positions: []positionDeletes{positions(5, "1 1", "")}}, ""},
		"about the file":         {deletes{positions: []positionDeletes{positions(5, "0 2", "a")}}, "1"},
		"about the file, older":  {deletes{positions: []positionDeletes{positions(4, "0 1", "a")}}, ""},
		"vector":                 {deletes{vectors: []vector{dv(5, "a")}}, "3"},
		"vector of another file": {deletes{vectors: []vector{dv(5, "b")}}, ""},
		"older vector":           {deletes{vectors: []vector{dv(4, "a")}}, ""},
		"vector for positions":   {deletes{[]positionDeletes{positions(9, "0 1", "")}, []vector{dv(5, "a")}, nil}, "3"},
		"two vectors":            {deletes{vectors: []vector{dv(5, "a"), dv(6, "a")}}, "error"},
	} {
		got, err := c.d.positionsIn(data)
		text := map[bool]string{true: "error"}[err != nil]
		for _, at := range []int64{1, 2, 3} {
			if got[at] {
				text += golden.Text(number(at))
			}
		}
		if text != c.want {
			t.Errorf("%s: %q is deleted, wanted %q", name, text, c.want)
		}
	}
}

// TestWhichEqualityApplies tries the rules that choose equality deletes: a commit's apply to what was there before it.
func TestWhichEqualityApplies(t *testing.T) {
	data := File{sequence: 5, filed: "0 1"}
	for name, c := range map[string]struct {
		f    File
		want int
	}{
		"younger":               {File{sequence: 6, filed: "0 1"}, 1},
		"same commit":           {File{sequence: 5, filed: "0 1"}, 0},
		"other partition":       {File{sequence: 6, filed: "0 2"}, 0},
		"global":                {File{sequence: 6, filed: "1", global: true}, 1},
		"global of that commit": {File{sequence: 5, filed: "1", global: true}, 0},
	} {
		d := deletes{equality: []equalityDeletes{{File: c.f}}}
		if got := len(d.equalityOf(data)); got != c.want {
			t.Errorf("%s: %d delete files apply, wanted %d", name, got, c.want)
		}
	}
}

// TestTarget finds the one data file of a delete file by what the manifest says, or by bounds that are equal.
func TestTarget(t *testing.T) {
	bounds := func(hex string) pairs {
		return pairs{{number(1), "00"}, {number(fieldDeletePath), hex}}
	}
	for name, c := range map[string]struct {
		in   record
		want string
	}{
		"said":          {record{fileReferenced: "x", fileLowerBounds: bounds("61"), fileUpperBounds: bounds("61")}, "x"},
		"equal bounds":  {record{fileLowerBounds: bounds("61"), fileUpperBounds: bounds("61")}, "a"},
		"unlike bounds": {record{fileLowerBounds: bounds("61"), fileUpperBounds: bounds("62")}, ""},
		"one bound":     {record{fileLowerBounds: bounds("61")}, ""},
		"none":          {record{}, ""},
	} {
		if got := target(c.in); got != c.want {
			t.Errorf("%s: %q, wanted %q", name, got, c.want)
		}
	}
}

// TestInherit gives rows the lineage that they don't bring along, from version 3 on.
func TestInherit(t *testing.T) {
	first := int64(100)
	for name, c := range map[string]struct {
		f            File
		r            record
		rowID, since string
	}{
		"neither": {File{firstRow: &first, sequence: 7}, record{}, "102", "7"},
		"null":    {File{firstRow: &first, sequence: 7}, record{fieldRowID: nil, fieldLastUpdated: nil}, "102", "7"},
		"both":    {File{firstRow: &first, sequence: 7}, record{fieldRowID: number(3), fieldLastUpdated: number(4)}, "3", "4"},
		"one":     {File{firstRow: &first, sequence: 7}, record{fieldRowID: number(3)}, "3", "7"},
		"before":  {File{sequence: 7}, record{}, "NULL", "NULL"},
	} {
		c.f.inherit(c.r, 2)
		if id, since := golden.Text(c.r[fieldRowID]), golden.Text(c.r[fieldLastUpdated]); id != c.rowID || since != c.since {
			t.Errorf("%s: %s and %s, wanted %s and %s", name, id, since, c.rowID, c.since)
		}
	}
}
