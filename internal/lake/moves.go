package lake

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/evolve"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
)

// Move is where a branch was, nil for nowhere, and where it is now.
type Move struct {
	From *catalog.SnapshotID
	To   catalog.SnapshotID
}

// Branch is the main one where ref is "".
func branchName(ref string) string {
	if ref == "" {
		return evolve.MainBranch
	}
	return ref
}

// moveBranch sets a branch to the snapshot that choose picks in the newest version. A branch that is there already is no change.
func (c *Catalog) moveBranch(ctx context.Context, t *catalog.Table, op, branch string, choose func(newest *handle, at *table.Snapshot) (*table.Snapshot, error)) (Move, error) {
	var out Move
	_, err := c.update(ctx, t, op, func(newest *handle) ([]table.Update, error) {
		out = Move{}
		var at *table.Snapshot
		var keep evolve.Ref
		for name, r := range newest.meta.Refs() {
			if name == branch {
				at, keep = newest.meta.SnapshotByID(r.SnapshotID), refOf(r)
			}
		}
		if keep.IsTag {
			return nil, errs.New(errs.Invalid, op, t.Ident.String(), "%q is a tag, and only branches are moved", branch)
		}
		to, err := choose(newest, at)
		if err != nil {
			return nil, errs.Wrap(errs.Invalid, op, t.Ident.String(), err)
		}
		out.To = catalog.SnapshotID(to.SnapshotID)
		if at != nil {
			from := catalog.SnapshotID(at.SnapshotID)
			out.From = &from
		}
		if at != nil && at.SnapshotID == to.SnapshotID {
			return nil, nil
		}
		return []table.Update{table.NewSetSnapshotRefUpdate(branch, to.SnapshotID, table.BranchRef, keep.MaxRefAgeMs, keep.MaxSnapshotMs, keep.MinSnapshots)}, nil
	})
	return out, err
}

// SetCurrentSnapshot makes a snapshot that the table has the current one, or the one that a branch or tag is at where ref isn't "".
func (c *Catalog) SetCurrentSnapshot(ctx context.Context, t *catalog.Table, id catalog.SnapshotID, ref string) (Move, error) {
	return c.moveBranch(ctx, t, "set current snapshot of", evolve.MainBranch, func(newest *handle, _ *table.Snapshot) (*table.Snapshot, error) {
		if ref != "" {
			return newest.snapshotOfRef(ref)
		}
		return newest.snapshotByID(int64(id))
	})
}

// RollbackTo makes an ancestor of the current snapshot the current one.
func (c *Catalog) RollbackTo(ctx context.Context, t *catalog.Table, id catalog.SnapshotID) (Move, error) {
	return c.moveBranch(ctx, t, "roll back", evolve.MainBranch, func(newest *handle, at *table.Snapshot) (*table.Snapshot, error) {
		to, err := newest.snapshotByID(int64(id))
		if err == nil && !newest.isAncestor(to.SnapshotID, at) {
			err = errs.New(errs.Invalid, "", "", "snapshot %d is no ancestor of the current one", id).WithHint("CALL system.set_current_snapshot takes any snapshot")
		}
		return to, err
	})
}

// RollbackToTime makes the newest ancestor of the current snapshot that is older than a time, in milliseconds since 1970, the current one.
func (c *Catalog) RollbackToTime(ctx context.Context, t *catalog.Table, ms int64) (Move, error) {
	return c.moveBranch(ctx, t, "roll back", evolve.MainBranch, func(newest *handle, at *table.Snapshot) (*table.Snapshot, error) {
		for _, s := range newest.ancestors(at) {
			if s.TimestampMs < ms {
				return s, nil
			}
		}
		return nil, errs.New(errs.NotFound, "", "", "no ancestor of the current snapshot is older than that time")
	})
}

// FastForward moves a branch to where another one, or a tag, is, which must come after it. A branch that isn't there is made.
func (c *Catalog) FastForward(ctx context.Context, t *catalog.Table, branch, to string) (Move, error) {
	return c.moveBranch(ctx, t, "fast-forward", branchName(branch), func(newest *handle, at *table.Snapshot) (*table.Snapshot, error) {
		s, err := newest.snapshotOfRef(to)
		if err == nil && at != nil && !newest.isAncestor(at.SnapshotID, s) {
			err = errs.New(errs.Invalid, "", "", "the branch %q is at snapshot %d, which is no ancestor of that of %q", branchName(branch), at.SnapshotID, to)
		}
		return s, err
	})
}

