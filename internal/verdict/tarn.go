package verdict

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tarndb/tarn/internal/explain"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/units"
)

// tarn reads the verdicts off the planner's report.
func (f *facts) tarn() []Verdict {
	told := []toldOp{}
	for _, op := range f.Plan.Whole {
		told = append(told, toldOp{op, nil})
	}
	for i := range f.Plan.Cores {
		for _, op := range f.Plan.Cores[i].Ops {
			told = append(told, toldOp{op, &f.Plan.Cores[i]})
		}
	}
	out := make([]Verdict, len(f.joins))
	for i, j := range f.joins {
		name := j.Kind.String() + " join"
		at := slices.IndexFunc(told, func(o toldOp) bool { return o.op.Name == name && o.op.Detail == j.Text })
		if at < 0 {
			out[i] = wholeVerdict(cmp.Or(f.wholeReason(), "the statement runs whole"))
			continue
		}
		out[i] = f.tarnVerdict(j, told[at])
		told = slices.Delete(told, at, at+1)
	}
	return out
}

// toldOp is an operator of the report, with the core that it is in; nil for one that runs whole.
type toldOp struct {
	op   explain.Op
	core *explain.Core
}

// wholeReason is why a join that the report doesn't list runs whole: it is part of something that does.
func (f *facts) wholeReason() string {
	for _, op := range f.Plan.Whole {
		if op.Reason != "" {
			return op.Reason
		}
	}
	return ""
}

func wholeVerdict(why string) Verdict {
	return Verdict{Engine: Tarn, Shuffle: BothSides, Problems: []Finding{{Rule: tarnPlan, What: why}}, isWhole: true}
}

// tarnVerdict translates a strategy. Tables whose rows are all sent to their groups are shuffled sides; a few files of one
// are worth a note.
func (f *facts) tarnVerdict(j *plan.Join, told toldOp) Verdict {
	v := Verdict{Engine: Tarn, Shuffle: None}
	switch told.op.Strategy {
	case explain.StoragePartitioned:
	case explain.Broadcast:
		v.Shuffle = Broadcast
	default:
		return wholeVerdict(cmp.Or(told.op.Reason, "strategy="+told.op.Strategy))
	}
	moved := 0
	for _, r := range told.core.Routed {
		if !f.isSide(j, r.Name) {
			continue
		}
		found := Finding{Rule: tarnPlan, What: fmt.Sprintf("rows of %s of %d of %s (%s) are sent to their groups: %s",
			units.Count(r.Files, "file"), r.Of.Files, r.Name, units.Bytes(r.Bytes), r.Reason)}
		if r.Files < r.Of.Files {
			v.Notes = append(v.Notes, found)
			continue
		}
		v.Problems = append(v.Problems, found)
		moved++
	}
	if moved > 0 {
		v.Shuffle = OneSide
	}
	if moved > 1 {
		v.Shuffle = BothSides
	}
	return v
}

// isSide says whether a table is mentioned on a side of the join, and not in a join below it.
func (f *facts) isSide(j *plan.Join, table string) bool {
	for _, r := range []plan.Rel{j.Left, j.Right} {
		if f.reads(r, table) {
			return true
		}
	}
	return false
}

func (f *facts) reads(r plan.Rel, table string) bool {
	switch r := r.(type) {
	case *plan.ScanRel:
		return r.Scan.Table.Ident.String() == table
	case *plan.BlockRel:
		if slices.ContainsFunc(r.Block.Union, func(u *plan.Block) bool { return u.From != nil && f.reads(u.From, table) }) {
			return true
		}
		return r.Block.From != nil && f.reads(r.Block.From, table)
	}
	return false
}
