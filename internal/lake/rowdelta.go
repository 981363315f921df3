package lake

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/google/uuid"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

// errMoved says that a change that was planned on one snapshot met another.
var errMoved = errors.New("another snapshot came first")

// RowDelta adds data files and delete files to the table's main branch as one snapshot, with the outcomes of Append. It is
// for the snapshot that t is pinned to: where another writer came first it is a Conflict, since what it deletes may have
// been rewritten or changed since. Delete files say by their Spec and Partition, or by Target, what they apply to; their
// sequence numbers are the new snapshot's. They are the caller's to remove after a failure, like the data files.
func (c *Catalog) RowDelta(ctx context.Context, t *catalog.Table, files []NewDataFile, deletes []catalog.DeleteFile) (catalog.SnapshotID, error) {
	h, err := c.handleOf(t)
	if err != nil {
		return 0, err
	}
	switch {
	case len(files)+len(deletes) == 0:
		return 0, errs.New(errs.Invalid, "change rows of", t.Ident.String(), "there are no files to add")
	case t.FormatVersion < 2 && len(deletes) > 0:
		return 0, errs.New(errs.Unsupported, "change rows of", t.Ident.String(), "tables of format version %d have no delete files", t.FormatVersion).
			WithHint("upgrade the table to format version 2")
	}
	a := &appender{
		catalog: c, ident: t.Ident, base: h, files: files, deletes: deletes, pinned: true, specs: t.Specs,
		snapshotID: rand.Int64(), commitID: uuid.NewString(),
	}
	if err := a.run(ctx); err != nil {
		return 0, err
	}
	return catalog.SnapshotID(a.snapshotID), nil
}

// deleteEntry makes the manifest entry of a delete file.
func deleteEntry(meta table.Metadata, specs map[catalog.SpecID]catalog.PartitionSpec, d catalog.DeleteFile) (iceberg.DataFile, error) {
	spec := meta.PartitionSpecByID(int(d.Spec))
	if spec == nil {
		return nil, errs.New(errs.Invalid, "add delete file", d.Ref.Path, "the table has no partition spec %d", d.Spec)
	}
	values, err := partitionMap(specs[d.Spec], d.Partition)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, "add delete file", d.Ref.Path, err)
	}
	contents, format := iceberg.EntryContentPosDeletes, iceberg.ParquetFile
	switch d.Kind {
	case catalog.EqualityDeletes:
		contents = iceberg.EntryContentEqDeletes
	case catalog.DeletionVector:
		format = iceberg.PuffinFile
	}
	b, err := iceberg.NewDataFileBuilder(*spec, contents, d.Ref.Path, format, values, nil, nil, d.Rows, d.Ref.Bytes)
	if err != nil {
		return nil, errs.Wrap(errs.Internal, "add delete file", d.Ref.Path, err)
	}
	if d.Target != "" {
		b.ReferencedDataFile(d.Target)
	}
	if d.Target != "" && d.Kind == catalog.PositionDeletes { // manifests of format version 2 have bounds only
		path := map[int][]byte{int(catalog.DeletePathID): []byte(d.Target)}
		b.LowerBoundValues(path).UpperBoundValues(path)
	}
	if d.Kind == catalog.DeletionVector {
		b.ContentOffset(d.Offset).ContentSizeInBytes(d.Length)
	}
	if len(d.Equality) > 0 {
		ids := make([]int, len(d.Equality))
		for i, id := range d.Equality {
			ids[i] = int(id)
		}
		b.EqualityFieldIDs(ids)
	}
	return b.Build(), nil
}