// Ancestors returns a snapshot and those before it that the table still has, the newest first; of the current one where id is nil.
func (c *Catalog) Ancestors(t *catalog.Table, id *catalog.SnapshotID) ([]catalog.Snapshot, error) {
	h, err := c.handleOf(t)
	if err != nil {
		return nil, err
	}
	at := h.meta.CurrentSnapshot()
	if id != nil {
		if at, err = h.snapshotByID(int64(*id)); err != nil {
			return nil, errs.Wrap(errs.NotFound, "list ancestors in", t.Ident.String(), err)
		}
	}
	var out []catalog.Snapshot
	for _, s := range h.ancestors(at) {
		out = append(out, *snapshotOf(s))
	}
	return out, nil
}

func (h *handle) snapshotOfRef(name string) (*table.Snapshot, error) {
	for n, r := range h.meta.Refs() {
		if n == name {
			return h.snapshotByID(r.SnapshotID)
		}
	}
	return nil, errs.New(errs.NotFound, "", "", "the table has no branch or tag %q", name)
}

// ancestors returns a snapshot and those before it that the table still has, the newest first.
func (h *handle) ancestors(s *table.Snapshot) (line []*table.Snapshot) {
	most := len(h.meta.Snapshots()) // parents that go round in a circle end, too
	for s != nil && len(line) < most {
		line = append(line, s)
		if s.ParentSnapshotID == nil {
			break
		}
		s = h.meta.SnapshotByID(*s.ParentSnapshotID)
	}
	return line
}

func (h *handle) isAncestor(id int64, of *table.Snapshot) bool {
	return slices.ContainsFunc(h.ancestors(of), func(s *table.Snapshot) bool { return s.SnapshotID == id })
}

// sourceSnapshot is the property by which a snapshot says which other one's change it is, as Iceberg's own engines write it.
const sourceSnapshot = "source-snapshot-id"

// CheckWAPID fails with Exists where nothing more can be staged under a WAP ID in a version of a table.
func (c *Catalog) CheckWAPID(t *catalog.Table, id string) error {
	h, err := c.handleOf(t)
	if err != nil {
		return err
	}
	v, err := c.version(h)
	if err != nil {
		return err
	}
	return commit.CheckWAPID(v, t.Ident.String(), id)
}

// PublishChanges makes the change of the snapshot that is staged under a WAP ID one of the main branch. Another engine may have
// staged more than one: that is Invalid.
func (c *Catalog) PublishChanges(ctx context.Context, t *catalog.Table, wapID string) (source catalog.SnapshotID, now catalog.SnapshotID, err error) {
	const op = "publish changes in"
	h, err := c.handleOf(t)
	if err != nil {
		return 0, 0, err
	}
	var staged []catalog.SnapshotID
	for _, s := range h.meta.Snapshots() {
		if propertiesOf(&s)[commit.WAPProperty] == wapID {
			staged = append(staged, catalog.SnapshotID(s.SnapshotID))
		}
	}
	switch len(staged) {
	case 0:
		return 0, 0, errs.New(errs.NotFound, op, t.Ident.String(), "no snapshot is staged under the WAP ID %q", wapID)
	case 1:
		now, err = c.Cherrypick(ctx, t, staged[0])
		return staged[0], now, err
	}
	return 0, 0, errs.New(errs.Invalid, op, t.Ident.String(), "the snapshots %v are all staged under the WAP ID %q, and one ID publishes one of them", staged, wapID).
		WithHint("CALL system.cherrypick_snapshot publishes the one that it names")
}

