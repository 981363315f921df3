package tarn

import (
	"context"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/dynamic"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/exec"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/task"
	"github.com/tarndb/tarn/transform"
)

// lookup does for one statement what dynamic filters need to be done with tables.
type lookup struct {
	session *Session
	planned *planned
	sums    map[*plan.Scan][]catalog.FieldID
}

// findDynamic finds a query's dynamic filters. With look it reads the values that they take, which EXPLAIN alone must not.
func (s *Session) findDynamic(ctx context.Context, p *planned, sums map[*plan.Scan][]catalog.FieldID, look bool) (err error) {
	p.dynamic, err = dynamic.Find(ctx, p.query, lookup{s, p, sums}, p.layouts, dynamic.Options{
		Mode: dynamic.Mode(s.settings.DynamicFilter()), SourceBytes: s.settings.DynamicFilterBytes(), Look: look,
	})
	for i := range p.dynamic {
		p.dynamic[i].Why = p.query.ForPeople(p.dynamic[i].Why)
	}
	return errs.Reword(err, p.query.ForPeople)
}

// Survey implements dynamic.Tables.
func (l lookup) Survey(ctx context.Context, s *plan.Scan, columns []catalog.FieldID) (*catalog.TableLayout, error) {
	if len(columns) == 0 {
		return l.planned.tables.survey(ctx, s, l.sums)
	}
	sums := map[*plan.Scan][]catalog.FieldID{s: append(slices.Clone(l.sums[s]), columns...)}
	return l.planned.tables.survey(ctx, s, sums)
}

// Values implements dynamic.Tables.
func (l lookup) Values(ctx context.Context, s *plan.Scan, layout *catalog.TableLayout, columns []catalog.FieldID, use func([]transform.Value)) error {
	t, opts, err := l.whole(ctx, s, layout)
	if err != nil {
		return err
	}
	return looked(s, exec.Values(ctx, t, columns, l.planned.query.Avoid, opts, use))
}

// looked notes that the rows of a scan were read, with what came of it.
func looked(s *plan.Scan, err error) error {
	s.Looked = true
	if duck.IsMisplaced(err) {
		s.Lie = err
	}
	return err
}

// whole returns a table to look at, and how. What its files' tuples say is checked even where no plan trusts
// it, since filters leave out files by it.
func (l lookup) whole(ctx context.Context, s *plan.Scan, layout *catalog.TableLayout) (*task.Whole, exec.Options, error) {
	opts := l.session.execOptions()
	opts.Progress = nil // it tells of the statement's own packs
	ready, err := l.planned.tables.prepareScan(ctx, s, layout)
	if err != nil {
		return nil, opts, err
	}
	t, err := task.LookOf(ctx, s, ready)
	return t, opts, err
}

// Bloom implements dynamic.Tables. The filter lasts as long as the statement.
func (l lookup) Bloom(ctx context.Context, s *plan.Scan, layout *catalog.TableLayout, column catalog.FieldID) (func(string) string, error) {
	t, opts, err := l.whole(ctx, s, layout)
	if err != nil {
		return nil, err
	}
	b, err := duck.NewBloom(layout.Counts.Rows)
	if err != nil {
		return nil, err
	}
	l.planned.tables.blooms = append(l.planned.tables.blooms, b)
	return b.Condition, looked(s, exec.EachKey(ctx, t, column, l.planned.query.Avoid, opts, b.Add))
}

// Condition implements dynamic.Tables.
func (l lookup) Condition(column string, f catalog.Filter) string {
	return duck.ConditionSQL(column, f)
}
