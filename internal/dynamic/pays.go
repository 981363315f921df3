package dynamic

import (
	"fmt"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/units"
	"github.com/tarndb/tarn/transform"
)

// leastBytes are the data files below which a table isn't worth the milliseconds that a look into another one takes.
const leastBytes = 16 << 20

// How many times larger a table must be than the one that is read for its values. What a look costs is known, its bytes once
// more; what it saves isn't, so that the less says that files can be left out, the less it may cost: a table that a condition
// is on has few of the values, most likely, and files that are laid out by a column have few values each.
const (
	timesLaidOut    = 4  // files are laid out by the column, and there is a condition
	timesFiltered   = 16 // there is a condition, and bounds of columns may leave files out
	timesUnfiltered = 64 // nothing but the sizes says that there are few values: they can't be many
)

// rowsPerValue is how many rows of a table without a condition may have one value of its join column. With more rows than that
// makes of the values that are kept, only the least and the greatest would be known in the end, and those manifests tell.
const rowsPerValue = 4

// pays says why a filter isn't worth finding its values, "" when it is. interesting says whether one might have thought so. A
// table that is small itself is worth as much as the largest one that its own values may go to, with what is left of them.
func (f *finder) pays(e edge, source int64) (why string, interesting bool) {
	if f.opts.Mode == Force {
		return "", false
	}
	target := f.reach(e)
	isFiltered := f.isFiltered(e.From)
	interesting = target == f.sizes[e.To.Scan] && target >= leastBytes && target/timesLaidOut >= source && (isFiltered || isLaidOut(e.To))
	times, what := int64(timesUnfiltered), "on which there is no condition"
	if isFiltered {
		times, what = timesFiltered, "since its files aren't laid out by "+catalog.ShownName(e.To.Field.Name)
		if isLaidOut(e.To) {
			times, what = timesLaidOut, "to be worth reading that"
		}
	}
	switch {
	case target < leastBytes:
		why = units.Bytes(target) + " are too few to be worth it"
	case source > f.opts.SourceBytes:
		why = f.tooLarge(source)
	case !isFiltered && f.rows[e.From.Scan] > rowsPerValue*mostValues:
		why = fmt.Sprintf("its %s have more values than are kept, most likely", units.Count(int(f.rows[e.From.Scan]), "row"))
	case target/times < source:
		why = fmt.Sprintf("%s would have to be %d times as large as %s, %s", units.Bytes(target), times, units.Bytes(source), what)
	}
	return why, interesting
}

// tooLarge says why so many bytes aren't read for their values, "" when they are.
func (f *finder) tooLarge(source int64) string {
	if source <= f.opts.SourceBytes {
		return ""
	}
	return fmt.Sprintf("%s are more than tarn.dynamic_filter_bytes, %s", units.Bytes(source), units.Bytes(f.opts.SourceBytes))
}

// reach returns the size of the largest table that the values of an edge may go to from its end, which is among them.
func (f *finder) reach(first edge) int64 {
	seen := []*plan.Scan{first.From.Scan, first.To.Scan}
	size := f.sizes[first.To.Scan]
	for at := 1; at < len(seen); at++ {
		for _, e := range f.edges {
			if e.From.Scan == seen[at] && !slices.Contains(seen, e.To.Scan) {
				seen = append(seen, e.To.Scan)
				size = max(size, f.sizes[e.To.Scan])
			}
		}
	}
	return size
}

// isFiltered says whether there are conditions on a column's table that a filter on the column alone doesn't say: those have
// been moved over the join already.
func (f *finder) isFiltered(c Column) bool {
	for _, cond := range c.Scan.Conditions {
		if !cond.Filtered || slices.ContainsFunc(cond.Columns, func(id catalog.FieldID) bool { return id != c.Field.ID }) {
			return true
		}
	}
	return slices.ContainsFunc(f.targets[c.Scan], func(id catalog.FieldID) bool { return id != c.Field.ID })
}

// isLaidOut says whether files of the table have few values each of a column, by a partition spec or by the sort order.
func isLaidOut(c Column) bool {
	t := c.Scan.Table
	for _, spec := range t.Specs {
		for _, p := range spec.Fields {
			if len(p.Sources) == 1 && p.Sources[0] == c.Field.ID && p.Transform.Op != transform.Void && p.Transform.Op != transform.OpUnknown {
				return true
			}
		}
	}
	return len(t.Order.Fields) > 0 && t.Order.Fields[0].Source == c.Field.ID
}
