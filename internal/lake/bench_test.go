package lake

import (
	"fmt"
	"testing"

	"github.com/apache/iceberg-go"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/transform"
)

// BenchmarkSurvey plans over 20,000 files in 20 manifests, each of all 64 buckets, with statistics of three columns. The
// files themselves are never looked at.
func BenchmarkSurvey(b *testing.B) {
	c := newLake(b, "hadoop", b.TempDir())
	table := createTest(b, c, NewTable{Ident: catalog.Ident{"db", "t"}, Schema: testSchema(), Spec: []catalog.PartitionField{field(b, 1, "bucket[64]")}})
	h, err := c.handleOf(table)
	if err != nil {
		b.Fatal(err)
	}
	for m := range 20 {
		var files []NewDataFile
		for i := range 1000 {
			files = append(files, syntheticFile(b, h, m*1000+i))
		}
		if _, err := c.Append(b.Context(), table, files); err != nil {
			b.Fatal(err)
		}
	}
	if table, err = c.LoadTable(b.Context(), table.Ident, catalog.Version{}); err != nil {
		b.Fatal(err)
	}
	id := transform.Type{Kind: transform.Long}
	for name, filter := range map[string]catalog.Filter{
		"all":   {},
		"point": {Op: catalog.Test, Field: 1, Type: id, Pred: isTest(transform.EQ, int64(34))},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				layout, err := c.Survey(b.Context(), table, filter)
				if err != nil || layout.Counts.Files != 20_000 {
					b.Fatal(layout, err)
				}
			}
		})
	}
}

func syntheticFile(b *testing.B, h *handle, n int) NewDataFile {
	b.Helper()
	long := func(v int64) []byte {
		bound, err := transform.EncodeBound(transform.Type{Kind: transform.Long}, v)
		if err != nil {
			b.Fatal(err)
		}
		return bound
	}
	bucket := int32(n % 64)
	build, err := iceberg.NewDataFileBuilder(h.meta.PartitionSpec(), iceberg.EntryContentData, fmt.Sprintf("/none/%06d.parquet", n),
		iceberg.ParquetFile, map[int]any{1000: bucket}, nil, nil, 100, 1000)
	if err != nil {
		b.Fatal(err)
	}
	counts := map[int]int64{1: 100, 2: 100, 3: 100}
	nulls := map[int]int64{1: 0, 2: 5, 3: 7}
	lowers := map[int][]byte{1: long(-1000), 2: []byte("a"), 3: {1, 0, 0, 0}}
	uppers := map[int][]byte{1: long(1000), 2: []byte("z"), 3: {9, 0, 0, 0}}
	entry := build.ValueCounts(counts).NullValueCounts(nulls).LowerBoundValues(lowers).UpperBoundValues(uppers).Build()
	return NewDataFile{entry: entry, DataFile: catalog.DataFile{Ref: catalog.FileRef{Bytes: 1000}, Partition: []transform.Value{bucket}, Rows: 100}}
}
