package lake

import (
	"context"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/errs"
)

// DropTable forgets a table, whatever its version is by then, and leaves its files where they are. After CommitUnknown it may
// still be there.
func (c *Catalog) DropTable(ctx context.Context, id catalog.Ident) error {
	retry, err := commit.RetryOf(nil)
	if err != nil {
		return err
	}
	return retry.Do(ctx, func(int) (bool, error) {
		base, err := c.store.current(ctx, id)
		if err == nil {
			err = c.store.drop(ctx, id, base, false)
		}
		return errs.KindOf(err) == errs.Conflict, err
	})
}

// RenameTable gives a table another name, in a namespace that is there. Its files stay where they are.
func (c *Catalog) RenameTable(ctx context.Context, from, to catalog.Ident) error {
	if len(to) < 2 {
		return errs.New(errs.Invalid, "rename table", from.String(), "the new name %s has no namespace", to)
	}
	if _, err := c.store.current(ctx, from); err != nil {
		return err
	}
	if _, err := c.store.tables(ctx, to[:len(to)-1]); err != nil {
		return err
	}
	return c.store.rename(ctx, from, to)
}
