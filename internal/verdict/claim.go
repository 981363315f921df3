package verdict

import (
	"fmt"
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/transform"
)

// claim is what an engine takes a relation's rows to be divided by: a list of keys, or the hash of some columns that a
// shuffle has divided it by.
type claim struct {
	hash  bool
	keys  []key
	parts int // the number of parts, of which an engine prefers more
	// values has, of a scan's claim, which parts there are, sorted.
	values []string
	// pinned says that a side was shuffled into these parts: there can't be more of them any more.
	pinned bool
}

// key is a transform of one column. A hash has columns without transforms.
type key struct {
	col       plan.Col
	transform transform.Transform
	field     string // the field for people: bucket(8, id) of mix.b8
	// modulus is how far the buckets have been reduced in truth, which an engine may have forgotten; the transform's own
	// count otherwise.
	modulus int
	nulls   bool // there are parts of NULL
}

// spread says how a relation's rows are divided: by any one of the claims. Without claims, why says what stands against
// it.
type spread struct {
	claims []claim
	why    []Finding
}

// nowhere is a column that no expression of a query is: a key that an engine has changed before it compares.
var nowhere = plan.Col{Source: -1}

func (c claim) covered(cols []plan.Col) bool {
	for _, k := range c.keys {
		if !slices.Contains(cols, k.col) {
			return false
		}
	}
	return true
}

func (c claim) touches(cols []plan.Col) bool {
	return slices.ContainsFunc(c.keys, func(k key) bool { return slices.Contains(cols, k.col) })
}

// onto returns the claims over a block's mention, and why the others are gone, by an engine's rule of what a query keeps.
func (s spread) onto(r *plan.BlockRel, kept RuleID) spread {
	out := spread{why: s.why}
	for _, c := range s.claims {
		if k, ok := c.onto(r); ok {
			out.claims = append(out.claims, k)
		} else {
			out.why = append(out.why, Finding{Rule: kept, What: fmt.Sprintf("(%s) doesn't hand on the columns of %s", r.Alias, c.layoutText())})
		}
	}
	return out
}

// onto returns the claim over a block's mention: each key's column as it comes out. A key that doesn't takes the claim with
// it. The claims of a UNION ALL are about positions already.
func (c claim) onto(r *plan.BlockRel) (claim, bool) {
	out := claim{hash: c.hash, parts: c.parts, values: c.values, pinned: c.pinned}
	for _, k := range c.keys {
		at := k.col.Index
		if r.Block.Union == nil {
			at = position(r.Block, k.col)
		}
		if at < 0 {
			return claim{}, false
		}
		k.col = plan.Col{Source: r.Source, Index: at}
		out.keys = append(out.keys, k)
	}
	return out, true
}

// position returns where a block's result has a column of its own unchanged, or -1.
func position(b *plan.Block, c plan.Col) int {
	return slices.IndexFunc(b.Output, func(o plan.Output) bool { return o.Col != nil && *o.Col == c })
}

// places returns for each key the positions of its column in cols.
func (c claim) places(cols []plan.Col) [][]int {
	out := make([][]int, len(c.keys))
	for i, k := range c.keys {
		for at, col := range cols {
			if col == k.col {
				out[i] = append(out[i], at)
			}
		}
	}
	return out
}

// meets says whether the keys of both claims are compared with each other, one by one.
func meets(a, b [][]int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !slices.ContainsFunc(a[i], func(at int) bool { return slices.Contains(b[i], at) }) {
			return false
		}
	}
	return true
}

// hashed is the claim of what was shuffled by cols.
func hashed(cols []plan.Col) claim {
	out := claim{hash: true, parts: shufflePartitions}
	for _, c := range cols {
		out.keys = append(out.keys, key{col: c})
	}
	return out
}

// shufflePartitions is the default of spark.sql.shuffle.partitions.
const shufflePartitions = 200

// fieldText writes a partition field as DDL does, with its table: bucket(8, id) of mix.b8.
func fieldText(s *plan.Scan, f catalog.PartitionField) string {
	return fieldSQL(s.Table, f) + " of " + s.Table.Ident.String()
}

func fieldSQL(t *catalog.Table, f catalog.PartitionField) string {
	name := f.Name
	if len(f.Sources) == 1 {
		if c, ok := t.Schema.Field(f.Sources[0]); ok {
			name = catalog.ShownName(c.Name)
		}
	}
	return f.Transform.SQL(name)
}

// layoutText writes what a scan's claim, or a relation's, is made of.
func (c claim) layoutText() string {
	text := ""
	for i, k := range c.keys {
		if i > 0 {
			text += ", "
		}
		text += k.field
	}
	return text
}
