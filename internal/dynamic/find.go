package dynamic

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/transform"
)

// Mode is the setting tarn.dynamic_filter.
type Mode string

// The modes: Auto finds filters where they pay by the sizes of tables, Force wherever they are legal, Off nowhere.
const (
	Auto  Mode = "auto"
	Force Mode = "force"
	Off   Mode = "off"
)

// Options steer Find.
type Options struct {
	Mode        Mode
	SourceBytes int64 // tables with more data files than this aren't read for their values, unless forced
	Look        bool  // false: nothing is read, and filters stay without values
}

// Tables does what Find needs to be done with tables.
type Tables interface {
	// Survey lists the files that a scan's filter leaves, with the sums of what their statistics say of columns.
	Survey(ctx context.Context, s *plan.Scan, columns []catalog.FieldID) (*catalog.TableLayout, error)
	// Values calls use for each distinct tuple of values that columns have in the rows of a layout's files that satisfy the
	// scan's conditions; nil is NULL.
	Values(ctx context.Context, s *plan.Scan, l *catalog.TableLayout, columns []catalog.FieldID, use func([]transform.Value)) error
	// Condition writes a test of a column, named as in the scan's view, as SQL; "" when that can't be done exactly.
	Condition(column string, f catalog.Filter) string
	// Bloom makes a Bloom filter of a column's values, integers, in the rows of a layout's files that satisfy the scan's
	// conditions, and returns what writes the test of another column, named as in its scan's view, as SQL.
	Bloom(ctx context.Context, s *plan.Scan, l *catalog.TableLayout, column catalog.FieldID) (test func(column string) string, err error)
}

// State is what came of a filter.
type State uint8

// The states.
const (
	Planned  State = iota // its values weren't looked up
	Found                 // it is one of its scan's conditions
	Rejected              // it doesn't pay, or finding its values failed
	Told                  // it is one of its scan's filters, by what manifests say of the source's files, none of which was read
)

// Filter is a dynamic filter, or what might have been one.
type Filter struct {
	From, To Column // To's values are among From's
	State    State
	Why      string // of a rejected one
	// SourceBytes and TargetBytes are the tables' data files.
	SourceBytes, TargetBytes int64
	Values                   int  // how many there are; -1: too many to keep, so that it is a range or a Bloom filter
	Bloom                    bool // it is a Bloom filter of the values, which leaves out rows and no files
	Seconds                  float64
	Before                   int // of To's files, those that other conditions leave out
}

