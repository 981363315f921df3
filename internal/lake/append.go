package lake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/google/uuid"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
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

// The waits between tries of a commit. They grow and are jittered, so that many writers don't meet again and again.
const (
	defaultRetries = 20
	firstWait      = 20 * time.Millisecond
	longestWait    = 2 * time.Second
)

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
	err := a.writeManifests(ctx)
	for try := 0; err == nil; try++ {
		var done bool
		if done, err = a.try(ctx, try); done {
			return err
		}
		if errs.KindOf(err) == errs.Conflict && !errors.Is(err, errMoved) && try < a.retries() {
			err = wait(ctx, try)
		}
	}
	a.remove(ctx, append(a.lists, a.written...))
	return err
}

func (a *appender) retries() int {
	n, err := strconv.Atoi(a.base.meta.Properties()["commit.retry.num-retries"])
	if err != nil || n < 0 {
		return defaultRetries
	}
	return n
}

func wait(ctx context.Context, try int) error {
	longest := min(firstWait<<min(try, 10), longestWait)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rand.N(longest)):
		return nil
	}
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

// newest loads the table's current version, which must still be the same table, and one that can be written.
func (a *appender) newest(ctx context.Context) (*handle, error) {
	location, err := a.catalog.store.current(ctx, a.ident)
	if err != nil {
		return nil, err
	}
	raw, meta, err := a.catalog.readMetadata(ctx, location)
	if err != nil {
		return nil, err
	}
	if meta.TableUUID() != a.base.meta.TableUUID() {
		return nil, errs.New(errs.NotFound, "append to", a.ident.String(), "the table was dropped, and another one has its name")
	}
	if meta.Version() != a.base.meta.Version() {
		return nil, errs.New(errs.Invalid, "append to", a.ident.String(), "the table was upgraded to format version %d meanwhile", meta.Version())
	}
	h := &handle{catalog: a.catalog, meta: meta, location: location, snapshot: meta.CurrentSnapshot()}
	return h, refuseWrite(h, raw)
}

// refuseWrite fails where writing the metadata again would change what it says.
func refuseWrite(h *handle, raw []byte) error {
	if err := refuseEncryption(h); err != nil {
		return err
	}
	for _, s := range h.meta.Schemas() {
		defaults, err := initialDefaults(raw, s.ID)
		if err != nil {
			return errs.Wrap(errs.Corrupt, "read metadata", h.location, err)
		}
		for id, d := range defaults {
			if !d.survivesFloat() {
				return errs.New(errs.Unsupported, "write table", h.location, "the default %s of field %d can't be written again exactly", d.raw, id)
			}
		}
	}
	return nil
}

