package lake

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
)

// surveyWorkers is how many manifests are decoded at a time. Each holds one manifest's bytes, about 8 MiB at most as
// writers make them; more workers than cores gain nothing, since decoding is what takes the time.
const surveyWorkers = 4

// Survey streams over the pinned snapshot's manifests and returns what filter can't rule out. Memory grows with the number
// of partition tuples and of delete files, not of data files.
func (c *Catalog) Survey(ctx context.Context, t *catalog.Table, filter catalog.Filter) (*catalog.TableLayout, error) {
	return c.survey(ctx, t, filter, nil)
}

// survey is Survey with sums of statistics; sums may be nil.
func (c *Catalog) survey(ctx context.Context, t *catalog.Table, filter catalog.Filter, sums *columnSums) (*catalog.TableLayout, error) {
	if m, ok := t.Handle.(*metaTable); ok {
		return m.survey(ctx, t, filter)
	}
	h, err := c.handleOf(t)
	if err != nil {
		return nil, err
	}
	if err := refuseEncryption(h); err != nil {
		return nil, err
	}
	if t.Version.Reading == catalog.ReadChanges {
		return c.surveyChanges(ctx, t, h, filter)
	}
	s := newScan(c, t, filter)
	list, err := s.manifests(ctx, h, t.Version.Reading)
	if err != nil {
		return nil, err
	}
	if t.Version.Reading != catalog.ReadState { // what was appended may have been deleted since
		sums = nil
	}
	layout, err := s.layout(ctx, list, sums)
	if err == nil {
		layout.Table = t
	}
	return layout, err
}

// layout returns what the filter leaves of the files in a list of manifests.
func (s *scan) layout(ctx context.Context, list []manifest.Info, sums *columnSums) (*catalog.TableLayout, error) {
	var err error
	if s.deletes, err = s.readDeletes(ctx, list); err != nil {
		return nil, err
	}
	manifests, counts, err := s.choose(list)
	if err != nil {
		return nil, err
	}
	counts.DeleteFiles = s.deletes.live
	s.sum(sums)
	sum := tally{ScanCounts: counts, groups: map[string]*group{}, sums: sums}
	if err := s.tallyAll(ctx, manifests, &sum); err != nil {
		return nil, err
	}
	deletes, err := s.deletes.seal(s.catalog.fio)
	if err != nil {
		return nil, err
	}
	return &catalog.TableLayout{
		Counts:  sum.ScanCounts,
		Groups:  sum.sorted(),
		Deletes: deletes,
		Sums:    sums.all(),
		Files: func(ctx context.Context, yield func(catalog.DataFile) error) error {
			return s.files(ctx, manifests, yield)
		},
	}, nil
}

