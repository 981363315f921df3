package lake

import (
	"context"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/manifest"
)

// manifestRow is a manifest that a snapshot refers to.
type manifestRow struct {
	*manifest.Info
	spec     catalog.PartitionSpec
	snapshot int64
}

func manifestColumns(*metaTable) ([]metaColumn, error) {
	summary := catalog.Type{Nested: catalog.Struct, Fields: []catalog.Field{
		{ID: 10, Name: "contains_null", Type: boolType},
		{ID: 11, Name: "contains_nan", Type: boolType},
		{ID: 12, Name: "lower_bound", Type: textType},
		{ID: 13, Name: "upper_bound", Type: textType},
	}}
	added := func(m *manifest.Info) int64 { return m.AddedFiles }
	existing := func(m *manifest.Info) int64 { return m.ExistingFiles }
	deleted := func(m *manifest.Info) int64 { return m.DeletedFiles }
	return []metaColumn{
		newColumn(14, "content", intType, func(r manifestRow) any { return int32(r.Content) }),
		newColumn(1, "path", textType, func(r manifestRow) any { return r.Path }),
		newColumn(2, "length", longType, func(r manifestRow) any { return r.Length }),
		newColumn(3, "partition_spec_id", intType, func(r manifestRow) any { return int32(r.Spec) }),
		newColumn(4, "added_snapshot_id", longType, func(r manifestRow) any { return orNull(r.SnapshotID) }),
		newColumn(5, "added_data_files_count", intType, countOf(manifest.Data, added)),
		newColumn(6, "existing_data_files_count", intType, countOf(manifest.Data, existing)),
		newColumn(7, "deleted_data_files_count", intType, countOf(manifest.Data, deleted)),
		newColumn(15, "added_delete_files_count", intType, countOf(manifest.PositionDeletes, added)),
		newColumn(16, "existing_delete_files_count", intType, countOf(manifest.PositionDeletes, existing)),
		newColumn(17, "deleted_delete_files_count", intType, countOf(manifest.PositionDeletes, deleted)),
		newColumn(8, "partition_summaries", listOf(9, summary), summariesOf),
	}, nil
}

// countOf is a count of a manifest's files, of which manifests of other contents have none. A list need not have it.
func countOf(c manifest.Content, count func(*manifest.Info) int64) func(manifestRow) any {
	return func(r manifestRow) any {
		switch n := count(r.Info); {
		case r.Content != c:
			return int32(0)
		case n < 0:
			return nil
		default:
			return int32(n)
		}
	}
}

// summariesOf tells the bounds of the partition fields as people write them. Those that make no sense are NULL.
func summariesOf(r manifestRow) any {
	if r.Partitions == nil {
		return nil
	}
	out := make([]any, len(r.Partitions))
	for i, s := range r.Partitions {
		bounds := [2]any{}
		for k, bound := range [][]byte{s.Lower, s.Upper} {
			if i < len(r.spec.Fields) {
				bounds[k] = boundText(r.spec.Fields[i], bound)
			}
		}
		out[i] = []any{s.ContainsNull, orNull(s.ContainsNaN), bounds[0], bounds[1]}
	}
	return out
}

func manifestRows(ctx context.Context, s *metaScan, yield func(any) error) error {
	return s.visitManifests(ctx, func(m *manifest.Info, snapshot int64) error {
		spec, ok := s.of.Specs[m.Spec]
		if !ok {
			return manifest.UnknownSpec(m)
		}
		return yield(manifestRow{m, spec, snapshot})
	})
}

func allManifestColumns(m *metaTable) ([]metaColumn, error) {
	columns, err := manifestColumns(m)
	return append(columns,
		newColumn(18, "reference_snapshot_id", longType, func(r manifestRow) any { return r.snapshot }),
		newColumn(19, "key_metadata", bytesType, func(r manifestRow) any { return bytesOrNull(r.KeyMetadata) }),
	), err
}

func bytesOrNull(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}
