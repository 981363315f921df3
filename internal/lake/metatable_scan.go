package lake

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/internal/survey"
)

// metaScan is one scan of a metadata table. Its rows are first written to a Parquet file, from which they are read like
// those of any other table: SQL has one reader then, and a million rows need no memory.
type metaScan struct {
	*metaTable
	filter    catalog.Filter
	manifests []*manifest.Info // those to be read
	wanted    []metaColumn
	dir       string // of temporary files
}

// survey chooses the manifests to be read. The layout's one file is written by prepare.
func (m *metaTable) survey(ctx context.Context, t *catalog.Table, filter catalog.Filter) (*catalog.TableLayout, error) {
	s := &metaScan{metaTable: m, filter: filter}
	counts := catalog.ScanCounts{Files: 1}
	if m.kind.reads.data || m.kind.reads.deletes {
		if err := refuseEncryption(m.base); err != nil {
			return nil, err
		}
		if err := s.chooseManifests(ctx, &counts); err != nil {
			return nil, err
		}
	}
	scanned := *t
	scanned.Handle = s
	return &catalog.TableLayout{Table: &scanned, Counts: counts, Files: m.unprepared}, nil
}

func (m *metaTable) unprepared(context.Context, func(catalog.DataFile) error) error {
	return errs.New(errs.Internal, "read metadata table", m.name(), "it isn't prepared")
}

func (s *metaScan) chooseManifests(ctx context.Context, counts *catalog.ScanCounts) error {
	seen := map[string]bool{}
	return s.visitManifests(ctx, func(m *manifest.Info, _ int64) error {
		isWanted := m.Content == manifest.Data && s.kind.reads.data || m.Content != manifest.Data && s.kind.reads.deletes
		if seen[m.Path] || !isWanted {
			return nil
		}
		seen[m.Path] = true
		counts.Manifests++
		if s.mayHoldRows(m) {
			one := *m // m would keep all of its list, and every snapshot has one
			s.manifests = append(s.manifests, &one)
		} else {
			counts.ManifestsPruned++
		}
		return nil
	})
}

// visitManifests calls visit for each manifest of the snapshots that the table is about, with the snapshot's ID. A manifest
// of several snapshots comes several times.
func (s *metaScan) visitManifests(ctx context.Context, visit func(m *manifest.Info, snapshot int64) error) error {
	snapshots := []table.Snapshot{}
	switch {
	case s.kind.reads.everySnapshot:
		snapshots = s.base.meta.Snapshots()
	case s.base.snapshot != nil:
		snapshots = append(snapshots, *s.base.snapshot)
	}
	for _, snapshot := range snapshots {
		list, err := s.base.catalog.manifests(ctx, &snapshot)
		if err != nil {
			return err
		}
		for i := range list {
			if err := visit(&list[i], snapshot.SnapshotID); err != nil {
				return err
			}
		}
	}
	return nil
}

// visitEntries calls visit for each entry of the chosen manifests, deleted ones included.
func (s *metaScan) visitEntries(ctx context.Context, visit func(*manifest.Entry) error) error {
	reader := manifest.NewReader(s.base.catalog.fio, s.of.Specs)
	for _, m := range s.manifests {
		if err := reader.Visit(ctx, m, manifest.StatColumns{All: s.needsStats()}, visit); err != nil {
			return err
		}
	}
	return nil
}

// mayHoldRows looks at the filter on what all files of a manifest have in common.
func (s *metaScan) mayHoldRows(m *manifest.Info) bool {
	contents := []any{int32(manifest.Data)}
	if m.Content != manifest.Data {
		contents = []any{int32(manifest.PositionDeletes), int32(manifest.EqualityDeletes)}
	}
	return slices.ContainsFunc(contents, func(content any) bool {
		return s.filter.Holds(func(t catalog.Filter) bool {
			if at := s.unionPlace(t.Field); at >= 0 {
				return s.mayHoldPartition(m, at, t)
			}
			switch i := s.index(t.Field); {
			case i < 0:
			case s.columns[i].Name == "content":
				return t.Pred.Eval(t.Type, content)
			case s.columns[i].Name == "spec_id" && s.kind.name != "partitions":
				return t.Pred.Eval(t.Type, int32(m.Spec))
			}
			return true
		})
	})
}

