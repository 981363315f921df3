package write

import (
	"context"
	"errors"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/lake"
)

// Append runs query on conn and appends its rows to t, by the rules of INSERT INTO. Without rows there is no snapshot, and 0 is
// returned. After a failure no new file is left, but after CommitUnknown all are.
func Append(ctx context.Context, conn *duck.Conn, c *lake.Catalog, t *catalog.Table, query string) (catalog.SnapshotID, error) {
	return AppendWith(ctx, conn, c, t, query, Options{})
}

// AppendWith is Append within limits.
func AppendWith(ctx context.Context, conn *duck.Conn, c *lake.Catalog, t *catalog.Table, query string, opts Options) (id catalog.SnapshotID, err error) {
	target, err := NewTarget(t)
	if err != nil {
		return 0, err
	}
	rows, err := target.rowsOf(ctx, conn, query)
	if err != nil {
		return 0, err
	}
	j, err := Start(ctx, c, target, opts)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	return j.Commit(ctx, func() error {
		w := j.Writer()
		defer w.Close()
		if err := stream(ctx, conn, rows, w.Add); err != nil {
			return err
		}
		return w.Flush()
	})
}

// Commit calls add, which adds all rows, then writes the files and appends them to the table. Without rows there is no snapshot,
// and 0 is returned. After a failure no new file is left, but after CommitUnknown all are.
func (j *Job) Commit(ctx context.Context, add func() error) (id catalog.SnapshotID, err error) {
	defer func() {
		if err != nil && errs.KindOf(err) != errs.CommitUnknown {
			err = errors.Join(err, j.Discard())
		}
	}()
	if err := add(); err != nil {
		return 0, err
	}
	files, err := j.Finish(ctx)
	if err != nil || len(files) == 0 {
		return 0, err
	}
	return j.catalog.Append(ctx, j.target.table, files)
}
