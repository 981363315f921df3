package verdict

import (
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/explain"
	"github.com/tarndb/tarn/internal/plan"
)

// Input is a query on its way through the planner.
type Input struct {
	Query   *plan.Query
	Layouts map[*plan.Scan]*catalog.TableLayout
	Plan    *explain.Report
	Uses    Uses
}

// Judge returns each engine's verdict on each join.
func Judge(in Input) *Report {
	f := collect(in)
	out := &Report{Joins: []Join{}, Engines: []Engine{}}
	verdicts := map[string][]Verdict{Tarn: f.tarn(), Trino: f.trino()}
	settings := map[string][]Setting{}
	verdicts[Spark], settings[Spark] = f.spark()
	for i, j := range f.joins {
		join := Join{Name: j.Kind.String() + " join", Condition: j.Text, Tables: f.tables(j), Verdicts: []Verdict{}}
		for _, e := range engines {
			join.Verdicts = append(join.Verdicts, filled(verdicts[e.Name][i]))
		}
		out.Joins = append(out.Joins, join)
	}
	for _, e := range engines {
		if e.Settings = settings[e.Name]; e.Settings == nil {
			e.Settings = []Setting{}
		}
		out.Engines = append(out.Engines, e)
	}
	return out
}

// filled has empty lists where there are none, for programs that read JSON.
func filled(v Verdict) Verdict {
	if v.Problems == nil {
		v.Problems = []Finding{}
	}
	if v.Settings == nil {
		v.Settings = []string{}
	}
	if v.Notes == nil {
		v.Notes = []Finding{}
	}
	return v
}

// facts is a query with what the models look up in it.
type facts struct {
	Input
	joins    []*plan.Join // those inside others first
	scans    map[plan.SourceID]*plan.Scan
	blocks   map[plan.SourceID]*plan.Block
	mentions map[*plan.Block]int
	notNull  map[plan.Col]bool       // columns of scans whose NULLs can't matter
	aliased  map[string][]*plan.Scan // the scans by their aliases, in lower case
	// kinds has the joins as they are when what a join above loses is left out: a LEFT JOIN whose right side is compared
	// by "=" in an inner join above it is an inner join. Engines see that too.
	kinds map[*plan.Join]plan.JoinKind
}

func collect(in Input) *facts {
	f := &facts{
		Input: in, scans: map[plan.SourceID]*plan.Scan{}, blocks: map[plan.SourceID]*plan.Block{},
		mentions: map[*plan.Block]int{}, notNull: map[plan.Col]bool{}, aliased: map[string][]*plan.Scan{}, kinds: map[*plan.Join]plan.JoinKind{},
	}
	for _, s := range in.Query.Scans {
		f.scans[s.Source] = s
		alias := strings.ToLower(s.Alias)
		f.aliased[alias] = append(f.aliased[alias], s)
	}
	for _, b := range in.Query.Blocks { // inputs come before users
		f.rel(b.From)
	}
	f.rejectNulls()
	return f
}

func (f *facts) rel(r plan.Rel) {
	switch r := r.(type) {
	case *plan.BlockRel:
		f.blocks[r.Source] = r.Block
		f.mentions[r.Block]++
	case *plan.Join:
		f.rel(r.Left)
		f.rel(r.Right)
		f.joins = append(f.joins, r)
		f.kinds[r] = r.Kind
	case *plan.Opaque:
		for _, in := range r.Inputs {
			f.rel(in)
		}
	}
}

// origin follows a column to the scan that it comes from unchanged.
func (f *facts) origin(c plan.Col) (*plan.Scan, catalog.Field, bool) {
	if s := f.scans[c.Source]; s != nil {
		field, ok := s.Field(catalog.FieldID(c.Index))
		return s, field, ok
	}
	b := f.blocks[c.Source]
	if b == nil || c.Index >= len(b.Output) || b.Output[c.Index].Col == nil {
		return nil, catalog.Field{}, false
	}
	return f.origin(*b.Output[c.Index].Col)
}

// tables names what a join joins, as the statement calls it.
func (f *facts) tables(j *plan.Join) []string {
	out := []string{}
	var visit func(plan.Rel)
	visit = func(r plan.Rel) {
		switch r := r.(type) {
		case *plan.ScanRel:
			out = append(out, mention(r.Scan))
		case *plan.BlockRel:
			out = append(out, "("+r.Alias+")")
		case *plan.Join:
			visit(r.Left)
			visit(r.Right)
		case *plan.Opaque:
			for _, in := range r.Inputs {
				visit(in)
			}
		}
	}
	visit(j)
	return out
}

