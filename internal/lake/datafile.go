package lake

import (
	"context"
	"fmt"
	"io"
	"net/url"

	"github.com/google/uuid"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/internal/metrics"
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
	return c.NewNamedFileRef(ctx, t, tuple, "00000-0-"+uuid.NewString()+"-00001.parquet")
}

// NewNamedFileRef is NewDataFileRef with the file's name, which nobody else may have given.
func (c *Catalog) NewNamedFileRef(ctx context.Context, t *catalog.Table, tuple []transform.Value, name string) (catalog.FileRef, error) {
	return c.NewFileRefOf(ctx, t, t.Spec(), tuple, name)
}

// NewFileRefOf is NewNamedFileRef for a partition of any of the table's specs. A file of no partition, whose tuple is nil, lies
// in the data folder itself.
func (c *Catalog) NewFileRefOf(ctx context.Context, t *catalog.Table, spec catalog.PartitionSpec, tuple []transform.Value, name string,
) (catalog.FileRef, error) {
	folder := dataFolder(t)
	for i, f := range spec.Fields {
		if i < len(tuple) {
			folder = fileio.Under(folder, pathPart(f.Name)+"="+pathPart(f.Transform.Human(f.SourceType, tuple[i])))
		}
	}
	if err := c.fio.MakeFolder(ctx, folder); err != nil {
		return catalog.FileRef{}, err
	}
	path := fileio.Under(folder, name)
	local, err := c.fio.Local(path)
	return catalog.FileRef{Path: path, Local: local}, err
}

// WriteFile writes a whole new file, which is durable when it returns, and returns its ref with its size.
func (c *Catalog) WriteFile(ctx context.Context, ref catalog.FileRef, data []byte) (catalog.FileRef, error) {
	ref.Bytes = int64(len(data))
	return ref, c.fio.Create(ctx, ref.Path, data)
}

// StreamFile is WriteFile of what write writes, piece by piece. Until it returns others may see a part of the file, which no metadata
// may mention before.
func (c *Catalog) StreamFile(ctx context.Context, ref catalog.FileRef, write func(io.Writer) error) (catalog.FileRef, error) {
	var err error
	ref.Bytes, err = c.fio.Stream(ctx, ref.Path, write)
	return ref, err
}

// MakeFolderOf makes the folder of a new file again.
func (c *Catalog) MakeFolderOf(ctx context.Context, ref catalog.FileRef) error {
	folder, _ := fileio.Split(ref.Path)
	return c.fio.MakeFolder(ctx, folder)
}

// dataFolder is where a table's new data files lie.
func dataFolder(t *catalog.Table) string {
	if folder := t.Properties["write.data.path"]; folder != "" {
		return folder
	}
	return fileio.Under(t.Location, "data")
}

// maxPathPart keeps a folder's name within what file systems take, 255 bytes, whatever the partition value.
const maxPathPart = 120

func pathPart(s string) string {
	escaped := url.QueryEscape(s)
	return escaped[:min(len(escaped), maxPathPart)]
}

// WrittenFile is a Parquet file that was written for the table's current schema, and what its footer says of it.
type WrittenFile struct {
	Ref     catalog.FileRef
	Metrics *metrics.Metrics
	// Wants are what the footer doesn't say. Whoever has the rows may compute it; else the metrics go without.
	Wants []metrics.Want
}

// ReadWritten reads the footer of a file that was written at ref. The file must have the columns of fields, under their names and
// field IDs: all of the table's current schema, and maybe those of row lineage, which have no metrics.
func (c *Catalog) ReadWritten(ctx context.Context, t *catalog.Table, ref catalog.FileRef, fields []catalog.Field, modes *metrics.Modes,
) (*WrittenFile, error) {
	meta, size, err := c.dataFiles().ReadWritten(ctx, t, fields, ref.Path)
	if err != nil {
		return nil, err
	}
	if err := fileio.Sync(ref.Local); err != nil {
		return nil, errs.OfFile("write data file", ref.Path, err)
	}
	w := &WrittenFile{Ref: catalog.FileRef{Path: ref.Path, Local: ref.Local, Bytes: size}}
	err = fileio.Parse("read statistics", ref.Path, func() (err error) {
		w.Metrics, w.Wants, err = metrics.FromFooter(meta, t.Schema, modes)
		return err
	})
	return w, err
}

// DataFile makes an entry of a file for the table's current spec. tuple has one value per field of the spec; order is the ID of
// the sort order that the file's rows are in, 0 for none.
func (c *Catalog) DataFile(t *catalog.Table, w *WrittenFile, tuple []transform.Value, order int) (NewDataFile, error) {
	if _, err := c.handleOf(t); err != nil {
		return NewDataFile{}, err
	}
	spec := t.Spec()
	if len(tuple) != len(spec.Fields) {
		return NewDataFile{}, errs.New(errs.Invalid, "write data file", w.Ref.Path, "%d partition values for a spec of %d fields", len(tuple), len(spec.Fields))
	}
	m := w.Metrics
	file := manifest.File{
		Content: manifest.Data, Path: w.Ref.Path, Format: catalog.Parquet, Spec: spec.ID, Partition: tuple, Rows: m.Rows, Bytes: w.Ref.Bytes,
		ColumnSizes: m.Sizes, ValueCounts: m.Values, NullCounts: m.Nulls, NaNCounts: m.NaNs, Lower: m.Lower, Upper: m.Upper, SplitOffsets: m.Splits,
	}
	if order != 0 {
		file.SortOrderID = &order
	}
	out := NewDataFile{File: file, DataFile: catalog.DataFile{
		Ref: w.Ref, Format: catalog.Parquet, Spec: spec.ID, Partition: tuple, Rows: m.Rows,
	}}
	if err := checkTypes(spec, tuple); err != nil {
		return out, errs.Wrap(errs.Invalid, "write data file", w.Ref.Path, err)
	}
	if survey.Contradictions(spec, t.Schema, tuple, &manifest.Entry{File: file}) != 0 {
		return out, errs.New(errs.Internal, "write data file", w.Ref.Path, "its rows aren't all of its partition %v", tuple)
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

// DataFileFromParquet is ReadWritten and DataFile of a file whose metrics are those of its footer, and whose rows are in no order.
func (c *Catalog) DataFileFromParquet(ctx context.Context, t *catalog.Table, ref catalog.FileRef, tuple []transform.Value) (NewDataFile, error) {
	modes, err := metrics.ModesOf(t)
	if err != nil {
		return NewDataFile{}, err
	}
	w, err := c.ReadWritten(ctx, t, ref, t.Schema.Fields, modes)
	if err != nil {
		return NewDataFile{}, err
	}
	return c.DataFile(t, w, tuple, 0)
}
