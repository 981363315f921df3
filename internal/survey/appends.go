package survey

import (
	"context"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/manifest"
)

// appended returns the data manifests that the snapshots of a run of appends added; other manifests hold none of their
// files as added ones. An append that deletes rows after all is refused: a run of appends couldn't show that.
func appended(ctx context.Context, run []*Snapshot) ([]manifest.Info, error) {
	var out []manifest.Info
	seen := map[string]bool{}
	for _, snapshot := range run {
		list, err := snapshot.Manifests(ctx)
		if err != nil {
			return nil, err
		}
		for i := range list {
			m := &list[i]
			if m.SnapshotID != nil && *m.SnapshotID != snapshot.ID || seen[m.Path] {
				continue
			}
			seen[m.Path] = true
			switch {
			case m.Content == manifest.Data:
				out = append(out, *m)
			case m.AddedFiles != 0:
				return nil, errs.New(errs.Invalid, "read appends", m.Path, "snapshot %d calls itself an append and has delete files", snapshot.ID).
					WithHint("read the change log, namespace.table.changes")
			}
		}
	}
	return out, nil
}

// manifests returns the manifests of what is read: of the pinned snapshot, or of a run of appends.
func (s *scan) manifests(ctx context.Context, r Request) ([]manifest.Info, error) {
	if r.Table.Version.Reading != catalog.ReadAppends {
		if len(r.Snapshots) == 0 {
			return nil, nil
		}
		return r.Snapshots[0].Manifests(ctx)
	}
	s.run = map[int64]bool{}
	for _, snapshot := range r.Snapshots {
		s.run[snapshot.ID] = true
	}
	return appended(ctx, r.Snapshots)
}

// takes says whether an entry's file is part of what is read: a live file, or, of a run of appends, one that it added.
func (s *scan) takes(e *manifest.Entry) bool {
	if s.run == nil {
		return e.IsLive()
	}
	return e.Status == manifest.Added && e.SnapshotID != nil && s.run[*e.SnapshotID]
}
