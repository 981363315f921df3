package commit

import (
	"context"
	"errors"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/internal/survey"
)

// The operations of snapshots, as the spec calls them.
const (
	opAppend    = "append"
	opOverwrite = "overwrite"
	opDelete    = "delete"
	opReplace   = "replace"
)

// The operations of the snapshots that may have what is looked for. A snapshot that doesn't say its operation may have
// anything. Compaction, which is a replace, brings no rows that weren't there, and keeps what was deleted.
var (
	mayAddRows    = []string{opAppend, opOverwrite, ""}
	mayAddDeletes = []string{opOverwrite, opDelete, ""}
	mayRemove     = []string{opOverwrite, opReplace, opDelete, ""}
	mayRemoveRows = []string{opOverwrite, opDelete, ""}
	mayRewrite    = []string{opOverwrite, opReplace, ""}
	mayUpdate     = []string{opOverwrite, ""}
)

// validate fails with Conflict where what came after the base is in the way of the change. The rules are those of Iceberg's
// Java library: BaseRowDelta, BaseOverwriteFiles, BaseReplacePartitions and BaseRewriteFiles, and that of ReadsOthers besides.
func (a *applier) validate(ctx context.Context, v *Version, head *OldSnapshot) error {
	c := &a.change
	if c.Kind == Append || c.Kind == Overwrite && c.Isolation == Blind && len(c.Remove) == 0 {
		return nil // whatever came since, even where that can't be told
	}
	since, err := a.since(v, head)
	if err != nil || len(since) == 0 {
		return err
	}
	h := &history{applier: a, version: v, since: since}
	switch c.Kind {
	case RowDelta:
		return a.validateDelta(ctx, h)
	case Overwrite:
		return a.validateOverwrite(ctx, h)
	case Rewrite:
		if err := h.stillThere(ctx, a.referenced(), mayRemove); err != nil {
			return err
		}
		// Rows that were deleted since would come back, but for those that newer equality deletes go on to delete.
		return h.noNewDeletesOf(ctx, c.Remove, mayAddDeletes, c.DataSequence == nil)
	}
	return nil
}

// validateDelta lets deletes alone pass beside other deletes: a row may be deleted twice. Rows that were changed are
// another matter, since the change of one of two writers would be lost.
func (a *applier) validateDelta(ctx context.Context, h *history) error {
	c := &a.change
	gone := mayRemove
	if len(c.Add) == 0 {
		gone = mayRewrite // a row whose whole file was deleted is deleted
	}
	if err := h.stillThere(ctx, a.referenced(), gone); err != nil {
		return err
	}
	if err := h.noChangeOfReads(ctx); err != nil || len(c.Add) == 0 {
		return err
	}
	if err := h.noNewDeletes(ctx, survey.NewCondition(c.Reads, h.version.Specs).MayHoldInPartition); err != nil {
		return err
	}
	return h.noNewDeletesOf(ctx, c.Remove, mayAddDeletes, true)
}

// referenced are the data files that the change deletes rows of by position.
func (a *applier) referenced() []string {
	out := slices.Clone(a.change.Referenced)
	for _, d := range a.change.AddDeletes {
		if d.Referenced != "" {
			out = append(out, d.Referenced)
		}
	}
	return out
}

func (a *applier) validateOverwrite(ctx context.Context, h *history) error {
	c := &a.change
	if c.Replace != nil && c.Isolation != Blind {
		in := func(e *manifest.Entry) bool { return c.Replace.extent(h.version.Specs[e.Spec], e.Partition) != None }
		if c.Isolation == Serializable {
			replaced := survey.NewCondition(c.Replace.filter, h.version.Specs)
			err := h.noNewRows(ctx, replaced.Wants(), func(e *manifest.Entry) bool { return in(e) && replaced.MayHold(e) })
			if err != nil {
				return err
			}
		}
		if err := errors.Join(h.noRemovedRows(ctx, mayRemove, manifest.StatColumns{}, in), h.noNewDeletes(ctx, in)); err != nil {
			return err
		}
	}
	// A change that only replaces partitions depends on those alone. One that neither replaces nor removes anything, such as an
	// insert of what isn't there yet, depends on what it reads.
	if c.Replace == nil || len(c.Remove) > 0 {
		if err := h.noChangeOfReads(ctx); err != nil {
			return err
		}
	}
	if len(c.Add) == 0 {
		// The rows are deleted, whoever else deleted some of them. Those that were changed lie in another file by now, and go on.
		return h.noNewDeletesOf(ctx, c.Remove, mayUpdate, true)
	}
	// The new files have the rows that were deleted since, so this holds at every level.
	return h.noNewDeletesOf(ctx, c.Remove, mayAddDeletes, true)
}

// since returns the snapshots after the base, the newest first.
func (a *applier) since(v *Version, head *OldSnapshot) ([]*OldSnapshot, error) {
	line, known := v.ancestors(head)
	base := a.change.Base
	if base == nil && known {
		return line, nil
	}
	at := slices.IndexFunc(line, func(s *OldSnapshot) bool { return base != nil && s.ID == int64(*base) })
	if at < 0 {
		return nil, a.conflict("what came after the snapshot that the change was decided on can't be told: it isn't in the branch's history any more")
	}
	return line[:at], nil
}

