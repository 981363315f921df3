package write

import (
	"fmt"
	"strings"

	"github.com/tarndb/tarn/catalog"
)

// Explain tells how rows would be written to the table: where they go, and whether and why they are redistributed.
func (t *Target) Explain(how Change) string {
	var b strings.Builder
	fmt.Fprintf(&b, "will write: %s\n", t.table.Ident)
	switch how.Replace {
	case Partitions:
		b.WriteString("  replaces: all rows of the partitions that the new rows are in\n")
	case Everything:
		b.WriteString("  replaces: all rows of the table\n")
	case Matching:
		fmt.Fprintf(&b, "  replaces: all rows for which %s holds\n", how.Text)
	}
	fmt.Fprintf(&b, "  files: %s, up to %d MiB each\n", t.props.codec, max(t.props.targetBytes>>20, 1))
	if len(t.tuples) == 0 {
		b.WriteString("  distribution: the table is unpartitioned: rows aren't parted\n")
	} else {
		fmt.Fprintf(&b, "  distribution: rows are parted by %s through temporary files, one writer for each partition: rows of one may come from any part of the plan\n", t.layoutText())
	}
	if len(t.keys) > 0 {
		fmt.Fprintf(&b, "  order: rows of each partition are sorted by the table's sort order %d\n", t.table.Order.ID)
	}
	return b.String()
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
