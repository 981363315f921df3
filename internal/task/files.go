package task

import (
	"context"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
)

// FilesOf returns the files of a prepared layout, for those who read them outside of a graph, and what they have in common.
// columns are what is read of them, metadata columns among them.
func FilesOf(ctx context.Context, columns []catalog.FieldID, l *catalog.TableLayout) (*Input, []File, error) {
	r, in := newReader(&plan.Scan{Table: l.Table, Columns: columns}, l)
	var files []File
	err := r.each(ctx, func(_ catalog.DataFile, f File) error {
		files = append(files, f)
		return nil
	})
	return in, files, err
}
