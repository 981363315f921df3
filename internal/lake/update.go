package lake

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
)

// update makes a new version of the table's metadata, without a snapshot, and loads it; op says in errors what was attempted.
// It has three outcomes: done; failed, when the table has no version of it and no file of it is left; and CommitUnknown, when the
// catalog may or may not have taken the version, and nothing is removed. A table that was dropped or replaced is NotFound.
//
// change is called with the newest version, and again with a newer one when another writer came first, so whatever it relies on
// it must look up there. Its error ends the update and is returned as it is; it must be Conflict where another writer has
// changed what the change was decided on. No updates at all are no change, and make no version.
func (c *Catalog) update(ctx context.Context, t *catalog.Table, op string, change func(newest *handle) ([]table.Update, error)) (*catalog.Table, error) {
	base, err := c.handleOf(t)
	if err != nil {
		return nil, err
	}
	retry, err := commit.RetryOf(base.meta.Properties())
	if err != nil { // this very change may be the one that mends them
		retry, _ = commit.RetryOf(nil)
	}
	var made *handle
	err = retry.Do(ctx, func(int) (bool, error) {
		newest, err := c.newest(ctx, op, t.Ident, base)
		if err != nil {
			return false, err
		}
		next, err := changed(newest, change)
		if err != nil {
			return false, err
		}
		if made = newest; next == nil {
			return false, nil
		}
		if made, err = c.publishOrLook(ctx, op, t.Ident, newest, next); err == nil {
			return false, nil
		}
		return errs.KindOf(err) == errs.Conflict, err
	})
	if err != nil {
		return nil, err
	}
	return made.table(t.Ident, made.meta.CurrentSchema())
}

// changed builds the version after h; nil when nothing changes.
func changed(h *handle, change func(*handle) ([]table.Update, error)) (table.Metadata, error) {
	updates, err := change(h)
	if err != nil || len(updates) == 0 {
		return nil, err
	}
	b, err := table.MetadataBuilderFromBase(h.meta, h.location)
	if err != nil {
		return nil, errs.Wrap(errs.Internal, "update table", h.location, err)
	}
	for _, u := range updates {
		if err := u.Apply(b); err != nil {
			return nil, errs.Wrap(errs.Invalid, "update table", h.location, err)
		}
	}
	if !b.HasChanges() {
		return nil, nil
	}
	meta, err := b.Build()
	return meta, errs.Wrap(errs.Invalid, "update table", h.location, err)
}

// newest loads the table's current version, which must still be the same table as base, and one that can be written.
func (c *Catalog) newest(ctx context.Context, op string, id catalog.Ident, base *handle) (*handle, error) {
	location, err := c.store.current(ctx, id)
	if err != nil {
		return nil, err
	}
	raw, meta, err := c.readMetadata(ctx, location)
	if err != nil {
		return nil, err
	}
	if meta.TableUUID() != base.meta.TableUUID() {
		return nil, errs.New(errs.NotFound, op, id.String(), "the table was dropped, and another one has its name")
	}
	h := &handle{catalog: c, meta: meta, raw: raw, location: location, snapshot: meta.CurrentSnapshot()}
	return h, refuseEncryption(h)
}

// publishOrLook makes next the version after base, or, without one, a new table, and returns it. Where the catalog's answer leaves the outcome open, it
// looks: a version that is the current one or in its log was taken. Not finding it proves nothing, since it may be taken
// later; then the outcome is CommitUnknown.
func (c *Catalog) publishOrLook(ctx context.Context, op string, id catalog.Ident, base *handle, next table.Metadata) (*handle, error) {
	location, d, err := c.publish(ctx, id, base, next)
	if errs.KindOf(err) == errs.CommitUnknown {
		there, unread := c.hasVersion(context.WithoutCancel(ctx), id, location, d.body)
		if !there || unread != nil {
			return nil, unknownOutcome(op, id, location, errors.Join(err, unread))
		}
		err = nil
	}
	if err != nil {
		return nil, err
	}
	// The version is there, so reading its file, which may fail, would say nothing that isn't known.
	raw, err := gunzip(d.body)
	if err != nil {
		return nil, errs.Wrap(errs.Internal, op, id.String(), err)
	}
	h := &handle{catalog: c, raw: raw, location: location}
	if h.meta, err = table.ParseMetadataBytes(raw); err != nil {
		return nil, errs.Wrap(errs.Internal, op, id.String(), err)
	}
	h.snapshot = h.meta.CurrentSnapshot()
	return h, nil
}

// publish makes next the version after base, if any, and returns where it lies, or would, and what is there. Older metadata files that
// next doesn't list any more are removed where the table's properties ask for it.
func (c *Catalog) publish(ctx context.Context, id catalog.Ident, base *handle, next table.Metadata) (string, draft, error) {
	if base == nil {
		d, err := draftOf(next)
		if err != nil {
			return "", d, err
		}
		location, err := c.store.publish(ctx, id, "", d)
		return location, d, err
	}
	d, err := draftAfter(base, next)
	if err != nil {
		return "", d, err
	}
	location, err := c.store.publish(ctx, id, base.location, d)
	if err != nil || !catalog.IsSet(next.Properties(), "write.metadata.delete-after-commit.enabled", false) {
		return location, d, err
	}
	listed := map[string]bool{}
	for entry := range next.PreviousFiles() {
		listed[entry.MetadataFile] = true
	}
	for entry := range base.meta.PreviousFiles() {
		if !listed[entry.MetadataFile] {
			_ = c.fio.Remove(context.WithoutCancel(ctx), entry.MetadataFile) // one that stays is an orphan, and does no harm
		}
	}
	return location, d, nil
}

func unknownOutcome(op string, id catalog.Ident, location string, cause error) error {
	unknown := &errs.Error{
		Kind: errs.CommitUnknown, Op: op, Object: id.String(), Msg: fmt.Sprintf("whether version %s was committed is not known", location), Err: cause,
	}
	return unknown.WithHint("look whether the table has changed before trying again")
}

// hasVersion says whether a metadata file is the table's current version or one before it. In a hadoop catalog another
// writer's file may have its name, so the bytes count.
func (c *Catalog) hasVersion(ctx context.Context, id catalog.Ident, location string, body []byte) (bool, error) {
	if location == "" {
		return false, nil
	}
	current, err := c.store.current(ctx, id)
	if err != nil {
		return false, err
	}
	listed, err := isVersion(ctx, c.fio, location, current)
	if !listed || err != nil {
		return false, err
	}
	found, err := fileio.Read(ctx, c.fio, location)
	return err == nil && bytes.Equal(found, body), err
}

// isVersion says whether a metadata file is the table's current one, or in the log of that.
func isVersion(ctx context.Context, fio fileio.Files, location, current string) (bool, error) {
	if location == current {
		return true, nil
	}
	raw, err := fileio.Read(ctx, fio, current)
	if err == nil {
		raw, err = gunzip(raw)
	}
	var head struct {
		Log []struct {
			File string `json:"metadata-file"`
		} `json:"metadata-log"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &head)
	}
	for _, entry := range head.Log {
		if entry.File == location {
			return true, err
		}
	}
	return false, errs.Wrap(errs.Corrupt, "read metadata", current, err)
}
