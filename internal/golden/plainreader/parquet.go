package plainreader

import (
	"context"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/tarndb/tarn/internal/golden"
)

// readParquet reads a whole Parquet file.
func readParquet(ctx context.Context, path string, mapping []mapped) ([]record, error) {
	in, err := file.OpenParquetFile(path, false, file.WithReadProps(parquet.NewReaderProperties(memory.DefaultAllocator)))
	if err != nil {
		return nil, err
	}
	defer in.Close()
	reader, err := pqarrow.NewFileReader(in, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	data, err := reader.ReadTable(ctx)
	if err != nil {
		return nil, err
	}
	defer data.Release()
	columns := arrowShapes(data.Schema().Fields())
	if err := identify(columns, mapping); err != nil {
		return nil, err
	}
	out := make([]record, data.NumRows())
	for i := range out {
		out[i] = record{}
	}
	for c, column := range columns {
		if !column.ok {
			continue
		}
		if err := fill(out, column, data.Column(c)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fill sets one column of the records.
func fill(out []record, column shape, data *arrow.Column) error {
	row := 0
	for _, chunk := range data.Data().Chunks() {
		for i := range chunk.Len() {
			v, err := fromArrow(chunk, i, column.kids)
			if err != nil {
				return err
			}
			out[row][column.id] = v
			row++
		}
	}
	return nil
}

func arrowShapes(fields []arrow.Field) []shape {
	var out []shape
	for _, f := range fields {
		out = append(out, arrowShape(f.Name, f))
	}
	return out
}

// arrowShape names the parts of lists and maps as the spec does, whatever the file calls them.
func arrowShape(name string, f arrow.Field) shape {
	text, ok := f.Metadata.GetValue("PARQUET:field_id")
	id, err := strconv.Atoi(text)
	s := shape{name: name, id: id, ok: ok && err == nil && id >= 0}
	switch t := f.Type.(type) {
	case *arrow.MapType:
		s.kids = []shape{arrowShape("key", t.KeyField()), arrowShape("value", t.ItemField())}
	case arrow.ListLikeType:
		s.kids = []shape{arrowShape("element", t.ElemField())}
	case *arrow.StructType:
		s.kids = arrowShapes(t.Fields())
	}
	return s
}

// fromArrow turns a value into one of a record.
func fromArrow(a arrow.Array, i int, kids []shape) (any, error) {
	if a.IsNull(i) {
		return nil, nil
	}
	switch x := a.(type) {
	case *array.Map:
		from, to := x.ValueOffsets(i)
		keys, err := listFromArrow(x.Keys(), from, to, kids[0])
		if err != nil {
			return nil, err
		}
		values, err := listFromArrow(x.Items(), from, to, kids[1])
		out := pairs{}
		for k := range values {
			out = append(out, [2]any{keys[k], values[k]})
		}
		return out, err
	case array.ListLike:
		from, to := x.ValueOffsets(i)
		return listFromArrow(x.ListValues(), from, to, kids[0])
	case *array.Struct:
		out := record{}
		for f, kid := range kids {
			if !kid.ok {
				continue
			}
			v, err := fromArrow(x.Field(f), i, kid.kids)
			if err != nil {
				return nil, err
			}
			out[kid.id] = v
		}
		return out, nil
	}
	return golden.FromArrow(a, i)
}

func listFromArrow(values arrow.Array, from, to int64, element shape) ([]any, error) {
	out := []any{}
	for k := from; k < to; k++ {
		v, err := fromArrow(values, int(k), element.kids)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}
