package tarn

import (
	"context"
	"os"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/plan/spj"
)

// tables resolves one statement's tables and remembers who can survey each.
type tables struct {
	engine *Engine
	owner  map[*catalog.Table]*lake.Catalog
	pins   map[*lake.Catalog]*lake.Pins
	opened map[string]opened // by their paths; closed with the statement
	dir    string            // the statement's own folder; "" until one is needed
	blooms []*duck.Bloom     // of dynamic filters
}

// opened is a table that was opened by its path, with its own catalog.
type opened struct {
	table   *catalog.Table
	catalog *lake.Catalog
}

func newTables(e *Engine) *tables {
	return &tables{
		engine: e, owner: map[*catalog.Table]*lake.Catalog{}, pins: map[*lake.Catalog]*lake.Pins{}, opened: map[string]opened{},
	}
}

// Resolve implements bind.Resolver: it tries what the name may mean, in order.
func (t *tables) Resolve(ctx context.Context, parts []string, v catalog.Version) (*catalog.Table, error) {
	meanings, err := t.engine.meanings(parts)
	if err != nil {
		return nil, err
	}
	var missing error
	var first meaning
	for _, m := range meanings {
		table, err := t.resolve(ctx, m, v)
		switch {
		case err == nil:
			return table, nil
		case !lake.IsNoTable(err):
			return nil, err
		case missing == nil:
			missing, first = err, m
		}
	}
	c, err := t.engine.catalog(ctx, first.catalog)
	if err != nil {
		return nil, missing
	}
	return nil, c.Missing(ctx, first.id, missing)
}

func (t *tables) resolve(ctx context.Context, m meaning, v catalog.Version) (*catalog.Table, error) {
	c, err := t.engine.catalog(ctx, m.catalog)
	if err != nil {
		return nil, err
	}
	if t.pins[c] == nil {
		t.pins[c] = c.Pins()
	}
	table, err := t.pins[c].Resolve(ctx, m.id, v)
	if err == nil {
		t.owner[table] = c
	}
	return table, err
}

// ResolvePath implements bind.Resolver.
func (t *tables) ResolvePath(ctx context.Context, path string, v catalog.Version) (*catalog.Table, error) {
	o, ok := t.opened[path]
	if !ok {
		var err error
		if o.table, o.catalog, err = lake.OpenPath(ctx, path, t.engine.relocations()); err != nil {
			return nil, err
		}
		t.opened[path] = o
	}
	table, err := o.catalog.Pin(o.table, v)
	if err == nil {
		t.owner[table] = o.catalog
	}
	return table, err
}

// survey plans a scan, with the sums of statistics that are wanted.
func (t *tables) survey(ctx context.Context, s *plan.Scan, sums map[*plan.Scan][]catalog.FieldID) (*catalog.TableLayout, error) {
	if columns, wanted := sums[s]; wanted {
		l, err := t.owner[s.Table].SurveySums(ctx, s.Table, s.Filter, columns)
		return l, errs.Lost(err)
	}
	l, err := t.owner[s.Table].Survey(ctx, s.Table, s.Filter)
	return l, errs.Lost(err)
}

// prepare makes the layouts of the scans whose files are read those of files as they can be read, and refuses, before any
// row, what can't be read rightly.
func (t *tables) prepare(ctx context.Context, p *spj.Physical, layouts map[*plan.Scan]*catalog.TableLayout) error {
	for _, s := range p.Query.Scans {
		if !p.IsRead(s) {
			continue
		}
		var err error
		if layouts[s], err = t.prepareScan(ctx, s, layouts[s]); err != nil {
			return err
		}
	}
	return nil
}

func (t *tables) prepareScan(ctx context.Context, s *plan.Scan, l *catalog.TableLayout) (*catalog.TableLayout, error) {
	dir, err := t.folder()
	if err != nil {
		return nil, err
	}
	l, err = t.owner[s.Table].Prepare(ctx, s.Table, s.Columns, l, dir)
	return l, errs.Lost(err)
}

// folder returns the statement's own folder for files that are rewritten to be read.
func (t *tables) folder() (string, error) {
	var err error
	if t.dir == "" {
		t.dir, err = os.MkdirTemp(t.engine.temp.Path(), "read-")
	}
	return t.dir, errs.Wrap(errs.Resource, "make temporary folder in", t.engine.temp.Path(), err)
}

func (t *tables) close() {
	for _, b := range t.blooms {
		b.Close()
	}
	if t.dir != "" {
		_ = os.RemoveAll(t.dir) // what is left goes with the engine's folder
	}
	for _, o := range t.opened {
		_ = o.catalog.Close()
	}
}
