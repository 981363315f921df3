package explain

import (
	"fmt"
	"strings"

	"github.com/tarndb/tarn/internal/units"
)

// Write is what a statement does with the rows that its query gives.
type Write struct {
	Statement string  `json:"statement"` // INSERT, CREATE TABLE, DELETE, UPDATE or MERGE
	Table     string  `json:"table"`
	Replaces  string  `json:"replaces,omitempty"` // of an INSERT OVERWRITE
	Change    *Change `json:"change,omitempty"`   // of the others
	// Files says how data files are written; nil where none are.
	Files  *Files  `json:"files,omitempty"`
	Counts []Count `json:"counts,omitempty"` // of EXPLAIN ANALYZE
}

// Change says how rows that are there are changed.
type Change struct {
	Mode      string `json:"mode"`
	Isolation string `json:"isolation"`
	Reads     string `json:"reads"` // which of the rows that others add would be a conflict
	// Gone are data files that are removed without a look into them.
	Gone Table `json:"removed_unread"`
	Once bool  `json:"at_most_one_match"` // a row that is matched twice is an error
}

// Files says how rows become data files.
type Files struct {
	Codec        string `json:"codec"`
	TargetBytes  int64  `json:"target_bytes"`
	Distribution string `json:"distribution"`
	Order        int    `json:"sort_order,omitempty"` // the table's, by its ID; 0 is none
}

// Count is something that was counted.
type Count struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
}

func (w *Write) write(b *strings.Builder) {
	if w.Change == nil {
		fmt.Fprintf(b, "will write: %s\n", w.Table)
	} else {
		fmt.Fprintf(b, "will change: %s by %s\n", w.Table, w.Statement)
		w.Change.write(b)
	}
	if w.Replaces != "" {
		fmt.Fprintf(b, "  replaces: %s\n", w.Replaces)
	}
	if f := w.Files; f != nil {
		fmt.Fprintf(b, "  files: %s, up to %d MiB each\n  distribution: %s\n", f.Codec, max(f.TargetBytes>>20, 1), f.Distribution)
		if f.Order != 0 {
			fmt.Fprintf(b, "  order: rows of each partition are sorted by the table's sort order %d\n", f.Order)
		}
	}
	if len(w.Counts) > 0 {
		var parts []string
		for _, c := range w.Counts {
			parts = append(parts, fmt.Sprintf("%s=%d", c.Name, c.Value))
		}
		fmt.Fprintf(b, "  done: %s\n", strings.Join(parts, ", "))
	}
}

func (c *Change) write(b *strings.Builder) {
	fmt.Fprintf(b, "  mode: %s\n  isolation: %s, against rows that others add: %s\n", c.Mode, c.Isolation, c.Reads)
	if c.Gone.Files > 0 {
		fmt.Fprintf(b, "  removed unread: %s (%s), of which every row is deleted\n", units.Count(c.Gone.Files, "file"), units.Bytes(c.Gone.Bytes))
	}
	if c.Once {
		b.WriteString("  a row that is matched more than once is an error\n")
	}
}
