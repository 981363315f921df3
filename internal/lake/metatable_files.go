package lake

import (
	"context"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

// entryRow is an entry of a manifest and its partition in the struct of all specs.
type entryRow struct {
	*manifest.Entry
	partition []any
}

// metaFileColumns are the columns of the tables of files, which those of entries have as one.
func metaFileColumns(m *metaTable) ([]metaColumn, error) {
	columns := m.dataFileColumns()
	return append(columns, readableMetrics(m.of.Schema.Fields, columns)), nil
}

func (m *metaTable) dataFileColumns() []metaColumn {
	counts := func(key, value catalog.FieldID) catalog.Type { return mapOf(key, value, intType, longType) }
	bounds := func(key, value catalog.FieldID) catalog.Type { return mapOf(key, value, intType, bytesType) }
	columns := []metaColumn{
		newColumn(134, "content", intType, func(r *entryRow) any { return int32(r.Content) }),
		newColumn(100, "file_path", textType, func(r *entryRow) any { return r.Path }),
		newColumn(101, "file_format", textType, func(r *entryRow) any { return strings.ToUpper(string(r.Format)) }),
		newColumn(141, "spec_id", intType, func(r *entryRow) any { return int32(r.Spec) }),
	}
	columns = m.withPartition(columns, 102, func(row any) any { return row.(*entryRow).partition })
	columns = append(columns,
		newColumn(103, "record_count", longType, func(r *entryRow) any { return r.Rows }),
		newColumn(104, "file_size_in_bytes", longType, func(r *entryRow) any { return r.Bytes }),
		statistic(108, "column_sizes", counts(117, 118), func(e *manifest.Entry) map[int]int64 { return e.ColumnSizes }),
		statistic(109, "value_counts", counts(119, 120), func(e *manifest.Entry) map[int]int64 { return e.ValueCounts }),
		statistic(110, "null_value_counts", counts(121, 122), func(e *manifest.Entry) map[int]int64 { return e.NullCounts }),
		statistic(137, "nan_value_counts", counts(138, 139), func(e *manifest.Entry) map[int]int64 { return e.NaNCounts }),
		statistic(125, "lower_bounds", bounds(126, 127), func(e *manifest.Entry) map[int][]byte { return e.Lower }),
		statistic(128, "upper_bounds", bounds(129, 130), func(e *manifest.Entry) map[int][]byte { return e.Upper }),
		newColumn(131, "key_metadata", bytesType, func(r *entryRow) any { return bytesOrNull(r.KeyMetadata) }),
		newColumn(132, "split_offsets", listOf(133, longType), func(r *entryRow) any {
			return listValue(r.Entry, 132, r.SplitOffsets, func(n int64) any { return n })
		}),
		newColumn(135, "equality_ids", listOf(136, intType), func(r *entryRow) any {
			return listValue(r.Entry, 135, r.EqualityIDs, func(id int) any { return int32(id) })
		}),
		newColumn(140, "sort_order_id", intType, func(r *entryRow) any { return intOrNull(r.SortOrderID) }),
		newColumn(142, "first_row_id", longType, func(r *entryRow) any { return orNull(r.FirstRowID) }),
		newColumn(143, "referenced_data_file", textType, func(r *entryRow) any { return textOrNull(r.Referenced) }),
		newColumn(144, "content_offset", longType, func(r *entryRow) any { return orNull(r.Offset) }),
		newColumn(145, "content_size_in_bytes", longType, func(r *entryRow) any { return orNull(r.Length) }),
	)
	return columns
}

// withPartition adds the partition column, which only partitioned tables have.
func (m *metaTable) withPartition(columns []metaColumn, id catalog.FieldID, value func(row any) any) []metaColumn {
	if len(m.union.Fields) == 0 {
		return columns
	}
	return append(columns, metaColumn{Field: catalog.Field{ID: id, Name: "partition", Type: writable(m.union)}, value: value})
}

// statistic makes a column of a statistic of a file's columns, a map by their field IDs.
func statistic[V any](id int, name string, t catalog.Type, of func(*manifest.Entry) map[int]V) metaColumn {
	c := newColumn(catalog.FieldID(id), name, t, func(r *entryRow) any {
		if !r.Gives(id) {
			return nil
		}
		return mapValue(of(r.Entry), func(id int) any { return int32(id) })
	})
	c.stats = true
	return c
}

func listValue[T any](e *manifest.Entry, id int, list []T, value func(T) any) any {
	if !e.Gives(id) {
		return nil
	}
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = value(v)
	}
	return out
}

// place puts an entry's partition into the struct of all specs.
func (m *metaTable) place(e *manifest.Entry) ([]any, error) {
	out := make([]any, len(m.union.Fields))
	for i, at := range m.places[e.Spec] {
		if at < 0 || i >= len(e.Partition) || e.Partition[i] == nil {
			continue
		}
		typ := m.union.Fields[at].Type.Primitive
		switch v := e.Partition[i]; {
		case !isWritable(typ):
			raw, err := transform.EncodeBound(typ, v)
			if err != nil {
				return nil, errs.Wrap(errs.Corrupt, "read partition of", e.Path, err)
			}
			out[at] = raw
		case !canTell(typ, v):
			return nil, errs.New(errs.Corrupt, "read partition of", e.Path, "field %q is no %s", m.union.Fields[at].Name, typ)
		default:
			out[at] = v
		}
	}
	return out, nil
}

// metaFileRows are the entries of live files.
func metaFileRows(ctx context.Context, s *metaScan, yield func(any) error) error {
	return metaEntryRows(ctx, s, func(row any) error {
		if !row.(*entryRow).IsLive() {
			return nil
		}
		return yield(row)
	})
}

func metaEntryRows(ctx context.Context, s *metaScan, yield func(any) error) error {
	row := &entryRow{}
	return s.visitEntries(ctx, func(e *manifest.Entry) (err error) {
		row.Entry = e
		if row.partition, err = s.place(e); err != nil {
			return err
		}
		return yield(row)
	})
}

// statusID is the field ID of an entry's status. It is 0 in manifests, which stands for no column here.
const statusID = 5

func metaEntryColumns(m *metaTable) ([]metaColumn, error) {
	columns := []metaColumn{
		newColumn(statusID, "status", intType, func(r *entryRow) any { return int32(r.Status) }),
		newColumn(1, "snapshot_id", longType, func(r *entryRow) any { return orNull(r.SnapshotID) }),
		newColumn(3, "sequence_number", longType, func(r *entryRow) any { return sequenceOrNull(r.Sequence) }),
		newColumn(4, "file_sequence_number", longType, func(r *entryRow) any { return sequenceOrNull(r.FileSequence) }),
		structColumn(2, "data_file", m.dataFileColumns()),
	}
	return append(columns, readableMetrics(m.of.Schema.Fields, columns)), nil
}

func sequenceOrNull(n int64) any {
	if n == manifest.NoSequence {
		return nil
	}
	return n
}
