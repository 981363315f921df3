package tarn

import (
	"context"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/plan"
)

// tables resolves one statement's tables and remembers who can survey each.
type tables struct {
	engine *Engine
	owner  map[*catalog.Table]*lake.Catalog
	opened []*lake.Catalog // for paths; closed with the statement
}

func newTables(e *Engine) *tables {
	return &tables{engine: e, owner: map[*catalog.Table]*lake.Catalog{}}
}

// Resolve implements bind.Resolver.
func (t *tables) Resolve(ctx context.Context, parts []string) (*catalog.Table, error) {
	name, id, err := t.engine.split(parts)
	if err != nil {
		return nil, err
	}
	if len(id) < 2 {
		return nil, errs.New(errs.NotFound, "find table", id.String(), "the name has no namespace").
			WithHint("write namespace.table; SHOW NAMESPACES lists them")
	}
	c, err := t.engine.catalog(ctx, name)
	if err != nil {
		return nil, err
	}
	table, err := c.LoadTable(ctx, id)
	if err != nil {
		return nil, err
	}
	t.owner[table] = c
	return table, nil
}

// ResolvePath implements bind.Resolver.
func (t *tables) ResolvePath(ctx context.Context, path string) (*catalog.Table, error) {
	table, c, err := lake.OpenPath(ctx, path, t.engine.relocations())
	if err != nil {
		return nil, err
	}
	t.owner[table] = c
	t.opened = append(t.opened, c)
	return table, nil
}

// survey plans every scan of a query and refuses, before any row, what can't be read rightly.
func (t *tables) survey(ctx context.Context, q *plan.Query) (map[*plan.Scan]*catalog.TableLayout, error) {
	out := make(map[*plan.Scan]*catalog.TableLayout, len(q.Scans))
	for _, s := range q.Scans {
		owner := t.owner[s.Table]
		layout, err := owner.Survey(ctx, s.Table, s.Filter)
		if err != nil {
			return nil, err
		}
		if err := owner.CheckFooters(ctx, s.Table, s.Columns, layout.Files); err != nil {
			return nil, err
		}
		out[s] = layout
	}
	return out, nil
}

func (t *tables) close() {
	for _, c := range t.opened {
		_ = c.Close()
	}
}
