package write

import (
	"context"
	"fmt"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/metrics"
	"github.com/tarndb/tarn/transform"
)

// Target is a table to be written to: its schema, current spec, sort order and properties, looked at once. It doesn't change.
type Target struct {
	table   *catalog.Table
	props   properties
	modes   *metrics.Modes
	leaves  []metrics.Leaf
	keys    []sortKey
	columns []duck.ScanColumn // the table's, under the names c0, c1, ...
	tuples  []string          // SQL of the partition values over those, void fields left out
	types   []transform.Type  // of tuples
	places  []int             // of tuples, in the spec
}

// NewTarget looks at a table. What can't be written rightly is Unsupported: types that no file holds, partition fields by
// unknown transforms, of several columns, or whose column is gone.
func NewTarget(t *catalog.Table) (*Target, error) {
	target := &Target{table: t}
	if t.Virtual || t.Version.Reading != catalog.ReadState {
		return nil, errs.New(errs.Invalid, "write to", t.Ident.String(), "it is made of a table's metadata")
	}
	if len(t.Schema.Fields) == 0 {
		return nil, errs.New(errs.Invalid, "write to", t.Ident.String(), "the table has no columns")
	}
	err := checkWritable("", t.Schema.Fields)
	if err == nil {
		target.props, err = propertiesOf(t)
	}
	if err == nil {
		target.modes, err = metrics.ModesOf(t)
	}
	if err == nil { // before rows are computed that couldn't be committed
		err = commit.CheckProperties(t.Properties)
	}
	if err != nil {
		return nil, err
	}
	target.leaves = metrics.Leaves(t.Schema)
	for i, f := range t.Schema.Fields {
		target.columns = append(target.columns, duck.ScanColumn{Field: f, As: columnName(i)})
	}
	target.keys = target.sortKeys()
	return target, target.fillTuples()
}

// Table returns the table.
func (t *Target) Table() *catalog.Table { return t.table }

func (t *Target) fillTuples() error {
	for i, f := range t.table.Spec().Fields {
		if f.Transform.Op == transform.Void {
			continue
		}
		if len(f.Sources) != 1 || f.Transform.Op == transform.OpUnknown {
			return errs.New(errs.Unsupported, "write to", t.table.Ident.String(), "its spec has the transform %s, by which no rows can be parted", f.Transform)
		}
		source, ok := t.sourceSQL(f.Sources[0])
		if !ok {
			return errs.New(errs.Unsupported, "write to", t.table.Ident.String(), "the source column of the partition field %s was dropped", f.Name).
				WithHint("drop the partition field")
		}
		typ := f.Transform.ResultType(f.SourceType)
		if typ.Kind == transform.None {
			return errs.New(errs.Unsupported, "write to", t.table.Ident.String(), "the transform %s isn't defined on values of type %s", f.Transform, f.SourceType)
		}
		t.tuples = append(t.tuples, transformSQL(f.Transform, source))
		t.types, t.places = append(t.types, typ), append(t.places, i)
	}
	return nil
}

// tuple returns a whole tuple of the spec, void fields included, from the values that rows were parted by.
func (t *Target) tuple(values []transform.Value) []transform.Value {
	out := make([]transform.Value, len(t.table.Spec().Fields))
	for i, at := range t.places {
		out[at] = values[i]
	}
	return out
}

// RowsSQL returns the SELECT of a query's rows as a Job takes them: as the table's columns, followed by their partition values.
// The query's columns are columns; they are assigned to the table's columns called into, or to all in their order if into is
// empty. What may not be assigned is Invalid.
func (t *Target) RowsSQL(query string, columns []duck.Column, into []string) (string, error) {
	assigned, err := t.assignSQL(query, columns, into)
	if err != nil {
		return "", err
	}
	return t.tupleSQL(assigned), nil
}

// rowsOf is RowsSQL of a query whose columns conn tells.
func (t *Target) rowsOf(ctx context.Context, conn *duck.Conn, query string) (string, error) {
	columns, err := conn.Describe(ctx, query)
	if err != nil {
		return "", err
	}
	return t.RowsSQL(query, columns, nil)
}

// fileSQL returns the SELECT of a file's rows from rows whose columns are c0, c1, ...
func (t *Target) fileSQL(rows, orderBy string) string {
	text := "SELECT "
	for i, f := range t.table.Schema.Fields {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s AS %s", columnName(i), duck.QuoteName(f.Name))
	}
	return text + " FROM (" + rows + ") AS r" + orderBy
}
