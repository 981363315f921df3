package exec

import (
	"context"

	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/task"
)

const (
	// loadPart is the part of a worker's memory that tables which each pack reads whole may take: what is left is for the
	// packs themselves.
	loadPart = 4
	// loadGrowth is how much larger than in data files, which are compressed, rows are in memory.
	loadGrowth = 8
	// loadBytes is how many bytes of data files are loaded where there is no limit. Beyond that the reading costs less, per
	// row, than what rows are joined with.
	loadBytes = 64 << 20
)

// isEverywhere says whether each pack reads the table whole.
func isEverywhere(t *task.Table) bool { return len(t.Sources) == 0 }

// loadEverywhere gives the instance the tables that each pack reads whole: in memory when they are small, so that they are
// read once and not by each pack, else as views over their files.
func (w *worker) loadEverywhere(ctx context.Context) error {
	room := int64(loadBytes)
	if w.memory > 0 {
		room = w.memory / loadPart / loadGrowth
	}
	for i := range w.core.Tables {
		t := &w.core.Tables[i]
		if !isEverywhere(t) {
			continue
		}
		if room -= task.BytesOf(t.Everywhere); room < 0 {
			room = 0
		}
		if err := w.everywhere(ctx, t, room > 0 && len(t.Everywhere) > 0); err != nil {
			return err
		}
	}
	return nil
}

// everywhereName is what an instance calls such a table: its view, or what each pack's view adds short columns to. While it loads,
// no text can be too long.
func everywhereName(t *task.Table) string {
	if len(t.Short) > 0 {
		return t.View + "_everywhere"
	}
	return t.View
}

// everywhere makes a view of a table, or the table itself when load.
func (w *worker) everywhere(ctx context.Context, t *task.Table, load bool) error {
	scan, forget, err := w.deletes.lentScan(ctx, w.db, w.conn, &t.Input, t.Everywhere)
	before := w.end
	w.end = func() { before(); forget() }
	if err != nil {
		return err
	}
	scan.Filter = conditionOf(&t.Input)
	text, err := duck.ScanSQL(scan)
	if err != nil {
		return err
	}
	if load {
		err := w.conn.Exec(ctx, "CREATE TABLE "+everywhereName(t)+" AS "+text)
		if errs.KindOf(err) != errs.Resource || ctx.Err() != nil {
			return blame(ctx, w.conn, t.Everywhere, err)
		}
	}
	return makeView(ctx, w.conn, everywhereName(t), text)
}