// history is what came after the base of a change.
type history struct {
	*applier
	version *Version
	since   []*OldSnapshot
}

// each calls visit for every entry of a status that snapshots of the operations made, snapshot by snapshot.
func (h *history) each(ctx context.Context, operations []string, data bool, status manifest.Status, wants manifest.StatColumns,
	visit func(s *OldSnapshot, e *manifest.Entry) error,
) error {
	for _, s := range h.since {
		if !slices.Contains(operations, s.Operation) {
			continue
		}
		list, err := s.Manifests(ctx)
		if err != nil {
			return err
		}
		for i := range list {
			m := &list[i]
			if (m.Content == manifest.Data) != data || m.SnapshotID == nil || *m.SnapshotID != s.ID {
				continue
			}
			own := func(e *manifest.Entry) bool {
				return e.Status == status && e.SnapshotID != nil && *e.SnapshotID == s.ID
			}
			if err := h.reader.VisitSome(ctx, m, wants, own, func(e *manifest.Entry) error { return visit(s, e) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// noChangeOfReads fails, at Serializable, where rows were added that the change may depend on or, of a change that depends on others
// than those that it changes, deleted. A change without ReadsOthers does to each row what follows from that row alone: with some
// rows fewer it would have done the same to the rest, so that it may as well come after the deletion. The rows that it changes
// itself are looked at by their files.
func (h *history) noChangeOfReads(ctx context.Context) error {
	c := &h.change
	if c.Isolation != Serializable {
		return nil
	}
	reads := survey.NewCondition(c.Reads, h.version.Specs)
	if err := h.noNewRows(ctx, reads.Wants(), reads.MayHold); err != nil || !c.ReadsOthers {
		return err
	}
	if err := h.noRemovedRows(ctx, mayRemoveRows, reads.Wants(), reads.MayHold); err != nil {
		return err
	}
	return h.noNewDeletes(ctx, reads.MayHoldInPartition)
}

// noNewRows fails where a data file was added that the change would have had to see.
func (h *history) noNewRows(ctx context.Context, wants manifest.StatColumns, matters func(*manifest.Entry) bool) error {
	return h.each(ctx, mayAddRows, true, manifest.Added, wants, func(s *OldSnapshot, e *manifest.Entry) error {
		if !matters(e) {
			return nil
		}
		return h.conflict("snapshot %d added the data file %s, which may hold rows that the change depends on", s.ID, e.Path)
	})
}

// noRemovedRows fails where snapshots of the operations removed a data file whose rows matter to the change.
func (h *history) noRemovedRows(ctx context.Context, operations []string, wants manifest.StatColumns, matters func(*manifest.Entry) bool) error {
	return h.each(ctx, operations, true, manifest.Deleted, wants, func(s *OldSnapshot, e *manifest.Entry) error {
		if !matters(e) {
			return nil
		}
		return h.conflict("snapshot %d removed the data file %s, whose rows the change replaces or depends on", s.ID, e.Path)
	})
}

// noNewDeletes fails where a delete file was added that may delete rows that the change depends on.
func (h *history) noNewDeletes(ctx context.Context, matters func(*manifest.Entry) bool) error {
	return h.each(ctx, mayAddDeletes, false, manifest.Added, manifest.StatColumns{}, func(s *OldSnapshot, e *manifest.Entry) error {
		if !matters(e) {
			return nil
		}
		return h.conflict("snapshot %d added the delete file %s, which may delete rows that the change depends on", s.ID, e.Path)
	})
}

// stillThere fails where one of the data files was removed.
func (h *history) stillThere(ctx context.Context, paths, operations []string) error {
	wanted := map[string]bool{}
	for _, path := range paths {
		wanted[path] = true
	}
	if len(wanted) == 0 {
		return nil
	}
	return h.each(ctx, operations, true, manifest.Deleted, manifest.StatColumns{}, func(s *OldSnapshot, e *manifest.Entry) error {
		if !wanted[e.Path] {
			return nil
		}
		return h.conflict("snapshot %d removed the data file %s, of which the change deletes rows", s.ID, e.Path)
	})
}

// noNewDeletesOf fails where snapshots of the operations deleted rows of the data files, by equality deletes only where they matter.
func (h *history) noNewDeletesOf(ctx context.Context, files []catalog.DataFile, operations []string, equality bool) error {
	if len(files) == 0 {
		return nil
	}
	// A data file may have had one deletion vector after another, so each snapshot is looked at by itself.
	added := map[*OldSnapshot][]*manifest.Entry{}
	targets := manifest.StatColumns{IDs: []int{int(catalog.DeletePathID)}}
	err := h.each(ctx, operations, false, manifest.Added, targets, func(s *OldSnapshot, e *manifest.Entry) error {
		c := e.Clone()
		if c.Sequence == manifest.NoSequence {
			return errs.New(errs.Corrupt, "read manifest entry of", e.Path, "it has no sequence number")
		}
		added[s] = append(added[s], c)
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range h.since {
		deletes, err := survey.NewDeletes(added[s], h.version.Specs)
		if err != nil {
			return err
		}
		for i := range files {
			if found := deletes.Of(&files[i], equality); len(found) > 0 {
				return h.conflict("snapshot %d deleted rows of %s, by %s, which the change replaces", s.ID, files[i].Ref.Path, found[0])
			}
		}
	}
	return nil
}
