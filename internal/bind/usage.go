package bind

import (
	"context"
	"slices"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// usage is which columns of its sources a SELECT mentions, stars of its select list aside.
type usage struct {
	sources map[plan.SourceID]bool // those that the rest is about
	cols    map[plan.Col]bool
	all     bool // it may use any
	star    bool // the select list has a star
}

// newUsage looks at a SELECT that is bound, before any star of it is written out.
func newUsage(n sql.Node, sc *scope) *usage {
	u := &usage{sources: map[plan.SourceID]bool{}, cols: map[plan.Col]bool{}, all: len(sc.rows) > 0 || len(sc.merged) > 0}
	for _, s := range sc.sources {
		u.all = u.all || s.paired || s.unknown
		for _, c := range s.columns {
			u.sources[c.col.Source] = true
			u.cols[c.col] = u.cols[c.col] || c.used
		}
	}
	items := 0
	for _, item := range n.List("select_list") {
		u.star = u.star || isStar(item)
		if isStar(item) {
			items++
		}
	}
	rest := 0
	n.Walk(func(c sql.Node) bool {
		if isStar(c) {
			rest++
		}
		return true
	})
	u.all = u.all || rest > items
	return u
}

// needs marks the columns of an input that a block needs, of which its own users need the outputs of needed.
func (u *usage) needs(blk *plan.Block, needed []bool, rel *plan.BlockRel, marks []bool) {
	all := u == nil || u.all || blk.Whole != "" || blk.Distinct || !u.sources[rel.Source]
	passed := map[plan.Col]bool{}
	for i, o := range blk.Output {
		switch {
		case o.Col != nil:
			passed[*o.Col] = passed[*o.Col] || needed[i]
		case u != nil && u.star: // it may be one of the star's
			all = true
		}
	}
	for i := range marks {
		c := plan.Col{Source: rel.Source, Index: i}
		marks[i] = marks[i] || all || u.cols[c] || passed[c]
	}
}

// reduce applies the rules that need to know the whole query: it goes from the root down, and notes of each block which
// of its columns are needed. A block that no relation mentions is the root, a side of a union, or stands in the text of an
// expression's subquery or of a WITH entry that is computed once: all of its columns are needed.
func (b *binder) reduce(ctx context.Context) error {
	needed, users := map[*plan.Block][]bool{}, map[*plan.Block]bool{}
	for _, blk := range b.query.Blocks {
		needed[blk] = make([]bool, len(blk.Output))
	}
	for _, blk := range slices.Backward(b.query.Blocks) {
		if !users[blk] {
			fill(needed[blk])
		}
		eachBlock(blk.From, func(rel *plan.BlockRel) {
			users[rel.Block] = true
			b.usages[blk].needs(blk, needed[blk], rel, needed[rel.Block])
		})
		if r := b.rankings[blk]; r != nil && r.first {
			if err := b.ReduceLatestRow(ctx, blk, r, needed[blk]); err != nil {
				return err
			}
		}
	}
	return nil
}

func fill(marks []bool) {
	for i := range marks {
		marks[i] = true
	}
}

// eachBlock calls visit for each block that a relation mentions.
func eachBlock(r plan.Rel, visit func(*plan.BlockRel)) {
	switch r := r.(type) {
	case *plan.BlockRel:
		visit(r)
	case *plan.Join:
		eachBlock(r.Left, visit)
		eachBlock(r.Right, visit)
	case *plan.Opaque:
		for _, in := range r.Inputs {
			eachBlock(in, visit)
		}
	}
}
