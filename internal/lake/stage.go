package lake

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"

	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/evolve"
	"github.com/tarndb/tarn/internal/fileio"
)

// staging is how a version that the catalog doesn't know is made: of another version, or of none. Whoever commits to a table
// that is pinned to such a version makes the catalog know both at once, the table and its first rows.
type staging struct {
	base    *handle // the version that the catalog has; nil for a new table
	updates []table.Update
	format  int // of a new table

	// Of a table that is replaced: what the statement makes of a state, the state that it was made of, and what came of it.
	define   func(evolve.State) (evolve.State, error)
	from, to evolve.State

	hadFolder bool // the table's folder was there before
}

// builder returns what a version is built with.
func (s *staging) builder() (*table.MetadataBuilder, error) {
	var b *table.MetadataBuilder
	var err error
	if s.base == nil {
		b, err = table.NewMetadataBuilder(s.format)
	} else {
		b, err = table.MetadataBuilderFromBase(s.base.meta, s.base.location)
	}
	for _, u := range s.updates {
		if err == nil {
			err = u.Apply(b)
		}
	}
	return b, err
}

// builder returns what the version after h is built with.
func (h *handle) builder() (*table.MetadataBuilder, error) {
	if h.staged != nil {
		return h.staged.builder()
	}
	return table.MetadataBuilderFromBase(h.meta, h.location)
}

// published returns the version that the catalog has: h, or the one that h is made of, if there is one.
func (h *handle) published() *handle {
	if h.staged != nil {
		return h.staged.base
	}
	return h
}

// CheckNew fails with Exists when there is a table of the name, and where none can be made.
func (c *Catalog) CheckNew(ctx context.Context, id catalog.Ident) error {
	if _, err := c.placeOf(ctx, id); err != nil {
		return err
	}
	_, err := c.store.current(ctx, id)
	switch {
	case err == nil:
		return tableExists(id)
	case IsNoTable(err):
		return nil
	}
	return err
}

// StageCreate returns a table that isn't there yet: committing to it makes it, and is Exists when there is one of that name by then.
func (c *Catalog) StageCreate(ctx context.Context, id catalog.Ident, s evolve.State) (*catalog.Table, error) {
	h, err := c.newHandle(ctx, id, s)
	if err != nil {
		return nil, err
	}
	_, missing := c.fio.List(ctx, h.meta.Location())
	h.staged.hadFolder = missing == nil
	return h.table(id, h.meta.CurrentSchema())
}

// newHandle returns the first version of a new table, which isn't published.
func (c *Catalog) newHandle(ctx context.Context, id catalog.Ident, s evolve.State) (*handle, error) {
	place, err := c.placeOf(ctx, id)
	if err != nil {
		return nil, err
	}
	if s.Location == "" {
		s.Location = place
	}
	if err := c.checkLocation(id, place, s.Location); err != nil {
		return nil, err
	}
	updates, err := newTable(s)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, "create table", id.String(), err)
	}
	h, err := c.stagedHandle(&staging{updates: updates, format: s.FormatVersion, hadFolder: true})
	return h, errs.Wrap(errs.Invalid, "create table", id.String(), err)
}

// StageReplace returns what define makes of a table, its rows left out: committing to it replaces the table. It is a Conflict when
// the table has other rows or another layout by then.
func (c *Catalog) StageReplace(t *catalog.Table, define func(evolve.State) (evolve.State, error)) (*catalog.Table, error) {
	base, err := c.handleOf(t)
	if err != nil {
		return nil, err
	}
	if err := refuseEncryption(base); err != nil {
		return nil, err
	}
	from, err := base.state()
	if err != nil {
		return nil, err
	}
	to, err := define(from)
	if err != nil {
		return nil, err
	}
	h, err := c.replacing(t.Ident, &staging{define: define, from: from, to: to, hadFolder: true}, base, from, to)
	if err != nil {
		return nil, err
	}
	return h.table(t.Ident, h.meta.CurrentSchema())
}

// replacing stages on base, whose state is from, what makes it the state to.
func (c *Catalog) replacing(id catalog.Ident, as *staging, base *handle, from, to evolve.State) (*handle, error) {
	if from.Location != to.Location {
		if err := c.checkLocation(id, from.Location, to.Location); err != nil {
			return nil, err
		}
	}
	s := *as
	var err error
	s.base = base
	if s.updates, err = updatesTo(from, to, base.meta.Schemas()); err != nil {
		return nil, err
	}
	return c.stagedHandle(&s)
}

// stagedHandle builds the version that s makes.
func (c *Catalog) stagedHandle(s *staging) (*handle, error) {
	b, err := s.builder()
	if err != nil {
		return nil, err
	}
	meta, err := b.Build()
	if err != nil {
		return nil, err
	}
	h := &handle{catalog: c, meta: meta, staged: s}
	var d draft
	if s.base == nil {
		d, err = draftOf(meta)
	} else {
		h.location = s.base.location
		d, err = draftAfter(s.base, meta)
	}
	if err == nil {
		h.raw, err = gunzip(d.body)
	}
	return h, err
}

