package lake

import (
	"reflect"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/survey"
	"github.com/tarndb/tarn/transform"
)

func loadChanges(t *testing.T, c *Catalog, name string) *catalog.Table {
	t.Helper()
	got, err := c.LoadTable(t.Context(), strings.Split(name, "."), catalog.Version{Reading: catalog.ReadChanges})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestChangesAreListedAlike lists the changes of tables twice: the order is the same, the delete files that are named are
// there, and each of them is in use.
func TestChangesAreListedAlike(t *testing.T) {
	c := goldenHadoop(t)
	for _, name := range []string{"snap.overwritten", "dels.dv", "dels.v2to3", "dels.eq_pos_mix"} {
		layout, err := c.Survey(t.Context(), loadChanges(t, c, name), catalog.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		list := func() (files []catalog.DataFile) {
			err := layout.Files(t.Context(), func(f catalog.DataFile) error { files = append(files, f); return nil })
			if err != nil {
				t.Fatal(err)
			}
			return files
		}
		first := list()
		used := map[int]bool{}
		for _, f := range first {
			for _, at := range append(f.Deletes, f.Newly...) {
				used[at] = true
				if at >= len(layout.Deletes) || layout.Deletes[at].Target != "" && layout.Deletes[at].Target != f.Ref.Path {
					t.Errorf("%s: %s names the delete file %d", name, f.Ref.Path, at)
				}
			}
		}
		if len(used) != len(layout.Deletes) || !reflect.DeepEqual(first, list()) || !layout.Repeats || len(first) != layout.Counts.Files {
			t.Errorf("%s: %d of %d delete files are used, by %d files of %d", name, len(used), len(layout.Deletes), len(first), layout.Counts.Files)
		}
	}
}

// TestChangesArePruned leaves out files that can't hold wanted rows, as any other scan does.
func TestChangesArePruned(t *testing.T) {
	c := goldenHadoop(t)
	log := loadChanges(t, c, "snap.overwritten")
	p, _ := log.Schema.Field(log.Spec().Fields[0].Sources[0])
	isC := transform.Predicate{Op: transform.EQ, Values: []transform.Value{"c"}}
	layout, err := c.Survey(t.Context(), log, catalog.Filter{Op: catalog.Test, Field: p.ID, Type: p.Type.Primitive, Pred: isC})
	if err != nil {
		t.Fatal(err)
	}
	if got := layout.Counts; got.Files != 6 || got.PrunedByPartition != 5 || got.Rows != 1 {
		t.Errorf("%+v", got)
	}
}

// TestChangesOfACutHistory takes the parents away, as expiry does: what a snapshot deleted is lost, what it added isn't.
func TestChangesOfACutHistory(t *testing.T) {
	c := goldenHadoop(t)
	for name, appends := range map[string]int{"snap.overwritten": 1, "dels.dv": 3, "dels.eq_part": 4, "shop.orders": 3} {
		got := loadChanges(t, c, name)
		run := got.Handle.(*handle).run
		for i := range run {
			_, err := survey.Layout(t.Context(), survey.Request{
				Files: c.fio, Table: got, Snapshots: []*survey.Snapshot{c.snapshot(run[i])}, Find: func(int64) *survey.Snapshot { return nil },
			})
			if i < appends && err != nil || i >= appends && (errs.KindOf(err) != errs.NotFound || !strings.Contains(errs.HintOf(err), "FOR VERSION FROM")) {
				t.Errorf("%s, snapshot %d: %v", name, run[i].SnapshotID, err)
			}
		}
	}
}
