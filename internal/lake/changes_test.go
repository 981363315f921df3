package lake

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/manifest"
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
			l := &changeLog{
				scan: newScan(c, got, catalog.Filter{}), run: run[i : i+1], ids: map[deleteKey]int{},
				find: func(int64) *table.Snapshot { return nil },
			}
			err := l.each(t.Context(), &tally{}, func(catalog.DataFile) error { return nil })
			if i < appends && err != nil || i >= appends && (errs.KindOf(err) != errs.NotFound || !strings.Contains(errs.HintOf(err), "FOR VERSION FROM")) {
				t.Errorf("%s, snapshot %d: %v", name, run[i].SnapshotID, err)
			}
		}
	}
}

// TestChangesOfOneFile looks at what a snapshot with the ID 9 made of one file, to which one delete file applied before and
// another does so after: each change has the delete files that say which of its rows count.
func TestChangesOfOneFile(t *testing.T) {
	c := goldenHadoop(t)
	own, other := int64(9), int64(8)
	for _, tc := range []struct {
		status        manifest.Status
		by            *int64
		before, after []liveDelete // of sequence numbers that tell them apart
		want          string
	}{
		{status: manifest.Added, by: &own, want: "INSERT but [] of all"},
		{status: manifest.Added, by: &own, after: deletesAt(7), want: "INSERT but [1] of all"},
		{status: manifest.Deleted, by: &own, want: "DELETE but [] of all"},
		{status: manifest.Deleted, by: &own, before: deletesAt(7, 8), want: "DELETE but [1 2] of all"},
		{status: manifest.Deleted, by: &other},
		{status: manifest.Added, by: &other, before: deletesAt(7), after: deletesAt(7, 8), want: "DELETE but [1] of [2]"},
		{status: manifest.Existing, by: &other, after: deletesAt(7, 8), want: "DELETE but [] of [1 2]"},
		{status: manifest.Existing, by: &other, before: deletesAt(7), want: "INSERT but [] of [1]"},
		{status: manifest.Existing, by: &other, before: deletesAt(7), after: deletesAt(8), want: "DELETE but [1] of [2]; INSERT but [2] of [1]"},
		{status: manifest.Existing, by: &other, before: deletesAt(7, 8), after: deletesAt(7, 8)},
		{status: manifest.Existing, by: &other, before: deletesAt(7), after: deletesAt(7, 4)}, // an older one doesn't apply
	} {
		l := &changeLog{scan: newScan(c, loadChanges(t, c, "snap.wap"), catalog.Filter{}), ids: map[deleteKey]int{{}: 0}, deletes: make([]liveDelete, 1)}
		var got []string
		s := &changeStep{
			log: l, snapshot: &table.Snapshot{SnapshotID: own}, before: indexOf(t, l, tc.before), after: indexOf(t, l, tc.after), sum: &tally{},
			inserted: changeColumns("INSERT", 0, &table.Snapshot{}), deleted: changeColumns("DELETE", 0, &table.Snapshot{}),
			yield: func(f catalog.DataFile) error {
				of := "all"
				if f.Newly != nil {
					of = fmt.Sprint(f.Newly)
				}
				got = append(got, fmt.Sprintf("%s but %v of %s", f.Constants[catalog.ChangeTypeID], f.Deletes, of))
				return nil
			},
		}
		e := &manifest.Entry{Status: tc.status, SnapshotID: tc.by, Path: "file:/a.parquet", Format: catalog.Parquet, Sequence: 5}
		if err := s.entry(e, true, [2]sharedDeletes{{}, {}}); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(got, "; "); text != tc.want {
			t.Errorf("status %d by %d with %d deletes before and %d after: %s, want %s", tc.status, *tc.by, len(tc.before), len(tc.after), text, tc.want)
		}
	}
}

// deletesAt makes position deletes of a table without partitions.
func deletesAt(sequences ...int64) []liveDelete {
	var out []liveDelete
	for _, n := range sequences {
		d := catalog.DeleteFile{Format: catalog.Parquet, Sequence: n}
		d.Ref.Path = fmt.Sprintf("file:/delete-%d.parquet", n)
		out = append(out, liveDelete{DeleteFile: d})
	}
	return out
}

func indexOf(t *testing.T, l *changeLog, deletes []liveDelete) *deleteIndex {
	t.Helper()
	x, err := newDeleteIndex(deletes)
	if err != nil {
		t.Fatal(err)
	}
	l.number(x)
	return x
}
