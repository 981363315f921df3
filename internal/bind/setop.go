package bind

import (
	"cmp"
	"context"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// bindSetOperation puts each side into a block of its own.
func (b *binder) bindSetOperation(ctx context.Context, n sql.Node, outer *scope, env *cteEnv) (*bound, error) {
	q := &bound{}
	rel := &plan.Opaque{Why: "a set operation compares rows of all groups"}
	all := n.Str("setop_type") == "UNION" && n.Bool("setop_all")
	for _, side := range []string{"left", "right"} {
		names, err := b.bindOperand(ctx, n.Child(side), q, rel, outer, env)
		if err != nil {
			return nil, err
		}
		all = all && names != nil
		if side == "left" && !isByName(n) { // by name, the columns are those of both sides
			q.labels = names
		}
	}
	q.rel = rel
	var err error
	if q.names, err = b.unionNames(n, q.union); err != nil {
		return nil, err
	}
	if !all {
		q.union, q.whole = nil, rel.Why
	}
	return q, nil
}

// bindOperand binds a side of a set operation, puts it behind a view and returns the names of its columns. A side that looks
// out of itself, or has a name that can't be placed, stays in the text, and its names aren't known: they are nil.
func (b *binder) bindOperand(
	ctx context.Context, side sql.Node, q *bound, rel *plan.Opaque, outer *scope, env *cteEnv,
) (names []string, err error) {
	bq, err := b.bindQuery(ctx, side, outer, env)
	if err != nil {
		return nil, err
	}
	if bq.unresolved != "" || bq.correlated {
		q.correlated = q.correlated || bq.correlated
		q.unresolved = cmp.Or(q.unresolved, bq.unresolved)
		rel.Inputs = append(rel.Inputs, present(bq.rel)...)
		return nil, b.refuseCased(side, "a side of a set operation")
	}
	blk, err := b.block(ctx, side, bq)
	if err != nil {
		return nil, err
	}
	view, err := b.selectAll(ctx, blk.ViewName())
	if err != nil {
		return nil, err
	}
	become(side, view)
	q.union = append(q.union, blk)
	rel.Inputs = append(rel.Inputs, &plan.BlockRel{Source: b.nextSource(), Block: blk})
	if bq.labels != nil {
		return bq.labels, nil
	}
	return outputNames(blk.Output), nil
}

// selectAll returns SELECT * FROM view.
func (b *binder) selectAll(ctx context.Context, view string) (sql.Node, error) {
	n, err := b.parse(ctx, "SELECT * FROM "+view)
	return n, err
}
