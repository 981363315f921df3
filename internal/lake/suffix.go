package lake

import (
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
)

// suffix is what the last part of a name says of the table that the parts before it name. One of its fields is set.
type suffix struct {
	point    catalog.Point // branch_x, tag_x
	changes  bool          // changes
	metadata string        // one of MetadataTables
}

// splitSuffix reads the last part of a name as a suffix, as Spark does: changes and the metadata tables in any case,
// branch_x and tag_x as they are written. ok is false when it is none, or when no namespace and table would be left.
func splitSuffix(id catalog.Ident) (of catalog.Ident, s suffix, ok bool) {
	if len(id) < 3 {
		return nil, s, false
	}
	of, last := id[:len(id)-1], id[len(id)-1]
	low := strings.ToLower(last)
	switch {
	case low == "changes":
		s.changes = true
	case slices.Contains(MetadataTables(), low):
		s.metadata = low
	case strings.HasPrefix(last, "branch_") && len(last) > len("branch_"):
		s.point = catalog.Point{Ref: last[len("branch_"):], Kind: catalog.Branch}
	case strings.HasPrefix(last, "tag_") && len(last) > len("tag_"):
		s.point = catalog.Point{Ref: last[len("tag_"):], Kind: catalog.Tag}
	default:
		return nil, s, false
	}
	return of, s, true
}