// mention names a table as the statement does.
func mention(s *plan.Scan) string {
	name := s.Table.Ident.String()
	if s.Alias != "" && s.Alias != s.Table.Ident[len(s.Table.Ident)-1] {
		name += " AS " + catalog.ShownName(s.Alias)
	}
	return name
}

// rejectNulls finds the columns of scans whose NULLs can't matter, since a join above compares them by "=" and doesn't
// keep what has no partner. Engines test such columns while they read.
func (f *facts) rejectNulls() {
	need := map[*plan.Block]map[plan.Col]bool{}
	for i := len(f.Query.Blocks) - 1; i >= 0; i-- { // users before inputs
		b := f.Query.Blocks[i]
		f.rejectIn(b.From, need[b], need)
	}
}

// rejectIn passes the columns of r that NULL rows are known to be lost by down to its inputs.
func (f *facts) rejectIn(r plan.Rel, lost map[plan.Col]bool, need map[*plan.Block]map[plan.Col]bool) {
	switch r := r.(type) {
	case *plan.ScanRel:
		for c := range lost {
			if c.Source == r.Scan.Source {
				f.notNull[c] = true
			}
		}
	case *plan.BlockRel:
		if f.mentions[r.Block] == 1 && r.Block.Whole == "" {
			need[r.Block] = inner(r, lost)
		}
	case *plan.Join:
		left, right := map[plan.Col]bool{}, map[plan.Col]bool{}
		for c := range lost {
			into := right
			if has(r.Left, c.Source) {
				into = left
			}
			into[c] = true
		}
		kind := inward(r.Kind, len(left) > 0, len(right) > 0)
		f.kinds[r] = kind
		keepsLeft := kind == plan.Left || kind == plan.Full || kind == plan.Anti
		keepsRight := kind == plan.Right || kind == plan.Full
		for _, eq := range r.On {
			if eq.NullSafe || isSubquery(r) {
				continue
			}
			if !keepsLeft {
				left[eq.Left] = true
			}
			if !keepsRight {
				right[eq.Right] = true
			}
		}
		f.rejectIn(r.Left, left, need)
		f.rejectIn(r.Right, right, need)
	}
}

// isSubquery says whether a semi-join or an anti-join was written as a subquery of WHERE. Spark makes joins of those too late
// to test their columns for NULL while it reads.
func isSubquery(j *plan.Join) bool {
	return j.IsFilter() && (j.Text == "IN" || j.Text == "EXISTS" || j.Text == "NOT EXISTS")
}

// inward is what a join is when NULLs in columns of one of its sides, or of both, are lost above it.
func inward(kind plan.JoinKind, left, right bool) plan.JoinKind {
	switch {
	case kind == plan.Left && right, kind == plan.Right && left, kind == plan.Full && left && right:
		return plan.Inner
	case kind == plan.Full && left:
		return plan.Left
	case kind == plan.Full && right:
		return plan.Right
	}
	return kind
}

// has says whether a relation has columns of the source.
func has(r plan.Rel, source plan.SourceID) bool {
	switch r := r.(type) {
	case *plan.ScanRel:
		return r.Scan.Source == source
	case *plan.BlockRel:
		return r.Source == source
	case *plan.Join:
		return has(r.Left, source) || has(r.Right, source)
	case *plan.Opaque:
		for _, in := range r.Inputs {
			if has(in, source) {
				return true
			}
		}
	}
	return false
}

// inner turns columns of a block's mention into the block's own, where a filter on them may be pushed into it: a grouping
// lets through those of its keys, a window none.
func inner(r *plan.BlockRel, lost map[plan.Col]bool) map[plan.Col]bool {
	out := map[plan.Col]bool{}
	b := r.Block
	if len(b.Windows) > 0 {
		return out
	}
	keys := map[plan.Col]bool{}
	if b.Group != nil {
		for _, k := range b.Group.Keys {
			keys[k] = true
		}
	}
	for i, o := range b.Output {
		if o.Col != nil && lost[plan.Col{Source: r.Source, Index: i}] && (b.Group == nil || keys[*o.Col]) {
			out[*o.Col] = true
		}
	}
	return out
}
