package lake

import (
	"context"
	"iter"

	"github.com/apache/iceberg-go"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/datafile"
	"github.com/tarndb/tarn/internal/errs"
)

// Prepare finds out how each file of a layout of t's pinned snapshot is to be read for the columns, which may be metadata
// columns too, and returns the layout with that filled in, or fails if a scan could give wrong rows: see package datafile.
// Files that DuckDB can't read are rewritten in the folder dir, which its owner removes when the layout isn't used any more.
func (c *Catalog) Prepare(ctx context.Context, t *catalog.Table, columns []catalog.FieldID, layout *catalog.TableLayout, dir string,
) (*catalog.TableLayout, error) {
	if m, ok := layout.Table.Handle.(*metaScan); ok {
		out := *layout
		return &out, m.prepare(ctx, columns, &out, dir)
	}
	return c.dataFiles().Prepare(ctx, datafile.Scan{Table: t, Columns: columns, Layout: layout, Schemas: c.schemas(t), Folder: dir})
}

// dataFiles returns a reader of the catalog's data files.
func (c *Catalog) dataFiles() datafile.Reader {
	return datafile.Reader{Files: c.fio, Footers: &c.footers}
}

// schemas returns the columns of each of the table's schemas, the newest first.
func (c *Catalog) schemas(t *catalog.Table) iter.Seq2[[]catalog.Field, error] {
	return func(yield func([]catalog.Field, error) bool) {
		h, err := c.handleOf(t)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, schema := range newestFirst(h.meta, h.meta.CurrentSchema()) {
			fields, err := h.fields(schema)
			if !yield(fields, err) {
				return
			}
		}
	}
}

// fields returns the columns of a schema with their defaults.
func (h *handle) fields(schema *iceberg.Schema) ([]catalog.Field, error) {
	defaults, err := defaultsOf(h.raw, schema.ID)
	if err != nil {
		return nil, errs.Wrap(errs.Corrupt, "read metadata", h.location, err)
	}
	fields, err := fieldsOf(schema.Fields(), defaults)
	return fields, errs.Wrap(errs.Corrupt, "read metadata", h.location, err)
}
