package survey

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
)

// TestChangesOfOneFile looks at what a snapshot with the ID 9 made of one file, to which one delete file applied before and
// another does so after: each change has the delete files that say which of its rows count.
func TestChangesOfOneFile(t *testing.T) {
	of := &catalog.Table{Schema: &catalog.Schema{}, Specs: map[catalog.SpecID]catalog.PartitionSpec{0: {}}}
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
		l := &changeLog{scan: newScan(Request{Files: fileio.Disk{}, Table: of}), ids: map[deleteKey]int{{}: 0}, deletes: make([]liveDelete, 1)}
		var got []string
		s := &changeStep{
			log: l, snapshot: &Snapshot{ID: own}, before: indexOf(t, l, tc.before), after: indexOf(t, l, tc.after), sum: &tally{},
			inserted: changeColumns("INSERT", 0, &Snapshot{}), deleted: changeColumns("DELETE", 0, &Snapshot{}),
			yield: func(f catalog.DataFile) error {
				of := "all"
				if f.Newly != nil {
					of = fmt.Sprint(f.Newly)
				}
				got = append(got, fmt.Sprintf("%s but %v of %s", f.Constants[catalog.ChangeTypeID], f.Deletes, of))
				return nil
			},
		}
		e := &manifest.Entry{Status: tc.status, SnapshotID: tc.by, Sequence: 5}
		e.File = manifest.File{Path: "file:/a.parquet", Format: catalog.Parquet}
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
