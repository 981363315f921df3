package survey

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

// Request says what is surveyed.
type Request struct {
	Files  fileio.Files
	Table  *catalog.Table // its version says whether a state, appends or changes are read
	Filter catalog.Filter
	// Whole, if it isn't nil, is the filter that DataFile.Whole is about.
	Whole *catalog.Filter
	// Sums are the columns whose statistics are summed up over the files, not nil. Nested columns have no sums, and nothing
	// but a state has any: what was appended may have been deleted since.
	Sums []catalog.FieldID
	// Snapshots are, of a state, the one that is read, or none of an empty table; of appends and changes those that count, the
	// oldest first.
	Snapshots []*Snapshot
	// Find returns the snapshot with the ID, nil when it has expired. It is asked for the parents of those whose changes are
	// read.
	Find func(id int64) *Snapshot
}

// Snapshot is what a survey knows of a snapshot.
type Snapshot struct {
	ID        int64
	Parent    *int64
	Manifests func(ctx context.Context) ([]manifest.Info, error)
}

// Layout streams over the snapshots' manifests and returns what the filter can't rule out. Memory grows with the number
// of partition tuples and of delete files, not of data files.
func Layout(ctx context.Context, r Request) (*catalog.TableLayout, error) {
	if r.Table.Version.Reading == catalog.ReadChanges {
		return surveyChanges(ctx, r)
	}
	s := newScan(r)
	list, err := s.manifests(ctx, r)
	if err != nil {
		return nil, err
	}
	var sums *columnSums
	if r.Sums != nil && r.Table.Version.Reading == catalog.ReadState {
		sums = newColumnSums(summable(r.Table.Schema, r.Sums))
	}
	layout, err := s.layout(ctx, list, sums)
	if err == nil {
		layout.Table = r.Table
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
	deletes, err := s.deletes.seal(s.files)
	if err != nil {
		return nil, err
	}
	return &catalog.TableLayout{
		Counts:  sum.ScanCounts,
		Groups:  sum.sorted(),
		Deletes: deletes,
		Sums:    sums.all(),
		Files: func(ctx context.Context, yield func(catalog.DataFile) error) error {
			return s.list(ctx, manifests, yield)
		},
	}, nil
}

// list streams over the surviving files once more, now with the deletes that apply to each.
func (s *scan) list(ctx context.Context, manifests []*manifest.Info, yield func(catalog.DataFile) error) error {
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

// scan is a filter and a pinned table, ready to look at manifests. It doesn't change but for the marks of its deletes.
type scan struct {
	files   fileio.Files
	entries *manifest.Reader
	specs   map[catalog.SpecID]*specScan
	deletes *deleteIndex
	run     map[int64]bool // of a run of appends, its snapshots; else nil
}

// specScan is what a scan needs for the files of one partition spec.
type specScan struct {
	spec   catalog.PartitionSpec
	cond   condition
	whole  *proof // nil: nobody asks
	claims []claim
	wants  manifest.StatColumns // of the columns tested and of those that partition values are checked against
}

func newScan(r Request) *scan {
	specs := r.Table.Specs
	s := &scan{files: r.Files, entries: manifest.NewReader(r.Files, specs), specs: map[catalog.SpecID]*specScan{}}
	for id, spec := range specs {
		types := manifest.TupleTypes(spec)
		ss := &specScan{spec: spec, cond: prepare(r.Filter, spec, types), claims: claimsOf(spec, types, r.Table.Schema)}
		ss.wants.IDs = columnsOf(r.Filter, nil)
		if r.Whole != nil {
			p := prove(*r.Whole, spec, types)
			ss.whole = &p
			ss.wants.IDs = columnsOf(*r.Whole, ss.wants.IDs)
		}
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
		if f.Ref.Local, err = s.localData(e); err != nil {
			return err
		}
		part.sums.add(e)
		return yield(f)
	})
}

// localData refuses a wanted file that can't be read, before any row is.
func (s *scan) localData(e *manifest.Entry) (string, error) {
	switch {
	case len(e.KeyMetadata) > 0:
		return "", fileio.Encrypted(e.Path)
	case e.Format == catalog.Puffin:
		return "", errs.New(errs.Corrupt, "read data file", e.Path, "it is of format %s, which holds no rows", e.Format)
	}
	return s.files.Local(e.Path)
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
	f.Whole = ss.whole != nil && ss.whole.ofFile(e.Partition, f.Contradicts, stats)
	if e.FirstRowID != nil {
		id := *e.FirstRowID
		f.FirstRowID = &id
	}
	return f, true
}
