package tarn

import (
	"context"
	"strconv"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/evolve"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/internal/units"
)

// define runs a statement that defines or changes tables and namespaces; ok is false for any other.
func (e *Engine) define(ctx context.Context, parsed sql.Statement) (rows *Rows, ok bool, err error) {
	rows = noRows()
	switch st := parsed.(type) {
	case sql.CreateNamespace:
		err = e.createNamespace(ctx, st)
	case sql.DropNamespace:
		err = e.dropNamespace(ctx, st)
	case sql.CreateTable:
		err = e.createTable(ctx, st)
	case sql.AlterTable:
		err = e.alterTable(ctx, st)
	case sql.RenameTable:
		err = e.renameTable(ctx, st)
	case sql.DropTable:
		rows, err = e.dropTable(ctx, st)
	case sql.ExplainDrop:
		rows, err = e.explainDrop(ctx, st.Drop)
	default:
		return nil, false, nil
	}
	return rows, true, err
}

// namespace returns the catalog that a namespace's name means, and its name in there.
func (e *Engine) namespace(ctx context.Context, parts []string) (*lake.Catalog, catalog.Ident, error) {
	name, err := e.defaultCatalog()
	if len(parts) > 1 && e.isCatalog(parts[0]) {
		name, parts, err = parts[0], parts[1:], nil
	}
	if err != nil {
		return nil, nil, err
	}
	c, err := e.catalog(ctx, name)
	return c, parts, err
}

func (e *Engine) createNamespace(ctx context.Context, st sql.CreateNamespace) error {
	c, id, err := e.namespace(ctx, st.Namespace)
	if err != nil {
		return err
	}
	props := map[string]string{}
	for _, p := range st.Properties {
		props[p.Key] = p.Value
	}
	err = c.CreateNamespaceWith(ctx, id, props)
	if st.IfNotExists && errs.KindOf(err) == errs.Exists {
		return nil
	}
	return err
}

func (e *Engine) dropNamespace(ctx context.Context, st sql.DropNamespace) error {
	c, id, err := e.namespace(ctx, st.Namespace)
	if err != nil {
		return err
	}
	err = c.DropNamespace(ctx, id)
	switch {
	case st.IfExists && lake.IsNoNamespace(err):
		return nil
	case st.Cascade && errs.KindOf(err) == errs.Invalid:
		return errs.New(errs.Unsupported, "drop namespace", id.String(), "it isn't empty, and CASCADE, which would drop all that it holds, isn't supported").
			WithHint("DROP TABLE each of its tables first")
	}
	return err
}

// existing finds the table of exactly a name: neither a version nor a metadata table can be changed.
func (e *Engine) existing(ctx context.Context, parts []string) (c *lake.Catalog, t *catalog.Table, err error) {
	err = e.named(ctx, parts, func(in *lake.Catalog, id catalog.Ident) (err error) {
		c = in
		t, err = in.LoadTable(ctx, id, catalog.Version{})
		return err
	})
	return c, t, err
}

// named calls use with what a name may mean, until that is a table.
func (e *Engine) named(ctx context.Context, parts []string, use func(*lake.Catalog, catalog.Ident) error) error {
	meanings, err := e.meanings(parts)
	if err != nil {
		return err
	}
	var missing error
	for _, m := range meanings {
		c, err := e.catalog(ctx, m.catalog)
		if err != nil {
			return err
		}
		if err = use(c, m.id); !lake.IsNoTable(err) {
			return err
		}
		if missing == nil {
			missing = c.Missing(ctx, m.id, err)
		}
	}
	return e.notItself(ctx, parts, missing)
}

// notItself says that a name is that of a version or a metadata table, where it is one.
func (e *Engine) notItself(ctx context.Context, parts []string, missing error) error {
	t := newTables(e)
	defer t.close()
	found, err := t.Resolve(ctx, parts, catalog.Version{})
	if err != nil {
		return missing
	}
	return errs.New(errs.Unsupported, "use table", found.Ident.String(), "it is a part or a version of a table, and no table of its own").
		WithHint("name the table itself")
}

// newName returns the catalog in which a new table of a name goes, and its name in there.
func (e *Engine) newName(ctx context.Context, parts []string) (*lake.Catalog, catalog.Ident, error) {
	meanings, err := e.meanings(parts)
	if err != nil {
		return nil, nil, err
	}
	c, err := e.catalog(ctx, meanings[0].catalog)
	return c, meanings[0].id, err
}

func (e *Engine) createTable(ctx context.Context, st sql.CreateTable) error {
	if st.OrReplace || st.Replace {
		return e.replaceTable(ctx, st)
	}
	c, id, err := e.newName(ctx, st.Table)
	if err != nil {
		return err
	}
	err = create(ctx, c, id, st)
	if st.IfNotExists && lake.IsTaken(err) {
		return nil
	}
	return err
}

func create(ctx context.Context, c *lake.Catalog, id catalog.Ident, st sql.CreateTable) error {
	s, err := evolve.Create(st)
	if err != nil {
		return errs.Wrap(errs.Invalid, "create table", id.String(), err)
	}
	_, err = c.Create(ctx, id, s)
	return err
}

