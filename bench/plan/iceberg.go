package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
)

const (
	buckets    = 64
	snapshotID = 1
)

var (
	schema = iceberg.NewSchema(0,
		iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64},
		iceberg.NestedField{ID: 2, Name: "name", Type: iceberg.PrimitiveTypes.String},
		iceberg.NestedField{ID: 3, Name: "n", Type: iceberg.PrimitiveTypes.Int32})
	spec = iceberg.NewPartitionSpecID(0,
		iceberg.PartitionField{SourceIDs: []int{1}, FieldID: 1000, Name: "id_bucket", Transform: iceberg.BucketTransform{NumBuckets: buckets}})
)

// makeTable has iceberg-go write a table's metadata. Its data files aren't there: planning never looks at them.
func makeTable(path string, files, manifests int, clustered bool) error {
	folder := filepath.Join(path, "metadata")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	var list []iceberg.ManifestFile
	for m := range manifests {
		first, last := files*m/manifests, files*(m+1)/manifests
		f, err := writeManifest(filepath.Join(folder, fmt.Sprintf("m%d.avro", m)), path, first, last, func(i int) int32 {
			if clustered {
				return int32(i * buckets / files)
			}
			return int32(i % buckets)
		})
		if err != nil {
			return err
		}
		list = append(list, f)
	}
	var body bytes.Buffer
	sequence := int64(1)
	if err := iceberg.WriteManifestList(2, &body, snapshotID, nil, &sequence, 0, list); err != nil {
		return err
	}
	listPath := filepath.Join(folder, "snap-1.avro")
	if err := os.WriteFile(listPath, body.Bytes(), 0o666); err != nil {
		return err
	}
	return writeMetadata(path, listPath)
}

func writeManifest(path, table string, first, last int, bucketOf func(i int) int32) (iceberg.ManifestFile, error) {
	var body bytes.Buffer
	w, err := iceberg.NewManifestWriter(2, &body, spec, schema, snapshotID)
	if err != nil {
		return nil, err
	}
	id := int64(snapshotID)
	for i := first; i < last; i++ {
		f, err := dataFile(table, i, bucketOf(i))
		if err != nil {
			return nil, err
		}
		if err := w.Add(iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &id, nil, nil, f)); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	f, err := w.ToManifestFile(path, int64(body.Len()))
	if err != nil {
		return nil, err
	}
	return f, os.WriteFile(path, body.Bytes(), 0o666)
}

func dataFile(table string, i int, bucket int32) (iceberg.DataFile, error) {
	path := fmt.Sprintf("%s/data/id_bucket=%d/00000-0-7d3c3a5e-6b1f-4c0e-9d2a-%012d-00001.parquet", table, bucket, i)
	b, err := iceberg.NewDataFileBuilder(spec, iceberg.EntryContentData, path, iceberg.ParquetFile, map[int]any{1000: bucket},
		nil, nil, 10_000, 1<<20)
	if err != nil {
		return nil, err
	}
	long := func(n int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }
	short := func(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }
	each := func(a, b, c int64) map[int]int64 { return map[int]int64{1: a, 2: b, 3: c} }
	return b.ColumnSizes(each(80_000, 120_000, 40_000)).ValueCounts(each(10_000, 10_000, 10_000)).NullValueCounts(each(0, 5, int64(i%7))).
		LowerBoundValues(map[int][]byte{1: long(-i), 2: fmt.Appendf(nil, "aa%d", i%100), 3: short(-i)}).
		UpperBoundValues(map[int][]byte{1: long(1_000_000 + i), 2: fmt.Appendf(nil, "zz%d", i%100), 3: short(i)}).Build(), nil
}

func writeMetadata(path, listPath string) error {
	meta, err := table.NewMetadata(schema, &spec, table.UnsortedSortOrder, path, iceberg.Properties{"format-version": "2"})
	if err != nil {
		return err
	}
	b, err := table.MetadataBuilderFromBase(meta, "")
	if err != nil {
		return err
	}
	err = b.AddSnapshot(&table.Snapshot{
		SnapshotID: snapshotID, SequenceNumber: 1, TimestampMs: meta.LastUpdatedMillis(), ManifestList: listPath,
		Summary: &table.Summary{Operation: table.OpAppend},
	})
	if err == nil {
		err = b.SetSnapshotRef(table.MainBranch, snapshotID, table.BranchRef)
	}
	if err != nil {
		return err
	}
	if meta, err = b.Build(); err != nil {
		return err
	}
	body, err := json.Marshal(meta)
	if err != nil {
		return err
	}
	return os.WriteFile(metadataPath(path), body, 0o666)
}

func metadataPath(path string) string { return filepath.Join(path, "metadata", "v1.metadata.json") }

func theirPlan(ctx context.Context, path string, point bool) (outcome, error) {
	local := func(context.Context) (io.IO, error) { return io.LocalFS{}, nil }
	t, err := table.NewFromLocation(ctx, []string{"t"}, metadataPath(path), local, nil)
	if err != nil {
		return outcome{}, err
	}
	var options []table.ScanOption
	if point {
		options = append(options, table.WithRowFilter(iceberg.EqualTo(iceberg.Reference("id"), int64(34))))
	}
	return measure(func() (int, error) {
		tasks, err := t.Scan(options...).PlanFiles(ctx)
		return len(tasks), err
	})
}
