package lake

import (
	"bytes"
	"context"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
)

// carried returns the snapshot's manifests as iceberg-go holds them, for its writer to list again in a new snapshot: what
// it reads it writes again whole, first row IDs included, and a manifest can't be built with them otherwise. They serve
// no other purpose; whoever wants to know what is in them calls manifests.
func (c *Catalog) carried(ctx context.Context, snapshot *table.Snapshot) ([]iceberg.ManifestFile, error) {
	known, err := c.manifests(ctx, snapshot)
	if err != nil || snapshot == nil {
		return nil, err
	}
	for _, m := range known {
		if len(m.KeyMetadata) > 0 {
			return nil, fileio.Encrypted(m.Path)
		}
	}
	if snapshot.ManifestList == "" {
		return embeddedAgain(known), nil
	}
	data, err := fileio.Read(ctx, c.fio, snapshot.ManifestList)
	if err != nil {
		return nil, err
	}
	var list []iceberg.ManifestFile
	err = fileio.Parse("read manifest list", snapshot.ManifestList, func() (err error) {
		list, err = iceberg.ReadManifestList(bytes.NewReader(data))
		return err
	})
	if err == nil && len(list) != len(known) {
		err = errs.New(errs.Internal, "read manifest list", snapshot.ManifestList, "it has %d manifests, or %d", len(known), len(list))
	}
	return list, err
}

// embeddedAgain lists manifests that had no list.
func embeddedAgain(known []manifest.Info) []iceberg.ManifestFile {
	var list []iceberg.ManifestFile
	for _, m := range known {
		list = append(list, iceberg.NewManifestFile(1, m.Path, m.Length, 0, *m.SnapshotID).
			AddedFiles(manifest.UnknownCount).ExistingFiles(manifest.UnknownCount).DeletedFiles(manifest.UnknownCount).
			AddedRows(manifest.UnknownCount).ExistingRows(manifest.UnknownCount).DeletedRows(manifest.UnknownCount).Build())
	}
	return list
}
