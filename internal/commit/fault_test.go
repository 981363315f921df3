package commit_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/faultfs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/manifest"
)

// faultCase makes a change of a table, whatever it holds by then, and the names of the data files that it holds afterwards.
type faultCase struct {
	name   string
	format int
	change func(b *bed) (commit.Change, []string)
}

// bed is a table whose files can fail.
type bed struct {
	t       *testing.T
	catalog *lake.Catalog // whose files don't fail
	table   *catalog.Table
	files   []catalog.DataFile
	made    int
}

func (b *bed) file(p int64) manifest.File {
	b.made++
	return written(b.t, b.table, fmt.Sprintf("f%04d", b.made), p)
}

var faultCases = []faultCase{
	{"append", 1, func(b *bed) (commit.Change, []string) {
		f := b.file(1)
		return commit.Change{Kind: commit.Append, Add: []manifest.File{f}}, append(paths(b.files), paths([]catalog.DataFile{{Ref: catalog.FileRef{Path: f.Path}}})...)
	}},
	{"append that merges", 3, func(b *bed) (commit.Change, []string) {
		f := b.file(2)
		return commit.Change{Kind: commit.Append, Add: []manifest.File{f}}, append(paths(b.files), paths([]catalog.DataFile{{Ref: catalog.FileRef{Path: f.Path}}})...)
	}},
	{"copy on write", 2, func(b *bed) (commit.Change, []string) {
		f := b.file(b.files[0].Partition[0].(int64))
		return commit.Change{Kind: commit.Overwrite, Add: []manifest.File{f}, Remove: b.files[:1]},
			append(paths(b.files[1:]), paths([]catalog.DataFile{{Ref: catalog.FileRef{Path: f.Path}}})...)
	}},
	{"row delta", 2, func(b *bed) (commit.Change, []string) {
		f := b.file(7)
		d := written(b.t, b.table, fmt.Sprintf("d%04d", b.made), 0)
		deletes := commit.DeleteFile(catalog.DeleteFile{
			Ref: catalog.FileRef{Path: d.Path, Bytes: d.Bytes}, Partition: b.files[0].Partition, Rows: 1, Target: b.files[0].Ref.Path,
		})
		return commit.Change{Kind: commit.RowDelta, Add: []manifest.File{f}, AddDeletes: []manifest.File{deletes}},
			append(paths(b.files), paths([]catalog.DataFile{{Ref: catalog.FileRef{Path: f.Path}}})...)
	}},
	{"overwrite of a partition", 3, func(b *bed) (commit.Change, []string) {
		f := b.file(1)
		var kept []catalog.DataFile
		for _, old := range b.files {
			if old.Partition[0] != int64(1) {
				kept = append(kept, old)
			}
		}
		add := []manifest.File{f}
		return commit.Change{Kind: commit.Overwrite, Add: add, Replace: commit.PartitionsOf(b.table.Spec(), add)},
			append(paths(kept), paths([]catalog.DataFile{{Ref: catalog.FileRef{Path: f.Path}}})...)
	}},
	{"rewrite", 2, func(b *bed) (commit.Change, []string) {
		f := b.file(b.files[0].Partition[0].(int64))
		return commit.Change{Kind: commit.Rewrite, Add: []manifest.File{f}, Remove: b.files[:1], DataSequence: &b.files[0].Sequence},
			append(paths(b.files[1:]), paths([]catalog.DataFile{{Ref: catalog.FileRef{Path: f.Path}}})...)
	}},
}

// TestEveryCallOfFilesFails fails the k-th call of files in each kind of commit, for every k: before the call does anything and
// after it has. Afterwards the table is the old one or the new one, as the outcome says, and every file that it names is there.
func TestEveryCallOfFilesFails(t *testing.T) {
	for _, kind := range stores() {
		for _, c := range faultCases {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s %v", kind, c.name, after), func(t *testing.T) {
					t.Parallel()
					failEveryCall(t, kind, c, after)
				})
			}
		}
	}
}

func failEveryCall(t *testing.T, kind string, c faultCase, after bool) {
	dir := t.TempDir()
	faulty := faultfs.New(fileio.Disk{})
	b := &bed{t: t, catalog: opened(t, kind, dir, nil)}
	failing := opened(t, kind, dir, faulty)
	properties := map[string]string{"commit.manifest-merge.enabled": "false"}
	if strings.Contains(c.name, "merges") {
		properties = map[string]string{"commit.manifest.min-count-to-merge": "2"}
	}
	created(t, b.catalog, c.format, properties)
	b.table = loaded(t, b.catalog)
	for p := range int64(3) {
		b.table = loaded(t, b.catalog)
		if _, err := b.catalog.Commit(t.Context(), b.table, commit.Change{Add: []manifest.File{b.file(p)}}); err != nil {
			t.Fatal(err)
		}
	}
	allowed := map[string]bool{}
	for k := 1; ; k++ {
		b.table = loaded(t, failing)
		b.files = live(t, b.catalog, loaded(t, b.catalog))
		before := paths(b.files)
		change, want := c.change(b)
		faulty.Fail(k, after)
		_, err := failing.Commit(t.Context(), b.table, change)
		fired := faulty.Fired()
		faulty.Fail(0, false)
		b.table = loaded(t, b.catalog)
		now := paths(live(t, b.catalog, b.table))
		slices.Sort(want)
		isNew, isOld := slices.Equal(now, want), slices.Equal(now, before)
		switch unknown := errs.KindOf(err) == errs.CommitUnknown; {
		case err == nil && !isNew, err != nil && !unknown && !isOld, unknown && !isOld && !isNew:
			t.Fatalf("call %d, %s: %v; the table has %v, and had %v", k, fired, err, now, before)
		case err != nil && !unknown && !errors.Is(err, faultfs.ErrInjected):
			t.Errorf("call %d, %s: another error: %v", k, fired, err)
		}
		for _, path := range checkWhole(t, b.table) {
			// What couldn't be removed is left, and what may be in use after all.
			if !allowed[path] && !strings.HasPrefix(fired, "remove ") && errs.KindOf(err) != errs.CommitUnknown {
				t.Errorf("call %d, %s: %v left %s", k, fired, err, path)
			}
			allowed[path] = true
		}
		if fired != "" {
			continue
		}
		if k-1 < 7 {
			t.Errorf("a commit makes only %d calls", k-1)
		}
		return
	}
}
