package lake

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
)

// Commit commits a change of a table's rows as one snapshot. The change was decided on the snapshot that t is pinned to, the
// head of the branch that is written to: its Base is filled in here. See commit.Apply for the three outcomes.
func (c *Catalog) Commit(ctx context.Context, t *catalog.Table, change commit.Change) (commit.Result, error) {
	h, err := c.handleOf(t)
	if err != nil {
		return commit.Result{}, err
	}
	if err := refuseEncryption(h); err != nil {
		return commit.Result{}, err
	}
	base, err := c.version(h)
	if err != nil {
		return commit.Result{}, err
	}
	if change.Base = nil; h.snapshot != nil {
		id := catalog.SnapshotID(h.snapshot.SnapshotID)
		change.Base = &id
	}
	return commit.Apply(ctx, &committed{catalog: c, ident: t.Ident, base: h}, t.Ident.String(), base, change)
}

// Append adds data files to the table's main branch as one snapshot. It conflicts with no other change. The files are the
// caller's to remove after a failure.
func (c *Catalog) Append(ctx context.Context, t *catalog.Table, files []NewDataFile) (catalog.SnapshotID, error) {
	done, err := c.Commit(ctx, t, commit.Change{Kind: commit.Append, Add: dataFilesOf(files)})
	return done.Snapshot, err
}

// CreateEmptyBranch makes a branch of a table without a snapshot, with one that has no files. It fails with Exists when there is a
// branch or a tag of the name.
func (c *Catalog) CreateEmptyBranch(ctx context.Context, t *catalog.Table, name string) (catalog.SnapshotID, error) {
	done, err := c.Commit(ctx, t, commit.Change{Kind: commit.Append, Branch: name, Empty: true})
	return done.Snapshot, err
}

// RowDelta adds data files and delete files to the table's main branch as one snapshot, for the snapshot that t is pinned to:
// it is a Conflict where another change came since that may have to do with any row. Delete files say by their Spec and
// Partition, or by Target, what they apply to; their sequence numbers are the new snapshot's. The files are the caller's to
// remove after a failure.
func (c *Catalog) RowDelta(ctx context.Context, t *catalog.Table, files []NewDataFile, deletes []catalog.DeleteFile) (catalog.SnapshotID, error) {
	change := commit.Change{Kind: commit.RowDelta, Add: dataFilesOf(files)}
	for _, d := range deletes {
		change.AddDeletes = append(change.AddDeletes, commit.DeleteFile(d))
	}
	done, err := c.Commit(ctx, t, change)
	return done.Snapshot, err
}

func dataFilesOf(files []NewDataFile) []manifest.File {
	out := make([]manifest.File, len(files))
	for i, f := range files {
		out[i] = f.File
	}
	return out
}

// committed is a table that a change is committed to.
type committed struct {
	catalog *Catalog
	ident   catalog.Ident
	base    *handle
}

var _ commit.Table = (*committed)(nil)

// Files implements commit.Table.
func (t *committed) Files() fileio.Files { return t.catalog.fio }

// Newest implements commit.Table.
func (t *committed) Newest(ctx context.Context) (*commit.Version, error) {
	if t.base.staged == nil {
		h, err := t.catalog.newest(ctx, "commit to", t.ident, t.base)
		if err != nil {
			return nil, err
		}
		return t.catalog.version(h)
	}
	h, refused, err := t.catalog.restaged(ctx, t.ident, t.base)
	if err != nil {
		return nil, err
	}
	v, err := t.catalog.version(h)
	if err == nil && refused != nil {
		v.Refused = errs.Wrap(errs.Internal, "commit to", t.ident.String(), refused)
	}
	return v, err
}

