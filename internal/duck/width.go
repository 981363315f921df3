package duck

import (
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"
)

// bytes estimates what the chunk's values take in memory.
func (ch *Chunk) bytes() int64 {
	var sum int64
	for i := range bindings.DataChunkGetColumnCount(ch.handle) {
		sum += vectorBytes(bindings.DataChunkGetVector(ch.handle, i), ch.Rows())
	}
	return sum
}

// valueBytes is what a value takes in its vector at most; texts and the elements of lists lie elsewhere.
const valueBytes = 16

func vectorBytes(v bindings.Vector, rows int) int64 {
	t := bindings.VectorGetColumnType(v)
	defer bindings.DestroyLogicalType(&t)
	sum := int64(rows) * valueBytes
	switch bindings.GetTypeId(t) {
	case bindings.TypeVarchar, bindings.TypeBlob:
		return sum + lengths(v, rows)
	case bindings.TypeList, bindings.TypeMap:
		return sum + vectorBytes(bindings.ListVectorGetChild(v), int(bindings.ListVectorGetSize(v)))
	case bindings.TypeStruct:
		for i := range bindings.StructTypeChildCount(t) {
			sum += vectorBytes(bindings.StructVectorGetChild(v, i), rows)
		}
	}
	return sum
}

// lengths sums the lengths of a vector's texts.
func lengths(v bindings.Vector, rows int) int64 {
	x := column{rows: rows, data: bindings.VectorGetData(v)}
	if mask := bindings.VectorGetValidity(v); mask != nil {
		x.valid = unsafe.Slice((*uint64)(mask), maskWords(rows))
	}
	var sum int64
	for i, t := range values[textBytes](x) {
		if x.isValid(i) {
			sum += int64(t.length)
		}
	}
	return sum
}
