package lake

import (
	"context"
	"fmt"
	"net/url"

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
	File manifest.File // as a manifest will have it
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
	if len(tuple) != len(spec.Fields) {
		return NewDataFile{}, errs.New(errs.Invalid, "write data file", ref.Path, "%d partition values for a spec of %d fields", len(tuple), len(spec.Fields))
	}
	file, err := fileOf(h, meta, ref.Path, size)
	if err != nil {
		return NewDataFile{}, errs.Wrap(errs.Internal, "write data file", ref.Path, err)
	}
	file.Spec, file.Partition = spec.ID, tuple
	out := NewDataFile{File: file, DataFile: catalog.DataFile{
		Ref:       catalog.FileRef{Path: ref.Path, Local: ref.Local, Bytes: size},
		Format:    catalog.Parquet,
		Spec:      spec.ID,
		Partition: tuple,
		Rows:      file.Rows,
	}}
	if err := checkTypes(spec, tuple); err != nil {
		return out, errs.Wrap(errs.Invalid, "write data file", ref.Path, err)
	}
	if survey.Contradictions(spec, t.Schema, tuple, &manifest.Entry{File: file}) != 0 {
		return out, errs.New(errs.Internal, "write data file", ref.Path, "its rows aren't all of its partition %v", tuple)
	}
	return out, nil
}

// checkTypes fails where a value of the tuple isn't one of its field's.
func checkTypes(spec catalog.PartitionSpec, tuple []transform.Value) error {
	for i, typ := range manifest.TupleTypes(spec) {
		if _, ok := manifest.FitValue(typ, tuple[i]); tuple[i] != nil && !ok {
			return fmt.Errorf("the partition value of %q is %v, not a %s", spec.Fields[i].Name, tuple[i], typ)
		}
	}
	return nil
}

// fileOf takes the counts and bounds from iceberg-go, as those of an unpartitioned file, since for a partition value that is
// NULL it would put in a guess.
func fileOf(h *handle, meta *metadata.FileMetaData, path string, size int64) (manifest.File, error) {
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
		return manifest.File{}, err
	}
	bounds := func(stats map[int][]byte) map[int][]byte { return inTableUnits(stats, h.meta.CurrentSchema(), meta) }
	return manifest.File{
		Content: manifest.Data, Path: path, Format: catalog.Parquet, Rows: plain.Count(), Bytes: size,
		ColumnSizes: plain.ColumnSizes(), ValueCounts: plain.ValueCounts(), NullCounts: plain.NullValueCounts(), NaNCounts: plain.NaNValueCounts(),
		Lower: bounds(plain.LowerBoundValues()), Upper: bounds(plain.UpperBoundValues()), SplitOffsets: plain.SplitOffsets(),
	}, nil
}
