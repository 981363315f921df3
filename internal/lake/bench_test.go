package lake

import (
	"fmt"
	"testing"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

// BenchmarkSurvey plans over 20,000 files in 20 manifests, each of all 64 buckets, with statistics of three columns. The
// files themselves are never looked at.
func BenchmarkSurvey(b *testing.B) {
	c := newLake(b, "hadoop", b.TempDir())
	table := createTest(b, c, NewTable{Ident: catalog.Ident{"db", "t"}, Schema: testSchema(), Spec: []catalog.PartitionField{field(b, 1, "bucket[64]")}})
	for m := range 20 {
		var files []NewDataFile
		for i := range 1000 {
			files = append(files, syntheticFile(b, m*1000+i))
		}
		if _, err := c.Append(b.Context(), table, files); err != nil {
			b.Fatal(err)
		}
	}
	table, err := c.LoadTable(b.Context(), table.Ident, catalog.Version{})
	if err != nil {
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

func syntheticFile(b *testing.B, n int) NewDataFile {
	b.Helper()
	long := func(v int64) []byte {
		bound, err := transform.EncodeBound(transform.Type{Kind: transform.Long}, v)
		if err != nil {
			b.Fatal(err)
		}
		return bound
	}
	bucket := int32(n % 64)
	return NewDataFile{File: manifest.File{
		Path: fmt.Sprintf("/none/%06d.parquet", n), Format: catalog.Parquet, Partition: []transform.Value{bucket}, Rows: 100, Bytes: 1000,
		ValueCounts: map[int]int64{1: 100, 2: 100, 3: 100},
		NullCounts:  map[int]int64{1: 0, 2: 5, 3: 7},
		Lower:       map[int][]byte{1: long(-1000), 2: []byte("a"), 3: {1, 0, 0, 0}},
		Upper:       map[int][]byte{1: long(1000), 2: []byte("z"), 3: {9, 0, 0, 0}},
	}}
}