// redefine is define for a state that may have changed since the rows were written: they must still be what they were
// written for, and no other row may have come that the statement didn't see.
func (s *staging) redefine(now evolve.State) (evolve.State, error) {
	to, err := s.define(now)
	switch {
	case err != nil:
		return now, err
	case now.Refs[evolve.MainBranch] != s.from.Refs[evolve.MainBranch]:
		err = errs.New(errs.Conflict, "", "", "another writer changed the rows of the table, which the statement replaces")
	case to.FormatVersion != s.to.FormatVersion, !reflect.DeepEqual(to.Schema(), s.to.Schema()), !reflect.DeepEqual(to.Spec(), s.to.Spec()):
		err = errs.New(errs.Conflict, "", "", "another writer changed the columns or the layout of the table")
	}
	return to, err
}

// restaged returns the version that a staged one has become: what it makes of the newest, or the newest itself once
// it has landed. refused is why the change can't follow it.
func (c *Catalog) restaged(ctx context.Context, id catalog.Ident, h *handle) (now *handle, refused, err error) {
	if h.staged.base == nil {
		return c.restagedNew(ctx, id, h)
	}
	newest, err := c.newest(ctx, "replace table", id, h.staged.base)
	if err != nil {
		return nil, nil, err
	}
	from, err := newest.state()
	if err != nil {
		return nil, nil, err
	}
	to, refused := h.staged.redefine(from)
	if refused != nil {
		return newest, refused, nil
	}
	now, err = c.replacing(id, h.staged, newest, from, to)
	return now, nil, err
}

// restagedNew is restaged of a table that was new.
func (c *Catalog) restagedNew(ctx context.Context, id catalog.Ident, h *handle) (now *handle, refused, err error) {
	location, err := c.store.current(ctx, id)
	if IsNoTable(err) {
		return h, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	raw, meta, err := c.readMetadata(ctx, location)
	if err != nil {
		return nil, nil, err
	}
	if meta.TableUUID() != h.meta.TableUUID() {
		return h, tableExists(id), nil
	}
	return &handle{catalog: c, meta: meta, raw: raw, location: location, snapshot: meta.CurrentSnapshot()}, nil, nil
}

// PublishStaged makes a staged table without any rows. The outcomes are those of Evolve.
func (c *Catalog) PublishStaged(ctx context.Context, t *catalog.Table) error {
	h, err := c.handleOf(t)
	if err != nil {
		return err
	}
	if h.staged.base == nil {
		_, err = c.publishOrLook(ctx, "create table", t.Ident, nil, h.meta)
		return err
	}
	_, err = c.Evolve(ctx, t, "replace table", func(s evolve.State) (evolve.State, error) {
		next, err := h.staged.redefine(s)
		return next, errs.Wrap(errs.Invalid, "replace table", t.Ident.String(), err)
	})
	return err
}

// Discard removes files that were written for a table and aren't part of it, and the folders that are empty without them: a
// folder of a staged table that stayed would be taken for a namespace in a hadoop catalog. It must not be called when a commit
// may have taken the files.
func (c *Catalog) Discard(ctx context.Context, t *catalog.Table, paths []string) error {
	ctx = context.WithoutCancel(ctx)
	var all error
	for _, path := range paths {
		if err := c.fio.Remove(ctx, path); err != nil && errs.KindOf(err) != errs.NotFound {
			all = errors.Join(all, errs.Wrap(errs.Resource, "remove file of a failed write", path, err))
		}
	}
	h, err := c.handleOf(t)
	if err != nil {
		return errors.Join(all, err)
	}
	folders := []string{t.Location, dataFolder(t)}
	if s := h.staged; s != nil && s.base == nil {
		paths = append(slices.Clone(paths), fileio.Under(metadataFolder(h.meta), "."))
		if !s.hadFolder {
			above, _ := fileio.Split(t.Location)
			folders = []string{above, dataFolder(t)}
		}
	}
	c.removeEmpty(ctx, paths, folders)
	return all
}

// removeEmpty removes the folders of files as far as they are empty and lie deeper than others, the deepest first. Removing
// one fails when it holds something.
func (c *Catalog) removeEmpty(ctx context.Context, files, below []string) {
	empty := map[string]bool{}
	for _, path := range files {
		folder, _ := fileio.Split(fileio.Plain(path))
		for ; !empty[folder] && slices.ContainsFunc(below, func(top string) bool { return isBelow(folder, top) }); folder, _ = fileio.Split(folder) {
			empty[folder] = true
		}
	}
	for _, folder := range slices.SortedFunc(maps.Keys(empty), func(a, b string) int { return cmp.Compare(len(b), len(a)) }) {
		_ = c.fio.Remove(ctx, folder)
	}
}

func isBelow(folder, top string) bool {
	return fileio.IsWithin(folder, top) && fileio.TrimSlash(folder) != fileio.TrimSlash(fileio.Plain(top))
}
