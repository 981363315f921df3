package duck

/*
#include "thrown.h"
*/
import "C"

import (
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/errs"
)

// noVectorRoom is the error of a call that DuckDB has no memory for.
func noVectorRoom() error {
	return errs.New(errs.Resource, "", "", noRoom+"the values of a vector").WithHint("%s", memoryHint)
}

// assignText puts a text or bytes into a row of a vector.
func assignText[T string | []byte](v bindings.Vector, row int, text T) error {
	bytes := []byte(text)
	if !C.tarn_assign_text(v.Ptr, C.uint64_t(row), (*C.char)(unsafe.Pointer(unsafe.SliceData(bytes))), C.uint64_t(len(bytes))) {
		return noVectorRoom()
	}
	return nil
}

// reserveList makes room for so many elements in a vector of lists.
func reserveList(v bindings.Vector, elements int) error {
	if !C.tarn_reserve_list(v.Ptr, C.uint64_t(elements)) {
		return noVectorRoom()
	}
	return nil
}