// Cherrypick makes the change of another snapshot one of the main branch, which it returns the snapshot of: that one where it follows the current
// one, else a new one. Appends and dynamic overwrites can be picked; as other changes depend on what they saw, their pick is Unsupported.
func (c *Catalog) Cherrypick(ctx context.Context, t *catalog.Table, id catalog.SnapshotID) (catalog.SnapshotID, error) {
	const op = "cherry-pick from"
	h, err := c.handleOf(t)
	if err != nil {
		return 0, err
	}
	picked, err := h.snapshotByID(int64(id))
	if err != nil {
		return 0, errs.Wrap(errs.NotFound, op, t.Ident.String(), err)
	}
	moved, err := c.moveBranch(ctx, t, op, evolve.MainBranch, func(newest *handle, at *table.Snapshot) (*table.Snapshot, error) {
		if err := newest.unpublished(picked, at); err != nil {
			return nil, err
		}
		if at == nil && picked.ParentSnapshotID == nil || at != nil && picked.ParentSnapshotID != nil && *picked.ParentSnapshotID == at.SnapshotID {
			return picked, nil
		}
		return nil, errNoFastForward
	})
	if !errors.Is(err, errNoFastForward) {
		return moved.To, err
	}
	change, err := c.pick(ctx, t, picked)
	if err != nil {
		return 0, err
	}
	// Decided on what the picked snapshot followed, not on what t is pinned to.
	base, err := c.newest(ctx, op, t.Ident, h)
	if err != nil {
		return 0, err
	}
	if err := base.unpublished(picked, base.snapshot); err != nil {
		return 0, errs.Wrap(errs.Invalid, op, t.Ident.String(), err)
	}
	v, err := c.version(base)
	if err != nil {
		return 0, err
	}
	// The metadata may not know any more that the picked snapshot is an ancestor: expiry takes those between away, and a tag keeps it.
	paths := map[string]bool{}
	for _, f := range change.Add {
		paths[fileio.Plain(f.Path)] = true
	}
	switch path, err := c.liveAmong(ctx, v.Specs, base.snapshot, paths); {
	case err != nil:
		return 0, errs.Wrap(errs.Internal, op, t.Ident.String(), err)
	case path != "":
		return 0, errs.New(errs.Invalid, op, t.Ident.String(), "the table has its file %s already", path)
	}
	done, err := commit.Apply(ctx, &committed{catalog: c, ident: t.Ident, base: base}, t.Ident.String(), v, change)
	return done.Snapshot, err
}

// errNoFastForward marks that another snapshot than the picked one's parent is current.
var errNoFastForward = errors.New("another snapshot is current than the one that it follows")

// unpublished fails where the branch at a snapshot has the picked one's change.
func (h *handle) unpublished(picked, at *table.Snapshot) error {
	wap := propertiesOf(picked)[commit.WAPProperty]
	for _, s := range h.ancestors(at) {
		props := propertiesOf(s)
		switch {
		case s.SnapshotID == picked.SnapshotID, props[sourceSnapshot] == strconv.FormatInt(picked.SnapshotID, 10):
			return errs.New(errs.Invalid, "", "", "snapshot %d has its change already", s.SnapshotID)
		case wap != "" && (props[commit.PublishedProperty] == wap || props[commit.WAPProperty] == wap):
			return errs.New(errs.Invalid, "", "", "the WAP ID %q was published already, by snapshot %d", wap, s.SnapshotID)
		}
	}
	return nil
}

