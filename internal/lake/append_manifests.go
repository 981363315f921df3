package lake

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

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
		path := fileio.Under(metadataFolder(a.base.meta), fmt.Sprintf("%s-m%d.avro", a.commitID, len(a.manifests)))
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
	spec := *a.base.meta.PartitionSpecByID(int(n.spec))
	w, err := iceberg.NewManifestWriter(version, &buf, avroSpec(spec), schemaFor(a.base.meta, spec),
		a.snapshotID, iceberg.WithManifestWriterContent(n.content))
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

// schemaFor returns the current schema with the columns that the spec is by, also those that were dropped: iceberg-go takes
// the type of a partition value from it, and writes NULL where it finds none.
func schemaFor(meta table.Metadata, spec iceberg.PartitionSpec) *iceberg.Schema {
	current := meta.CurrentSchema()
	schemas, fields, added := newestFirst(meta, current), slices.Clone(current.Fields()), map[int]bool{}
	for _, f := range spec.Fields() {
		for _, id := range f.SourceIDs {
			_, isThere := current.FindFieldByID(id)
			dropped, ok := newestField(id, schemas)
			if isThere || added[id] || !ok {
				continue
			}
			dropped.Name = fmt.Sprintf("dropped_%d", id) // another column may have its name by now
			fields, added[id] = append(fields, dropped), true
		}
	}
	return iceberg.NewSchemaWithIdentifiers(current.ID, current.IdentifierFieldIDs, fields...)
}

// avroSpec renames fields whose names Avro doesn't allow, as readers expect; the IDs are what counts.
func avroSpec(spec iceberg.PartitionSpec) iceberg.PartitionSpec {
	var fields []iceberg.PartitionField
	for _, f := range spec.Fields() {
		f.Name = manifest.AvroName(f.Name)
		fields = append(fields, f)
	}
	return iceberg.NewPartitionSpecID(spec.ID(), fields...)
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
