package duck

/*
#include <stdint.h>
#include <stdlib.h>

// The bindings declare these only under a build tag. Handles are pointers in duckdb.h, so that void* is the same to the
// linker.
extern void *duckdb_to_arrow_schema(void *options, void **types, const char **names, uint64_t columns, void *schema);
extern void *duckdb_data_chunk_to_arrow(void *options, void *chunk, void *array);
*/
import "C"

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/cdata"
	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/errs"
)

const pointerBytes = C.size_t(unsafe.Sizeof(uintptr(0)))

// arrowSchema returns the Arrow form of columns, whose DuckDB types are types.
func arrowSchema(options bindings.ArrowOptions, types []bindings.LogicalType, columns []Column) (*arrow.Schema, error) {
	n := len(types)
	if n == 0 {
		return arrow.NewSchema(nil, nil), nil
	}
	cTypes := C.calloc(C.size_t(n), pointerBytes)
	defer C.free(cTypes)
	cNames := C.calloc(C.size_t(n), pointerBytes)
	defer C.free(cNames)
	names := unsafe.Slice((**C.char)(cNames), n)
	for i := range types {
		unsafe.Slice((*unsafe.Pointer)(cTypes), n)[i] = types[i].Ptr
		names[i] = C.CString(columns[i].Name)
		defer C.free(unsafe.Pointer(names[i]))
	}
	var out cdata.CArrowSchema
	failed := C.duckdb_to_arrow_schema(options.Ptr, (*unsafe.Pointer)(cTypes), (**C.char)(cNames), C.uint64_t(n),
		unsafe.Pointer(&out))
	if err := arrowFault("describe result", failed); err != nil {
		return nil, err
	}
	defer cdata.ReleaseCArrowSchema(&out)
	schema, err := cdata.ImportCArrowSchema(&out)
	return schema, errs.Wrap(errs.Internal, "describe result", "", err)
}

// arrowRecord copies chunk into a record batch of schema.
func arrowRecord(options bindings.ArrowOptions, schema *arrow.Schema, chunk bindings.DataChunk) (arrow.RecordBatch, error) {
	if options.Ptr == nil {
		return nil, errs.New(errs.Internal, "convert result", "", "the connection is closed")
	}
	var out cdata.CArrowArray
	failed := C.duckdb_data_chunk_to_arrow(options.Ptr, chunk.Ptr, unsafe.Pointer(&out))
	if err := arrowFault("convert result", failed); err != nil {
		return nil, err
	}
	rec, err := cdata.ImportCRecordBatchWithSchema(&out, schema)
	if err != nil {
		cdata.ReleaseCArrowArray(&out)
		return nil, errs.Wrap(errs.Internal, "convert result", "", err)
	}
	return rec, nil
}

func arrowFault(op string, handle unsafe.Pointer) error {
	data := bindings.ErrorData{Ptr: handle}
	defer bindings.DestroyErrorData(&data)
	return faultData(op, data)
}
