package write

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan/spj"
)

// Plan says how rows become files of the table.
type Plan struct {
	Codec        string
	TargetBytes  int64
	Distribution string // where they go, and whether and why they are redistributed
	SortOrder    int    // the ID of the order in which rows of each partition are written; 0 for none
}

// Plan returns how rows would become files of the table: all rows of a plan, or, if it is nil, some of those that one gives.
func (t *Target) Plan(rows *spj.Physical) Plan {
	p := Plan{Codec: t.props.codec, TargetBytes: t.props.targetBytes}
	switch {
	case len(t.tuples) == 0:
		p.Distribution = "the table is unpartitioned: " + t.gathering(rows)
	case rows != nil && rows.Placed != nil:
		p.Distribution = "rows aren't redistributed: each pack writes those of one partition by " + t.layoutText()
	default:
		why := "rows of one may come from any part of the plan"
		if rows != nil {
			why = cmp.Or(rows.Unplaced, why)
		}
		p.Distribution = fmt.Sprintf("rows are parted by %s through temporary files, one writer for each partition: %s", t.layoutText(), why)
	}
	if len(t.keys) > 0 {
		p.SortOrder = t.table.Order.ID
	}
	return p
}

// gathering tells where rows that aren't parted go.
func (t *Target) gathering(rows *spj.Physical) string {
	switch {
	case len(t.keys) > 0:
		return "rows are gathered in a temporary file, to be sorted"
	case rows != nil && rows.Final != nil:
		return "rows are written as they come"
	case rows != nil && t.props.isScattered:
		return "each pack writes files of its own"
	}
	return "rows are gathered in a temporary file"
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
				name = catalog.ShownName(l.Path())
			}
		}
		parts = append(parts, f.Transform.SQL(name))
	}
	return strings.Join(parts, ", ")
}
