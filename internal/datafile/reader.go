package datafile

import (
	"context"

	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// Reader reads data and delete files for whoever scans them. It is safe for concurrent use.
type Reader struct {
	Files   fileio.Files
	Footers *Footers // of Files; all readers of one catalog share it
}

// ReadWritten reads the footer of a file that was just written and checks that its columns are those of fields, the table's and
// maybe those of row lineage, under their names and field IDs. It returns the file's size too.
func (r Reader) ReadWritten(ctx context.Context, t *catalog.Table, fields []catalog.Field, path string) (*metadata.FileMetaData, int64, error) {
	meta, foot, err := r.readFooter(ctx, path)
	if err != nil {
		return nil, 0, err
	}
	how := newJudge(t, fields).reading(foot, false)
	if how.err != nil {
		return nil, 0, errs.Wrap(errs.Invalid, "write data file", path, how.err)
	}
	isAsIs := how.shape == nil && !how.rewrite && len(how.absent) == 0
	if !isAsIs || foot.schema.NumFields() != len(fields) || !sameNames(foot.schema, fields) {
		return nil, 0, errs.New(errs.Invalid, "write data file", path, "its columns aren't those of the table")
	}
	return meta, foot.size, nil
}

func sameNames(root *schema.GroupNode, fields []catalog.Field) bool {
	columns := catalog.Schema{Fields: fields}
	for i := range root.NumFields() {
		n := root.Field(i)
		if f, ok := columns.Field(catalog.FieldID(n.FieldID())); !ok || f.Name != n.Name() {
			return false
		}
	}
	return true
}