// Find finds the dynamic filters of a query and adds them to its scans. Of scans that it surveys it puts the layouts, as they
// are in the end, into layouts.
func Find(ctx context.Context, q *plan.Query, tables Tables, layouts map[*plan.Scan]*catalog.TableLayout, opts Options) ([]Filter, error) {
	if opts.Mode == Off {
		return nil, nil
	}
	f := &finder{
		tables: tables, layouts: layouts, opts: opts, edges: edges(q), sizes: map[*plan.Scan]int64{}, rows: map[*plan.Scan]int64{}, pruned: map[*plan.Scan]int{},
		targets: map[*plan.Scan][]catalog.FieldID{},
	}
	order, err := f.order(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range order {
		if err := f.from(ctx, s); err != nil {
			return nil, err
		}
	}
	return f.out, nil
}

type finder struct {
	tables  Tables
	layouts map[*plan.Scan]*catalog.TableLayout
	opts    Options
	edges   []edge
	sizes   map[*plan.Scan]int64             // without dynamic filters
	rows    map[*plan.Scan]int64             // likewise; deleted ones are among them
	pruned  map[*plan.Scan]int               // files that other conditions leave out
	targets map[*plan.Scan][]catalog.FieldID // columns with a dynamic filter
	out     []Filter
}

// order returns the scans that filters may come from, the smallest first: what it leaves of a larger one then counts there.
func (f *finder) order(ctx context.Context) ([]*plan.Scan, error) {
	var out []*plan.Scan
	for _, e := range f.edges {
		for _, s := range []*plan.Scan{e.From.Scan, e.To.Scan} {
			if _, known := f.sizes[s]; known {
				continue
			}
			var err error
			if f.sizes[s], err = f.size(ctx, s); err != nil {
				return nil, err
			}
		}
		if !slices.Contains(out, e.From.Scan) {
			out = append(out, e.From.Scan)
		}
	}
	slices.SortStableFunc(out, func(a, b *plan.Scan) int { return cmp.Compare(f.sizes[a], f.sizes[b]) })
	return out, nil
}

// size returns the bytes of a scan's data files, and notes their rows. Where no filter leaves any out the snapshot's summary has them: then the
// manifests of a large table are read when its dynamic filters are known, and only those that these leave.
func (f *finder) size(ctx context.Context, s *plan.Scan) (int64, error) {
	if s.Filter.Op == catalog.AlwaysTrue && s.Table.Version.Reading == catalog.ReadState && f.layouts[s] == nil {
		if s.Table.Snapshot == nil {
			return 0, nil
		}
		bytes, err := strconv.ParseInt(s.Table.Snapshot.Summary["total-files-size"], 10, 64)
		if err == nil && bytes > 0 {
			f.rows[s], _ = strconv.ParseInt(s.Table.Snapshot.Summary["total-records"], 10, 64) // 0 where it isn't said
			return bytes, nil
		}
	}
	l, err := f.survey(ctx, s)
	if err != nil {
		return 0, err
	}
	f.pruned[s], f.rows[s] = l.Counts.FilesPruned, l.Counts.Rows
	return l.Counts.Bytes, nil
}

func (f *finder) survey(ctx context.Context, s *plan.Scan) (*catalog.TableLayout, error) {
	if l := f.layouts[s]; l != nil {
		return l, nil
	}
	l, err := f.tables.Survey(ctx, s, f.toldColumns(s))
	if err == nil {
		f.layouts[s] = l
	}
	return l, err
}

// from finds the filters whose values are those of a scan.
func (f *finder) from(ctx context.Context, s *plan.Scan) error {
	size := f.sizes[s]
	if len(f.targets[s]) > 0 && f.opts.Look { // it has a dynamic filter itself
		l, err := f.survey(ctx, s)
		if err != nil {
			return err
		}
		size = l.Counts.Bytes
	}
	var worth []edge
	for _, e := range f.edges {
		if e.From.Scan != s || f.isKnown(e, false) {
			continue
		}
		why, interesting := f.pays(e, size)
		switch {
		case why == "":
			worth = append(worth, e)
			if f.opts.Mode == Force {
				f.sieves(e)
				f.tell(e)
			}
		case f.tell(e):
			f.sieves(e)
		case f.sifts(e, size):
			if err := f.sift(ctx, e, size); err != nil {
				return err
			}
		default:
			f.sieves(e)
			if interesting {
				f.out = append(f.out, Filter{From: e.From, To: e.To, State: Rejected, Why: why, SourceBytes: size, TargetBytes: f.sizes[e.To.Scan]})
			}
		}
	}
	if len(worth) == 0 {
		return nil
	}
	if !f.opts.Look {
		for _, e := range worth {
			f.add(Filter{From: e.From, To: e.To, SourceBytes: size, TargetBytes: f.sizes[e.To.Scan]})
		}
		return nil
	}
	return f.look(ctx, s, worth)
}

// isKnown says whether the same values have come to the edge's end another way. What manifests told aren't those of rows.
func (f *finder) isKnown(e edge, isTold bool) bool {
	return slices.ContainsFunc(f.out, func(x Filter) bool { return x.From.is(e.From) && x.To.is(e.To) && (isTold || x.State != Told) })
}

func (f *finder) add(x Filter) {
	x.Before = f.pruned[x.To.Scan]
	f.targets[x.To.Scan] = append(f.targets[x.To.Scan], x.To.Field.ID)
	f.out = append(f.out, x)
}

// forgiven are the kinds of errors that the query itself may not meet.
var forgiven = []errs.Kind{errs.Invalid, errs.Resource, errs.Unsupported, errs.Corrupt, errs.NotFound}

// look reads the values of a scan's columns and makes the filters of its edges. A file or a condition on rows that fails, or
// memory that doesn't suffice, is no fault yet: the query itself may never come to it.
func (f *finder) look(ctx context.Context, s *plan.Scan, worth []edge) error {
	start := time.Now()
	l, err := f.survey(ctx, s)
	if err != nil {
		return err
	}
	// The size that made the look worth it may be that of a snapshot's summary, which nobody checks.
	why := ""
	if f.opts.Mode != Force {
		why = f.tooLarge(l.Counts.Bytes)
	}
	var columns []catalog.FieldID
	var sets []*set
	for _, e := range worth {
		if !slices.Contains(columns, e.From.Field.ID) {
			columns, sets = append(columns, e.From.Field.ID), append(sets, newSet(e.From.Field.Type.Primitive))
		}
	}
	if why == "" && l.Counts.Files > l.Counts.FilesPruned {
		err = f.tables.Values(ctx, s, l, columns, func(row []transform.Value) {
			for i, v := range row {
				sets[i].add(v)
			}
		})
	}
	if err != nil && ctx.Err() == nil && slices.Contains(forgiven, errs.KindOf(err)) {
		why, err = "its values can't be read: "+err.Error(), nil
	}
	if err != nil {
		return err
	}
	for _, e := range worth {
		x := Filter{From: e.From, To: e.To, State: Found, Why: why, SourceBytes: l.Counts.Bytes, TargetBytes: f.sizes[e.To.Scan], Seconds: time.Since(start).Seconds()}
		if why != "" {
			x.State = Rejected
			f.out = append(f.out, x)
			continue
		}
		values := sets[slices.Index(columns, e.From.Field.ID)]
		f.spread(x, values)
		if f.opts.Mode == Force || values.values == nil || len(values.values) > manyValues {
			if err := f.sift(ctx, e, l.Counts.Bytes); err != nil {
				return err
			}
		}
	}
	return nil
}

// manyValues is how many values a condition on rows names one by one: more of them it compares with the least and the
// greatest alone, which costs next to nothing where nothing is left out.
const manyValues = 64

// spread gives a filter to its scan, and from there to all that is equal again: what a = b and b = c leave of b they leave of c.
func (f *finder) spread(x Filter, values *set) {
	if x.To.Scan == x.From.Scan || f.isKnown(edge{x.From, x.To}, x.State == Told) {
		return
	}
	x.TargetBytes = f.sizes[x.To.Scan]
	if lie := x.To.Scan.Lie; lie != nil { // the filter leaves out files by what their tuples say of rows
		x.State, x.Why = Rejected, "rows of the table aren't where their files say: "+lie.Error()
		f.out = append(f.out, x)
		return
	}
	x.Values = -1
	if values.values != nil {
		x.Values = len(values.values)
	}
	s, field := x.To.Scan, x.To.Field
	s.Filter = catalog.AllOf(s.Filter, values.filter(field, mostValues))
	name := s.Names[slices.Index(s.Columns, field.ID)]
	if text := f.tables.Condition(name, values.filter(field, manyValues)); text != "" && x.State == Found {
		s.Dynamic = append(s.Dynamic, text)
	}
	delete(f.layouts, s)
	f.add(x)
	for _, e := range f.edges {
		if e.From.is(x.To) && (f.opts.Mode == Force || f.sizes[e.To.Scan] >= leastBytes) {
			next := x
			next.To = e.To
			f.spread(next, values)
		}
	}
}
