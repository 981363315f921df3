package lake

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"maps"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/units"
)

// newestFormat is the newest format version of tables that can be read and written.
const newestFormat = 3

// handle is what a catalog.Table's Handle holds: the version that it is pinned to.
type handle struct {
	catalog  *Catalog
	meta     table.Metadata
	raw      []byte   // the metadata JSON, for what iceberg-go drops
	location string   // the metadata file
	staged   *staging // of a version that isn't published; location is that of the version that it is made of, if any
	snapshot *table.Snapshot
	run      []*table.Snapshot // of appends and changes: the snapshots that count, the oldest first
}

// handleOf returns the pinned version behind t, which this catalog must have loaded.
func (c *Catalog) handleOf(t *catalog.Table) (*handle, error) {
	if m, ok := t.Handle.(*metaTable); ok {
		return nil, errs.New(errs.Unsupported, "use table", t.Ident.String(), "it is a metadata table of %s, which can only be read", m.of.Ident)
	}
	h, ok := t.Handle.(*handle)
	if !ok || h.catalog != c {
		return nil, errs.New(errs.Internal, "read table", t.Ident.String(), "it was loaded by another catalog")
	}
	return h, nil
}

// loadAt reads a metadata file and makes an immutable table of it, pinned to its current snapshot.
func (c *Catalog) loadAt(ctx context.Context, id catalog.Ident, location string) (*catalog.Table, error) {
	raw, meta, err := c.readMetadata(ctx, location)
	if err != nil {
		return nil, err
	}
	h := &handle{catalog: c, meta: meta, raw: raw, location: location, snapshot: meta.CurrentSnapshot()}
	return h.table(id, meta.CurrentSchema())
}

// table makes an immutable table of the pinned version, as a schema shows it.
func (h *handle) table(id catalog.Ident, schema *iceberg.Schema) (*catalog.Table, error) {
	t := &catalog.Table{
		Catalog:          h.catalog.name,
		Ident:            id,
		UUID:             h.meta.TableUUID().String(),
		FormatVersion:    h.meta.Version(),
		Location:         h.meta.Location(),
		MetadataLocation: h.location,
		DefaultSpec:      catalog.SpecID(h.meta.DefaultPartitionSpec()),
		Snapshot:         snapshotOf(h.snapshot),
		Properties:       maps.Clone(map[string]string(h.meta.Properties())),
		Handle:           h,
	}
	if err := describe(t, h.meta, schema, h.raw); err != nil {
		return nil, errs.Wrap(errs.Corrupt, "read metadata", h.location, err)
	}
	return t, nil
}

// readMetadata reads a metadata file, plain or gzipped, and checks that it is one of a version that we know.
func (c *Catalog) readMetadata(ctx context.Context, location string) ([]byte, table.Metadata, error) {
	raw, err := fileio.Read(ctx, c.fio, location)
	if err != nil {
		return nil, nil, err
	}
	if raw, err = gunzip(raw); err != nil {
		return nil, nil, errs.Wrap(errs.Corrupt, "read metadata", location, err)
	}
	if err := checkFormat(raw, location); err != nil {
		return nil, nil, err
	}
	var meta table.Metadata
	err = fileio.Parse("read metadata", location, func() (err error) {
		meta, err = table.ParseMetadataBytes(raw)
		return err
	})
	return raw, meta, err
}

// maxMetadata is how long metadata may be, unpacked. A table of a hundred thousand snapshots has some fifty megabytes.
const maxMetadata = 1 << 30

// gunzip unpacks data if it starts as gzip data does: names lie about it, bytes don't.
func gunzip(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	data, err = io.ReadAll(io.LimitReader(r, maxMetadata+1))
	if err == nil && len(data) > maxMetadata {
		return nil, errs.New(errs.Corrupt, "", "", "it unpacks to more than %s", units.Bytes(maxMetadata))
	}
	return data, err
}

// checkFormat tells a view and a table of a later format version, which are Unsupported, from bytes that are no metadata at all.
func checkFormat(raw []byte, location string) error {
	var head struct {
		Version *int   `json:"format-version"`
		View    string `json:"view-uuid"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return errs.Wrap(errs.Corrupt, "read metadata", location, err)
	}
	switch {
	case head.View != "":
		return errs.New(errs.Unsupported, "read metadata", location, "it is a view; only tables can be read")
	case head.Version == nil || *head.Version < 1:
		return errs.New(errs.Corrupt, "read metadata", location, "it has no format-version")
	case *head.Version > newestFormat:
		return errs.New(errs.Unsupported, "read metadata", location,
			"the table is of format version %d; versions up to %d are known", *head.Version, newestFormat)
	}
	return nil
}

func snapshotOf(s *table.Snapshot) *catalog.Snapshot {
	if s == nil {
		return nil
	}
	pinned := &catalog.Snapshot{
		ID:          catalog.SnapshotID(s.SnapshotID),
		Sequence:    s.SequenceNumber,
		TimestampMs: s.TimestampMs,
	}
	if s.Summary != nil {
		pinned.Operation = string(s.Summary.Operation)
		pinned.Summary = maps.Clone(map[string]string(s.Summary.Properties))
	}
	return pinned
}
