package exec

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/task"
)

// blame names the file in an error of damage as the table's metadata does, where DuckDB names none, or a copy that was made to be read.
func blame(ctx context.Context, conn *duck.Conn, files []task.File, err error) error {
	local := make([]string, len(files))
	for i := range files {
		local[i] = files[i].Ref.Local
	}
	err = conn.Blame(ctx, local, err)
	var e *errs.Error
	if !errors.As(err, &e) || e.Kind != errs.Corrupt {
		return err
	}
	at := slices.Index(local, e.Object)
	if at < 0 || strings.HasSuffix(files[at].Ref.Path, e.Object) {
		return err
	}
	named := *e
	named.Object = files[at].Ref.Path
	return &named
}
