package exec

import (
	"context"
	"slices"
	"strings"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/duck"
	"github.com/tarndb/tarn/internal/plan"
	"github.com/tarndb/tarn/internal/task"
)

// scanOf returns the scan of an input's files.
func scanOf(in *task.Input, files []task.File) (duck.Scan, error) {
	scan := duck.Scan{Columns: viewColumns(in), Files: make([]duck.ScanFile, len(files)), Filter: allOf(slices.Concat(in.Dynamic, in.Sifts))}
	for i := range files {
		f := &files[i]
		out := duck.ScanFile{
			Ref: f.Ref, Rows: joinedRows(in, f), Shape: in.ShapeOf(f.Shape), ByName: f.ByName, Spec: f.Spec, Sequence: f.Sequence, FirstRowID: f.FirstRowID, Number: f.Number,
		}
		for _, id := range equalityColumns(in, f) {
			out.Equality = append(out.Equality, in.Equality[id])
		}
		var err error
		if out.Constants, err = in.ConstantsOf(*f); err != nil {
			return scan, err
		}
		if out.Partition, err = in.PartitionOf(*f); err != nil {
			return scan, err
		}
		scan.Files[i] = out
	}
	return scan, nil
}

// joinedRows is about how many rows of a file are joined, from which DuckDB chooses the side of a join that it makes the hash table of.
//
// It doesn't know that a Bloom filter leaves few of them. Of the table of a statement that changes rows these are then about as many
// as the other side has, most likely, since its keys tell rows apart, and few of their columns are read. They are better held than
// probed with: of each vector that is read some come through, and what a join makes of them would go up in as small pieces, each
// with the cost of a whole vector, where the other side's rows come in full ones. Of a table that is only read each key may have many
// rows, so that nothing is said of those.
func joinedRows(in *task.Input, f *task.File) int64 {
	if !in.IsSifted {
		return f.Rows
	}
	return siftedRows(in, f)
}

func siftedRows(in *task.Input, f *task.File) int64 {
	if !in.TellsPlaces() {
		return f.Rows
	}
	return (f.Rows + plan.SiftedRows - 1) / plan.SiftedRows
}

// conditionOf returns the condition on all rows that matter; "" is none.
func conditionOf(in *task.Input) string {
	return allOf(slices.Concat(in.Conditions, in.Dynamic, in.Sifts))
}

// allOf joins conditions; "" is none.
func allOf(conditions []string) string {
	if len(conditions) == 0 {
		return ""
	}
	return "(" + strings.Join(conditions, ") AND (") + ")"
}

// viewColumns returns the columns of an input's view.
func viewColumns(in *task.Input) []duck.ScanColumn {
	out := scanColumns(in.Fields)
	for i, name := range in.Names {
		out[i].As = name
	}
	return out
}

// columnOf returns a column of an input's view, which it has.
func columnOf(in *task.Input, id catalog.FieldID) duck.ScanColumn {
	columns := viewColumns(in)
	return columns[slices.IndexFunc(columns, func(c duck.ScanColumn) bool { return c.Field.ID == id })]
}

func scanColumns(fields []catalog.Field) []duck.ScanColumn {
	out := make([]duck.ScanColumn, len(fields))
	for i, f := range fields {
		out[i] = duck.ScanColumn{Field: f, As: f.Name}
	}
	return out
}

// scan returns the scan of the rows of files that aren't deleted. Release, which is never nil, is to be called when no
// statement reads it any more, and ends the need of one user of the deletes.
func (s *deleteStore) scan(ctx context.Context, db *duck.DB, conn *duck.Conn, in *task.Input, files []task.File) (scan duck.Scan, release func(), err error) {
	scan, forget, err := s.lentScan(ctx, db, conn, in, files)
	return scan, func() { forget(); s.release(in, needed(files)) }, err
}

// lentScan is scan without an end of any need of the deletes.
func (s *deleteStore) lentScan(ctx context.Context, db *duck.DB, conn *duck.Conn, in *task.Input, files []task.File) (scan duck.Scan, forget func(), err error) {
	deletes, forget, err := s.lend(ctx, db, conn, in, files)
	if err != nil {
		return scan, forget, err
	}
	scan, err = scanOf(in, files)
	scan.Deletes = deletes
	return scan, forget, err
}

// makeView makes the view of an input over files. Release is as in scan.
func (s *deleteStore) makeView(ctx context.Context, db *duck.DB, conn *duck.Conn, in *task.Input, files []task.File) (release func(), err error) {
	scan, release, err := s.scan(ctx, db, conn, in, files)
	if err != nil {
		return release, err
	}
	text, err := duck.ScanSQL(scan)
	if err == nil {
		err = makeView(ctx, conn, in.View, text)
	}
	return release, err
}

func makeView(ctx context.Context, conn *duck.Conn, name, sql string) error {
	return conn.Exec(ctx, "CREATE OR REPLACE VIEW "+name+" AS "+sql)
}
