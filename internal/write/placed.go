package write

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/exec"
	"github.com/tarndb/tarn/internal/plan/spj"
	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/internal/task"
	"github.com/tarndb/tarn/transform"
)

// Into returns the fields of the table's spec by which rows are parted, as those of the derived table that RowsSQL selects from;
// none when some field is about no column of it, but about a part of one.
func (t *Target) Into() []spj.Into {
	var out []spj.Into
	for _, at := range t.places {
		f := t.table.Spec().Fields[at]
		into := spj.Into{Column: -1, Type: f.SourceType, Transform: f.Transform}
		for i, c := range t.table.Schema.Fields {
			if c.ID == f.Sources[0] {
				into.Column, into.Name, into.Type = i, catalog.ShownName(c.Name), c.Type.Primitive
			}
		}
		if into.Column < 0 {
			return nil
		}
		out = append(out, into)
	}
	return out
}

// Keeper returns what writes the rows of a query straight to files, nil when they are to be added to a Writer. Those of a pack of
// one tuple are a file, if they aren't more: a tuple of several files is cut by how many bytes its rows come to, which must be
// known before. Rows that needn't be parted nor sorted are written by the final step, and by each pack where the table says that
// they aren't to be gathered.
func (j *Job) Keeper(p *task.Pack) exec.Keeper {
	t := j.target
	isFree := len(t.tuples) == 0 && len(t.keys) == 0 && (p == nil || t.props.isScattered)
	if !isFree && (p == nil || p.Tuple == nil || p.Bytes > t.props.targetBytes) {
		return nil
	}
	if workers, _ := j.share(j.opts.workers()); len(t.keys) > 0 && workers < j.opts.workers() {
		return nil // all workers together haven't the memory to sort
	}
	return func(ctx context.Context, conn *duck.Conn, memory int64, query string, args ...any) (int64, error) {
		w := &worker{job: j, threads: 1, memory: memory, conn: conn}
		if p == nil || p.Alone {
			w.threads = j.opts.workers()
		}
		if isFree {
			return w.free(ctx, query, args)
		}
		return w.placed(ctx, p.Tuple, query, args)
	}
}

// free writes the rows of a query like RowsSQL to files of about the target size, as they come.
func (w *worker) free(ctx context.Context, query string, args []any) (rows int64, err error) {
	t := w.job.target
	const number = "{i}"
	ref, err := w.job.newRef(ctx, t.table.Spec(), t.tuple(nil), number+".parquet")
	if err != nil {
		return 0, err
	}
	ending := number + ".parquet"
	w.job.addPrefix(catalog.FileRef{Path: strings.TrimSuffix(ref.Path, ending), Local: strings.TrimSuffix(ref.Local, ending)})
	opts := duck.CopyOptions{FileBytes: t.props.targetBytes, Args: args}
	opts.RowGroupRows, opts.RowGroupBytes = t.props.rowGroup(w.groupMemory(true))
	written, err := w.parquet(ctx, t.fileSQL(query, ""), ref.Local, opts)
	if err != nil {
		return 0, err
	}
	for _, f := range written {
		rows += f.Rows
		name := filepath.Base(f.Path)
		at := catalog.FileRef{Path: ref.Path[:strings.LastIndexByte(ref.Path, '/')+1] + name, Local: filepath.Join(filepath.Dir(ref.Local), name)}
		if err := w.keep(ctx, at, t.tuple(nil), f.Rows); err != nil {
			return 0, err
		}
	}
	return rows, nil
}

// placed writes the rows of a query like RowsSQL, whose partition values are all the same, to a file.
func (w *worker) placed(ctx context.Context, encoded [][]byte, query string, args []any) (int64, error) {
	t := w.job.target
	values := make([]value, len(encoded))
	for i, enc := range encoded {
		var err error
		if values[i], err = catalog.DecodeValue(t.types[i], enc); err != nil {
			return 0, err
		}
	}
	text, err := t.placedSQL(query, values)
	if err != nil {
		return 0, err
	}
	ref, err := w.job.newFile(ctx, t.tuple(values), 0)
	if err != nil {
		return 0, err
	}
	opts := duck.CopyOptions{Args: args}
	opts.RowGroupRows, opts.RowGroupBytes = t.props.rowGroup(w.groupMemory(true))
	written, err := w.parquet(ctx, text, ref.Local, opts)
	if err != nil {
		return 0, err
	}
	if len(written) != 1 {
		return 0, errs.New(errs.Internal, "write data file", ref.Path, "one file was to be written, and DuckDB reports %v", written)
	}
	return written[0].Rows, w.keep(ctx, ref, t.tuple(values), written[0].Rows)
}

// placedSQL returns the SELECT of a file's rows from those of a query like RowsSQL. Whatever was proved of them: each row's own
// partition values are compared with those of the file, within a column, where nothing can leave the comparison out.
func (t *Target) placedSQL(query string, values []value) (string, error) {
	var same []string
	for i, v := range values {
		text, err := duck.ValueSQL(t.types[i], v)
		if err != nil {
			return "", err
		}
		same = append(same, fmt.Sprintf("p%d IS NOT DISTINCT FROM %s", i, text))
	}
	first, text := 0, ""
	for i, f := range t.table.Schema.Fields {
		if f.Type.Nested == catalog.NotNested {
			first = i // of the columns that take little to copy any will do
			break
		}
	}
	for i, f := range t.table.Schema.Fields {
		expr := columnName(i)
		if i == first {
			expr = fmt.Sprintf("CASE WHEN %s THEN %s ELSE error(%s) END", strings.Join(same, " AND "), expr,
				quote.Text(fmt.Sprintf("a row of another partition than %s is among its rows", t.tupleText(values))))
		}
		text += ", " + expr + " AS " + quote.Name(f.Name)
	}
	return "SELECT " + text[2:] + " FROM (" + query + ") AS r" + orderBy(t.keys), nil
}

// tupleText writes the values of a tuple for people.
func (t *Target) tupleText(values []value) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = "NULL"
		if v != nil {
			parts[i] = transform.FormatValue(t.types[i], v)
		}
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
