package tarn

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/bind"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/evolve"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/internal/sql"
	"github.com/tarndb/tarn/internal/write"
	"github.com/tarndb/tarn/transform"
)

// fixedColumn is a column of which PARTITION says the value.
type fixedColumn struct {
	field catalog.Field
	value transform.Value // nil for NULL
}

// fixedColumns returns the columns of which PARTITION says the values. As in Spark, it may name only columns by which the table is
// partitioned as they are.
func fixedColumns(t *catalog.Table, into sql.Into) ([]fixedColumn, error) {
	var out []fixedColumn
	seen := map[catalog.FieldID]bool{}
	for _, c := range into.Partition {
		i := slices.IndexFunc(t.Schema.Fields, func(f catalog.Field) bool { return strings.EqualFold(f.Name, c.Name) })
		if i < 0 {
			return nil, errs.New(errs.NotFound, "insert into", t.Ident.String(), "it has no column %q", c.Name)
		}
		f := t.Schema.Fields[i]
		isPartitionedBy := slices.ContainsFunc(t.Spec().Fields, func(p catalog.PartitionField) bool {
			return p.Transform.Op == transform.Identity && slices.Equal(p.Sources, []catalog.FieldID{f.ID})
		})
		switch {
		case !isPartitionedBy:
			return nil, errs.New(errs.Invalid, "insert into", t.Ident.String(), "PARTITION names the column %q, by which the table isn't partitioned as it is", f.Name).
				WithHint("rows find their partitions by their own values; INSERT INTO ... REPLACE WHERE says which are replaced")
		case seen[f.ID]:
			return nil, errs.New(errs.Invalid, "insert into", t.Ident.String(), "PARTITION names the column %q twice", f.Name)
		case c.IsFixed:
			v, err := evolve.Assigned(f, c.Value)
			if err != nil {
				return nil, err
			}
			out = append(out, fixedColumn{f, v})
		}
		seen[f.ID] = true
	}
	return out, nil
}

// withFixed returns the query with the fixed columns as its last ones, its columns, and the table's columns that they are assigned
// to: those that the statement names, else those without a fixed value in the table's order.
func withFixed(t *catalog.Table, in sql.Insert, columns []duck.Column, fixed []fixedColumn) (sql.Query, []duck.Column, []string, error) {
	q, into := in.Query, slices.Clone(in.Into.Columns)
	if in.Into.ByName {
		for _, c := range columns {
			into = append(into, c.Name)
		}
	}
	if len(fixed) == 0 {
		return q, columns, into, nil
	}
	if into == nil {
		for _, f := range t.Schema.Fields {
			if !slices.ContainsFunc(fixed, func(c fixedColumn) bool { return c.field.ID == f.ID }) {
				into = append(into, f.Name)
			}
		}
	}
	if len(columns) != len(into) {
		return q, nil, nil, errs.New(errs.Invalid, "write to", t.Ident.String(), "the query gives %d columns, and there are %d besides those whose values PARTITION says", len(columns), len(into))
	}
	columns = slices.Clone(columns)
	text := "SELECT *"
	for _, c := range fixed {
		f := c.field
		f.WriteDefault, f.HasWriteDefault = c.value, true
		value, err := duck.WriteDefaultSQL(f)
		if err != nil {
			return q, nil, nil, err
		}
		own, err := duck.TypeSQL(f.Type)
		if err != nil {
			return q, nil, nil, err
		}
		text += ", " + value
		columns, into = append(columns, duck.Column{Name: f.Name, Type: own}), append(into, f.Name)
	}
	q.Text = text + " FROM (" + q.Text + ")"
	return q, columns, into, nil
}

// fillReplace says which rows the statement replaces, and refuses what can't be replaced before its rows are computed.
func (s *Session) fillReplace(ctx context.Context, out *insertion, into sql.Into, fixed []fixedColumn) error {
	how := &out.change
	switch {
	case !into.Overwrite:
		return nil
	case into.Where.IsGiven():
		how.Replace, how.Text = write.Matching, into.Where.Text
		var err error
		if how.Where, err = s.exactFilter(ctx, out, into); err != nil {
			return err
		}
	case s.settings.PartitionOverwriteMode() == "dynamic":
		how.Replace = write.Partitions
	case len(fixed) == 0:
		how.Replace = write.Everything
	default:
		how.Replace = write.Matching
		how.Where, how.Text = fixedFilter(fixed)
	}
	return out.target.CheckReplace(ctx, out.owner, how)
}

// fixedFilter is the condition that columns have the values that PARTITION says.
func fixedFilter(fixed []fixedColumn) (catalog.Filter, string) {
	var tests []catalog.Filter
	var texts []string
	for _, c := range fixed {
		typ := c.field.Type.Primitive
		test, text := catalog.Filter{Op: catalog.Test, Field: c.field.ID, Type: typ}, catalog.ShownName(c.field.Name)
		switch {
		case c.value == nil:
			test.Pred.Op = transform.IsNull
			text += " IS NULL"
		case transform.Predicate{Op: transform.IsNaN}.Eval(typ, c.value):
			test.Pred.Op = transform.IsNaN
			text += " is NaN"
		default:
			test.Pred = transform.Predicate{Op: transform.EQ, Values: []transform.Value{c.value}}
			text += " = " + transform.FormatValue(typ, c.value)
		}
		tests, texts = append(tests, test), append(texts, text)
	}
	return catalog.AllOf(tests...), strings.Join(texts, " AND ")
}

// exactFilter returns the filter that says just what the condition of REPLACE WHERE does. The binder knows by a count of such rows,
// whether it is one that metadata may answer.
func (s *Session) exactFilter(ctx context.Context, out *insertion, into sql.Into) (catalog.Filter, error) {
	names := make([]string, len(into.Table))
	for i, part := range into.Table {
		names[i] = quote.Name(part)
	}
	conn, err := s.engine.binder.Connect()
	if err != nil {
		return catalog.Filter{}, err
	}
	defer conn.Close()
	if _, err := s.rowWise(ctx, conn, into.Where); err != nil {
		return catalog.Filter{}, err
	}
	q, err := sql.ParseQuery(fmt.Sprintf("SELECT count(*) FROM %s WHERE (%s)", strings.Join(names, "."), into.Where))
	if err != nil {
		return catalog.Filter{}, err
	}
	bound, err := bind.Bind(ctx, s.binder(conn), out.plan.tables, q)
	if err != nil {
		return catalog.Filter{}, err
	}
	if facts := bound.Root.Facts; facts != nil {
		return facts.Scan.Filter, nil
	}
	why := cmp.Or(bound.Root.Untold, "it asks for more than the table's own columns")
	table := catalog.Ident(into.Table)
	return catalog.Filter{}, errs.New(errs.Unsupported, "overwrite", out.target.Table().Ident.String(), "which files %s is about can't be told from metadata: %s", into.Where, why).
		WithHint("comparisons of columns with constants of their types, IN, BETWEEN, IS NULL, AND and OR can be told. Any other rows are replaced by two statements: DELETE FROM %s WHERE %s, and INSERT INTO %s", table, into.Where, table)
}