// replaceTable gives a table that is there another definition; it is made when it isn't there and the statement allows it.
func (e *Engine) replaceTable(ctx context.Context, st sql.CreateTable) error {
	for try := 0; ; try++ {
		c, t, err := e.existing(ctx, st.Table)
		if err == nil {
			return change(ctx, c, t, "replace table", func(s evolve.State) (evolve.State, error) { return evolve.Replace(s, st) })
		}
		if !lake.IsNoTable(err) || !st.OrReplace {
			return err
		}
		c, id, err := e.newName(ctx, st.Table)
		if err != nil {
			return err
		}
		// Another writer may make the table between the look and the creation.
		if err = create(ctx, c, id, st); !lake.IsTaken(err) || try > 0 {
			return err
		}
	}
}

func (e *Engine) alterTable(ctx context.Context, st sql.AlterTable) error {
	c, t, err := e.existing(ctx, st.Table)
	if err != nil {
		return err
	}
	if ref, ok := firstBranch(t, st.Changes); ok {
		return createFirstBranch(ctx, c, t, ref)
	}
	return change(ctx, c, t, "alter table", func(s evolve.State) (evolve.State, error) { return evolve.Apply(s, st.Changes) })
}

// firstBranch returns the branch that is made of a table without a snapshot, if that is what the changes are.
func firstBranch(t *catalog.Table, changes []sql.Change) (sql.CreateRef, bool) {
	if len(changes) != 1 || t.Snapshot != nil {
		return sql.CreateRef{}, false
	}
	ref, ok := changes[0].(sql.CreateRef)
	return ref, ok && ref.Create && !ref.IsTag && ref.Snapshot == nil
}

// createFirstBranch makes a branch with a snapshot without rows, as Iceberg's own engines do: a branch is never without one.
func createFirstBranch(ctx context.Context, c *lake.Catalog, t *catalog.Table, ref sql.CreateRef) error {
	snapshot, err := c.CreateEmptyBranch(ctx, t, ref.Name)
	switch {
	case errs.KindOf(err) == errs.Exists && ref.IfNotExists && !ref.Replace:
		return nil
	case errs.KindOf(err) == errs.Exists && ref.Replace:
		return errs.New(errs.Invalid, "set branch", ref.Name, "it is there, and the table has no snapshot that it could be moved to")
	case err != nil || ref.MaxRefAgeMs+ref.MaxSnapshotMs+int64(ref.MinSnapshots) == 0:
		return err
	}
	id := int64(snapshot)
	ref.Snapshot, ref.Replace = &id, true
	return change(ctx, c, t, "alter table", func(s evolve.State) (evolve.State, error) { return evolve.Apply(s, []sql.Change{ref}) })
}

func change(ctx context.Context, c *lake.Catalog, t *catalog.Table, op string, apply func(evolve.State) (evolve.State, error)) error {
	_, err := c.Evolve(ctx, t, op, func(s evolve.State) (evolve.State, error) {
		next, err := apply(s)
		return next, errs.Wrap(errs.Invalid, op, t.Ident.String(), err)
	})
	return err
}

// renameTable keeps a table in its catalog, and in its namespace when the new name gives none.
func (e *Engine) renameTable(ctx context.Context, st sql.RenameTable) error {
	c, t, err := e.existing(ctx, st.Table)
	if err != nil {
		return err
	}
	to := catalog.Ident(st.To)
	switch {
	case len(to) == 1:
		to = append(t.Ident[:len(t.Ident)-1:len(t.Ident)-1], to...)
	case len(to) > 2 && to[0] == c.Name():
		to = to[1:]
	case len(to) > 2 && e.isCatalog(to[0]):
		return errs.New(errs.Unsupported, "rename table", t.Ident.String(), "it can't go to another catalog, %s", to[0])
	}
	return c.RenameTable(ctx, t.Ident, to)
}

func (e *Engine) dropTable(ctx context.Context, st sql.DropTable) (*Rows, error) {
	if !st.Purge {
		// A table that can't be read can be dropped still.
		err := e.named(ctx, st.Table, func(c *lake.Catalog, id catalog.Ident) error { return c.DropTable(ctx, id) })
		if st.IfExists && lake.IsNoTable(err) {
			err = nil
		}
		return noRows(), err
	}
	c, t, err := e.existing(ctx, st.Table)
	if st.IfExists && lake.IsNoTable(err) {
		return noRows(), nil
	}
	if err != nil {
		return nil, err
	}
	plan, err := c.PlanPurge(ctx, t)
	if err != nil {
		return nil, err
	}
	left, err := plan.Execute(ctx)
	if err != nil {
		return nil, err
	}
	for kind, n := range left {
		e.notice(strconv.Itoa(n) + " of the " + kind + " couldn't be deleted; the table is dropped, and nothing refers to them any more")
	}
	return purgeRows(plan), nil
}

// explainDrop tells what a purge would delete, and deletes nothing.
func (e *Engine) explainDrop(ctx context.Context, st sql.DropTable) (*Rows, error) {
	c, t, err := e.existing(ctx, st.Table)
	if err != nil {
		return nil, err
	}
	plan, err := c.PlanPurge(ctx, t)
	if err != nil {
		return nil, err
	}
	return purgeRows(plan), nil
}

func purgeRows(plan *lake.Purge) *Rows {
	var rows [][]string
	for _, g := range plan.Groups {
		rows = append(rows, []string{g.Kind, strconv.Itoa(len(g.Files)), units.Bytes(g.Bytes)})
	}
	return listing([]string{"kind", "files", "size"}, rows)
}
