package catalog

import (
	"slices"

	"github.com/tarndb/tarn/transform"
)

// FilterOp is the kind of a Filter node.
type FilterOp uint8

// The nodes. The zero Filter is AlwaysTrue.
const (
	AlwaysTrue FilterOp = iota
	AlwaysFalse
	And
	Or
	Test
)

// Filter is a necessary condition for a row to be wanted: a row that doesn't satisfy it isn't in the answer. There is no Not:
// who builds a filter pushes negation into the tests, by SQL's three-valued rules.
//
// That much is enough where it leaves out what has no row that satisfies it: manifests, files and row groups of a scan, rows of
// a metadata table, and rows of a table by a dynamic filter's SQL. DuckDB evaluates the statement's own condition afterwards, and a
// filter may say less than that.
//
// It isn't enough where rows are taken to satisfy the condition because they satisfy the filter: data files that a DELETE or an
// overwrite drops without a look into them, and counts, least and greatest values that are answered from statistics. There
// the filter must say just what the condition says, of NULLs too; package bind hands out such ones apart.
type Filter struct {
	Op    FilterOp
	Terms []Filter            // of And, Or
	Field FieldID             // of Test: a top-level column
	Type  transform.Type      // of Test: the column's type, which the values are of
	Pred  transform.Predicate // of Test
}

// AllOf returns the conjunction of filters.
func AllOf(fs ...Filter) Filter { return combine(And, AlwaysTrue, AlwaysFalse, fs) }

// AnyOf returns the disjunction of filters.
func AnyOf(fs ...Filter) Filter { return combine(Or, AlwaysFalse, AlwaysTrue, fs) }

func combine(op, unit, zero FilterOp, fs []Filter) Filter {
	var terms []Filter
	for _, f := range fs {
		switch f.Op {
		case unit:
		case zero:
			return Filter{Op: zero}
		default:
			terms = append(terms, f)
		}
	}
	switch len(terms) {
	case 0:
		return Filter{Op: unit}
	case 1:
		return terms[0]
	}
	return Filter{Op: op, Terms: terms}
}

// Holds says whether the filter holds, given which of its tests do. It is monotone: with a test that errs to one side, so
// does the answer.
func (f Filter) Holds(test func(Filter) bool) bool {
	switch f.Op {
	case And:
		return !slices.ContainsFunc(f.Terms, func(t Filter) bool { return !t.Holds(test) })
	case Or:
		return slices.ContainsFunc(f.Terms, func(t Filter) bool { return t.Holds(test) })
	case Test:
		return test(f)
	}
	return f.Op == AlwaysTrue
}

// ProjectStrict returns what a partition value of the field must satisfy so that each row of the partition satisfies a test; false
// where none proves that: the field is of another column, or of the column under another type.
func (p PartitionField) ProjectStrict(test Filter) (transform.Predicate, bool) {
	if len(p.Sources) != 1 || p.Sources[0] != test.Field || p.SourceType != test.Type {
		return transform.Predicate{}, false
	}
	return p.Transform.ProjectStrict(p.SourceType, test.Pred)
}

// HoldsThroughout says whether each row of a partition surely satisfies the filter, by the strict projection of its tests.
func (f Filter) HoldsThroughout(spec PartitionSpec, tuple []transform.Value) bool {
	return f.Holds(func(t Filter) bool {
		for i, p := range spec.Fields[:min(len(spec.Fields), len(tuple))] {
			strict, ok := p.ProjectStrict(t)
			if ok && strict.Eval(p.Transform.ResultType(t.Type), tuple[i]) {
				return true
			}
		}
		return false
	})
}
