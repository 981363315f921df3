package survey

import (
	"context"
	"slices"
	"strconv"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

// changeStep lists what one snapshot changed.
type changeStep struct {
	log               *changeLog
	snapshot          *Snapshot
	list              []manifest.Info
	before, after     *deleteIndex
	isCut             bool // the parent has expired
	inserted, deleted map[catalog.FieldID]transform.Value
	sum               *tally
	yield             func(catalog.DataFile) error
}

func (s *changeStep) id() string { return strconv.FormatInt(s.snapshot.ID, 10) }

// isOwn says whether the snapshot may have written the manifest.
func (s *changeStep) isOwn(m *manifest.Info) bool {
	return m.SnapshotID == nil || *m.SnapshotID == s.snapshot.ID
}

func (s *changeStep) addsDeletes(m manifest.Info) bool {
	return m.Content != manifest.Data && s.isOwn(&m) && m.AddedFiles != 0
}

// files visits the manifests that the snapshot wrote, and the others too when delete files came or went.
func (s *changeStep) files(ctx context.Context) error {
	differ := !s.isCut && !slices.Equal(sortedNumbers(s.before), sortedNumbers(s.after))
	known := [2]sharedDeletes{{}, {}}
	for i := range s.list {
		m := &s.list[i]
		if m.Content != manifest.Data || !differ && !s.isOwn(m) {
			continue
		}
		if s.log.scan.specs[m.Spec] == nil {
			return manifest.UnknownSpec(m)
		}
		s.sum.Manifests++
		if err := s.manifest(ctx, m, differ, known); err != nil {
			return err
		}
	}
	return nil
}

func sortedNumbers(x *deleteIndex) []int {
	out := slices.Clone(x.numbers)
	slices.Sort(out)
	return out
}

func (s *changeStep) manifest(ctx context.Context, m *manifest.Info, differ bool, known [2]sharedDeletes) error {
	return s.log.scan.entries.Visit(ctx, m, s.log.scan.specs[m.Spec].wants, func(e *manifest.Entry) error {
		return s.entry(e, differ, known)
	})
}

// entry gives what happened to the rows of a data file. Files that the snapshot neither added nor removed matter only when
// delete files differ.
func (s *changeStep) entry(e *manifest.Entry, differ bool, known [2]sharedDeletes) error {
	isOwn := e.SnapshotID != nil && *e.SnapshotID == s.snapshot.ID
	isAdded, isRemoved := isOwn && e.Status == manifest.Added, isOwn && e.Status == manifest.Deleted
	if !isAdded && !isRemoved && (!differ || !e.IsLive()) {
		return nil
	}
	if isRemoved && s.isCut {
		return s.cut()
	}
	f, reason := s.log.scan.specs[e.Spec].judge(e)
	if reason != wanted {
		s.prune(isAdded || isRemoved, reason)
		return nil
	}
	var err error
	if f.Ref.Local, err = s.log.scan.localData(e); err != nil {
		return err
	}
	before, after := s.before.listFor(&f, known[0]), s.after.listFor(&f, known[1])
	switch {
	case isAdded:
		return s.give(f, s.inserted, after, nil)
	case isRemoved:
		return s.give(f, s.deleted, before, nil)
	}
	if err := s.compare(f, s.deleted, before, after); err != nil {
		return err
	}
	return s.compare(f, s.inserted, after, before)
}

// compare gives the rows that the delete files of to, but not those of from, delete; rows that those delete don't count.
func (s *changeStep) compare(f catalog.DataFile, change map[catalog.FieldID]transform.Value, from, to []int) error {
	var newly []int
	for _, at := range to {
		if !slices.Contains(from, at) {
			newly = append(newly, at)
		}
	}
	if newly == nil {
		return nil
	}
	return s.give(f, change, from, newly)
}

func (s *changeStep) give(f catalog.DataFile, change map[catalog.FieldID]transform.Value, deletes, newly []int) error {
	f.Deletes, f.Newly, f.Constants = deletes, newly, change
	s.sum.Files++
	return s.yield(f)
}

// prune counts a file of the snapshot's own that the filter leaves out.
func (s *changeStep) prune(isOwn bool, reason verdict) {
	if !isOwn {
		return
	}
	s.sum.Files++
	s.sum.FilesPruned++
	if reason == byPartition {
		s.sum.PrunedByPartition++
	} else {
		s.sum.PrunedByBounds++
	}
}
