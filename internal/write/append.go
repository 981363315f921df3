package write

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/lake"
	"github.com/tarndb/tarn/transform"
)

// Append runs query on conn and appends its rows to t, one file per partition tuple of t's current spec. The query's
// columns must be t's, by order, name and type. After a failure no new file is left, but after CommitUnknown all are.
func Append(ctx context.Context, conn *duck.Conn, c *lake.Catalog, t *catalog.Table, query string) (catalog.SnapshotID, error) {
	w := &writer{conn: conn, catalog: c, table: t}
	id, err := w.run(ctx, query)
	if err != nil && errs.KindOf(err) != errs.CommitUnknown {
		for _, f := range w.files {
			err = errors.Join(err, os.Remove(f.Ref.Local))
		}
	}
	return id, err
}

type writer struct {
	conn    *duck.Conn
	catalog *lake.Catalog
	table   *catalog.Table
	files   []lake.NewDataFile
}

// staged is the temporary table that holds the query's rows with their tuples in columns of their own.
const staged = "tarn_staged"

func (w *writer) run(ctx context.Context, query string) (catalog.SnapshotID, error) {
	exprs, err := w.tupleExprs()
	if err != nil {
		return 0, err
	}
	text := "SELECT *"
	for i, e := range exprs {
		text += fmt.Sprintf(", %s AS tarn_p%d", e, i)
	}
	if err := w.conn.Exec(ctx, "CREATE OR REPLACE TEMP TABLE "+staged+" AS "+text+" FROM ("+query+") AS tarn_rows"); err != nil {
		return 0, err
	}
	err = w.writeTuples(ctx, len(exprs))
	if drop := w.conn.Exec(ctx, "DROP TABLE "+staged); err == nil {
		err = drop
	}
	if err != nil {
		return 0, err
	}
	return w.catalog.Append(ctx, w.table, w.files)
}

// tupleExprs returns the SQL of each partition value.
func (w *writer) tupleExprs() ([]string, error) {
	var out []string
	for _, f := range w.table.Spec().Fields {
		if len(f.Sources) != 1 || f.Transform.Op == transform.OpUnknown {
			return nil, errs.New(errs.Unsupported, "write to", w.table.Ident.String(), "the spec has the transform %s", f.Transform)
		}
		source, ok := w.table.Schema.Field(f.Sources[0])
		if !ok {
			return nil, errs.New(errs.Unsupported, "write to", w.table.Ident.String(), "the source column of %s was dropped", f.Name)
		}
		out = append(out, transformSQL(f.Transform, `"`+strings.ReplaceAll(source.Name, `"`, `""`)+`"`))
	}
	return out, nil
}

// transformSQL writes a transform as a call of package duck's functions.
func transformSQL(t transform.Transform, column string) string {
	switch t.Op {
	case transform.Bucket:
		return fmt.Sprintf("tarn_bucket(%d, %s)", t.N, column)
	case transform.Truncate:
		return fmt.Sprintf("tarn_truncate(%d, %s)", t.N, column)
	case transform.Year:
		return "tarn_years(" + column + ")"
	case transform.Month:
		return "tarn_months(" + column + ")"
	case transform.Day:
		return "tarn_days(" + column + ")"
	case transform.Hour:
		return "tarn_hours(" + column + ")"
	case transform.Void:
		return "NULL"
	}
	return column
}

// writeTuples writes one file per distinct tuple.
func (w *writer) writeTuples(ctx context.Context, width int) error {
	conditions, tuples, err := w.tuples(ctx, width)
	if err != nil {
		return err
	}
	for i, where := range conditions {
		if err := w.writeFile(ctx, where, tuples[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) writeFile(ctx context.Context, where string, tuple []transform.Value) error {
	ref, err := w.catalog.NewDataFileRef(ctx, w.table, tuple)
	if err != nil {
		return err
	}
	names := make([]string, len(w.table.Schema.Fields))
	for i, f := range w.table.Schema.Fields {
		names[i] = `"` + strings.ReplaceAll(f.Name, `"`, `""`) + `"`
	}
	query := "SELECT " + strings.Join(names, ", ") + " FROM " + staged + where
	if _, err := w.conn.CopyParquet(ctx, query, w.table.Schema.Fields, ref.Local, duck.CopyOptions{}); err != nil {
		return err
	}
	f, err := w.catalog.DataFileFromParquet(ctx, w.table, ref, tuple)
	if err != nil {
		return errors.Join(err, os.Remove(ref.Local))
	}
	w.files = append(w.files, f)
	return nil
}

// tuples returns, for each distinct tuple, the condition that its rows satisfy and its values.
func (w *writer) tuples(ctx context.Context, width int) (conditions []string, tuples [][]transform.Value, err error) {
	if width == 0 {
		return []string{""}, [][]transform.Value{nil}, nil
	}
	fields := w.table.Spec().Fields
	types := make([]transform.Type, width)
	var items, keys []string
	for i, f := range fields {
		types[i] = f.Transform.ResultType(f.SourceType)
		p := fmt.Sprintf("tarn_p%d", i)
		keys = append(keys, p)
		items = append(items, textSQL(types[i], p)+" AS t"+p)
	}
	list := strings.Join(keys, ", ")
	texts, err := w.texts(ctx, "SELECT DISTINCT "+list+", "+strings.Join(items, ", ")+" FROM "+staged+" ORDER BY "+list, width)
	if err != nil {
		return nil, nil, err
	}
	for _, row := range texts {
		where, tuple, err := tupleOf(types, row)
		if err != nil {
			return nil, nil, errs.Wrap(errs.Internal, "write to", w.table.Ident.String(), err)
		}
		conditions, tuples = append(conditions, where), append(tuples, tuple)
	}
	return conditions, tuples, nil
}

// textSQL writes a partition value as text that both transform.ParseValue and DuckDB's cast read.
func textSQL(t transform.Type, column string) string {
	if t.Kind == transform.Binary || t.Kind == transform.Fixed {
		return "lower(hex(" + column + "))"
	}
	return "CAST(" + column + " AS VARCHAR)"
}

func tupleOf(types []transform.Type, row []*string) (where string, tuple []transform.Value, err error) {
	terms := make([]string, len(row))
	for i, text := range row {
		p := fmt.Sprintf("tarn_p%d", i)
		if text == nil {
			terms[i] = p + " IS NULL"
			tuple = append(tuple, nil)
			continue
		}
		v, err := transform.ParseValue(types[i], *text)
		if err != nil {
			return "", nil, err
		}
		tuple = append(tuple, v)
		terms[i] = textSQL(types[i], p) + " = '" + strings.ReplaceAll(*text, "'", "''") + "'"
		if types[i].Kind == transform.Int || types[i].Kind == transform.Long {
			terms[i] = p + " = " + *text
		}
	}
	return " WHERE " + strings.Join(terms, " AND "), tuple, nil
}

// texts returns the last width columns of a query, which are text.
func (w *writer) texts(ctx context.Context, query string, width int) ([][]*string, error) {
	res, err := w.conn.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	var out [][]*string
	for {
		ch, err := res.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		rec, err := ch.Record()
		ch.Close()
		if err != nil {
			return nil, err
		}
		for r := range int(rec.NumRows()) {
			row := make([]*string, width)
			for i := range row {
				if c := rec.Column(width + i).(*array.String); !c.IsNull(r) {
					text := strings.Clone(c.Value(r))
					row[i] = &text
				}
			}
			out = append(out, row)
		}
		rec.Release()
	}
}
