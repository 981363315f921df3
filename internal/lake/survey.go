package lake

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"github.com/apache/iceberg-go"
	"golang.org/x/sync/errgroup"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// surveyWorkers is how many manifests are decoded at a time. Each holds one manifest's bytes, about 8 MiB at most as
// writers make them; more workers than cores gain nothing, since decoding is what takes the time.
const surveyWorkers = 4

// Survey streams over the pinned snapshot's manifests and returns what filter can't rule out. Memory grows with the
// number of partition tuples, not of files.
func (c *Catalog) Survey(ctx context.Context, t *catalog.Table, filter catalog.Filter) (*catalog.TableLayout, error) {
	h, err := c.handleOf(t)
	if err != nil {
		return nil, err
	}
	if err := refuseEncryption(h); err != nil {
		return nil, err
	}
	list, err := c.manifests(ctx, h.snapshot)
	if err != nil {
		return nil, err
	}
	if err := c.refuseDeletes(ctx, list); err != nil {
		return nil, err
	}
	s := newScan(c, t, filter)
	manifests, counts, err := s.choose(list)
	if err != nil {
		return nil, err
	}
	sum := tally{ScanCounts: counts, groups: map[string]*group{}}
	if err := s.tallyAll(ctx, manifests, &sum); err != nil {
		return nil, err
	}
	return &catalog.TableLayout{
		Table:  t,
		Counts: sum.ScanCounts,
		Groups: sum.sorted(),
		Files: func(ctx context.Context, yield func(catalog.DataFile) error) error {
			for _, m := range manifests {
				if err := s.visit(ctx, m, nil, yield); err != nil {
					return err
				}
			}
			return nil
		},
	}, nil
}

// refuseEncryption looks at what the metadata says. Single encrypted files are refused where they are met.
func refuseEncryption(h *handle) error {
	if h.meta.Properties()["encryption.key-id"] != "" {
		return encrypted(h.location)
	}
	for range h.meta.EncryptionKeys() {
		return encrypted(h.location)
	}
	return nil
}

// scan is a filter and a pinned table, ready to look at manifests. It doesn't change.
type scan struct {
	catalog *Catalog
	specs   map[catalog.SpecID]*specScan
}

// specScan is what a scan needs for the files of one partition spec.
type specScan struct {
	spec   catalog.PartitionSpec
	types  []transform.Type
	cond   condition
	claims []claim
	stats  bool // column statistics are needed
}

func newScan(c *Catalog, t *catalog.Table, filter catalog.Filter) *scan {
	s := &scan{catalog: c, specs: map[catalog.SpecID]*specScan{}}
	for id, spec := range t.Specs {
		types := tupleTypes(spec)
		ss := &specScan{spec: spec, types: types, cond: prepare(filter, spec, types), claims: claimsOf(spec, types, t.Schema)}
		ss.stats = len(ss.claims) > 0 || filter.Op != catalog.AlwaysTrue
		s.specs[id] = ss
	}
	return s
}

// choose returns the manifests that have to be read, and the counts of those that need not be.
func (s *scan) choose(list []iceberg.ManifestFile) ([]iceberg.ManifestFile, catalog.ScanCounts, error) {
	var kept []iceberg.ManifestFile
	var counts catalog.ScanCounts
	for _, m := range list {
		if m.ManifestContent() != iceberg.ManifestContentData {
			continue
		}
		ss, ok := s.specs[catalog.SpecID(m.PartitionSpecID())]
		if !ok {
			return nil, counts, errs.New(errs.Corrupt, "read manifest list", m.FilePath(),
				"it is of partition spec %d, which the table doesn't have", m.PartitionSpecID())
		}
		counts.Manifests++
		// Of a manifest whose files aren't counted in the list, the files have to be counted anyway.
		live, known := liveCount(m)
		switch {
		case known && live == 0:
		case known && !ss.cond.mayInManifest(m, len(ss.spec.Fields)):
			counts.ManifestsPruned++
			counts.Files += live
			counts.FilesPruned += live
		default:
			kept = append(kept, m)
		}
	}
	return kept, counts, nil
}

