package exec

import (
	"context"
	"strings"

	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/internal/task"
)

// sieve is what leaves out rows of a table in one pack.
type sieve struct {
	condition string // "" when there is none
	isFew     bool   // as in task.Sieve
}

// addTo has a scan of files leave out rows.
func (s sieve) addTo(scan *duck.Scan, in *task.Input, files []task.File) {
	scan.Sieve = s.condition
	if s.isFew {
		for i := range files {
			scan.Files[i].Rows = siftedRows(in, &files[i])
		}
	}
}

// sieves makes the sieves of a pack's tables: it reads the keys of the others first. They hold for every part of the pack, whose rows
// are among the pack's. Forget, which is never nil, is to be called when no statement has them any more.
func (w *worker) sieves(ctx context.Context, p *task.Pack, checks [][]duck.ScanCheck) (out []sieve, forget func(), err error) {
	var blooms []*duck.Bloom
	forget = func() {
		for _, b := range blooms {
			b.Close()
		}
	}
	out = make([]sieve, len(w.core.Tables))
	for t := range w.core.Tables {
		var conditions []string
		for _, s := range w.core.Tables[t].Sieves {
			keys, rows := countRows(p.Inputs[s.Table]), countRows(p.Inputs[t])
			if keys > plan.BloomKeys || rows < max(s.LeastRows, 1) {
				continue
			}
			b, err := duck.NewBloom(keys)
			if err != nil {
				return nil, forget, err
			}
			blooms = append(blooms, b)
			if err := w.addKeys(ctx, p, &s, checks[s.Table], b); err != nil {
				if ctx.Err() != nil || errs.KindOf(err) == errs.Internal {
					return nil, forget, err
				}
				continue // it is no fault until the pack's own text comes to it
			}
			conditions = append(conditions, b.Condition(columnOf(&w.core.Tables[t].Input, s.Column).As))
			out[t].isFew = out[t].isFew || s.IsFew
		}
		out[t].condition = strings.Join(conditions, " AND ")
	}
	return out, forget, nil
}

// addKeys adds the keys that the other table of a sieve has in a pack. It checks each row, or else one in the wrong group could leave
// nothing of the sifted table here, so that nobody ever looks at it, and its match out of the pack that it belongs to.
func (w *worker) addKeys(ctx context.Context, p *task.Pack, s *task.Sieve, checks []duck.ScanCheck, b *duck.Bloom) error {
	in, files := &w.core.Tables[s.Table].Input, p.Inputs[s.Table]
	if len(files) == 0 {
		return nil
	}
	scan, forget, err := w.deletes.lentScan(ctx, w.db, w.conn, in, files)
	defer forget()
	if err != nil {
		return err
	}
	scan.Filter, scan.Checks, scan.Late = conditionOf(in), checks, true
	text, err := checkedSQL(in, scan)
	if err != nil {
		return err
	}
	text = "SELECT CAST(" + quote.Name(columnOf(in, s.Key).As) + " AS BIGINT) FROM (" + text + ")"
	return query(ctx, w.conn, text, func(ch *duck.Chunk) error {
		b.Add(ch.Values(0).Longs())
		return nil
	}, duck.LateArgs...)
}

func countRows(files []task.File) (sum int64) {
	for i := range files {
		sum += files[i].Rows
	}
	return sum
}
