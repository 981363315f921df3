package lake

import (
	"context"
	"fmt"
	"math/big"
	"net/url"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/google/uuid"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/internal/survey"
	"github.com/tarndb/tarn/transform"
)

// NewDataFile is a data file that lies where it should and isn't part of the table yet.
type NewDataFile struct {
	catalog.DataFile
	entry iceberg.DataFile
}

// NewDataFileRef names a new Parquet file for rows of the partition, in the table's data folder, and makes its folder.
// The name tells people the partition; nothing reads it back.
func (c *Catalog) NewDataFileRef(ctx context.Context, t *catalog.Table, tuple []transform.Value) (catalog.FileRef, error) {
	folder := t.Properties["write.data.path"]
	if folder == "" {
		folder = fileio.Under(t.Location, "data")
	}
	for i, f := range t.Spec().Fields {
		if i < len(tuple) {
			folder = fileio.Under(folder, pathPart(f.Name)+"="+pathPart(f.Transform.Human(f.SourceType, tuple[i])))
		}
	}
	if err := c.fio.MakeFolder(ctx, folder); err != nil {
		return catalog.FileRef{}, err
	}
	path := fileio.Under(folder, "00000-0-"+uuid.NewString()+"-00001.parquet")
	local, err := c.fio.Local(path)
	return catalog.FileRef{Path: path, Local: local}, err
}

// maxPathPart keeps a folder's name within what file systems take, 255 bytes, whatever the partition value.
const maxPathPart = 120

func pathPart(s string) string {
	escaped := url.QueryEscape(s)
	return escaped[:min(len(escaped), maxPathPart)]
}

// DataFileFromParquet describes a Parquet file that was written at ref for the table's current spec: its counts and
// bounds come from its footer. tuple has one value per field of the spec. The file must have all columns of the table's
// current schema, under their names and field IDs.
func (c *Catalog) DataFileFromParquet(ctx context.Context, t *catalog.Table, ref catalog.FileRef, tuple []transform.Value) (NewDataFile, error) {
	h, err := c.handleOf(t)
	if err != nil {
		return NewDataFile{}, err
	}
	meta, size, err := c.dataFiles().ReadWritten(ctx, t, ref.Path)
	if err != nil {
		return NewDataFile{}, err
	}
	spec := t.Spec()
	values, err := partitionMap(spec, tuple)
	if err != nil {
		return NewDataFile{}, errs.Wrap(errs.Invalid, "write data file", ref.Path, err)
	}
	entry, err := dataFileEntry(h, spec.ID, meta, ref.Path, size, values)
	if err != nil {
		return NewDataFile{}, errs.Wrap(errs.Internal, "write data file", ref.Path, err)
	}
	out := NewDataFile{entry: entry, DataFile: catalog.DataFile{
		Ref:       catalog.FileRef{Path: ref.Path, Local: ref.Local, Bytes: size},
		Format:    catalog.Parquet,
		Spec:      spec.ID,
		Partition: tuple,
		Rows:      entry.Count(),
	}}
	if survey.Contradictions(spec, t.Schema, tuple, statisticsOf(entry)) != 0 {
		return out, errs.New(errs.Internal, "write data file", ref.Path, "its rows aren't all of its partition %v", tuple)
	}
	return out, nil
}

// dataFileEntry takes the statistics from iceberg-go, as those of an unpartitioned file, since for a partition value that
// is NULL it would put in a guess; then it adds the partition.
func dataFileEntry(h *handle, spec catalog.SpecID, meta *metadata.FileMetaData, path string, size int64, values map[int]any) (iceberg.DataFile, error) {
	plain, err := table.DataFileFromMetadata(table.DataFileArgs{
		Schema:        h.meta.CurrentSchema(),
		Spec:          *iceberg.UnpartitionedSpec,
		Format:        iceberg.ParquetFile,
		Metadata:      meta,
		FilePath:      path,
		FileSize:      size,
		Content:       iceberg.EntryContentData,
		Properties:    h.meta.Properties(),
		FormatVersion: h.meta.Version(),
	})
	if err != nil {
		return nil, err
	}
	b, err := iceberg.NewDataFileBuilder(*h.meta.PartitionSpecByID(int(spec)), iceberg.EntryContentData, path,
		iceberg.ParquetFile, values, nil, nil, plain.Count(), size)
	if err != nil {
		return nil, err
	}
	bounds := func(stats map[int][]byte) map[int][]byte { return inTableUnits(stats, h.meta.CurrentSchema(), meta) }
	return b.ColumnSizes(plain.ColumnSizes()).ValueCounts(plain.ValueCounts()).NullValueCounts(plain.NullValueCounts()).
		NaNValueCounts(plain.NaNValueCounts()).LowerBoundValues(bounds(plain.LowerBoundValues())).
		UpperBoundValues(bounds(plain.UpperBoundValues())).SplitOffsets(plain.SplitOffsets()).Build(), nil
}

// partitionMap returns a tuple as iceberg-go keeps it, by field ID.
func partitionMap(spec catalog.PartitionSpec, tuple []transform.Value) (map[int]any, error) {
	if len(tuple) != len(spec.Fields) {
		return nil, fmt.Errorf("%d partition values for a spec of %d fields", len(tuple), len(spec.Fields))
	}
	values := map[int]any{}
	for i, typ := range manifest.TupleTypes(spec) {
		f := spec.Fields[i]
		if typ.Kind == transform.None {
			return nil, errs.New(errs.Unsupported, "partition by", f.Name, "the transform %s isn't known, so that no rows can be written", f.Transform)
		}
		v, ok := tuple[i], tuple[i] == nil
		if !ok {
			v, ok = manifest.FitValue(typ, v)
		}
		if !ok {
			return nil, fmt.Errorf("the partition value of %q is %v, not a %s", f.Name, tuple[i], typ)
		}
		values[int(f.ID)] = icebergValue(typ, v)
	}
	return values, nil
}

// icebergValue returns a partition value in iceberg-go's own types.
func icebergValue(t transform.Type, v transform.Value) any {
	switch v := v.(type) {
	case int32:
		if t.Kind == transform.Date {
			return iceberg.Date(v)
		}
	case int64:
		switch t.Kind {
		case transform.Time:
			return iceberg.Time(v)
		case transform.Timestamp, transform.TimestampTZ:
			return iceberg.Timestamp(v)
		}
	case *big.Int:
		return iceberg.Decimal{Val: decimal128.FromBigInt(v), Scale: t.Scale}
	case [16]byte:
		return uuid.UUID(v)
	}
	return v
}

// statisticsOf returns the statistics of a file as those of an entry of a manifest.
func statisticsOf(f iceberg.DataFile) *manifest.Entry {
	return &manifest.Entry{Rows: f.Count(), NullCounts: f.NullValueCounts(), NaNCounts: f.NaNValueCounts(),
		Lower: f.LowerBoundValues(), Upper: f.UpperBoundValues()}
}
