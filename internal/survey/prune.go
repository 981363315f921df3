package survey

import (
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

// condition is a filter made ready for the files of one partition spec. It is true where a file may hold a wanted row:
// every shortcut here leaves a file out only when it provably holds none.
type condition struct {
	catalog.Filter
	terms     []condition // of And, Or
	partition []projection
}

// projection is what a test of a column demands of a partition field.
type projection struct {
	at   int // the field's place in the spec
	typ  transform.Type
	pred transform.Predicate
}

func prepare(f catalog.Filter, spec catalog.PartitionSpec, types []transform.Type) condition {
	c := condition{Filter: f}
	for _, term := range f.Terms {
		c.terms = append(c.terms, prepare(term, spec, types))
	}
	if f.Op != catalog.Test {
		return c
	}
	c.Pred = f.Pred.Sorted(f.Type)
	for i, field := range spec.Fields {
		// A field of several sources, or whose source has another type by now than the test assumes, says nothing here.
		if len(field.Sources) != 1 || field.Sources[0] != f.Field || field.SourceType != f.Type || types[i].Kind == transform.None {
			continue
		}
		if pred, ok := field.Transform.Project(field.SourceType, f.Pred); ok {
			c.partition = append(c.partition, projection{at: i, typ: types[i], pred: pred})
		}
	}
	return c
}

// may combines what leaf says of the tests. Where leaf is true whenever a row may satisfy the test, may is true whenever
// a row may satisfy the filter, because a filter has no negation.
func (c *condition) may(leaf func(*condition) bool) bool {
	switch c.Op {
	case catalog.AlwaysTrue:
		return true
	case catalog.And:
		return !slices.ContainsFunc(c.terms, func(t condition) bool { return !t.may(leaf) })
	case catalog.Or:
		return slices.ContainsFunc(c.terms, func(t condition) bool { return t.may(leaf) })
	case catalog.Test:
		return leaf(c)
	}
	return false
}

// mayInManifest says whether the partition summaries of a manifest leave room for wanted rows.
func (c *condition) mayInManifest(summaries []manifest.FieldSummary, fields int) bool {
	if len(summaries) != fields {
		summaries = nil
	}
	return c.may(func(test *condition) bool {
		return summaries == nil || !slices.ContainsFunc(test.partition, func(p projection) bool {
			return !SummaryFacts(summaries[p.at], p.typ).MayHold(p.typ, p.pred)
		})
	})
}

// mayInPartition says whether files of the partition may hold wanted rows.
func (c *condition) mayInPartition(tuple []transform.Value) bool {
	return c.may(func(test *condition) bool { return test.holdsIn(tuple) })
}

func (c *condition) holdsIn(tuple []transform.Value) bool {
	return !slices.ContainsFunc(c.partition, func(p projection) bool { return !p.pred.Eval(p.typ, tuple[p.at]) })
}

// mayInFile says whether the file may hold wanted rows, by its partition and its columns' counts and bounds. A column
// without any says nothing: the file may lack the column, and then a default or the partition gives its value.
func (c *condition) mayInFile(tuple []transform.Value, stats *columnStats) bool {
	return c.may(func(test *condition) bool {
		return test.holdsIn(tuple) && stats.facts(test.Field, test.Type).MayHold(test.Type, test.Pred)
	})
}

// columnsOf adds the columns that the filter tests to ids.
func columnsOf(f catalog.Filter, ids []int) []int {
	for _, term := range f.Terms {
		ids = columnsOf(term, ids)
	}
	if id := int(f.Field); f.Op == catalog.Test && !slices.Contains(ids, id) {
		ids = append(ids, id)
	}
	return ids
}
