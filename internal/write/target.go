package write

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/commit"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/internal/metrics"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/transform"
)

// Target is a table to be written to: its schema, current spec, sort order and properties, looked at once. It doesn't change.
type Target struct {
	table   *catalog.Table
	props   properties
	modes   *metrics.Modes
	leaves  []metrics.Leaf
	keys    []sortKey
	columns []duck.ScanColumn // the table's, under the names c0, c1, ..., and those of lineage after them
	lineage []duck.ScanColumn // those of row lineage, if rows have them
	tuples  []string          // SQL of the partition values over those, void fields left out
	types   []transform.Type  // of tuples
	places  []int             // of tuples, in the spec
	// hasFixed says that some column is of type fixed, a nested one included.
	hasFixed bool
}

// NewTarget looks at a table. What can't be written rightly is Unsupported: types that no file holds, partition fields by
// unknown transforms, of several columns, or whose column is gone.
func NewTarget(t *catalog.Table) (*Target, error) {
	target, err := targetOf(t)
	if err == nil {
		err = checkWritable("", t.Schema.Fields)
	}
	if err == nil {
		err = checkFormat(t)
	}
	return target, err
}

// targetOf is NewTarget of a table whose files others write.
func targetOf(t *catalog.Table) (*Target, error) {
	target, err := NewDeleting(t)
	if err != nil {
		return nil, err
	}
	if len(t.Schema.Fields) == 0 {
		return nil, errs.New(errs.Invalid, "write to", t.Ident.String(), "the table has no columns")
	}
	if target.modes, err = metrics.ModesOf(t); err != nil {
		return nil, err
	}
	target.leaves = metrics.Leaves(t.Schema)
	for i, f := range t.Schema.Fields {
		target.columns = append(target.columns, duck.ScanColumn{Field: f, As: columnName(i)})
	}
	target.keys, target.hasFixed = target.sortKeys(), hasFixed(t.Schema.Fields)
	return target, target.fillTuples()
}

// NewDeleting is NewTarget for those who write no data files, but delete rows by delete files or whole files: what the table's rows and
// its current spec are doesn't matter. A job for it takes no rows.
func NewDeleting(t *catalog.Table) (*Target, error) {
	target := &Target{table: t}
	if t.Virtual || t.Version.Reading != catalog.ReadState {
		return nil, errs.New(errs.Invalid, "write to", t.Ident.String(), "it is made of a table's metadata")
	}
	var err error
	if target.props, err = propertiesOf(t); err != nil {
		return nil, err
	}
	return target, commit.CheckProperties(t.Properties) // before rows are computed that couldn't be committed
}

// CheckDeletes refuses delete files of data files whose partitions no manifest can have, before rows are looked at.
func (t *Target) CheckDeletes(layout *catalog.TableLayout) error {
	for _, g := range layout.Groups {
		if _, err := manifest.WrittenTypes(t.table.Specs[g.Spec]); err != nil {
			return errs.Wrap(errs.Unsupported, "write delete files of", t.table.Ident.String(), err)
		}
	}
	return nil
}

// Changing returns the target of statements that change rows, some of which are the table's already. In format version 3 those
// keep their IDs: rows then have lineage.
func (t *Target) Changing() (*Target, error) {
	out := *t
	if t.table.FormatVersion < 3 {
		return &out, nil
	}
	for i, id := range []catalog.FieldID{catalog.RowID, catalog.LastUpdatedID} {
		f, _ := catalog.MetadataColumn(t.table, id)
		for _, c := range t.table.Schema.Fields {
			if strings.EqualFold(c.Name, f.Name) {
				return nil, errs.New(errs.Unsupported, "change rows of", t.table.Ident.String(), "its column %q has the name of a column of row lineage, which its files need", c.Name).
					WithHint("rename the column")
			}
		}
		out.lineage = append(out.lineage, duck.ScanColumn{Field: f, As: fmt.Sprintf("l%d", i)})
	}
	out.columns = slices.Concat(t.columns, out.lineage)
	return &out, nil
}

// HasLineage says whether rows have lineage: the queries of RowsSQL then have a column more than the table, the last one, which
// is the ID that a row of the table keeps, and NULL of a new one.
func (t *Target) HasLineage() bool { return len(t.lineage) > 0 }

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

// key is a text that tells partitions of the spec apart, by the values that rows were parted by.
func (t *Target) key(values []transform.Value) string {
	return catalog.TupleKey(t.table.DefaultSpec, t.tuple(values))
}

// RowsSQL returns the SELECT of a query's rows as a Job takes them: as the table's columns, followed by their partition values.
// The query's columns are columns; they are assigned to the table's columns called into, or to all in their order if into is
// empty. What may not be assigned is Invalid. Where rows have lineage, the last of the query's columns is their ID.
func (t *Target) RowsSQL(query string, columns []duck.Column, into []string) (string, error) {
	assigned, checks, err := t.assignSQL(query, columns, into)
	if err != nil {
		return "", err
	}
	return t.tupleSQL(assigned, checks), nil
}

// rowsOf is RowsSQL of a query whose columns conn tells.
func (t *Target) rowsOf(ctx context.Context, conn *duck.Conn, query string) (string, error) {
	columns, err := conn.Describe(ctx, query)
	if err != nil {
		return "", err
	}
	described := func(text string) ([]duck.Column, error) { return conn.Describe(ctx, text) }
	return Told(query, columns, described, func(c []duck.Column) (string, error) { return t.RowsSQL(query, c, nil) })
}

// fileSQL returns the SELECT of a file's rows from rows of the target's columns.
func (t *Target) fileSQL(rows, orderBy string) string {
	text := "SELECT "
	for i, c := range t.columns {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s AS %s", c.As, quote.Name(c.Field.Name))
	}
	return text + " FROM (" + rows + ") AS r" + orderBy
}

// RowColumns returns how many columns the rows of a Job have.
func (t *Target) RowColumns() int { return len(t.columns) + len(t.tuples) }

// fileFields returns the columns of a file.
func (t *Target) fileFields() []catalog.Field {
	out := make([]catalog.Field, len(t.columns))
	for i, c := range t.columns {
		out[i] = c.Field
	}
	return out
}
