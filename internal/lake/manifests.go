package lake

import (
	"context"

	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/internal/manifest"
)

// manifests returns the snapshot's manifests; a table without a snapshot has none.
func (c *Catalog) manifests(ctx context.Context, snapshot *table.Snapshot) ([]manifest.Info, error) {
	switch {
	case snapshot == nil:
		return nil, nil
	case snapshot.ManifestList == "":
		return manifest.Embedded(ctx, c.fio, snapshot.SnapshotID, snapshot.ManifestLocations)
	}
	return manifest.ReadList(ctx, c.fio, snapshot.ManifestList)
}
