package testcat

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/transform"
)

// stats is what a file says of one column: nulls.c, lower.c and upper.c.
type stats struct {
	nulls        *int64
	lower, upper transform.Value
}

// readStatistic reads one of them; false when the name is of something else.
func (t *table) readStatistic(name, value string, of map[catalog.FieldID]stats) (bool, error) {
	what, column, found := strings.Cut(name, ".")
	if !found {
		return false, nil
	}
	i, err := t.column(column)
	if err != nil {
		return true, err
	}
	f := t.Schema.Fields[i]
	s := of[f.ID]
	switch what {
	case "nulls":
		n, e := strconv.ParseInt(value, 10, 64)
		s.nulls, err = &n, e
	case "lower":
		s.lower, err = transform.ParseValue(f.Type.Primitive, strings.Trim(value, "'"))
	case "upper":
		s.upper, err = transform.ParseValue(f.Type.Primitive, strings.Trim(value, "'"))
	default:
		return false, nil
	}
	of[f.ID] = s
	return true, err
}

// SurveySums is Survey with the sums of what the files' lines say of columns.
func (c *Catalog) SurveySums(ctx context.Context, t *catalog.Table, filter catalog.Filter, columns []catalog.FieldID) (*catalog.TableLayout, error) {
	l, err := c.Survey(ctx, t, filter)
	if err != nil {
		return nil, err
	}
	l.Sums = map[catalog.FieldID]catalog.ColumnSum{}
	for _, id := range columns {
		l.Sums[id] = catalog.ColumnSum{}
	}
	return l, l.Files(ctx, func(f catalog.DataFile) error {
		for i, id := range columns {
			if slices.Contains(columns[:i], id) {
				continue
			}
			field, _ := t.Schema.Field(id)
			s := c.tables[t.Ident.String()].stats[f.Ref.Path][id]
			one := catalog.ColumnSum{Lower: s.lower, Upper: s.upper}
			if s.nulls == nil {
				one.NoCount = f.Ref.Path
			} else if one.NonNull = f.Rows - *s.nulls; one.NonNull > 0 && (s.lower == nil || s.upper == nil) {
				one.NoBounds = f.Ref.Path
			}
			sum := l.Sums[id]
			sum.Add(field.Type.Primitive, one)
			l.Sums[id] = sum
		}
		return nil
	})
}