func (s *scan) tallyAll(ctx context.Context, manifests []iceberg.ManifestFile, sum *tally) error {
	var mu sync.Mutex
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(surveyWorkers)
	for i, m := range manifests {
		workers.Go(func() error {
			part := tally{groups: map[string]*group{}, manifest: i}
			err := s.visit(ctx, m, &part, func(f catalog.DataFile) error { part.add(f); return nil })
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

// visit calls yield for each file of the manifest that the filter leaves, and counts those it doesn't in part, if any.
func (s *scan) visit(ctx context.Context, m iceberg.ManifestFile, part *tally, yield func(catalog.DataFile) error) error {
	if part == nil {
		part = &tally{}
	}
	ss := s.specs[catalog.SpecID(m.PartitionSpecID())]
	return s.catalog.visitLive(ctx, m, ss.stats, func(e iceberg.ManifestEntry) error {
		part.Files++
		f, reason, err := ss.judge(e.DataFile())
		if err != nil {
			return err
		}
		switch reason {
		case byPartition:
			part.PrunedByPartition++
		case byBounds:
			part.PrunedByBounds++
		default:
			if f.Ref.Local, err = s.catalog.localData(f); err != nil {
				return err
			}
			return yield(f)
		}
		part.FilesPruned++
		return nil
	})
}

// localData refuses a wanted file that can't be read, before any row is.
func (c *Catalog) localData(f catalog.DataFile) (string, error) {
	if f.Format != catalog.Parquet {
		return "", errs.New(errs.Unsupported, "read data file", f.Ref.Path, "it is of format %s; only parquet can be read", f.Format)
	}
	return c.fio.Local(f.Ref.Path)
}

// verdict says why a file is left out.
type verdict uint8

const (
	wanted verdict = iota
	byPartition
	byBounds
)

func (ss *specScan) judge(f iceberg.DataFile) (catalog.DataFile, verdict, error) {
	tuple, err := tupleOf(f, ss.spec, ss.types)
	if err != nil {
		return catalog.DataFile{}, wanted, err
	}
	if !ss.cond.mayInPartition(tuple) {
		return catalog.DataFile{}, byPartition, nil
	}
	out := catalog.DataFile{
		Ref:       catalog.FileRef{Path: f.FilePath(), Bytes: f.FileSizeBytes()},
		Format:    formatOf(f),
		Spec:      ss.spec.ID,
		Partition: tuple,
		Rows:      f.Count(),
	}
	if !ss.stats {
		return out, wanted, nil
	}
	stats := columnStatsOf(f)
	if !ss.cond.mayInFile(tuple, stats) {
		return catalog.DataFile{}, byBounds, nil
	}
	out.Contradicts = contradictions(ss.claims, tuple, stats)
	return out, wanted, nil
}

// tally gathers what a survey counts, of one manifest or of all.
type tally struct {
	catalog.ScanCounts
	groups   map[string]*group
	manifest int
}

// group is a GroupSum and the places of its liars' manifests, so that the liars named don't depend on who was faster.
type group struct {
	catalog.GroupSum
	liarIn map[int]int
}

func (t *tally) add(f catalog.DataFile) {
	key := groupKey(f.Spec, f.Partition)
	g, ok := t.groups[key]
	if !ok {
		g = &group{GroupSum: catalog.GroupSum{Spec: f.Spec, Partition: f.Partition}}
		t.groups[key] = g
	}
	one := group{GroupSum: catalog.GroupSum{Files: 1, Rows: f.Rows, Bytes: f.Ref.Bytes, Contradicts: f.Contradicts}}
	for at := range f.Partition {
		if f.Contradicts&(1<<uint(at)) != 0 {
			one.blame(at, f.Ref.Path, t.manifest)
		}
	}
	g.join(one)
	t.Rows += f.Rows
	t.Bytes += f.Ref.Bytes
}

func (g *group) join(other group) {
	g.Files += other.Files
	g.Rows += other.Rows
	g.Bytes += other.Bytes
	g.Contradicts |= other.Contradicts
	for at, path := range other.Liars {
		if in, known := g.liarIn[at]; !known || other.liarIn[at] < in {
			g.blame(at, path, other.liarIn[at])
		}
	}
}

// blame names the file whose bounds contradict a field, and the place of its manifest.
func (g *group) blame(at int, path string, manifest int) {
	if g.Liars == nil {
		g.Liars, g.liarIn = map[int]string{}, map[int]int{}
	}
	g.Liars[at], g.liarIn[at] = path, manifest
}

func (t *tally) merge(part tally) {
	t.Files += part.Files
	t.FilesPruned += part.FilesPruned
	t.PrunedByPartition += part.PrunedByPartition
	t.PrunedByBounds += part.PrunedByBounds
	t.Rows += part.Rows
	t.Bytes += part.Bytes
	for key, g := range part.groups {
		if mine, ok := t.groups[key]; ok {
			mine.join(*g)
		} else {
			t.groups[key] = g
		}
	}
}

// groupKey tells tuples apart, those of different specs too. Keys sort by spec first.
func groupKey(spec catalog.SpecID, tuple []transform.Value) string {
	key := binary.BigEndian.AppendUint32(nil, uint32(spec))
	for _, v := range tuple {
		key = transform.AppendKey(key, transform.Type{}, v)
	}
	return string(key)
}

func (t *tally) sorted() []catalog.GroupSum {
	keys := make([]string, 0, len(t.groups))
	for key := range t.groups {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, cmp.Compare[string])
	sums := make([]catalog.GroupSum, len(keys))
	for i, key := range keys {
		sums[i] = t.groups[key].GroupSum
	}
	return sums
}

// formatOf returns the file's format in the spec's spelling; writers differ in case.
func formatOf(f iceberg.DataFile) catalog.FileFormat {
	return catalog.FileFormat(strings.ToLower(string(f.FileFormat())))
}