// files streams over the surviving files once more, now with the deletes that apply to each.
func (s *scan) files(ctx context.Context, manifests []*manifest.Info, yield func(catalog.DataFile) error) error {
	shared := sharedDeletes{}
	for _, m := range manifests {
		err := s.visit(ctx, m, &tally{}, func(f catalog.DataFile) error {
			f.Deletes = s.deletes.listFor(&f, shared)
			return yield(f)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// refuseEncryption looks at what the metadata says. Single encrypted files are refused where they are met.
func refuseEncryption(h *handle) error {
	if h.meta.Properties()["encryption.key-id"] != "" {
		return fileio.Encrypted(h.location)
	}
	for range h.meta.EncryptionKeys() {
		return fileio.Encrypted(h.location)
	}
	return nil
}

// scan is a filter and a pinned table, ready to look at manifests. It doesn't change but for the marks of its deletes.
type scan struct {
	catalog *Catalog
	entries *manifest.Reader
	specs   map[catalog.SpecID]*specScan
	deletes *deleteIndex
	run     map[int64]bool // of a run of appends, its snapshots; else nil
}

// specScan is what a scan needs for the files of one partition spec.
type specScan struct {
	spec   catalog.PartitionSpec
	cond   condition
	claims []claim
	wants  manifest.StatColumns // of the columns tested and of those that partition values are checked against
}

func newScan(c *Catalog, t *catalog.Table, filter catalog.Filter) *scan {
	s := &scan{catalog: c, entries: manifest.NewReader(c.fio, t.Specs), specs: map[catalog.SpecID]*specScan{}}
	for id, spec := range t.Specs {
		types := manifest.TupleTypes(spec)
		ss := &specScan{spec: spec, cond: prepare(filter, spec, types), claims: claimsOf(spec, types, t.Schema)}
		ss.wants.IDs = ss.cond.columns(nil)
		for _, c := range ss.claims {
			ss.wants.IDs = append(ss.wants.IDs, int(c.source))
		}
		s.specs[id] = ss
	}
	return s
}

// choose returns the data manifests that have to be read, and the counts of those that need not be.
func (s *scan) choose(list []manifest.Info) ([]*manifest.Info, catalog.ScanCounts, error) {
	var kept []*manifest.Info
	var counts catalog.ScanCounts
	for i := range list {
		m := &list[i]
		if m.Content != manifest.Data {
			continue
		}
		ss, ok := s.specs[m.Spec]
		if !ok {
			return nil, counts, manifest.UnknownSpec(m)
		}
		counts.Manifests++
		// Of a manifest whose files aren't counted in the list, the files have to be counted anyway.
		live, known := m.Live()
		if known && s.run != nil {
			live = int(m.AddedFiles)
		}
		switch {
		case known && live == 0:
		case known && !ss.cond.mayInManifest(m.Partitions, len(ss.spec.Fields)):
			counts.ManifestsPruned++
			counts.Files += live
			counts.FilesPruned += live
		default:
			kept = append(kept, m)
		}
	}
	return kept, counts, nil
}

func (s *scan) tallyAll(ctx context.Context, manifests []*manifest.Info, sum *tally) error {
	var mu sync.Mutex
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(surveyWorkers)
	for i, m := range manifests {
		workers.Go(func() error {
			part := tally{groups: map[string]*group{}, manifest: i, sums: sum.sums.part()}
			err := s.visit(ctx, m, &part, func(f catalog.DataFile) error {
				s.deletes.mark(&f)
				part.add(f)
				return nil
			})
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			sum.merge(part)
			return nil
		})
	}
	return workers.Wait()
}

// visit calls yield for each file of the manifest that the filter leaves, and counts in part those it doesn't.
func (s *scan) visit(ctx context.Context, m *manifest.Info, part *tally, yield func(catalog.DataFile) error) error {
	ss := s.specs[m.Spec]
	keep := func(e *manifest.Entry) bool {
		if !s.takes(e) {
			return false
		}
		part.Files++
		if ss.cond.mayInPartition(e.Partition) {
			return true
		}
		part.PrunedByPartition++
		part.FilesPruned++
		return false
	}
	return s.entries.VisitSome(ctx, m, ss.wants, keep, func(e *manifest.Entry) error {
		f, may := ss.judgeBounds(e)
		if !may {
			part.PrunedByBounds++
			part.FilesPruned++
			return nil
		}
		var err error
		if f.Ref.Local, err = s.catalog.localData(e); err != nil {
			return err
		}
		part.sums.add(e)
		return yield(f)
	})
}

// localData refuses a wanted file that can't be read, before any row is.
func (c *Catalog) localData(e *manifest.Entry) (string, error) {
	switch {
	case len(e.KeyMetadata) > 0:
		return "", fileio.Encrypted(e.Path)
	case e.Format == catalog.Puffin:
		return "", errs.New(errs.Corrupt, "read data file", e.Path, "it is of format %s, which holds no rows", e.Format)
	}
	return c.fio.Local(e.Path)
}

// verdict says why a file is left out.
type verdict uint8

const (
	wanted verdict = iota
	byPartition
	byBounds
)

// judge says whether an entry's file may hold wanted rows.
func (ss *specScan) judge(e *manifest.Entry) (catalog.DataFile, verdict) {
	if !ss.cond.mayInPartition(e.Partition) {
		return catalog.DataFile{}, byPartition
	}
	f, may := ss.judgeBounds(e)
	if !may {
		return catalog.DataFile{}, byBounds
	}
	return f, wanted
}

// judgeBounds is judge for a file whose partition may hold wanted rows.
func (ss *specScan) judgeBounds(e *manifest.Entry) (f catalog.DataFile, may bool) {
	stats := statsOf(e)
	if !ss.cond.mayInFile(e.Partition, stats) {
		return f, false
	}
	f = catalog.DataFile{
		Ref:         catalog.FileRef{Path: e.Path, Bytes: e.Bytes},
		Format:      e.Format,
		Spec:        e.Spec,
		Partition:   e.Partition,
		Rows:        e.Rows,
		Sequence:    e.Sequence,
		Contradicts: contradictions(ss.claims, e.Partition, stats),
	}
	if e.FirstRowID != nil {
		id := *e.FirstRowID
		f.FirstRowID = &id
	}
	return f, true
}