// Publish implements commit.Table. That the branch is still where the new snapshot's parent is, Iceberg's requirement
// assert-ref-snapshot-id, follows from its being the version after on and no other.
func (t *committed) Publish(ctx context.Context, on *commit.Version, s *commit.NewSnapshot, branch string) error {
	h := on.Handle.(*handle)
	added := &table.Snapshot{
		SnapshotID: s.ID, ParentSnapshotID: s.Parent, SequenceNumber: s.Sequence, TimestampMs: s.TimestampMs, ManifestList: s.List,
		SchemaID: &s.SchemaID, FirstRowID: s.FirstRowID, AddedRows: s.AddedRows,
		Summary: &table.Summary{Operation: table.Operation(s.Operation), Properties: iceberg.Properties(s.Summary)},
	}
	b, err := h.builder()
	if err == nil {
		err = b.AddSnapshot(added)
	}
	if err == nil && branch != "" {
		// This keeps the branch's retention settings, which setting a plain reference would drop.
		err = b.NewRetainingSnapshotRefUpdate(branch, s.ID, table.BranchRef).Apply(b)
	}
	var meta table.Metadata
	if err == nil {
		meta, err = b.Build()
	}
	if err != nil {
		return errs.Wrap(errs.Internal, "commit to", t.ident.String(), err)
	}
	_, _, err = t.catalog.publish(ctx, t.ident, h.published(), meta)
	return err
}

// version tells package commit what it has to know of a version.
func (c *Catalog) version(h *handle) (*commit.Version, error) {
	schema := h.meta.CurrentSchema()
	if schema == nil {
		return nil, errs.New(errs.Corrupt, "read metadata", h.location, "there is no current schema")
	}
	specs, err := specsOf(h.meta, schema)
	if err != nil {
		return nil, errs.Wrap(errs.Corrupt, "read metadata", h.location, err)
	}
	v := &commit.Version{
		Format: h.meta.Version(), Folder: metadataFolder(h.meta), Specs: specs, SpecJSON: map[catalog.SpecID]string{}, SchemaID: schema.ID,
		Properties: maps.Clone(map[string]string(h.meta.Properties())), Refs: map[string]commit.Ref{}, Sequence: h.meta.LastSequenceNumber(),
		NextRowID: h.meta.NextRowID(), LastUpdated: h.meta.LastUpdatedMillis(), Handle: h, Required: map[int]string{},
	}
	for _, f := range schema.Fields() {
		if f.Required && f.InitialDefault == nil {
			v.Required[f.ID] = f.Name
		}
	}
	text, err := schemaJSON(h, schema)
	v.SchemaJSON = string(text)
	for _, spec := range h.meta.PartitionSpecs() {
		var fields []byte
		if err == nil {
			fields, err = specFieldsJSON(spec)
		}
		v.SpecJSON[catalog.SpecID(spec.ID())] = string(fields)
	}
	for name, ref := range h.meta.Refs() {
		v.Refs[name] = commit.Ref{Snapshot: ref.SnapshotID, IsTag: ref.SnapshotRefType == table.TagRef}
	}
	for _, s := range h.meta.Snapshots() {
		v.Snapshots = append(v.Snapshots, c.oldSnapshot(&s))
	}
	return v, errs.Wrap(errs.Internal, "read metadata", h.location, err)
}

// schemaJSON returns a schema as the metadata has it: iceberg-go would lose the low digits of a long's default.
func schemaJSON(h *handle, schema *iceberg.Schema) ([]byte, error) {
	if !hasDefaults(h.raw) {
		return json.Marshal(schema)
	}
	all, err := schemasByID(h.raw)
	return all[schema.ID], err
}

// specFieldsJSON returns the fields of a spec as metadata has them.
func specFieldsJSON(spec iceberg.PartitionSpec) ([]byte, error) {
	whole, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	var parts struct {
		Fields json.RawMessage `json:"fields"`
	}
	err = json.Unmarshal(whole, &parts)
	return parts.Fields, err
}

func (c *Catalog) oldSnapshot(s *table.Snapshot) *commit.OldSnapshot {
	out := &commit.OldSnapshot{
		ID: s.SnapshotID, Parent: s.ParentSnapshotID,
		Manifests: func(ctx context.Context) ([]manifest.Info, error) { return c.manifests(ctx, s) },
	}
	if s.Summary != nil {
		out.Operation, out.Summary = string(s.Summary.Operation), s.Summary.Properties
	}
	return out
}
