package exec

import (
	"context"

	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/task"
)

// mostAgain is in how many parts a pack is tried at most: what then doesn't fit is a key that has too many rows by itself.
const mostAgain = 32

// attempt runs a pack, or a part of one. What its worker's memory doesn't suffice for, before any row came out, is done again half by
// half: task knows how many bytes files have, and not what their rows take in a sort, a window or a hash table. given counts the
// rows that came out; nil: they can't be told from those of another attempt.
//
// Proof: rows that have to do with each other are equal in the keys, and in Also, and by a hash of these a row is in one of the halves,
// as in task's parts of a group. Of a pack of several groups it is true of each of them.
func (w *worker) attempt(ctx context.Context, a attempt, do runQuery, given *int64, parts *int) error {
	before := int64(0)
	if given != nil {
		before = *given
	}
	err := w.try(ctx, a, do)
	// Nothing was used yet: a grouping gives no row before it has read the last one.
	for a.short != duck.NoShort && (duck.IsTooLong(err) || isUnplanned(err)) {
		a.short = a.short.Wider(err)
		w.short.Store(int64(a.short))
		err = w.try(ctx, a, do)
	}
	of := max(a.Part.Of, 1)
	if errs.KindOf(err) != errs.Resource || ctx.Err() != nil || given == nil || *given != before || 2*of > mostAgain*max(a.whole.Of, 1) {
		return err
	}
	*parts++
	for i := range 2 {
		half := *a.Pack
		half.Part = task.Part{Index: a.Part.Index + i*of, Of: 2 * of}
		next := a
		next.Pack = &half
		if err := w.attempt(ctx, next, do, given, parts); err != nil {
			return err
		}
	}
	return nil
}
