package verdict

import (
	"cmp"
	"strings"

	"github.com/tarndb/tarn/internal/explain"
)

// tarn reads the verdicts off the planner's report.
func (f *facts) tarn() []Verdict {
	told := append([]explain.Op{}, f.Plan.Whole...)
	for _, c := range f.Plan.Cores {
		told = append(told, c.Ops...)
	}
	out := make([]Verdict, len(f.joins))
	for i, j := range f.joins {
		op, rest := take(told, j.Kind.String()+" join", j.Text)
		told = rest
		out[i] = tarnVerdict(op)
	}
	return out
}

// take removes the first operator of the name and the condition, and returns it. A join that the report doesn't list is
// part of what runs whole, for the reason that stands there.
func take(ops []explain.Op, name, condition string) (explain.Op, []explain.Op) {
	reason := ""
	for i, op := range ops {
		if op.Name == name && op.Detail == condition {
			return op, append(append([]explain.Op{}, ops[:i]...), ops[i+1:]...)
		}
		if reason == "" && op.Strategy == explain.Hash {
			reason = op.Reason
		}
	}
	return explain.Op{Name: name, Detail: condition, Strategy: explain.Hash, Reason: cmp.Or(reason, "the statement runs whole")}, ops
}

// tarnVerdict translates a strategy's name.
func tarnVerdict(op explain.Op) Verdict {
	v := Verdict{Engine: Tarn, Shuffle: BothSides}
	switch {
	case op.Strategy == explain.StoragePartitioned:
		v.Shuffle = None
	case strings.HasPrefix(op.Strategy, "broadcast"):
		v.Shuffle = Broadcast
	case strings.HasPrefix(op.Strategy, "exchange"):
		v.Shuffle = OneSide
	}
	if v.Shuffle == None || v.Shuffle == Broadcast {
		if op.Reason != "" {
			v.Notes = append(v.Notes, Finding{Rule: tarnPlan, What: op.Reason})
		}
		return v
	}
	v.Problems = append(v.Problems, Finding{Rule: tarnPlan, What: cmp.Or(op.Reason, "strategy="+op.Strategy)})
	return v
}
