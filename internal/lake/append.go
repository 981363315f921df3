package lake

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/google/uuid"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// Append adds files to the table's main branch as one snapshot. It has three outcomes: done; failed, when the table is as
// it was and all metadata that was written is removed again; and CommitUnknown, when the catalog may or may not have taken
// the snapshot and nothing is removed. An append conflicts with no other change, so that it starts again on the newer
// version when another writer comes first. The data files are the caller's to remove after a failure.
func (c *Catalog) Append(ctx context.Context, t *catalog.Table, files []NewDataFile) (catalog.SnapshotID, error) {
	h, err := c.handleOf(t)
	if err != nil {
		return 0, err
	}
	if len(files) == 0 {
		return 0, errs.New(errs.Invalid, "append to", t.Ident.String(), "there are no files to append")
	}
	a := &appender{
		catalog: c, ident: t.Ident, base: h, files: files, specs: t.Specs,
		snapshotID: rand.Int64(), commitID: uuid.NewString(),
	}
	if err := a.run(ctx); err != nil {
		return 0, err
	}
	return catalog.SnapshotID(a.snapshotID), nil
}

// appender is one append on its way.
type appender struct {
	catalog    *Catalog
	ident      catalog.Ident
	base       *handle // the version that the caller planned on
	files      []NewDataFile
	deletes    []catalog.DeleteFile
	pinned     bool // the change is for the base's snapshot alone
	specs      map[catalog.SpecID]catalog.PartitionSpec
	snapshotID int64
	commitID   string

	manifests []iceberg.ManifestFile
	written   []string // the new manifests, which a failure leaves without use
	lists     []string // the manifest lists, one for each try; the table uses one of them at most
}

func (a *appender) run(ctx context.Context) error {
	retry, err := commit.RetryOf(a.base.meta.Properties())
	if err == nil {
		err = a.writeManifests(ctx)
	}
	open := false
	if err == nil {
		err = retry.Do(ctx, func(n int) (again bool, err error) {
			open, err = a.try(ctx, n)
			return !open && errs.KindOf(err) == errs.Conflict && !errors.Is(err, errMoved), err
		})
	}
	if !open {
		a.remove(ctx, append(a.lists, a.written...))
	}
	return err
}

// try makes one attempt on the newest version. It is done when it succeeded or when the outcome is unknown, so that
// nothing may be removed or tried again.
func (a *appender) try(ctx context.Context, try int) (done bool, err error) {
	newest, err := a.newest(ctx)
	if err != nil {
		return false, err
	}
	if newest.meta.SnapshotByID(a.snapshotID) != nil { // a try before this one landed after all
		return true, nil
	}
	if a.pinned && !sameSnapshot(newest.snapshot, a.base.snapshot) {
		return false, errs.Wrap(errs.Conflict, "change rows of", a.ident.String(), errMoved)
	}
	next, err := a.build(ctx, newest, try)
	if err != nil {
		return false, err
	}
	_, err = a.catalog.store.publish(ctx, a.ident, newest.location, next)
	switch errs.KindOf(err) {
	case errs.CommitUnknown:
		return true, a.resolve(ctx, err)
	case errs.Conflict:
		// What came first may be this very snapshot, when a catalog repeats a request whose answer was lost.
		landed, unread := a.hasLanded(ctx)
		if unread != nil {
			return true, a.unknown(errors.Join(err, unread))
		}
		if landed {
			return true, nil
		}
	}
	if err == nil {
		a.remove(ctx, a.lists[:len(a.lists)-1])
	}
	return err == nil, err
}

func sameSnapshot(a, b *table.Snapshot) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.SnapshotID == b.SnapshotID
}

// hasLanded says whether the table has the snapshot; the error is that it can't tell.
func (a *appender) hasLanded(ctx context.Context) (bool, error) {
	newest, err := a.newest(context.WithoutCancel(ctx))
	if err != nil {
		return false, err
	}
	return newest.meta.SnapshotByID(a.snapshotID) != nil, nil
}

// resolve looks whether a commit of unknown outcome landed. Not finding it proves nothing: it may land later.
func (a *appender) resolve(ctx context.Context, cause error) error {
	if landed, err := a.hasLanded(ctx); landed && err == nil {
		return nil
	}
	return a.unknown(cause)
}

// unknown is the outcome after which nothing may be removed or tried again.
func (a *appender) unknown(cause error) error {
	unknown := &errs.Error{
		Kind: errs.CommitUnknown, Op: "append to", Object: a.ident.String(),
		Msg: fmt.Sprintf("whether snapshot %d was committed is not known", a.snapshotID), Err: cause,
	}
	return unknown.WithHint("look for the snapshot in the table before trying again: a second append would double the rows")
}

// newest loads the table's current version, which must be of the format version that the manifests were written for.
func (a *appender) newest(ctx context.Context) (*handle, error) {
	h, err := a.catalog.newest(ctx, "append to", a.ident, a.base)
	if err == nil && h.meta.Version() != a.base.meta.Version() {
		return nil, errs.New(errs.Invalid, "append to", a.ident.String(), "the table was upgraded to format version %d meanwhile", h.meta.Version())
	}
	return h, err
}

// build writes the new manifest list and returns the new version.
func (a *appender) build(ctx context.Context, on *handle, try int) (draft, error) {
	list := fileio.Under(metadataFolder(on.meta), fmt.Sprintf("snap-%d-%d-%s.avro", a.snapshotID, try+1, a.commitID))
	snapshot, body, err := a.snapshot(ctx, on, list)
	if err != nil {
		return draft{}, err
	}
	a.lists = append(a.lists, list)
	if err := a.catalog.fio.Create(ctx, list, body); err != nil {
		return draft{}, err
	}
	b, err := table.MetadataBuilderFromBase(on.meta, on.location)
	if err == nil {
		err = b.AddSnapshot(snapshot)
	}
	if err == nil {
		// This keeps the branch's retention settings, which setting a plain reference would drop.
		err = b.NewRetainingSnapshotRefUpdate(table.MainBranch, a.snapshotID, table.BranchRef).Apply(b)
	}
	var meta table.Metadata
	if err == nil {
		meta, err = b.Build()
	}
	if err != nil {
		return draft{}, errs.Wrap(errs.Internal, "append to", a.ident.String(), err)
	}
	return draftOf(meta)
}

// snapshot makes the snapshot and the bytes of its manifest list: the new manifests, then all that were there.
func (a *appender) snapshot(ctx context.Context, on *handle, list string) (*table.Snapshot, []byte, error) {
	existing, err := a.catalog.carried(ctx, on.snapshot)
	if err != nil {
		return nil, nil, err
	}
	schemaID := on.meta.CurrentSchema().ID
	s := &table.Snapshot{
		SnapshotID:   a.snapshotID,
		TimestampMs:  max(time.Now().UnixMilli(), on.meta.LastUpdatedMillis()),
		ManifestList: list,
		SchemaID:     &schemaID,
		Summary:      a.summary(on),
	}
	if on.snapshot != nil {
		s.ParentSnapshotID = &on.snapshot.SnapshotID
	}
	if on.meta.Version() > 1 {
		s.SequenceNumber = on.meta.LastSequenceNumber() + 1
	}
	body, err := listBytes(on.meta, s, append(slices.Clone(a.manifests), existing...))
	return s, body, errs.Wrap(errs.Internal, "write manifest list", list, err)
}

// remove deletes metadata files that nothing uses. What can't be removed is an orphan and does no harm.
func (a *appender) remove(ctx context.Context, paths []string) {
	for _, path := range paths {
		_ = a.catalog.fio.Remove(context.WithoutCancel(ctx), path)
	}
}