// mayHoldPartition says whether a file of the manifest may satisfy a test of a field of the partition struct. All files of a
// spec without the field have NULL there.
func (s *metaScan) mayHoldPartition(m *manifest.Info, at int, t catalog.Filter) bool {
	places := s.places[m.Spec]
	i := slices.Index(places, at)
	if i < 0 {
		return t.Pred.Eval(t.Type, nil)
	}
	if len(m.Partitions) != len(places) {
		return true
	}
	return survey.SummaryFacts(m.Partitions[i], t.Type).MayHold(t.Type, t.Pred)
}

// unionPlace returns the place of the partition struct's field with the ID, or -1. No column has an ID of such a field.
func (s *metaScan) unionPlace(id catalog.FieldID) int {
	if s.index(id) >= 0 {
		return -1
	}
	return slices.IndexFunc(s.union.Fields, func(f catalog.Field) bool { return f.ID == id })
}

func (s *metaScan) index(id catalog.FieldID) int {
	return slices.IndexFunc(s.columns, func(c metaColumn) bool { return c.ID == id })
}

// prepare writes the columns of the rows that the filter leaves to a file in dir, and tells layout of it.
func (s *metaScan) prepare(ctx context.Context, columns []catalog.FieldID, layout *catalog.TableLayout, dir string) error {
	scan := *s
	scan.dir = dir
	if err := scan.want(columns); err != nil {
		return err
	}
	out, err := newMetaWriter(filepath.Join(dir, s.kind.name), scan.wanted)
	if err != nil {
		return err
	}
	err = s.kind.rows(ctx, &scan, func(row any) error {
		if !s.keeps(row) {
			return nil
		}
		return out.add(row)
	})
	if err != nil {
		return out.abandon(err)
	}
	ref, rows, err := out.close()
	if err != nil {
		return err
	}
	layout.Counts.Rows, layout.Counts.Bytes = rows, ref.Bytes
	layout.Groups = []catalog.GroupSum{{Files: 1, Rows: rows, Bytes: ref.Bytes}}
	layout.Files = func(_ context.Context, yield func(catalog.DataFile) error) error {
		return yield(catalog.DataFile{Ref: ref, Format: catalog.Parquet, Rows: rows})
	}
	return nil
}

// want notes the columns to be written. Without any the rows are counted only, but a file has none without a column.
func (s *metaScan) want(columns []catalog.FieldID) error {
	for _, id := range columns {
		at := s.index(id)
		if f, ok := catalog.MetadataColumn(s.of, id); ok && at < 0 {
			return errs.New(errs.Unsupported, "read column", f.Name+" of "+s.name(), "metadata tables have no metadata columns")
		}
		if at < 0 {
			return errs.New(errs.Internal, "read metadata table", s.name(), "it has no column with field ID %d", id)
		}
		s.wanted = append(s.wanted, s.columns[at])
	}
	if len(s.wanted) == 0 {
		s.wanted = s.columns[:1]
	}
	return nil
}

func (m *metaTable) name() string { return m.of.Ident.String() + "." + m.kind.name }

func (s *metaScan) keeps(row any) bool {
	return s.filter.Holds(func(t catalog.Filter) bool {
		if at := s.index(t.Field); at >= 0 {
			return t.Pred.Eval(t.Type, s.columns[at].value(row))
		}
		e, isEntry := row.(*entryRow)
		at := s.unionPlace(t.Field)
		if !isEntry || at < 0 || at >= len(e.partition) {
			return true
		}
		switch v := e.partition[at].(type) {
		case nil, bool, int32, int64, string:
			return t.Pred.Eval(t.Type, v)
		}
		return true // written in another form than a test takes
	})
}

// needsStats says whether a wanted column takes the column statistics of manifest entries.
func (s *metaScan) needsStats() bool {
	return slices.ContainsFunc(s.wanted, func(c metaColumn) bool { return c.stats })
}
