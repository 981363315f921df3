package lake

import (
	"slices"
	"strconv"
	"strings"

	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

// runOf returns the snapshots whose appends or changes a version is about, the oldest first: until and its ancestors, down to
// but without since. Snapshots of the operation replace are left out, as they change no rows. Appends alone would hide
// what a snapshot of another operation took away, so such a run is Invalid. It completes what v says of the bounds.
func (h *handle) runOf(until *table.Snapshot, v *catalog.Version) ([]*table.Snapshot, error) {
	run, err := h.ancestry(until, v)
	if err != nil {
		return nil, err
	}
	run = slices.DeleteFunc(run, func(s *table.Snapshot) bool { return operationName(s) == table.OpReplace })
	if v.Reading != catalog.ReadAppends {
		return run, nil
	}
	for _, s := range run {
		if op := operationName(s); op != table.OpAppend {
			return nil, errs.New(errs.Invalid, "read appends", v.At.String(),
				"snapshot %d between is no append (its operation is %q): rows that it took away wouldn't show", s.SnapshotID, op).
				WithHint("read the change log, namespace.table.changes, which has what each snapshot added and took away")
		}
	}
	return run, nil
}

func operationName(s *table.Snapshot) table.Operation {
	if s.Summary == nil {
		return ""
	}
	return s.Summary.Operation
}

// ancestry walks from until to since by the parents. Since itself need not be there any more: that a snapshot has it for its
// parent says enough. Without since it goes as far back as the table still has snapshots.
func (h *handle) ancestry(until *table.Snapshot, v *catalog.Version) ([]*table.Snapshot, error) {
	stop, err := h.sinceID(v)
	if err != nil {
		return nil, err
	}
	met := v.Since == nil || until == nil && stop == nil
	var run []*table.Snapshot
	most := len(h.meta.Snapshots()) // parents that go round in a circle end, too
	for s := until; s != nil && len(run) < most; {
		if stop != nil && s.SnapshotID == *stop {
			met = true
			break
		}
		run = append(run, s)
		if s.ParentSnapshotID == nil {
			break
		}
		if stop != nil && *s.ParentSnapshotID == *stop {
			met = true
			break
		}
		s = h.meta.SnapshotByID(*s.ParentSnapshotID)
	}
	slices.Reverse(run)
	if !met {
		return nil, h.noAncestor(run, v, *stop)
	}
	return run, nil
}

// sinceID returns the ID of the snapshot that a run starts after; nil when the run has no such bound.
func (h *handle) sinceID(v *catalog.Version) (*int64, error) {
	if v.Since == nil {
		return nil, nil
	}
	if v.Since.Snapshot != nil {
		id := int64(*v.Since.Snapshot)
		return &id, nil
	}
	found, err := h.find(*v.Since)
	if err != nil {
		return nil, err
	}
	v.Since = &found.named
	if found.snapshot == nil {
		return nil, nil
	}
	return &found.snapshot.SnapshotID, nil
}

func (h *handle) noAncestor(run []*table.Snapshot, v *catalog.Version, stop int64) error {
	if _, err := h.snapshotByID(stop); err != nil {
		return err
	}
	var known []string
	for _, s := range run {
		known = append(known, strconv.FormatInt(s.SnapshotID, 10))
	}
	return errs.New(errs.Invalid, "read what came after", v.Since.String(), "it is no ancestor of %s, whose known ancestry is %s",
		v.At, listed(known))
}

// addChangeColumns adds the columns of the change log to a table's own.
func addChangeColumns(t *catalog.Table) error {
	for _, id := range []catalog.FieldID{catalog.ChangeTypeID, catalog.ChangeOrdinalID, catalog.CommitSnapshotID} {
		f, ok := catalog.MetadataColumn(t, id)
		if !ok {
			return errs.New(errs.Internal, "read changes", t.Ident.String(), "there is no metadata column %d", id)
		}
		for _, own := range t.Schema.Fields {
			if strings.EqualFold(own.Name, f.Name) {
				return errs.New(errs.Unsupported, "read changes", t.Ident.String(),
					"the table has a column %q, which is also one of the change log", own.Name)
			}
		}
		t.Schema.Fields = append(t.Schema.Fields, f)
	}
	return nil
}
