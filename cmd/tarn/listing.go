package main

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tarndb/tarn/internal/output"
)

// list writes a result of the command's own. Its values are strings, and int64s where all of a column are.
func (a *app) list(ctx context.Context, names []string, rows [][]any) (err error) {
	r, err := a.results(ctx)
	if err != nil {
		return err
	}
	defer func() { err = r.close(err) }()
	columns := make([]output.Column, len(names))
	fields := make([]arrow.Field, len(names))
	arrays := make([]arrow.Array, len(names))
	for j, name := range names {
		columns[j], arrays[j] = listColumn(name, j, rows)
		fields[j] = arrow.Field{Name: name, Type: arrays[j].DataType()}
	}
	if err := r.writer.Begin(columns); err != nil {
		return err
	}
	if err := r.writer.Write(array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, int64(len(rows)))); err != nil {
		return err
	}
	return r.writer.End()
}

func listColumn(name string, j int, rows [][]any) (output.Column, arrow.Array) {
	if len(rows) > 0 {
		if _, ok := rows[0][j].(int64); ok {
			b := array.NewInt64Builder(memory.DefaultAllocator)
			for _, row := range rows {
				b.Append(row[j].(int64))
			}
			return output.Column{Name: name, Type: "BIGINT"}, b.NewArray()
		}
	}
	b := array.NewStringBuilder(memory.DefaultAllocator)
	for _, row := range rows {
		b.Append(row[j].(string))
	}
	return output.Column{Name: name, Type: "VARCHAR"}, b.NewArray()
}
