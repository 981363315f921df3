package duck

/*
#include <stdlib.h>
#include "firstrow.h"
*/
import "C"

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/errs"
)

// FirstRow makes sure that the instance has the aggregate of columns of the types, as DuckDB names them, and returns its name:
//
//	name(order, column, ...)
//
// gives of each group the row with the least order, which is a HUGEINT, as a struct with the fields c0, c1 and so on: NULLs and
// the signs of zeros as they are. Rows whose order is NULL don't count, and of equal ones any is taken. A struct in arg_min does
// the same at several times the cost, since DuckDB writes it as bytes for each row that comes before those before it.
//
// Where DuckDB's memory is limited, the long texts among the rows so far may take as much again: beyond that a statement ends with
// Resource.
//
// The name is "" where a type is nested or there are more columns than it can do.
func (c *Conn) FirstRow(types []string) (name string, err error) {
	if len(types) == 0 || len(types) > C.tarn_first_columns {
		return "", nil
	}
	sum := sha256.Sum256([]byte(strings.Join(types, "\x00")))
	name = "tarn_first_row_" + hex.EncodeToString(sum[:8])
	db := c.db
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.firstRows[name] {
		return name, nil
	}
	handles, widths := make([]unsafe.Pointer, len(types)), make([]C.uint8_t, len(types))
	for i, t := range types {
		logical, err := db.own.logicalType(t)
		if err != nil {
			return "", err
		}
		defer bindings.DestroyLogicalType(&logical)
		bytes, ok := widthOf(layoutOf(logical))
		if !ok {
			return "", nil
		}
		handles[i], widths[i] = logical.Ptr, C.uint8_t(bytes)
	}
	cName := C.CString(name)
	defer C.free(unsafe.Pointer(cName))
	if !C.tarn_first_register(db.own.handle.Ptr, cName, &handles[0], &widths[0], C.uint32_t(len(types)), C.int64_t(db.memory)) {
		return "", errs.New(errs.Internal, "register function", name, "refused")
	}
	db.firstRows[name] = true
	return name, nil
}

// noRoom begins the messages of our functions for what there is no memory.
const noRoom = "no memory for "

// widthOf returns the bytes of each value, 0 for texts.
func widthOf(l layout) (bytes int, ok bool) {
	switch l {
	case bits8:
		return 1, true
	case bits16:
		return 2, true
	case bits32, float32s:
		return 4, true
	case bits64, float64s:
		return 8, true
	case bits128:
		return 16, true
	case text:
		return 0, true
	}
	return 0, false
}
