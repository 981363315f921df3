package bind

import (
	"cmp"
	"context"
	"fmt"

	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/sql"
)

// bindDerived binds a derived table: into a block of its own behind a view, unless it looks into its neighbours (a
// lateral join) or can't be named from outside; then it stays where it is, for DuckDB.
func (b *binder) bindDerived(ctx context.Context, n, query sql.Node, columns []string, sc *scope, env *cteEnv) (plan.Rel, error) {
	q, err := b.bindQuery(ctx, query, sc, env)
	if err != nil {
		return nil, err
	}
	stay := ""
	switch {
	case q.correlated:
		stay = "the derived table " + n.Str("alias") + " looks into its neighbours"
	case n.Child("sample") != nil:
		stay = "a sample depends on where rows lie"
	case q.unresolved != "":
		stay = q.unresolved
	}
	if stay != "" {
		return b.stays(n, query, q, stay, sc)
	}
	block, err := b.block(ctx, query, q)
	if err != nil {
		return nil, err
	}
	names := outputNames(block.Output)
	copy(names, columns)
	if dup := duplicate(names); dup != "" {
		b.query.Blocks = b.query.Blocks[:len(b.query.Blocks)-1]
		return b.stays(n, query, q, "the derived table "+n.Str("alias")+" has two columns called "+dup, sc)
	}
	rel := &plan.BlockRel{Source: b.nextSource(), Block: block, Alias: n.Str("alias")}
	src, alias := &source{alias: rel.Alias}, rel.Alias
	for i, as := range b.ownNames(names, b.names.using, fmt.Sprintf("d%d", rel.Source)) {
		src.columns = append(src.columns, column{name: names[i], as: as, col: plan.Col{Source: rel.Source, Index: i}})
		names[i] = as
	}
	if len(src.own()) > 0 {
		columns, alias = names, cmp.Or(alias, block.ViewName())
	}
	b.blockOf[rel.Source] = block
	sc.sources = append(sc.sources, src)
	become(n, viewRef(block.ViewName(), alias, columns))
	return rel, nil
}

func outputNames(out []plan.Output) []string {
	names := make([]string, len(out))
	for i, o := range out {
		names[i] = o.Name
	}
	return names
}

// stays leaves a derived table to DuckDB.
func (b *binder) stays(n, query sql.Node, q *bound, why string, sc *scope) (plan.Rel, error) {
	if err := b.refuseCased(query, "the derived table "+n.Str("alias")); err != nil {
		return nil, err
	}
	sc.sources = append(sc.sources, &source{alias: n.Str("alias"), unknown: true})
	sc.lose(q)
	rel := &plan.Opaque{Why: why}
	if q.rel != nil {
		rel.Inputs = []plan.Rel{q.rel}
	}
	return rel, nil
}

// duplicate returns a name that stands twice, spelled alike, or "".
func duplicate(names []string) string {
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] {
			return n
		}
		seen[n] = true
	}
	return ""
}
