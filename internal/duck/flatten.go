package duck

import (
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// flattened returns a chunk of the first columns of ch, of those types, in which vectors inside lists, maps and structs lie value by
// value too. DuckDB makes only a chunk's own vectors so: those inside may stand for a value by its place in a dictionary, or for
// all by one. ch is closed.
func flattened(ch *Chunk, types []bindings.LogicalType) *Chunk {
	defer ch.Close()
	rows := bindings.IdxT(ch.Rows())
	out := bindings.CreateDataChunk(types)
	sel := bindings.CreateSelectionVector(max(rows, 1))
	defer bindings.DestroySelectionVector(&sel)
	all := unsafe.Slice(bindings.SelectionVectorGetDataPtr(sel), rows)
	for i := range all {
		all[i] = bindings.SelT(i)
	}
	for i := range types {
		bindings.VectorCopySel(bindings.DataChunkGetVector(ch.handle, bindings.IdxT(i)), bindings.DataChunkGetVector(out, bindings.IdxT(i)), sel, rows, 0, 0)
	}
	bindings.DataChunkSetSize(out, rows)
	return &Chunk{result: ch.result, handle: out}
}

// isNested says whether values of the lane have others inside.
func (l *lane) isNested() bool { return len(l.children) > 0 }
