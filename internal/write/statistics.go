package write

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/internal/metrics"
	"github.com/tarndb/tarn/transform"
)

// fillMetrics computes from a file's rows what its footer doesn't say.
func (w *worker) fillMetrics(ctx context.Context, f *lake.WrittenFile) error {
	for _, want := range f.Wants {
		if err := w.fillMetric(ctx, f, want); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) fillMetric(ctx context.Context, f *lake.WrittenFile, want metrics.Want) error {
	root := want.Leaf[0]
	rows, err := duck.ScanSQL(duck.Scan{Columns: []duck.ScanColumn{{Field: root, As: "x"}}, Files: []duck.ScanFile{{Ref: f.Ref}}})
	if err != nil {
		return err
	}
	typ := want.Leaf.Field().Type.Primitive
	texts, err := texts(ctx, w.conn, leastSQL(leafSQL(rows, want.Leaf), typ, f.Metrics.BoundLength(want)))
	if err != nil {
		return err
	}
	var counts [2]int64
	for i := range counts {
		if counts[i], err = strconv.ParseInt(*texts[0][i], 10, 64); err != nil {
			return errs.Wrap(errs.Internal, "count values of", want.Leaf.Path(), err)
		}
	}
	var bounds [2]transform.Value
	for i, text := range texts[0][2:] {
		if text == nil {
			continue
		}
		if bounds[i], err = boundOf(typ, *text); err != nil {
			return errs.Wrap(errs.Internal, "compute bounds of", want.Leaf.Path(), err)
		}
	}
	return f.Metrics.Put(want, counts[0], counts[1], bounds[0], bounds[1])
}

// leafSQL returns the SELECT of all values of a leaf as x, from one of its column as x.
func leafSQL(rows string, l metrics.Leaf) string {
	for i, f := range l[:len(l)-1] {
		next := l[i+1]
		expr := ""
		switch f.Type.Nested {
		case catalog.Struct:
			for at, inner := range f.Type.Fields {
				if inner.ID == next.ID {
					expr = fmt.Sprintf("struct_extract_at(x, %d)", at+1)
				}
			}
		case catalog.List:
			expr = "unnest(x)"
		case catalog.Map:
			expr = "unnest(map_keys(x))"
			if next.ID != f.Type.Fields[0].ID {
				expr = "unnest(map_values(x))"
			}
		}
		rows = "SELECT " + expr + " AS x FROM (" + rows + ")"
	}
	return rows
}

// leastSQL returns the query of how many values aren't NULL, how many of those are NaN, and of the least and the greatest of the
// others, all as texts. Of texts and bytes length of their signs are enough; 0: all of them.
func leastSQL(rows string, t transform.Type, length int) string {
	cut := func(expr string, n int) string {
		if n == 0 {
			return expr
		}
		return fmt.Sprintf("left(%s, %d)", expr, n)
	}
	nans, least, greatest := "0", "min(x)", "max(x)"
	switch t.Kind {
	case transform.Float, transform.Double:
		nans, least, greatest = "count(*) FILTER (isnan(x))", "min(x) FILTER (NOT isnan(x))", "max(x) FILTER (NOT isnan(x))"
	case transform.Binary:
		least, greatest = cut("min(hex(x))", 2*length), cut("max(hex(x))", 2*length) // in the order of the bytes
	case transform.String:
		least, greatest = cut(least, length), cut(greatest, length)
	}
	list := []string{"count(x)", nans, least, greatest}
	for i := range list {
		list[i] = "CAST(" + list[i] + " AS VARCHAR)"
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM (" + rows + ")"
}

// boundOf reads what leastSQL gives. Bytes may be fewer than the type's.
func boundOf(t transform.Type, text string) (transform.Value, error) {
	if t.Kind == transform.Binary {
		return hex.DecodeString(text)
	}
	return transform.ParseValue(t, text)
}

// texts returns the rows of a query whose columns are text; nil is NULL.
func texts(ctx context.Context, conn *duck.Conn, query string) ([][]*string, error) {
	var out [][]*string
	err := conn.Stream(ctx, query, func(ch *duck.Chunk) error {
		rec, err := ch.Record()
		ch.Close()
		if err != nil {
			return err
		}
		defer rec.Release()
		for r := range int(rec.NumRows()) {
			row := make([]*string, rec.NumCols())
			for i := range row {
				if c := rec.Column(i).(*array.String); !c.IsNull(r) {
					text := strings.Clone(c.Value(r))
					row[i] = &text
				}
			}
			out = append(out, row)
		}
		return nil
	})
	return out, err
}
