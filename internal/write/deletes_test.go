package write_test

import (
	"fmt"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/write"
)

// TestDeletesAreMerged deletes rows again and again: each data file has one delete file, which has all of them.
func TestDeletesAreMerged(t *testing.T) {
	h := newHouse(t)
	for _, version := range []int{2, 3} {
		name := fmt.Sprintf("t%d", version)
		h.run("CREATE TABLE n." + name + " (k BIGINT, s STRING) PARTITIONED BY (bucket(4, k)) " + properties(version))
		h.run("INSERT INTO n." + name + " SELECT range, 'x' || range FROM range(3000)")
		for step, where := range []string{"k % 7 = 0", "k % 5 = 1", "k >= 2900", "k % 7 = 1"} {
			made := h.deleteByMerge(name, where)
			if len(made.Added) != 4 || step > 0 && len(made.Removed) != 4 {
				t.Errorf("version %d, %s: %d delete files were written, and %d removed", version, where, len(made.Added), len(made.Removed))
			}
		}
		kept := 0
		for k := range 2900 {
			if k%7 > 1 && k%5 != 1 {
				kept++
			}
		}
		if got := h.numbers(name); len(got) != kept {
			t.Errorf("version %d: %d rows are left, not %d", version, len(got), kept)
		}
		layout := h.survey(h.load(name))
		if len(layout.Deletes) != 4 || layout.Counts.DeleteFiles != 4 {
			t.Errorf("version %d: there are %d delete files", version, layout.Counts.DeleteFiles)
		}
		for _, d := range layout.Deletes {
			if wanted := map[int]catalog.DeleteKind{2: catalog.PositionDeletes, 3: catalog.DeletionVector}[version]; d.Kind != wanted || d.Target == "" {
				t.Errorf("version %d: %s is %s of %q", version, d.Ref.Path, d.Kind, d.Target)
			}
		}
	}
}

// TestVectorTakesOlderDeletes upgrades a table with position deletes: the vector has those, too.
func TestVectorTakesOlderDeletes(t *testing.T) {
	h := newHouse(t)
	h.run("CREATE TABLE n.t (k BIGINT) " + properties(2))
	h.run("INSERT INTO n.t SELECT range FROM range(100)")
	h.deleteByMerge("t", "k % 2 = 0")
	h.run("ALTER TABLE n.t SET TBLPROPERTIES ('format-version' = '3')")
	made := h.deleteByMerge("t", "k % 3 = 0")
	if len(made.Removed) != 1 || made.Removed[0].Kind != catalog.PositionDeletes || made.Added[0].Rows != 67 {
		t.Errorf("added are %+v, removed %+v", made.Added, made.Removed)
	}
	for _, k := range h.numbers("t") {
		if k%2 == 0 || k%3 == 0 {
			t.Errorf("row %d is there", k)
		}
	}
}

// TestManyPositions writes position deletes of several row groups.
func TestManyPositions(t *testing.T) {
	h := newHouse(t)
	h.run("CREATE TABLE n.t (k BIGINT) " + properties(2))
	h.run("INSERT INTO n.t SELECT range FROM range(2200000)")
	made := h.deleteByMerge("t", "k % 1000 > 0")
	if got := h.run("SELECT count(*), sum(k) FROM n.t").Rows; len(made.Added) != 1 || len(made.Added[0].SplitOffsets) != 3 ||
		fmt.Sprint(got) != fmt.Sprintf("[[%d/1 %d/1]]", 2200, 2200*2199/2*1000) {
		t.Errorf("the rows are %v, row groups lie at %v", got, made.Added[0].SplitOffsets)
	}
}

func TestRepeatedEdit(t *testing.T) {
	e := &write.Edits{}
	for i, c := range []struct {
		path string
		at   []int64
		want int64
		ok   bool
	}{{"a", []int64{3, 1 << 33, 5}, 0, true}, {"b", []int64{3}, 0, true}, {"a", []int64{4, 1 << 33, 6}, 1 << 33, false}, {"a", []int64{4}, 4, false}, {"a", []int64{6}, 0, true}} {
		if got, ok := e.Add(c.path, c.at...); got != c.want || ok != c.ok {
			t.Errorf("%d: %d, %t", i, got, ok)
		}
	}
	if e.Rows() != 6 || e.Files() != 2 || e.Of("c") != nil || e.Of("b").Count() != 1 {
		t.Errorf("there are %d rows in %d files", e.Rows(), e.Files())
	}
}

// TestWrongEdits are refused: rows and files that aren't there, tables that have no delete files.
func TestWrongEdits(t *testing.T) {
	h := newHouse(t)
	h.run("CREATE TABLE n.old (k BIGINT) " + properties(1))
	h.run("INSERT INTO n.old VALUES (1), (2)")
	h.run("CREATE TABLE n.t (k BIGINT) " + properties(3))
	h.run("INSERT INTO n.t VALUES (1), (2)")
	past, elsewhere := h.edits("t", "true"), h.edits("t", "true")
	for _, r := range h.run("SELECT _file FROM n.t LIMIT 1").Rows {
		past.Add(r[0].(string), 2)
	}
	elsewhere.Add("/warehouse/n/t/data/gone.parquet", 0)
	for _, c := range []struct {
		name string
		e    *write.Edits
		kind errs.Kind
	}{{"old", h.edits("old", "k = 1"), errs.Unsupported}, {"t", past, errs.Internal}, {"t", elsewhere, errs.Internal}} {
		table := h.load(c.name)
		j := h.start(table)
		made, err := j.WriteDeletes(t.Context(), c.e, h.survey(table))
		if errs.KindOf(err) != c.kind || len(made.Added) > 0 {
			t.Errorf("%s: %v, %v", c.name, made, err)
		}
		j.Close()
	}
}

// TestConflictingVectors lets two writers delete rows of one data file: the second is told so.
func TestConflictingVectors(t *testing.T) {
	h := newHouse(t)
	h.run("CREATE TABLE n.t (k BIGINT) " + properties(3))
	h.run("INSERT INTO n.t SELECT range FROM range(10)")
	table := h.load("t")
	j := h.start(table)
	defer j.Close()
	made, err := j.WriteDeletes(t.Context(), h.edits("t", "k = 1"), h.survey(table))
	h.must(err)
	h.deleteByMerge("t", "k = 2")
	_, err = h.lake.Commit(t.Context(), table, commit.Change{Kind: commit.RowDelta, AddDeletes: made.Added, RemoveDeletes: made.Removed})
	if errs.KindOf(err) != errs.Conflict {
		t.Errorf("the second delete gives %v", err)
	}
	if got := len(h.numbers("t")); got != 9 {
		t.Errorf("%d rows are left", got)
	}
}
