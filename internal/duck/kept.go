package duck

import (
	"fmt"
	"slices"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

const keptName = "tarn_kept"

// kept is tarn_kept(deletes, file, position, values...): whether the row at that position of the file, by its place in the
// spec's files, is left in the scan. The values are those of the file's equality columns.
//
// It looks at nothing but its arguments, of which the position says which row it is, whatever was filtered before. So it
// doesn't matter to its result where DuckDB evaluates it.
func kept(c call) error {
	// DuckDB's virtual columns and a literal: none is NULL, and their types are the function's own. They are not asked for
	// by column, whose look at types costs as much as the rest.
	id, file := argument[int64](c, 0)[0], argument[uint64](c, 1)
	r := keptRows{rows: argument[int64](c, 2), out: results[bool](c)}
	for i := 3; i < int(bindings.DataChunkGetColumnCount(c.input)); i++ {
		r.columns = append(r.columns, c.column(i))
	}
	registered, ok := deletions.Load(id)
	if !ok {
		return fmt.Errorf("%sdeletes %d are not registered", bugMark, id)
	}
	files := registered.(*deletion).Files
	for from := 0; from < c.rows; {
		to := from + sameAsFirst(file[from:])
		if file[from] >= uint64(len(files)) {
			return fmt.Errorf("%sdeletes %d know %d files, not file %d", bugMark, id, len(files), file[from])
		}
		if err := r.run(&files[file[from]], from, to); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// argument returns the values of an argument that is of type T and never NULL.
func argument[T any](c call, i int) []T {
	return unsafe.Slice((*T)(bindings.VectorGetData(bindings.DataChunkGetVector(c.input, bindings.IdxT(i)))), c.rows)
}

// sameAsFirst returns how many values v begins with that are the same: all of them but for the vector in which the next file
// begins, for which it is fast.
func sameAsFirst(v []uint64) int {
	var differs uint64
	for _, x := range v {
		differs |= x ^ v[0]
	}
	if differs == 0 {
		return len(v)
	}
	return runEnd(v, 0)
}

// keptRows are the arguments of one call.
type keptRows struct {
	rows    []int64
	columns []column
	out     []bool
	key     []byte // scratch
}

// allTrue and allFalse are copied, which is faster than setting values one by one.
var allTrue, allFalse = slices.Repeat([]bool{true}, vectorRows), make([]bool, vectorRows)

// run decides on the rows from..to-1, which are of one file.
func (r *keptRows) run(f *FileDeletes, from, to int) error {
	out := r.out[from:to]
	if f.Only == nil {
		copy(out, allTrue)
		return r.mark(f, &f.Deleted, from, out, false)
	}
	copy(out, allFalse)
	if err := r.mark(f, f.Only, from, out, true); err != nil {
		return err
	}
	return r.mark(f, &f.Deleted, from, out, false)
}

// mark sets those of marks to mark whose rows, which start at from, are in the set.
func (r *keptRows) mark(f *FileDeletes, set *RowSet, from int, marks []bool, mark bool) error {
	if set.Positions != nil {
		set.Positions.Mark(r.rows[from:from+len(marks)], marks, mark)
	}
	for i := range set.Equality {
		if err := r.markEqual(&set.Equality[i], f.Sequence, from, marks, mark); err != nil {
			return err
		}
	}
	return nil
}

func (r *keptRows) markEqual(t *EqualityTest, sequence int64, from int, marks []bool, mark bool) error {
	var space [8]column
	columns := space[:0]
	for _, at := range t.Columns {
		if at < 0 || at >= len(r.columns) || r.columns[at].layout == otherLayout {
			return fmt.Errorf("%san equality test is of column %d of %d, or that isn't primitive", bugMark, at, len(r.columns))
		}
		columns = append(columns, r.columns[at])
	}
	for i := range marks {
		if marks[i] == mark {
			continue
		}
		r.key = appendRowKey(r.key[:0], columns, from+i)
		if isDeleted(t, r.key, sequence) {
			marks[i] = mark
		}
	}
	return nil
}

func isDeleted(t *EqualityTest, key []byte, sequence int64) bool {
	for _, scope := range t.Scopes {
		if t.Set.Sequence(scope, key) > sequence {
			return true
		}
	}
	return false
}
