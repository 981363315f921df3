package lake

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

// partitionRow is one partition: what the files of one tuple hold.
type partitionRow struct {
	tuple             []any
	spec              catalog.SpecID // of the file that was added last
	rows, files, size int64          // of data files
	positionRows      int64
	positionFiles     int64
	equalityRows      int64
	equalityFiles     int64
	updatedMs         *int64 // the time of the latest snapshot that added a file; nil when all have expired
	updatedBy         int64
}

func metaPartitionColumns(m *metaTable) ([]metaColumn, error) {
	columns := m.withPartition(nil, 1, func(row any) any { return row.(*partitionRow).tuple })
	if len(columns) > 0 { // an unpartitioned table has no spec_id either
		columns = append(columns, newColumn(4, "spec_id", intType, func(r *partitionRow) any { return int32(r.spec) }))
	}
	return append(columns,
		newColumn(2, "record_count", longType, func(r *partitionRow) any { return r.rows }),
		newColumn(3, "file_count", intType, func(r *partitionRow) any { return int32(r.files) }),
		newColumn(11, "total_data_file_size_in_bytes", longType, func(r *partitionRow) any { return r.size }),
		newColumn(5, "position_delete_record_count", longType, func(r *partitionRow) any { return r.positionRows }),
		newColumn(6, "position_delete_file_count", intType, func(r *partitionRow) any { return int32(r.positionFiles) }),
		newColumn(7, "equality_delete_record_count", longType, func(r *partitionRow) any { return r.equalityRows }),
		newColumn(8, "equality_delete_file_count", intType, func(r *partitionRow) any { return int32(r.equalityFiles) }),
		newColumn(9, "last_updated_at", momentType, func(r *partitionRow) any {
			if r.updatedMs == nil {
				return nil
			}
			return moment(*r.updatedMs)
		}),
		newColumn(10, "last_updated_snapshot_id", longType, func(r *partitionRow) any {
			if r.updatedMs == nil {
				return nil
			}
			return r.updatedBy
		}),
	), nil
}

// metaPartitionRows sums the live entries by partition. Tuples are one partition when they are equal in the struct of all
// specs and their specs have equally many of its fields: so the reference implementation tells them apart.
func metaPartitionRows(ctx context.Context, s *metaScan, yield func(any) error) error {
	known := snapshotsByID(s.base.meta)
	sums := map[string]*partitionRow{}
	err := metaFileRows(ctx, s, func(row any) error {
		r := row.(*entryRow)
		key := string(s.partitionKey(r))
		sum, ok := sums[key]
		if !ok {
			sum = &partitionRow{tuple: r.partition}
			sums[key] = sum
		}
		sum.add(r.Entry)
		if r.SnapshotID != nil {
			if by := known[*r.SnapshotID]; by != nil && (sum.updatedMs == nil || by.TimestampMs > *sum.updatedMs) {
				sum.spec, sum.updatedMs, sum.updatedBy = r.Spec, &by.TimestampMs, by.SnapshotID
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		if err := yield(sums[key]); err != nil {
			return err
		}
	}
	return nil
}

func (s *metaScan) partitionKey(r *entryRow) []byte {
	has := 0
	for _, at := range s.places[r.Spec] {
		if at >= 0 {
			has++
		}
	}
	key := binary.BigEndian.AppendUint32(nil, uint32(has))
	for _, v := range r.partition {
		key = transform.AppendKey(key, transform.Type{}, v)
	}
	return key
}

func (r *partitionRow) add(e *manifest.Entry) {
	switch e.Content {
	case manifest.Data:
		r.rows += e.Rows
		r.files++
		r.size += e.Bytes
	case manifest.PositionDeletes:
		r.positionRows += e.Rows
		r.positionFiles++
	case manifest.EqualityDeletes:
		r.equalityRows += e.Rows
		r.equalityFiles++
	}
}