// build writes the new manifest list and returns the new version.
func (a *appender) build(ctx context.Context, on *handle, try int) (draft, error) {
	list := under(metadataFolder(on.meta), fmt.Sprintf("snap-%d-%d-%s.avro", a.snapshotID, try+1, a.commitID))
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

// listBytes encodes a manifest list. In format version 3 it also assigns row IDs, and says so in the snapshot.
func listBytes(meta table.Metadata, s *table.Snapshot, manifests []iceberg.ManifestFile) ([]byte, error) {
	var buf bytes.Buffer
	var w *iceberg.ManifestListWriter
	var err error
	switch meta.Version() {
	case 1:
		w, err = iceberg.NewManifestListWriterV1(&buf, s.SnapshotID, s.ParentSnapshotID)
	case 2:
		w, err = iceberg.NewManifestListWriterV2(&buf, s.SnapshotID, s.SequenceNumber, s.ParentSnapshotID)
	default:
		w, err = iceberg.NewManifestListWriterV3(&buf, s.SnapshotID, s.SequenceNumber, meta.NextRowID(), s.ParentSnapshotID)
	}
	if err != nil {
		return nil, err
	}
	if err := w.AddManifests(manifests); err != nil {
		return nil, err
	}
	if next := w.NextRowID(); next != nil {
		first := meta.NextRowID()
		added := *next - first
		s.FirstRowID, s.AddedRows = &first, &added
	}
	err = w.Close()
	return buf.Bytes(), err
}

// newEntries are the new files of one spec and content, which make a manifest.
type newEntries struct {
	spec    catalog.SpecID
	content iceberg.ManifestContent
	files   []iceberg.DataFile
	tuples  [][]transform.Value
	rows    int64
}

func (n *newEntries) add(f iceberg.DataFile, tuple []transform.Value, rows int64) {
	n.files, n.tuples, n.rows = append(n.files, f), append(n.tuples, tuple), n.rows+rows
}

// entries returns the new files by spec, data files before delete files.
func (a *appender) entries() ([]*newEntries, error) {
	data, deletes := map[catalog.SpecID]*newEntries{}, map[catalog.SpecID]*newEntries{}
	of := func(m map[catalog.SpecID]*newEntries, id catalog.SpecID, content iceberg.ManifestContent) *newEntries {
		if m[id] == nil {
			m[id] = &newEntries{spec: id, content: content}
		}
		return m[id]
	}
	for _, f := range a.files {
		if f.entry == nil {
			return nil, errs.New(errs.Internal, "append to", a.ident.String(), "the file %s wasn't made by DataFileFromParquet", f.Ref.Path)
		}
		of(data, f.Spec, iceberg.ManifestContentData).add(f.entry, f.Partition, f.Rows)
	}
	for _, d := range a.deletes {
		entry, err := deleteEntry(a.base.meta, a.specs, d)
		if err != nil {
			return nil, err
		}
		of(deletes, d.Spec, iceberg.ManifestContentDeletes).add(entry, d.Partition, d.Rows)
	}
	var out []*newEntries
	for _, m := range []map[catalog.SpecID]*newEntries{data, deletes} {
		for _, id := range slices.Sorted(maps.Keys(m)) {
			out = append(out, m[id])
		}
	}
	return out, nil
}

// writeManifests writes one manifest for each spec of the new files. They serve every try: their entries inherit the
// snapshot's sequence number.
func (a *appender) writeManifests(ctx context.Context) error {
	all, err := a.entries()
	if err != nil {
		return err
	}
	for _, n := range all {
		path := under(metadataFolder(a.base.meta), fmt.Sprintf("%s-m%d.avro", a.commitID, len(a.manifests)))
		m, body, err := a.manifest(n, path)
		if err != nil {
			return errs.Wrap(errs.Internal, "write manifest", path, err)
		}
		a.written = append(a.written, path)
		if err := a.catalog.fio.Create(ctx, path, body); err != nil {
			return err
		}
		a.manifests = append(a.manifests, m)
	}
	return nil
}

func (a *appender) manifest(n *newEntries, path string) (iceberg.ManifestFile, []byte, error) {
	var buf bytes.Buffer
	version := a.base.meta.Version()
	w, err := iceberg.NewManifestWriter(version, &buf, avroSpec(*a.base.meta.PartitionSpecByID(int(n.spec))),
		a.base.meta.CurrentSchema(), a.snapshotID, iceberg.WithManifestWriterContent(n.content))
	if err != nil {
		return nil, nil, err
	}
	for _, f := range n.files {
		if err := w.Add(iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &a.snapshotID, nil, nil, f)); err != nil {
			return nil, nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, nil, err
	}
	m := iceberg.NewManifestFile(version, path, int64(buf.Len()), int32(n.spec), a.snapshotID).Content(n.content).
		AddedFiles(int32(len(n.files))).AddedRows(n.rows).Partitions(partitionSummaries(a.specs[n.spec], n.tuples)).Build()
	return m, buf.Bytes(), nil
}

// avroSpec renames fields whose names Avro doesn't allow, as readers expect; the IDs are what counts.
func avroSpec(spec iceberg.PartitionSpec) iceberg.PartitionSpec {
	var fields []iceberg.PartitionField
	for _, f := range spec.Fields() {
		f.Name = avroName(f.Name)
		fields = append(fields, f)
	}
	return iceberg.NewPartitionSpecID(spec.ID(), fields...)
}

// remove deletes metadata files that nothing uses. What can't be removed is an orphan and does no harm.
func (a *appender) remove(ctx context.Context, paths []string) {
	for _, path := range paths {
		_ = a.catalog.fio.Remove(context.WithoutCancel(ctx), path)
	}
}
