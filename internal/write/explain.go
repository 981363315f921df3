package write

import (
	"fmt"
	"strings"

	"github.com/tarndb/tarn/catalog"
)

// Plan says how rows become files of the table.
type Plan struct {
	Codec        string
	TargetBytes  int64
	Distribution string // where they go, and whether and why they are redistributed
	SortOrder    int    // the ID of the order in which rows of each partition are written; 0 for none
}

// Plan returns how rows would become files of the table.
func (t *Target) Plan() Plan {
	p := Plan{Codec: t.props.codec, TargetBytes: t.props.targetBytes, Distribution: "the table is unpartitioned: rows aren't parted"}
	if len(t.tuples) > 0 {
		p.Distribution = fmt.Sprintf("rows are parted by %s through temporary files, one writer for each partition: rows of one may come from any part of the plan", t.layoutText())
	}
	if len(t.keys) > 0 {
		p.SortOrder = t.table.Order.ID
	}
	return p
}

// Replaces says what is replaced, for people; "" for nothing.
func (c Change) Replaces() string {
	if c.Replace == Matching {
		return "all rows for which " + c.Text + " holds"
	}
	return [...]string{"", "all rows of the partitions that the new rows are in", "all rows of the table"}[c.Replace]
}

// layoutText writes the spec as DDL does.
func (t *Target) layoutText() string {
	var parts []string
	for _, at := range t.places {
		f := t.table.Spec().Fields[at]
		name := fmt.Sprintf("column %d", f.Sources[0])
		for _, l := range t.leaves {
			if l.Field().ID == f.Sources[0] {
				name = catalog.QuoteIdent(l.Path())
			}
		}
		parts = append(parts, f.Transform.SQL(name))
	}
	return strings.Join(parts, ", ")
}
