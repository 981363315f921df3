package commit

import (
	"context"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/fileio"
	"github.com/tarndb/tarn/internal/manifest"
)

// Table is the table that a change is committed to, as a catalog keeps it.
type Table interface {
	// Files are the bytes of its files.
	Files() fileio.Files
	// Newest loads the current version. A table that was dropped or replaced is NotFound.
	Newest(ctx context.Context) (*Version, error)
	// Publish makes the version after on, which has one snapshot more and, unless branch is "", the branch at it. Its error is
	// Conflict when another version came first, and CommitUnknown when it can't tell whether the version is current now;
	// after any other error it isn't.
	Publish(ctx context.Context, on *Version, s *NewSnapshot, branch string) error
}

// Version is a version of a table's metadata. It doesn't change.
type Version struct {
	Format      int
	Folder      string // where new metadata files lie, as metadata spells paths
	Specs       map[catalog.SpecID]catalog.PartitionSpec
	SpecJSON    map[catalog.SpecID]string // the specs' fields, as metadata has them
	SchemaID    int                       // the current schema
	SchemaJSON  string
	Required    map[int]string // the columns of the current schema that may not be NULL nor have an initial default, by ID
	Properties  map[string]string
	Snapshots   []*OldSnapshot // all that the table still has
	Refs        map[string]Ref
	Sequence    int64 // the last sequence number
	NextRowID   int64 // of format version 3
	LastUpdated int64 // milliseconds since 1970
	Handle      any   // the Table's own
	Refused     error // why no change of the Table may follow it; nil where one may
}

// Ref is a branch or a tag.
type Ref struct {
	Snapshot int64
	IsTag    bool
}

// OldSnapshot is a snapshot of a version.
type OldSnapshot struct {
	ID        int64
	Parent    *int64
	Operation string
	Summary   map[string]string
	Manifests func(ctx context.Context) ([]manifest.Info, error)
}

// NewSnapshot is the snapshot of a change.
type NewSnapshot struct {
	ID          int64
	Parent      *int64
	Sequence    int64 // 0 in format version 1
	TimestampMs int64
	List        string // the path of its manifest list
	SchemaID    int
	Operation   string
	Summary     map[string]string
	FirstRowID  *int64 // of format version 3, like AddedRows
	AddedRows   *int64
}

// snapshot returns the snapshot with the ID, or nil.
func (v *Version) snapshot(id int64) *OldSnapshot {
	for _, s := range v.Snapshots {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// ancestors returns a snapshot and those before it on its branch, the newest first, until one has no parent that the table
// still has; known says that the last one has no parent at all.
func (v *Version) ancestors(s *OldSnapshot) (line []*OldSnapshot, known bool) {
	byID := map[int64]*OldSnapshot{}
	for _, other := range v.Snapshots {
		byID[other.ID] = other
	}
	for s != nil && len(line) < len(v.Snapshots) { // parents that go round in a circle end, too
		line = append(line, s)
		if s.Parent == nil {
			return line, true
		}
		s = byID[*s.Parent]
	}
	return line, len(line) == 0
}
