package lake

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
)

// Pin returns another version of a table from the metadata that it was loaded with. NotFound says that the table has no such
// version, Invalid that a range of snapshots makes no sense.
func (c *Catalog) Pin(t *catalog.Table, v catalog.Version) (*catalog.Table, error) {
	if v == (catalog.Version{}) {
		return t, nil
	}
	h, err := c.handleOf(t)
	if err != nil {
		return nil, err
	}
	found, err := h.find(v.At)
	if err != nil {
		return nil, errs.Wrap(errs.Internal, "read table", t.Ident.String(), err)
	}
	schema, err := h.schemaAt(found)
	if err != nil {
		return nil, err
	}
	pinned := *h
	pinned.snapshot = found.snapshot
	out, err := pinned.table(t.Ident, schema)
	if err != nil {
		return nil, err
	}
	out.Version = v
	out.Version.At = found.named
	if v.Reading == catalog.ReadState {
		return out, nil
	}
	if pinned.run, err = h.runOf(found.snapshot, &out.Version); err != nil {
		return nil, errs.Wrap(errs.Internal, "read table", t.Ident.String(), err)
	}
	if v.Reading == catalog.ReadChanges {
		err = addChangeColumns(out)
	}
	return out, err
}

// point is a snapshot, nil for that of a table without any, and how it was found.
type point struct {
	snapshot *table.Snapshot
	named    catalog.Point
}

// find returns the snapshot that a point names.
func (h *handle) find(p catalog.Point) (point, error) {
	switch {
	case p.Snapshot != nil:
		s, err := h.snapshotByID(int64(*p.Snapshot))
		return point{s, p}, err
	case p.Ref != "":
		return h.byRef(p)
	case p.TimestampMs != nil:
		s, err := h.asOf(*p.TimestampMs)
		return point{s, p}, err
	}
	return point{h.meta.CurrentSnapshot(), p}, nil
}

func (h *handle) snapshotByID(id int64) (*table.Snapshot, error) {
	if s := h.meta.SnapshotByID(id); s != nil {
		return s, nil
	}
	return nil, errs.New(errs.NotFound, "find snapshot", strconv.FormatInt(id, 10), "the table has no such snapshot, or it has expired").
		WithHint("%s", h.known())
}

// byRef finds a branch or tag. A name of digits that is none is a snapshot's ID, as it is in Spark. A table without
// snapshots has the branch main without an entry.
func (h *handle) byRef(p catalog.Point) (point, error) {
	refs := maps.Collect(h.meta.Refs())
	ref, ok := refs[p.Ref]
	kind := catalog.RefKind(ref.SnapshotRefType)
	switch {
	case ok && (p.Kind == catalog.AnyRef || p.Kind == kind):
		p.Kind = kind
		s := h.meta.SnapshotByID(ref.SnapshotID)
		if s == nil {
			return point{}, errs.New(errs.Corrupt, "read metadata", h.location, "%s is snapshot %d, which isn't there", p, ref.SnapshotID)
		}
		return point{s, p}, nil
	case ok:
		return point{}, errs.New(errs.NotFound, "find "+string(p.Kind), p.Ref, "it is a %s", kind)
	case p.Ref == table.MainBranch && p.Kind != catalog.Tag && h.meta.CurrentSnapshot() == nil:
		p.Kind = catalog.Branch
		return point{named: p}, nil
	}
	if id, err := strconv.ParseInt(p.Ref, 10, 64); err == nil && p.Kind == catalog.AnyRef {
		s, err := h.snapshotByID(id)
		snapshot := catalog.SnapshotID(id)
		return point{s, catalog.Point{Snapshot: &snapshot}}, err
	}
	what := "branch or tag"
	if p.Kind != catalog.AnyRef {
		what = string(p.Kind)
	}
	return point{}, errs.New(errs.NotFound, "find "+what, p.Ref, "the table has none of that name").WithHint("%s", h.known())
}

// asOf finds what was current at a time. The snapshot log knows; the snapshots' own times don't, since one may become
// current long after it was made.
func (h *handle) asOf(ms int64) (*table.Snapshot, error) {
	var found, first *table.SnapshotLogEntry
	for e := range h.meta.SnapshotLogs() {
		if first == nil {
			first = &e
		}
		if e.TimestampMs <= ms {
			found = &e
		}
	}
	at := catalog.Point{TimestampMs: &ms}.String()
	switch {
	case first == nil:
		return nil, errs.New(errs.NotFound, "find snapshot of", at, "the table has no snapshot log")
	case found == nil:
		return nil, errs.New(errs.NotFound, "find snapshot of", at, "the table's earliest known snapshot is of %s",
			catalog.Point{TimestampMs: &first.TimestampMs})
	}
	s := h.meta.SnapshotByID(found.SnapshotID)
	if s == nil {
		return nil, errs.New(errs.NotFound, "find snapshot of", at, "it was snapshot %d, which has expired", found.SnapshotID).
			WithHint("%s", h.known())
	}
	return s, nil
}

// maxListed is how many names or IDs an error lists.
const maxListed = 10

// known lists the table's branches and tags, and its snapshots.
func (h *handle) known() string {
	var ids []string
	for _, s := range h.meta.Snapshots() {
		ids = append(ids, strconv.FormatInt(s.SnapshotID, 10))
	}
	refs := slices.Sorted(maps.Keys(maps.Collect(h.meta.Refs())))
	return fmt.Sprintf("branches and tags: %s; snapshots: %s", listed(refs), listed(ids))
}

// listed joins the last names, those that were made last.
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	more := ""
	if len(names) > maxListed {
		more = fmt.Sprintf("%d more, ", len(names)-maxListed)
		names = names[len(names)-maxListed:]
	}
	return more + strings.Join(names, ", ")
}

// schemaAt returns the schema that a point's rows are shown by: the snapshot's own, but the table's current one for a branch
// and for the current snapshot, since what is written next has it.
func (h *handle) schemaAt(p point) (*iceberg.Schema, error) {
	if p.named.IsCurrent() || p.named.Kind == catalog.Branch || p.snapshot == nil || p.snapshot.SchemaID == nil {
		return h.meta.CurrentSchema(), nil
	}
	for _, s := range h.meta.Schemas() {
		if s.ID == *p.snapshot.SchemaID {
			return s, nil
		}
	}
	return nil, errs.New(errs.Corrupt, "read metadata", h.location, "snapshot %d is of schema %d, which isn't there",
		p.snapshot.SnapshotID, *p.snapshot.SchemaID)
}
