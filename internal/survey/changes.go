package survey

import (
	"context"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

// changeLog lists what the snapshots of a run did to a table's rows, as data files with the delete files that say which of
// their rows count. With B the delete files that applied to a data file before a snapshot and A those that do so after it,
// the snapshot
//
//	added:   the rows of each file that it added, without those that A deletes,
//	deleted: the rows of each file that it removed, without those that B had deleted,
//	deleted: of each other file the rows that A without B deletes, without those that B had deleted,
//	added:   of each other file the rows that B without A had deleted, without those that A deletes.
type changeLog struct {
	scan *scan
	run  []*Snapshot
	find func(id int64) *Snapshot
	// ids numbers the delete files of all snapshots; used are those that a file of the log names, all of them later on.
	ids     map[deleteKey]int
	deletes []liveDelete
	used    []bool
	sealed  bool
}

// deleteKey tells a deletion vector from another of the same file.
type deleteKey struct {
	path   string
	offset int64
}

// surveyChanges lists the changes of a run of snapshots. It re-reads delete manifests with each listing, so that the delete
// files of one snapshot and its parent are held at a time, and their names.
func surveyChanges(ctx context.Context, r Request) (*catalog.TableLayout, error) {
	l := &changeLog{scan: newScan(r), run: r.Snapshots, find: r.Find, ids: map[deleteKey]int{}}
	sum := tally{groups: map[string]*group{}}
	err := l.each(ctx, &sum, func(f catalog.DataFile) error {
		sum.add(f)
		for _, at := range append(slices.Clone(f.Deletes), f.Newly...) {
			l.used[at] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	list, err := l.seal()
	if err != nil {
		return nil, err
	}
	sum.DeleteFiles = len(list)
	return &catalog.TableLayout{
		Table: r.Table, Counts: sum.ScanCounts, Groups: sum.sorted(), Deletes: list, Repeats: true,
		Files: func(ctx context.Context, yield func(catalog.DataFile) error) error {
			return l.each(ctx, &tally{}, yield)
		},
	}, nil
}

// seal gives the delete files in use their numbers in the layout, and returns them.
func (l *changeLog) seal() ([]catalog.DeleteFile, error) {
	var list []catalog.DeleteFile
	final := make([]int, len(l.deletes))
	for i := range l.deletes {
		if !l.used[i] {
			continue
		}
		d, err := l.deletes[i].located(l.scan.files)
		if err != nil {
			return nil, err
		}
		final[i] = len(list)
		list = append(list, d)
	}
	for key, i := range l.ids {
		l.ids[key] = final[i]
	}
	l.deletes, l.used, l.sealed = nil, nil, true
	return list, nil
}

// number numbers the delete files of an index for the whole log.
func (l *changeLog) number(x *deleteIndex) {
	x.numbers = make([]int, len(x.files))
	for i := range x.files {
		key := deleteKey{x.files[i].Ref.Path, x.files[i].Offset}
		at, ok := l.ids[key]
		if !ok && !l.sealed {
			at = len(l.deletes)
			l.ids[key] = at
			d := x.files[i]
			if d.guessed {
				d.Target = "" // what it is in one snapshot it needn't be in another
			}
			l.deletes, l.used = append(l.deletes, d), append(l.used, false)
		}
		x.numbers[i] = at
	}
}

// each calls yield for every file of the log: snapshots in their order, and files in that of the manifests.
func (l *changeLog) each(ctx context.Context, sum *tally, yield func(catalog.DataFile) error) error {
	for at, snapshot := range l.run {
		s, err := l.step(ctx, snapshot)
		if err != nil {
			return err
		}
		s.sum, s.yield = sum, yield
		s.inserted, s.deleted = changeColumns("INSERT", at, snapshot), changeColumns("DELETE", at, snapshot)
		if err := s.files(ctx); err != nil {
			return err
		}
	}
	return nil
}

func changeColumns(kind string, ordinal int, s *Snapshot) map[catalog.FieldID]transform.Value {
	return map[catalog.FieldID]transform.Value{
		catalog.ChangeTypeID: kind, catalog.ChangeOrdinalID: int32(ordinal), catalog.CommitSnapshotID: s.ID,
	}
}

// step reads what a snapshot and its parent have of manifests and delete files.
func (l *changeLog) step(ctx context.Context, snapshot *Snapshot) (*changeStep, error) {
	s := &changeStep{log: l, snapshot: snapshot}
	var err error
	if s.list, err = snapshot.Manifests(ctx); err != nil {
		return nil, err
	}
	if s.after, err = l.index(ctx, s.list); err != nil {
		return nil, err
	}
	var parents []manifest.Info
	if snapshot.Parent != nil {
		parent := l.find(*snapshot.Parent)
		if s.isCut = parent == nil; !s.isCut {
			if parents, err = parent.Manifests(ctx); err != nil {
				return nil, err
			}
		}
	}
	if s.before, err = l.index(ctx, parents); err != nil {
		return nil, err
	}
	if s.isCut && slices.ContainsFunc(s.list, s.addsDeletes) {
		return nil, s.cut()
	}
	return s, nil
}

func (l *changeLog) index(ctx context.Context, list []manifest.Info) (*deleteIndex, error) {
	x, err := l.scan.readDeletes(ctx, list)
	if err == nil {
		l.number(x)
	}
	return x, err
}

// cut is the error for a snapshot that took rows away from one that has expired: which ones they were is lost.
func (s *changeStep) cut() error {
	return errs.New(errs.NotFound, "read changes of snapshot", s.id(), "its parent has expired, and with it what the snapshot took away").
		WithHint("start after it: FOR VERSION FROM %s", s.id())
}
