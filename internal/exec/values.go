package exec

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/internal/task"
	"github.com/tarndb/tarn/transform"
)

// Values calls use for each distinct tuple of values that columns have in the rows of a table to look at; nil
// is NULL. avoid is as in task.Graph. A value that has no text which can be read back is an error of kind Invalid.
func Values(ctx context.Context, t *task.Whole, columns []catalog.FieldID, avoid []string, opts Options, use func([]transform.Value)) error {
	g := &task.Graph{Avoid: avoid, Final: &task.Final{Tables: []task.Whole{*t}}}
	types, keys := make([]transform.Type, len(columns)), make([]duck.ScanColumn, len(columns))
	for i, id := range columns {
		at := slices.IndexFunc(t.Fields, func(f catalog.Field) bool { return f.ID == id })
		if at < 0 {
			return errs.New(errs.Internal, "read values", t.Name, "column %d isn't read", id)
		}
		types[i], keys[i] = t.Fields[at].Type.Primitive, viewColumns(&t.Input)[at]
		g.Output = append(g.Output, plan.Column{Name: keys[i].As, Type: "VARCHAR"})
	}
	g.Final.SQL = duck.DistinctSQL(t.View, keys)
	s, err := Run(ctx, g, opts)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.values(ctx, t.Name, types, use)
}

// EachKey calls use for the values that a column of integers has in the rows of a table to look at, batch by batch;
// some of them may stand for NULL. avoid is as in task.Graph.
func EachKey(ctx context.Context, t *task.Whole, column catalog.FieldID, avoid []string, opts Options, use func([]int64)) error {
	at := slices.IndexFunc(t.Fields, func(f catalog.Field) bool { return f.ID == column })
	if at < 0 {
		return errs.New(errs.Internal, "read keys", t.Name, "column %d isn't read", column)
	}
	key := viewColumns(&t.Input)[at].As
	g := &task.Graph{Avoid: avoid, Final: &task.Final{Tables: []task.Whole{*t}}, Output: []plan.Column{{Name: key, Type: "BIGINT"}}}
	g.Final.SQL = "SELECT CAST(" + quote.Name(key) + " AS BIGINT) FROM " + t.View
	s, err := Run(ctx, g, opts)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.each(ctx, func(b arrow.RecordBatch) error {
		use(b.Column(0).(*array.Int64).Int64Values())
		return nil
	})
}

// each calls use for each of the stream's batches, which it releases.
func (s *Stream) each(ctx context.Context, use func(arrow.RecordBatch) error) error {
	for {
		b, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = use(b)
		b.Release()
		if err != nil {
			return err
		}
	}
}

// values reads rows of texts as values of types.
func (s *Stream) values(ctx context.Context, table string, types []transform.Type, use func([]transform.Value)) error {
	row := make([]transform.Value, len(types))
	return s.each(ctx, func(b arrow.RecordBatch) error {
		for i := range int(b.NumRows()) {
			for c, t := range types {
				column := b.Column(c).(*array.String)
				if row[c] = nil; column.IsNull(i) {
					continue
				}
				var err error
				if row[c], err = transform.ParseValue(t, strings.Clone(column.Value(i))); err != nil {
					return errs.New(errs.Invalid, "read values", table, "%q is no %s: %v", column.Value(i), t, err)
				}
			}
			use(row)
		}
		return nil
	})
}
