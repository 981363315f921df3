package duck

/*
#include "placed.h"
*/
import "C"

import (
	"unsafe"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// A check's way into Go and back costs more than the check. So C looks at keys of 32 and 64 bits first, and passes to Go
// whatever it doesn't find to be in its place: NULLs, rows of several files, and rows that are in the wrong one.
var (
	callVerify32 = unsafe.Pointer(C.tarn_verify_32)
	callVerify64 = unsafe.Pointer(C.tarn_verify_64)
)

// verifyCall returns the function that checks a column of t.
func verifyCall(t transform.Type) unsafe.Pointer {
	switch keyWidth(t) {
	case 4:
		return callVerify32
	case 8:
		return callVerify64
	}
	return callVerify
}

// keyWidth returns how many bytes DuckDB takes for a value of an ordinal type, where C looks at those; else 0.
func keyWidth(t transform.Type) int {
	switch t.Kind {
	case transform.Int, transform.Date:
		return 4
	case transform.Long, transform.Time, transform.Timestamp, transform.TimestampTZ, transform.TimestampNS:
		return 8
	}
	return 0
}

// placeInC makes a check known to C, if it is one that C can do.
func (k *keyCheck) placeInC(id int64) error {
	width := keyWidth(k.Type)
	isBucket := k.Transform.Op == transform.Bucket
	if width == 0 || k.Transform.Op == transform.Void || isBucket && k.Type.Kind == transform.TimestampNS {
		return nil
	}
	p := C.tarn_places_new(C.uint64_t(len(k.files)))
	if p == nil {
		return errs.New(errs.Internal, "register key check", k.Column, "no memory for the keys of %d files", len(k.files))
	}
	p.width = C.uint32_t(width)
	if isBucket {
		p.buckets = C.uint32_t(k.Transform.N)
	}
	places := unsafe.Slice(p.file, len(k.files))
	for i := range places {
		low, high := k.place(i)
		if high < low {
			places[i].unknown = 1
		}
		places[i].low, places[i].high = C.int64_t(low), C.int64_t(high)
	}
	C.tarn_places_register(p, C.int64_t(id))
	return nil
}

// place returns what C compares with the keys of a file: the bucket, or the range of keys. It is empty where there is none.
func (k *keyCheck) place(file int) (low, high int64) {
	switch want := k.Expected[file].(type) {
	case int32, int64:
		if k.Transform.Op != transform.Bucket {
			return k.rangeOf(file)
		}
		if b := int64(bucketOf(want)); b >= 0 {
			return b, b
		}
	}
	return noKeys()
}

func forgetPlaces(id int64) { C.tarn_places_forget(C.int64_t(id)) }

// placesInC returns how many checks are in C memory.
func placesInC() int { return int(C.tarn_places_held()) }
