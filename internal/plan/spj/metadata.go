package spj

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/transform"
)

// Answer is a block whose core the statistics of files take the place of, or why they don't.
type Answer struct {
	Block *plan.Block
	SQL   string // one row, the core's; "" when the rows are read
	Why   string // why they are read
}

// Wanted returns the columns of which a query wants the sums of statistics, by the scans that want any.
func Wanted(q *plan.Query, opts Options) map[*plan.Scan][]catalog.FieldID {
	out := map[*plan.Scan][]catalog.FieldID{}
	for _, b := range q.Blocks {
		if b.Facts == nil || opts.NoMetadata || opts.Mode == Off {
			continue
		}
		columns := []catalog.FieldID{}
		for _, p := range b.Facts.Parts {
			if p.What != plan.CountRows && !slices.Contains(columns, p.Of) {
				columns = append(columns, p.Of)
			}
		}
		out[b.Facts.Scan] = columns
	}
	return out
}

// IsRead says whether the data files of a scan are read, and not only their statistics.
func (p *Physical) IsRead(s *plan.Scan) bool {
	for _, a := range p.Answers {
		if a.SQL != "" && a.Block.Facts.Scan == s {
			return false
		}
	}
	return true
}

// AnswerFromMetadata is the rule that a block's count, min and max come from what the table's metadata says of its data
// files, when that is exactly right: no row of them is deleted, the filter takes files as a whole, and bounds are values.
func (d *decider) AnswerFromMetadata(b *plan.Block) bool {
	if b.Facts == nil || b.Whole != "" || d.opts.NoMetadata {
		return false
	}
	l := d.out.layouts[b.Facts.Scan]
	if l.Sums == nil || l.Repeats || !takesWhole(b.Facts.Scan, l) {
		return false
	}
	a := Answer{Block: b, Why: notTold(l)}
	var items []string
	for _, p := range b.Facts.Parts {
		if a.Why != "" {
			break
		}
		var value string
		value, a.Why = tell(b.Facts.Scan, l, p)
		items = append(items, fmt.Sprintf("CAST(%s AS %s) AS %s", value, p.Type, p.Name))
	}
	if a.Why == "" {
		a.SQL = "SELECT " + strings.Join(items, ", ")
		d.cut[b], d.splits[b] = true, b.Split
	}
	d.out.Answers = append(d.out.Answers, a)
	return a.SQL != ""
}

// notTold returns why statistics don't tell a layout's rows.
func notTold(l *catalog.TableLayout) string {
	if len(l.Deletes) > 0 {
		return "rows of the data files are deleted by " + l.Deletes[0].Ref.Path
	}
	for _, g := range l.Groups {
		for _, path := range g.Liars {
			return "the bounds of " + path + " contradict its partition"
		}
	}
	return ""
}

// tell returns a fact's value as SQL, or why the statistics don't tell it.
func tell(s *plan.Scan, l *catalog.TableLayout, p plan.Part) (value, why string) {
	if p.What == plan.CountRows {
		return fmt.Sprint(l.Counts.Rows), ""
	}
	f, _ := s.Table.Schema.Field(p.Of)
	sum, known := l.Sums[p.Of]
	name := catalog.ShownName(f.Name)
	switch {
	case f.HasDefault:
		return "", "files that lack " + name + " have its initial default"
	case !known:
		return "", "nothing is known of " + name
	case sum.NoCount != "":
		return "", "the NULLs of " + name + " aren't counted in " + sum.NoCount
	case p.What == plan.CountValues:
		return fmt.Sprint(sum.NonNull), ""
	case sum.NonNull == 0:
		return "NULL", ""
	case !hasExactBounds(f.Type.Primitive):
		return "", "bounds of type " + f.Type.String() + " may not be values of " + name
	case f.Promoted:
		return "", "the type of " + name + " was changed"
	case sum.NoBounds != "":
		return "", "there are no bounds of " + name + " in " + sum.NoBounds
	}
	bound := sum.Lower
	if p.What == plan.Greatest {
		bound = sum.Upper
	}
	return literal(f.Type.Primitive, bound, name)
}

// hasExactBounds says whether bounds of the type are values by the spec's binary form: they can't be cut as those of
// strings and bytes are, nor leave a value out as those of floats do NaN, and no writer orders them by another order, as it
// was with uuid.
func hasExactBounds(t transform.Type) bool {
	switch t.Kind {
	case transform.Boolean, transform.Int, transform.Long, transform.Decimal, transform.Date, transform.Time,
		transform.Timestamp, transform.TimestampTZ, transform.TimestampNS, transform.TimestampTZNS:
		return true
	}
	return false
}

// literal writes a bound as SQL text of its type. Decimals beyond the type's precision and dates outside of the years 1 to
// 9999, which not every writer means as such, are left to the files.
func literal(t transform.Type, v transform.Value, name string) (value, why string) {
	text := transform.FormatValue(t, v)
	ok := true
	switch t.Kind {
	case transform.Decimal:
		n, isBig := v.(*big.Int)
		ok = isBig && len(new(big.Int).Abs(n).String()) <= t.Precision
	case transform.Date, transform.Timestamp, transform.TimestampTZ, transform.TimestampNS, transform.TimestampTZNS:
		ok = strings.IndexByte(text, '-') == 4
	}
	if !ok {
		return "", "the bound " + text + " of " + name + " is unusual"
	}
	return "'" + text + "'", ""
}

// takesWhole says whether the scan's filter holds for all rows of every file that it leaves.
func takesWhole(s *plan.Scan, l *catalog.TableLayout) bool {
	for _, g := range l.Groups {
		if !s.Filter.HoldsThroughout(s.Table.Specs[g.Spec], g.Partition) {
			return false
		}
	}
	return true
}
