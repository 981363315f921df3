package explain

import (
	"github.com/tarndb/tarn/internal/plan/spj"
)

// The strategies. A scan alone has none.
const (
	StoragePartitioned = spj.StoragePartitioned
	Broadcast          = spj.Broadcast
	Hash               = spj.Hash
	Metadata           = "metadata" // of an aggregate that statistics of files answer
	Data               = "data"     // of one that they would, if they were exact
)

// Report is a plan, told. Fields are in the order in which they are printed; bytes are bytes of data files.
type Report struct {
	Write *Write `json:"write,omitempty"` // nil: of a query
	Cores []Core `json:"cores"`
	Whole []Op   `json:"whole"` // joins and groupings that run whole
	// Aggregates are count, min and max over one table that statistics of its files answer, or nearly do.
	Aggregates []Op      `json:"aggregates"`
	Final      *Final    `json:"final,omitempty"`
	Dynamic    []Dynamic `json:"dynamic_filters"`
	Scans      []Scan    `json:"scans"`
	Run        *Run      `json:"run,omitempty"` // of EXPLAIN ANALYZE
}

// Sieve says that rows of a pack are left out by a Bloom filter of what another column has in the pack.
type Sieve struct {
	Column string `json:"column"`
	From   string `json:"from"`
}

// Core is a part that runs group by group.
type Core struct {
	Rows       string   `json:"rows"` // complete, top-n, partial, emitted
	Keys       []string `json:"keys"`
	Ops        []Op     `json:"operators"`
	Groups     int      `json:"groups"`
	Packs      int      `json:"packs"`
	Bytes      int64    `json:"bytes"`
	NotShuffle int64    `json:"bytes_not_shuffled"`
	NullGroup  string   `json:"null_group"`
	Dropped    Dropped  `json:"dropped"`
	GroupBytes [3]int64 `json:"bytes_per_group"` // smallest, median, largest
	Stragglers int      `json:"stragglers"`      // files whose rows are sent to their groups one by one
	Exchanged  int64    `json:"bytes_exchanged"` // of the stragglers
	Routed     []Routed `json:"routed"`
	Everywhere []Table  `json:"everywhere"`
	Sieves     []Sieve  `json:"sieves,omitempty"`
	Divided    []string `json:"divided_groups"`
	Short      []string `json:"short_texts"` // columns that are grouped by as numbers while their texts are short
	Costs      []Cost   `json:"costs"`       // nothing where all rows are read where they lie
}

// Routed is a table with stragglers, and why it has them.
type Routed struct {
	Table
	Of     Table  `json:"of"` // all of its files
	Reason string `json:"reason"`
}

// Table is a part of a table's files.
type Table struct {
	Name  string `json:"table"`
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
}

// Cost is what one way to run the core's part of the query comes to, in bytes read.
type Cost struct {
	Strategy string `json:"strategy"`
	Bytes    int64  `json:"bytes"`
}

// Dropped is what a core leaves unread, but for files that a dynamic filter's look has read.
type Dropped struct {
	Groups      int   `json:"groups"`
	Files       int   `json:"files"`
	Bytes       int64 `json:"bytes"`
	LookedFiles int   `json:"looked_files,omitempty"` // that are dropped besides Files, after the look
	LookedBytes int64 `json:"looked_bytes,omitempty"`
}

// Op is a join, a grouping, a DISTINCT or a window.
type Op struct {
	Name     string `json:"operator"`
	Detail   string `json:"detail,omitempty"`
	Strategy string `json:"strategy"`
	Reason   string `json:"reason,omitempty"`
}

// Final is the step that runs once.
type Final struct {
	Does string `json:"does"`
}

// Scan is a table's mention and what a filter left of it.
type Scan struct {
	Table   string   `json:"table"`
	Alias   string   `json:"alias,omitempty"`
	Version *Version `json:"version,omitempty"` // nil: the current state
	Counts  Counts   `json:"counts"`
}

// Counts are catalog.ScanCounts under the names that programs read.
type Counts struct {
	Manifests         int   `json:"manifests"`
	ManifestsPruned   int   `json:"manifests_pruned"`
	Files             int   `json:"files"`
	FilesPruned       int   `json:"files_pruned"`
	PrunedByPartition int   `json:"files_pruned_by_partition"`
	PrunedByBounds    int   `json:"files_pruned_by_bounds"`
	DeleteFiles       int   `json:"delete_files"`
	Rows              int64 `json:"rows"`
	Bytes             int64 `json:"bytes"`
}
