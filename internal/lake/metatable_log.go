package lake

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/internal/fileio"
)

func snapshotColumns(*metaTable) ([]metaColumn, error) {
	return []metaColumn{
		newColumn(1, "committed_at", momentType, func(s *table.Snapshot) any { return moment(s.TimestampMs) }),
		newColumn(2, "snapshot_id", longType, func(s *table.Snapshot) any { return s.SnapshotID }),
		newColumn(3, "parent_id", longType, func(s *table.Snapshot) any { return orNull(s.ParentSnapshotID) }),
		newColumn(4, "operation", textType, operationOf),
		newColumn(5, "manifest_list", textType, func(s *table.Snapshot) any { return textOrNull(s.ManifestList) }),
		newColumn(6, "summary", mapOf(7, 8, textType, textType), summaryOf),
	}, nil
}

func operationOf(s *table.Snapshot) any {
	if s.Summary == nil {
		return nil
	}
	return textOrNull(string(s.Summary.Operation))
}

func summaryOf(s *table.Snapshot) any {
	if s.Summary == nil {
		return nil
	}
	return mapValue(s.Summary.Properties, func(k string) any { return k })
}

// textOrNull is the value of text whose absence iceberg-go tells as "".
func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func snapshotRows(_ context.Context, s *metaScan, yield func(any) error) error {
	for _, snapshot := range s.base.meta.Snapshots() {
		if err := yield(&snapshot); err != nil {
			return err
		}
	}
	return nil
}

// historyRow is one entry of the snapshot log: a snapshot became the current one.
type historyRow struct {
	table.SnapshotLogEntry
	parent            *int64
	isCurrentAncestor bool
}

func historyColumns(*metaTable) ([]metaColumn, error) {
	return []metaColumn{
		newColumn(1, "made_current_at", momentType, func(r historyRow) any { return moment(r.TimestampMs) }),
		newColumn(2, "snapshot_id", longType, func(r historyRow) any { return r.SnapshotID }),
		newColumn(3, "parent_id", longType, func(r historyRow) any { return orNull(r.parent) }),
		newColumn(4, "is_current_ancestor", boolType, func(r historyRow) any { return r.isCurrentAncestor }),
	}, nil
}

func historyRows(_ context.Context, s *metaScan, yield func(any) error) error {
	known := snapshotsByID(s.base.meta)
	ancestors := map[int64]bool{}
	for at := s.base.meta.CurrentSnapshot(); at != nil && !ancestors[at.SnapshotID]; {
		ancestors[at.SnapshotID] = true
		if at.ParentSnapshotID == nil {
			break
		}
		at = known[*at.ParentSnapshotID]
	}
	for entry := range s.base.meta.SnapshotLogs() {
		row := historyRow{SnapshotLogEntry: entry, isCurrentAncestor: ancestors[entry.SnapshotID]}
		if snapshot := known[entry.SnapshotID]; snapshot != nil {
			row.parent = snapshot.ParentSnapshotID
		}
		if err := yield(row); err != nil {
			return err
		}
	}
	return nil
}

func snapshotsByID(meta table.Metadata) map[int64]*table.Snapshot {
	out := map[int64]*table.Snapshot{}
	for _, s := range meta.Snapshots() {
		out[s.SnapshotID] = &s
	}
	return out
}

// refRow is a branch or tag.
type refRow struct {
	name string
	table.SnapshotRef
}

func refColumns(*metaTable) ([]metaColumn, error) {
	return []metaColumn{
		newColumn(1, "name", textType, func(r refRow) any { return r.name }),
		newColumn(2, "type", textType, refTypeOf),
		newColumn(3, "snapshot_id", longType, func(r refRow) any { return r.SnapshotID }),
		newColumn(4, "max_reference_age_in_ms", longType, func(r refRow) any { return orNull(r.MaxRefAgeMs) }),
		newColumn(5, "min_snapshots_to_keep", intType, func(r refRow) any { return intOrNull(r.MinSnapshotsToKeep) }),
		newColumn(6, "max_snapshot_age_in_ms", longType, func(r refRow) any { return orNull(r.MaxSnapshotAgeMs) }),
	}, nil
}

func refTypeOf(r refRow) any {
	if r.SnapshotRefType == table.TagRef {
		return "TAG"
	}
	return "BRANCH"
}

func refRows(_ context.Context, s *metaScan, yield func(any) error) error {
	refs := maps.Collect(s.base.meta.Refs())
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if err := yield(refRow{name, refs[name]}); err != nil {
			return err
		}
	}
	return nil
}

// metadataLogRow is a metadata file and the snapshot that was current when it was written.
type metadataLogRow struct {
	table.MetadataLogEntry
	latestID *int64          // by the snapshot log
	latest   *table.Snapshot // nil when it has expired
}

func metadataLogColumns(*metaTable) ([]metaColumn, error) {
	return []metaColumn{
		newColumn(1, "timestamp", momentType, func(r metadataLogRow) any { return moment(r.TimestampMs) }),
		newColumn(2, "file", textType, func(r metadataLogRow) any { return r.MetadataFile }),
		newColumn(3, "latest_snapshot_id", longType, func(r metadataLogRow) any { return orNull(r.latestID) }),
		newColumn(4, "latest_schema_id", intType, func(r metadataLogRow) any {
			if r.latest == nil {
				return nil
			}
			return intOrNull(r.latest.SchemaID)
		}),
		newColumn(5, "latest_sequence_number", longType, func(r metadataLogRow) any {
			if r.latest == nil {
				return nil
			}
			return r.latest.SequenceNumber
		}),
	}, nil
}

// spelled returns the path of the metadata file as the table's metadata would spell it. A catalog that finds files by listing
// folders knows where the file lies, which is another path when the table is relocated.
func (h *handle) spelled() string {
	path := fileio.Under(h.meta.Location(), "metadata", filepath.Base(h.location))
	if there := h.absolute(path); there != "" && there == h.absolute(h.location) {
		return path
	}
	return h.location
}

// absolute returns where a file lies, or "".
func (h *handle) absolute(path string) string {
	local, err := h.catalog.fio.Local(path)
	if err == nil {
		local, err = filepath.Abs(local)
	}
	if err != nil {
		return ""
	}
	return local
}

func metadataLogRows(_ context.Context, s *metaScan, yield func(any) error) error {
	meta := s.base.meta
	known := snapshotsByID(meta)
	files := slices.Collect(meta.PreviousFiles())
	files = append(files, table.MetadataLogEntry{MetadataFile: s.base.spelled(), TimestampMs: meta.LastUpdatedMillis()})
	for _, file := range files {
		row := metadataLogRow{MetadataLogEntry: file}
		for entry := range meta.SnapshotLogs() {
			if entry.TimestampMs <= file.TimestampMs {
				row.latestID, row.latest = &entry.SnapshotID, known[entry.SnapshotID]
			}
		}
		if err := yield(row); err != nil {
			return err
		}
	}
	return nil
}
