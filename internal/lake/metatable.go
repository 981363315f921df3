package lake

import (
	"context"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

// metaKind is one of the metadata tables: tables that tell of another table's metadata.
type metaKind struct {
	name    string
	reads   metaSource
	columns func(m *metaTable) ([]metaColumn, error)
	rows    func(ctx context.Context, s *metaScan, yield func(row any) error) error
}

// metaSource says what a metadata table is made from.
type metaSource struct {
	data, deletes bool // manifests of these contents
	everySnapshot bool // of every snapshot of the table, not of the pinned one alone
}

// metaKinds are the metadata tables by the names that other engines know them by, with the same columns and meaning.
var metaKinds = []metaKind{
	{"history", metaSource{}, historyColumns, historyRows},
	{"metadata_log_entries", metaSource{}, metadataLogColumns, metadataLogRows},
	{"refs", metaSource{}, refColumns, refRows},
	{"snapshots", metaSource{}, snapshotColumns, snapshotRows},
	{"manifests", metaSource{}, manifestColumns, manifestRows},
	{"all_manifests", metaSource{everySnapshot: true}, allManifestColumns, manifestRows},
	{"files", metaSource{data: true, deletes: true}, metaFileColumns, metaFileRows},
	{"data_files", metaSource{data: true}, metaFileColumns, metaFileRows},
	{"delete_files", metaSource{deletes: true}, metaFileColumns, metaFileRows},
	{"entries", metaSource{data: true, deletes: true}, metaEntryColumns, metaEntryRows},
	{"all_files", metaSource{data: true, deletes: true, everySnapshot: true}, metaFileColumns, metaFileRows},
	{"all_data_files", metaSource{data: true, everySnapshot: true}, metaFileColumns, metaFileRows},
	{"all_delete_files", metaSource{deletes: true, everySnapshot: true}, metaFileColumns, metaFileRows},
	{"all_entries", metaSource{data: true, deletes: true, everySnapshot: true}, metaEntryColumns, metaEntryRows},
	{"partitions", metaSource{data: true, deletes: true}, metaPartitionColumns, metaPartitionRows},
	{"position_deletes", metaSource{deletes: true}, positionDeleteColumns, positionDeleteRows},
}

// MetadataTables returns the names of the metadata tables that every table has.
func MetadataTables() []string {
	names := make([]string, len(metaKinds))
	for i, k := range metaKinds {
		names[i] = k.name
	}
	return names
}

// metaTable is the Handle of a metadata table: the table that it tells of, and how.
type metaTable struct {
	base    *handle
	of      *catalog.Table // the table that it tells of, with its current schema
	kind    metaKind
	columns []metaColumn
	union   catalog.Type             // PartitionType
	places  map[catalog.SpecID][]int // PartitionPlaces
}

// MetadataTable returns the metadata table of t of that name, in any case; an unknown name is NotFound. It tells of the
// snapshot that t is pinned to where it is about one snapshot; history, snapshots, refs and metadata_log_entries are about
// the table whatever the snapshot. The tables of all snapshots, whose names begin with all_, are Unsupported of a table that
// is pinned to a snapshot by its version. Its schema is made from t's current schema and all its specs.
//
// It can be surveyed and scanned like any table, as one of a single data file, which Prepare writes.
func (c *Catalog) MetadataTable(_ context.Context, t *catalog.Table, name string) (*catalog.Table, error) {
	h, err := c.handleOf(t)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(metaKinds, func(k metaKind) bool { return k.name == strings.ToLower(name) })
	if at < 0 {
		return nil, errs.New(errs.NotFound, "find metadata table", t.Ident.String()+"."+name, "there is no such metadata table").
			WithHint("there are: %s", strings.Join(MetadataTables(), ", "))
	}
	kind := metaKinds[at]
	id := append(slices.Clone(t.Ident), kind.name)
	if kind.reads.everySnapshot && !t.Version.At.IsCurrent() {
		return nil, errs.New(errs.Unsupported, "read metadata table", id.String(), "it is about all snapshots of the table, so none can be selected")
	}
	m := &metaTable{base: h, kind: kind}
	if err := m.describe(t); err != nil {
		return nil, errs.Wrap(errs.Internal, "read metadata table", id.String(), err)
	}
	out := *m.of
	out.Ident = id
	out.Version = t.Version
	out.Specs = map[catalog.SpecID]catalog.PartitionSpec{0: {}}
	out.DefaultSpec = 0
	out.Order = catalog.SortOrder{}
	out.Handle, out.Virtual = m, true
	out.Schema = &catalog.Schema{}
	for _, col := range m.columns {
		out.Schema.Fields = append(out.Schema.Fields, col.Field)
	}
	return &out, nil
}

// describe makes the columns.
func (m *metaTable) describe(t *catalog.Table) (err error) {
	if m.of, err = m.base.table(t.Ident, m.base.meta.CurrentSchema()); err != nil {
		return err
	}
	m.places = catalog.PartitionPlaces(m.of)
	m.union = catalog.PartitionType(m.of)
	m.columns, err = m.kind.columns(m)
	return err
}
