package spj

import (
	"slices"

	"github.com/tarndb/tarn/internal/plan"
)

// ReadsTablesAlone says whether nothing but the tables of the cores decides what the cores give over them: no file, no function
// that makes a table, and no part that is computed once for all groups.
func (p *Physical) ReadsTablesAlone() bool {
	return !slices.ContainsFunc(p.Cores, func(c *Core) bool { return !isOfTables(c.Block) })
}

func isOfTables(b *plan.Block) bool {
	return b.Whole == "" && relIsOfTables(b.From) && !slices.ContainsFunc(b.Union, func(u *plan.Block) bool { return !isOfTables(u) })
}

func relIsOfTables(r plan.Rel) bool {
	switch r := r.(type) {
	case *plan.Join:
		return relIsOfTables(r.Left) && relIsOfTables(r.Right)
	case *plan.BlockRel:
		return isOfTables(r.Block)
	case *plan.Opaque:
		return false
	}
	return true
}
