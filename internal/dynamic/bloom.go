package dynamic

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/transform"
)

// Where a table has too many values for a condition that names them, a Bloom filter of them still leaves out most of the other
// table's rows before they are joined, each for a few nanoseconds, where the join takes some tens. It leaves out no file.

// keyPart is the part of a table's bytes that are those of its key, at a guess: nothing else is read for a Bloom filter.
const keyPart = 4

// sifts says whether a Bloom filter of an edge's values, which are of so many bytes of data files, is worth being made.
func (f *finder) sifts(e edge, source int64) bool {
	if !isInteger(e.From) || !isInteger(e.To) {
		return false
	}
	if f.opts.Mode == Force {
		return true
	}
	return f.sizes[e.To.Scan] >= leastBytes && f.tooLarge(source/keyPart) == "" && f.rows[e.From.Scan] <= plan.BloomKeys && f.isSifted(e)
}

// isSifted says whether few rows are left by an edge's values.
func (f *finder) isSifted(e edge) bool {
	keys := f.rows[e.From.Scan]
	return keys > 0 && f.rows[e.To.Scan]/plan.SiftedRows >= keys
}

func isInteger(c Column) bool {
	k := c.Field.Type.Primitive.Kind
	return k == transform.Int || k == transform.Long
}

// sieves says that an edge's values may leave out rows pack by pack, where a Bloom filter of all of them isn't made and few rows would
// be left. Whether packs have both tables is for the planner to say.
//
// That the edge holds is all that is to be shown. The proof of edges is of a join over any rows of the tables: in a pack those are the
// pack's.
func (f *finder) sieves(e edge) {
	if !isInteger(e.From) || !isInteger(e.To) || f.opts.Mode != Force && (f.sizes[e.To.Scan] < leastBytes || !f.isSifted(e)) {
		return
	}
	e.To.Scan.Sieves = append(e.To.Scan.Sieves, plan.Sieve{
		From: e.From.Scan, Key: e.From.Field.ID, Column: e.To.Field.ID, IsFew: f.isSifted(e), IsForced: f.opts.Mode == Force,
	})
}

// sift makes the Bloom filter of an edge's values, where it is worth it, and gives it to the edge's end; else packs may have theirs. What fails is forgiven as
// in look.
func (f *finder) sift(ctx context.Context, e edge, source int64) error {
	if !f.sifts(e, source) {
		f.sieves(e)
		return nil
	}
	x := Filter{From: e.From, To: e.To, Bloom: true, Values: -1, SourceBytes: source, TargetBytes: f.sizes[e.To.Scan]}
	if !f.opts.Look {
		f.out = append(f.out, x)
		return nil
	}
	start := time.Now()
	from, to := e.From.Scan, e.To.Scan
	l, err := f.survey(ctx, from)
	if err != nil {
		return err
	}
	x.SourceBytes = l.Counts.Bytes
	// The rows that made it worth it may be those of a snapshot's summary, which nobody checks.
	if f.opts.Mode != Force && l.Counts.Rows > plan.BloomKeys {
		x.State, x.Why, x.Seconds = Rejected, fmt.Sprintf("its %d rows are too many to keep", l.Counts.Rows), time.Since(start).Seconds()
		f.out = append(f.out, x)
		f.sieves(e)
		return nil
	}
	test, err := f.tables.Bloom(ctx, from, l, e.From.Field.ID)
	x.Seconds = time.Since(start).Seconds()
	switch {
	case err == nil:
		x.State = Found
		to.Sifts = append(to.Sifts, test(to.Names[slices.Index(to.Columns, e.To.Field.ID)]))
		to.IsSifted = to.IsSifted || f.isSifted(e)
	case ctx.Err() == nil && slices.Contains(forgiven, errs.KindOf(err)):
		x.State, x.Why = Rejected, "its values can't be read: "+err.Error()
	default:
		return err
	}
	f.out = append(f.out, x)
	return nil
}
