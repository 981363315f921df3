package commit

import (
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/internal/survey"
	"github.com/tarndb/tarn/transform"
)

// Kind says what a change does to rows, and so what other writers' changes are in its way.
type Kind uint8

// The kinds, each with what Iceberg's Java library calls it.
const (
	Append    Kind = iota // rows are added, and nothing else (AppendFiles)
	RowDelta              // rows are added, and rows deleted by delete files: merge on read (RowDelta)
	Overwrite             // data files are removed, and others added: copy on write (OverwriteFiles, ReplacePartitions, DeleteFiles)
	Rewrite               // the same rows lie in other files, or their deletes do (RewriteFiles)
)

// Isolation says which of the changes that came after the base are conflicts.
type Isolation uint8

// The levels. Serializable is as if one change came after the other; Snapshot lets rows come in that the change would have
// seen; Blind replaces what is there by the time of the commit, whatever came since, and is for overwrites that don't
// depend on what they replace.
const (
	Serializable Isolation = iota
	Snapshot
	Blind
)

// Change is one change of a table's rows, which becomes one snapshot. The zero values of all but the files are the default.
type Change struct {
	Kind Kind
	// Base is the snapshot that the change was decided on: the head of its branch then, nil for none.
	Base *catalog.SnapshotID

	Add        []manifest.File // data files, which aren't part of the table yet
	AddDeletes []manifest.File // delete files and deletion vectors, which aren't either; from format version 3 position deletes should be the latter
	// Remove are data files of the base, as a survey lists them; each must still be part of the table.
	Remove []catalog.DataFile
	// RemoveDeletes are delete files of the base, which must still be part of the table: those that AddDeletes replaces, as
	// a data file has one deletion vector at most.
	RemoveDeletes []catalog.DeleteFile
	// Replace are partitions of which all data and delete files are removed, those that the table has by the time of the
	// commit; nil is none. A data file that lies in them in part must be one of Remove.
	Replace *Region
	// Referenced are the data files of the base whose rows AddDeletes deletes by position, but for those that a delete file
	// names as its only one. They must still be part of the table.
	Referenced []string
	// DataSequence is the data sequence number of the files in Add, for a Rewrite whose files must stay as old as those that
	// they replace, so that newer equality deletes go on to apply; nil is the new snapshot's own.
	DataSequence *int64

	Isolation Isolation
	// Reads is what rows the change depends on: files that can't hold such rows are no conflict. The zero filter is all rows.
	Reads catalog.Filter
	// ReadsOthers says that what the change does to one row may depend on others of Reads, which it leaves as they are. At
	// Serializable whoever deletes such a row is in the way, too.
	ReadsOthers bool
	// Tries are those that are left to whoever makes the change again from the start, which its commits share; nil: each commit has
	// as many as the table's properties say.
	Tries *Tries

	Branch string // "" is main. A branch that isn't there is made from main
	// Empty lets an append have no files: its snapshot is the first of a new branch of a table that has none.
	Empty bool
	// WAPID stages the snapshot under this ID, and moves no branch, where the table property write.wap.enabled is true;
	// elsewhere it means nothing, as in Spark. An ID is for one change.
	WAPID string
	// Job identifies the job that makes the change: one that was committed on the branch before isn't committed again.
	Job        string
	Properties map[string]string // of the snapshot's summary
}

// Result says how a change was committed.
type Result struct {
	Snapshot catalog.SnapshotID
	// Repeated says that it was committed before, by the job's identity. The files of the Change are no part of the table.
	Repeated bool
	Staged   bool // no branch has the snapshot
}

// Extent is how much of a partition lies in a region.
type Extent uint8

// The extents.
const (
	None Extent = iota
	Part        // some of its rows may, and some may not
	All
)

// Region is a set of partitions that are replaced as a whole.
type Region struct {
	extent func(spec catalog.PartitionSpec, tuple []transform.Value) Extent
	listed *listedPartitions // of a region that is a list of partitions rather than a condition
	filter catalog.Filter    // of Matching: files whose bounds show that they hold no such row stay
}

// listedPartitions are partitions of one spec.
type listedPartitions struct {
	spec   catalog.SpecID
	tuples [][]transform.Value
}

// Matching is the region of the rows that satisfy a filter: an overwrite by a condition. The filter must say exactly which rows
// these are. A partition is All in it where that follows from its tuple.
func Matching(f catalog.Filter) *Region {
	conditions := map[catalog.SpecID]*survey.Condition{}
	return &Region{filter: f, extent: func(spec catalog.PartitionSpec, tuple []transform.Value) Extent {
		if f.HoldsThroughout(spec, tuple) {
			return All
		}
		if conditions[spec.ID] == nil {
			conditions[spec.ID] = survey.NewCondition(f, map[catalog.SpecID]catalog.PartitionSpec{spec.ID: spec})
		}
		e := manifest.Entry{File: manifest.File{Spec: spec.ID, Partition: tuple}}
		if !conditions[spec.ID].MayHoldInPartition(&e) {
			return None
		}
		return Part
	}}
}

// Extent says how much of a partition lies in the region.
func (r *Region) Extent(spec catalog.PartitionSpec, tuple []transform.Value) Extent {
	return r.extent(spec, tuple)
}

// WholeTable is the region of all rows.
func WholeTable() *Region {
	return &Region{extent: func(catalog.PartitionSpec, []transform.Value) Extent { return All }}
}

// PartitionsOf is the region of the partitions of files that were written by the spec: a dynamic overwrite. Without
// partition fields it is the whole table. Files of other specs are All in it where their partition lies within one of the
// files', and None where a field that both specs have tells them apart.
func PartitionsOf(spec catalog.PartitionSpec, files []manifest.File) *Region {
	var tuples [][]transform.Value
	known := map[string]bool{}
	for _, f := range files {
		if key := catalog.TupleKey(spec.ID, f.Partition); !known[key] {
			known[key] = true
			tuples = append(tuples, f.Partition)
		}
	}
	return &Region{listed: &listedPartitions{spec.ID, tuples}, extent: func(of catalog.PartitionSpec, tuple []transform.Value) Extent {
		if of.ID == spec.ID {
			if known[catalog.TupleKey(spec.ID, tuple)] {
				return All
			}
			return None
		}
		common := commonFields(spec, of)
		found := None
		for _, t := range tuples {
			found = max(found, extentWithin(common, t, tuple))
		}
		return found
	}}
}

// What commonFields says of a field that another spec doesn't have, and of one that tells no rows apart.
const (
	missing = -1
	void    = -2
)

// commonFields returns for each field of a spec the place of the equal one in another.
func commonFields(spec, other catalog.PartitionSpec) []int {
	places := make([]int, len(spec.Fields))
	for i, f := range spec.Fields {
		if places[i] = missing; f.Transform.Op == transform.Void {
			places[i] = void
			continue
		}
		for j, o := range other.Fields {
			if len(f.Sources) == 1 && len(o.Sources) == 1 && f.Sources[0] == o.Sources[0] && f.Transform == o.Transform && f.SourceType == o.SourceType {
				places[i] = j
			}
		}
	}
	return places
}

// extentWithin says how much of another spec's partition lies in the partition t: all of it where each field of t is one of
// the other's, too, with the same value.
func extentWithin(common []int, t, other []transform.Value) Extent {
	extent := All
	for i, j := range common {
		switch {
		case j == void:
		case j == missing:
			extent = Part
		case catalog.TupleKey(0, t[i:i+1]) != catalog.TupleKey(0, other[j:j+1]):
			return None
		}
	}
	return extent
}
