package survey

import (
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/transform"
)

// proof is a filter made ready for telling files of one partition spec of which every row satisfies it. It is true only where
// that is proved: by the partition tuple through the strict projection of a test, or by a column's counts and bounds.
//
// A row that is deleted may be one that the tuple or the bounds speak of. What holds for all rows holds for those that are left.
type proof struct {
	catalog.Filter
	terms     []proof
	partition []projection // each of them alone is enough
	not       transform.Predicate
	hasNot    bool
}

func prove(f catalog.Filter, spec catalog.PartitionSpec, types []transform.Type) proof {
	p := proof{Filter: f}
	for _, term := range f.Terms {
		p.terms = append(p.terms, prove(term, spec, types))
	}
	if f.Op != catalog.Test {
		return p
	}
	p.not, p.hasNot = f.Pred.Not()
	for i, field := range spec.Fields {
		if i >= 64 || types[i].Kind == transform.None {
			continue
		}
		if pred, ok := field.ProjectStrict(f); ok {
			p.partition = append(p.partition, projection{at: i, typ: types[i], pred: pred})
		}
	}
	return p
}

// ofFile says whether every row of a file satisfies the filter. Fields whose bits contradicts has prove nothing.
func (p *proof) ofFile(tuple []transform.Value, contradicts uint64, stats *columnStats) bool {
	switch p.Op {
	case catalog.AlwaysTrue:
		return true
	case catalog.And:
		return !slices.ContainsFunc(p.terms, func(t proof) bool { return !t.ofFile(tuple, contradicts, stats) })
	case catalog.Or: // rows may satisfy one or the other; one that all satisfy is enough
		return slices.ContainsFunc(p.terms, func(t proof) bool { return t.ofFile(tuple, contradicts, stats) })
	case catalog.Test:
		return p.byPartition(tuple, contradicts) || stats.facts(p.Field, p.Type).mustHold(p.Type, p)
	}
	return false
}

func (p *proof) byPartition(tuple []transform.Value, contradicts uint64) bool {
	return slices.ContainsFunc(p.partition, func(q projection) bool {
		return contradicts&(1<<q.at) == 0 && q.pred.Eval(q.typ, tuple[q.at])
	})
}

// mustHold says whether a test holds for all of the values: none can satisfy its opposite, and none is NULL, which satisfies
// neither.
func (f Facts) mustHold(t transform.Type, p *proof) bool {
	switch {
	case f.onlyNulls:
		return p.Pred.Op == transform.IsNull
	case !f.noNulls || !p.hasNot || f.mayBeCut(t, p.Pred):
		return false
	}
	return !f.MayHold(t, p.not)
}

// mayBeCut says whether values of the test are among those that the upper bound is below, and yet begin with it. Some writers cut
// upper bounds without raising them. Whoever leaves a file out by such a bound misses rows; here they would be lost.
func (f Facts) mayBeCut(t transform.Type, p transform.Predicate) bool {
	switch t.Kind {
	case transform.String, transform.Binary, transform.Fixed:
	default:
		return false
	}
	return slices.ContainsFunc(p.Values, func(v transform.Value) bool {
		switch upper := f.upper.(type) {
		case string:
			text, ok := v.(string)
			return ok && strings.HasPrefix(text, upper)
		case []byte:
			bytes, ok := v.([]byte)
			return ok && strings.HasPrefix(string(bytes), string(upper))
		}
		return false
	})
}
