package survey

import (
	"slices"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/manifest"
)

// columnSums sums up statistics of columns over files. Nil sums nothing up.
type columnSums struct {
	fields []catalog.Field
	sums   map[catalog.FieldID]catalog.ColumnSum
}

// summable returns the columns with the IDs that have sums, each once.
func summable(schema *catalog.Schema, columns []catalog.FieldID) []catalog.Field {
	var fields []catalog.Field
	for i, id := range columns {
		if slices.Contains(columns[:i], id) {
			continue // a file counts once
		}
		if f, ok := schema.Field(id); ok && f.Type.Nested == catalog.NotNested {
			fields = append(fields, f)
		}
	}
	return fields
}

func newColumnSums(fields []catalog.Field) *columnSums {
	s := &columnSums{fields: fields, sums: map[catalog.FieldID]catalog.ColumnSum{}}
	for _, f := range fields {
		s.sums[f.ID] = catalog.ColumnSum{}
	}
	return s
}

// part returns sums of the same columns over no file yet.
func (s *columnSums) part() *columnSums {
	if s == nil {
		return nil
	}
	return newColumnSums(s.fields)
}

// all returns the sums by column; nil when none were asked for.
func (s *columnSums) all() map[catalog.FieldID]catalog.ColumnSum {
	if s == nil {
		return nil
	}
	return s.sums
}

// sum has the statistics read that the sums are made of.
func (s *scan) sum(sums *columnSums) {
	if sums == nil {
		return
	}
	for _, ss := range s.specs {
		for _, f := range sums.fields {
			ss.wants.IDs = append(ss.wants.IDs, int(f.ID))
		}
	}
}

func (s *columnSums) add(e *manifest.Entry) {
	if s == nil {
		return
	}
	stats := statsOf(e)
	for _, f := range s.fields {
		s.join(f, fileSum(f, e.Path, stats))
	}
}

func (s *columnSums) merge(part *columnSums) {
	if s == nil {
		return
	}
	for _, f := range s.fields {
		s.join(f, part.sums[f.ID])
	}
}

func (s *columnSums) join(f catalog.Field, other catalog.ColumnSum) {
	sum := s.sums[f.ID]
	sum.Add(f.Type.Primitive, other)
	s.sums[f.ID] = sum
}

// fileSum returns what one file says of a column. A count that can't be is none, and so are bounds that contradict each other.
func fileSum(f catalog.Field, path string, stats *columnStats) catalog.ColumnSum {
	nulls, known := stats.nulls[int(f.ID)]
	if !known || nulls < 0 || nulls > stats.rows {
		return catalog.ColumnSum{NoCount: path}
	}
	sum := catalog.ColumnSum{NonNull: stats.rows - nulls}
	if sum.NonNull == 0 {
		return sum
	}
	facts := stats.bounds(f.ID, f.Type.Primitive)
	if facts.lower == nil || facts.upper == nil {
		sum.NoBounds = path
		return sum
	}
	sum.Lower, sum.Upper = facts.lower, facts.upper
	return sum
}