// liveAmong returns one of some data files, by their plain paths, that a snapshot has; "" when it has none of them. Files that are added
// once more would double their rows.
func (c *Catalog) liveAmong(ctx context.Context, specs map[catalog.SpecID]catalog.PartitionSpec, at *table.Snapshot, paths map[string]bool) (found string, err error) {
	list, err := c.manifests(ctx, at)
	if err != nil {
		return "", err
	}
	reader := manifest.NewReader(c.fio, specs)
	live := func(e *manifest.Entry) bool { return e.Status != manifest.Deleted }
	for i := range list {
		if list[i].Content != manifest.Data || found != "" {
			continue
		}
		err := reader.VisitSome(ctx, &list[i], manifest.StatColumns{}, live, func(e *manifest.Entry) error {
			if paths[fileio.Plain(e.Path)] {
				found = e.Path
			}
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return found, nil
}

func propertiesOf(s *table.Snapshot) map[string]string {
	if s.Summary == nil {
		return nil
	}
	return s.Summary.Properties
}

// pick returns the change that a snapshot made.
func (c *Catalog) pick(ctx context.Context, t *catalog.Table, picked *table.Snapshot) (commit.Change, error) {
	source := strconv.FormatInt(picked.SnapshotID, 10)
	// As a job of its own, it is made once, whoever else picks the same at the same time.
	change := commit.Change{Kind: commit.Append, Job: "cherry-pick of snapshot " + source, Properties: map[string]string{sourceSnapshot: source}}
	if id := propertiesOf(picked)[commit.WAPProperty]; id != "" {
		change.Properties[commit.PublishedProperty] = id
	}
	isOverwrite := catalog.IsSet(propertiesOf(picked), "replace-partitions", false)
	if operationName(picked) != table.OpAppend && !isOverwrite {
		return change, errs.New(errs.Unsupported, "cherry-pick from", t.Ident.String(), "snapshot %d is neither an append nor a dynamic overwrite (its operation is %q), and doesn't follow the current one",
			picked.SnapshotID, operationName(picked)).WithHint("run its statement again")
	}
	list, err := c.manifests(ctx, picked)
	if err != nil {
		return change, err
	}
	reader := manifest.NewReader(c.fio, t.Specs)
	for i := range list {
		m := &list[i]
		if m.Content != manifest.Data || m.SnapshotID == nil || *m.SnapshotID != picked.SnapshotID {
			continue
		}
		own := func(e *manifest.Entry) bool {
			return e.Status == manifest.Added && e.SnapshotID != nil && *e.SnapshotID == picked.SnapshotID
		}
		err := reader.VisitSome(ctx, m, manifest.StatColumns{All: true}, own, func(e *manifest.Entry) error {
			f := e.Clone().File
			f.FirstRowID = nil
			change.Add = append(change.Add, f)
			return nil
		})
		if err != nil {
			return change, err
		}
	}
	if !isOverwrite {
		return change, nil
	}
	return change, c.pickOverwrite(t, picked, &change)
}

// pickOverwrite makes a change that of a dynamic overwrite: what came since its own base may not touch its partitions.
func (c *Catalog) pickOverwrite(t *catalog.Table, picked *table.Snapshot, change *commit.Change) error {
	for _, f := range change.Add {
		if f.Spec != change.Add[0].Spec {
			return errs.New(errs.Corrupt, "cherry-pick from", t.Ident.String(), "snapshot %d has files of two partition specs", picked.SnapshotID)
		}
	}
	if len(change.Add) == 0 {
		return errs.New(errs.Invalid, "cherry-pick from", t.Ident.String(), "snapshot %d added no files", picked.SnapshotID)
	}
	change.Kind, change.Replace = commit.Overwrite, commit.PartitionsOf(t.Specs[change.Add[0].Spec], change.Add)
	if picked.ParentSnapshotID != nil {
		id := catalog.SnapshotID(*picked.ParentSnapshotID)
		change.Base = &id
	}
	return nil
}

// Register gives a table that has metadata, but no name in the catalog, one. It fails with Exists when the name is taken, and when
// the table has another one.
func (c *Catalog) Register(ctx context.Context, id catalog.Ident, location string) (*catalog.Table, error) {
	const op = "register table"
	s, ok := c.store.(*sqlStore)
	if !ok {
		return nil, errs.New(errs.Unsupported, op, id.String(), "a hadoop catalog has the tables that lie in its folders, and no others").
			WithHint("use a SQL catalog, or open the table by its path")
	}
	if len(id) < 2 {
		return nil, errs.New(errs.Invalid, op, id.String(), "a table's name needs a namespace")
	}
	if _, err := s.tables(ctx, id[:len(id)-1]); err != nil {
		return nil, err
	}
	if _, err := s.current(ctx, id); err == nil {
		return nil, tableExists(id)
	} else if !IsNoTable(err) {
		return nil, err
	}
	location, err := absoluteFolder(location)
	if err != nil {
		return nil, err
	}
	t, err := c.loadAt(ctx, id, location)
	if err != nil {
		return nil, err
	}
	h, err := c.handleOf(t)
	if err != nil {
		return nil, err
	}
	other, err := c.registeredAs(ctx, s, id, located{h.location, h.meta})
	if err != nil {
		return nil, errs.Wrap(errs.Internal, op, id.String(), err)
	}
	if other != nil {
		return nil, errs.New(errs.Exists, op, id.String(), "the table of %s is in the catalog already, as %s", location, other).
			WithHint("a table has one name, or the writes to each would be lost to the other: RENAME TO gives it another; FOR VERSION AS OF and FROM '%s' read old versions", fileio.Plain(location))
	}
	db, err := s.write(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := switching(ctx)
	defer cancel()
	return t, s.point(ctx, db, id, "", location)
}
