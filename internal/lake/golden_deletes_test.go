package lake

import (
	"context"
	"fmt"
	"slices"
	"testing"

	icebergio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/faultfs"
	"github.com/tarndb/tarn/internal/fileio"
)

// TestDeletesOfGoldenTables compares which deletes apply to which files with what iceberg-go plans. It leaves equality
// deletes out whose bounds are off the file's.
func TestDeletesOfGoldenTables(t *testing.T) {
	seen := 0
	for _, g := range goldenTables(t) {
		loaded, err := g.catalog.LoadTable(t.Context(), g.id, catalog.Version{})
		if err != nil {
			continue // which another test looks at
		}
		layout, err := g.catalog.Survey(t.Context(), loaded, catalog.Filter{})
		if err != nil || len(layout.Deletes) == 0 {
			continue
		}
		want := theirDeletes(t, g.catalog, loaded)
		err = layout.Files(t.Context(), func(f catalog.DataFile) error {
			seen += len(f.Deletes)
			theirs := want[f.Ref.Path]
			for _, n := range f.Deletes {
				d := layout.Deletes[n]
				name := deleteName(d.Ref.Path, d.Offset)
				if !theirs[name] && d.Kind != catalog.EqualityDeletes {
					t.Errorf("%s: %s doesn't apply to %s", g.id, name, f.Ref.Path)
				}
				delete(theirs, name)
			}
			if len(theirs) > 0 {
				t.Errorf("%s: %v apply to %s, too", g.id, theirs, f.Ref.Path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 50 {
		t.Errorf("only %d deletes seen", seen)
	}
}

func deleteName(path string, offset int64) string { return fmt.Sprint(path, " at ", offset) }

// theirDeletes returns the names of the deletes that apply to each data file.
func theirDeletes(t *testing.T, c *Catalog, of *catalog.Table) map[string]map[string]bool {
	t.Helper()
	h, err := c.handleOf(of)
	if err != nil {
		t.Fatal(err)
	}
	fs := func(context.Context) (icebergio.IO, error) { return relocatedFS{c.fio}, nil }
	tasks, err := table.New([]string{"t"}, h.meta, h.location, fs, nil).Scan().PlanFiles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]bool{}
	for _, task := range tasks {
		names := map[string]bool{}
		for _, d := range slices.Concat(task.DeleteFiles, task.EqualityDeleteFiles, task.DeletionVectorFiles) {
			var offset int64
			if o := d.ContentOffset(); o != nil {
				offset = *o
			}
			names[deleteName(d.FilePath(), offset)] = true
		}
		out[task.File.FilePath()] = names
	}
	return out
}

// relocatedFS lets iceberg-go read files where they lie.
type relocatedFS struct{ fio fileio.Files }

func (f relocatedFS) Open(name string) (icebergio.File, error) {
	local, err := f.fio.Local(name)
	if err != nil {
		return nil, err
	}
	return icebergio.LocalFS{}.Open(local)
}

func (f relocatedFS) Remove(string) error { return faultfs.ErrInjected }
