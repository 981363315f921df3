package lake

import (
	"context"

	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/internal/survey"
)

// Survey streams over the pinned snapshot's manifests and returns what filter can't rule out. Memory grows with the number
// of partition tuples and of delete files, not of data files.
func (c *Catalog) Survey(ctx context.Context, t *catalog.Table, filter catalog.Filter) (*catalog.TableLayout, error) {
	return c.survey(ctx, t, survey.Request{Filter: filter})
}

// SurveyWhole is Survey that also says, by DataFile.Whole, of which files it is proved that every row satisfies whole: what whole
// says of a row that has NULLs is SQL's, so that such a file can be deleted without a look into it by a statement whose
// condition is whole itself.
func (c *Catalog) SurveyWhole(ctx context.Context, t *catalog.Table, filter, whole catalog.Filter) (*catalog.TableLayout, error) {
	return c.survey(ctx, t, survey.Request{Filter: filter, Whole: &whole})
}

// Gone are the data files that a statement deletes without a look into them.
type Gone struct {
	Files []catalog.DataFile
	Rows  int64 // that were left in them
}

// SurveyRest is a survey for a statement that deletes exactly the rows that whole holds for: it returns what has to be looked
// into, and the data files of which it is proved that all rows go. Files of which only their rows could tell how many are left,
// since delete files of a whole partition or of values apply to them, are looked into, too.
func (c *Catalog) SurveyRest(ctx context.Context, t *catalog.Table, filter, whole catalog.Filter) (*catalog.TableLayout, Gone, error) {
	var gone Gone
	l, err := c.SurveyWhole(ctx, t, filter, whole)
	if err != nil {
		return nil, gone, err
	}
	rest, files, err := survey.Rest(ctx, l, func(f *catalog.DataFile) bool {
		left := f.Rows
		for _, d := range f.Deletes {
			if l.Deletes[d].Target == "" {
				return false
			}
			left -= l.Deletes[d].Rows
		}
		gone.Rows += max(left, 0)
		return true
	})
	gone.Files = files
	return rest, gone, err
}

// SurveySums implements catalog.Surveyor.
func (c *Catalog) SurveySums(ctx context.Context, t *catalog.Table, filter catalog.Filter, columns []catalog.FieldID) (*catalog.TableLayout, error) {
	return c.survey(ctx, t, survey.Request{Filter: filter, Sums: append([]catalog.FieldID{}, columns...)})
}

// survey completes what is asked of the table.
func (c *Catalog) survey(ctx context.Context, t *catalog.Table, r survey.Request) (*catalog.TableLayout, error) {
	if m, ok := t.Handle.(*metaTable); ok {
		return m.survey(ctx, t, r.Filter)
	}
	h, err := c.handleOf(t)
	if err != nil {
		return nil, err
	}
	if err := refuseEncryption(h); err != nil {
		return nil, err
	}
	r.Files, r.Table, r.Snapshots = c.fio, t, h.surveyed(t.Version.Reading)
	r.Find = func(id int64) *survey.Snapshot { return c.snapshot(h.meta.SnapshotByID(id)) }
	return survey.Layout(ctx, r)
}

// surveyed returns the snapshots that a reading is of.
func (h *handle) surveyed(what catalog.Reading) []*survey.Snapshot {
	run := h.run
	if what == catalog.ReadState {
		run = nil
		if h.snapshot != nil {
			run = append(run, h.snapshot)
		}
	}
	var out []*survey.Snapshot
	for _, s := range run {
		out = append(out, h.catalog.snapshot(s))
	}
	return out
}

// snapshot returns what a survey has to know of a snapshot; nil of none.
func (c *Catalog) snapshot(s *table.Snapshot) *survey.Snapshot {
	if s == nil {
		return nil
	}
	return &survey.Snapshot{ID: s.SnapshotID, Parent: s.ParentSnapshotID, Manifests: func(ctx context.Context) ([]manifest.Info, error) {
		return c.manifests(ctx, s)
	}}
}

// refuseEncryption looks at what the metadata says. Single encrypted files are refused where they are met.
func refuseEncryption(h *handle) error {
	if h.meta.Properties()["encryption.key-id"] != "" {
		return fileio.Encrypted(h.location)
	}
	for range h.meta.EncryptionKeys() {
		return fileio.Encrypted(h.location)
	}
	return nil
}
