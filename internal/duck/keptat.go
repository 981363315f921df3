package duck

/*
#include "kept.h"
*/
import "C"

import (
	"unsafe"

	"github.com/tarndb/tarn/internal/errs"
)

// keptAtName is the function tarn_kept_at(deletes, file, position): kept for files whose rows are left out by their positions
// alone. It is C, because DuckDB's way into Go and back costs a vector of rows about as much as reading it does.
const keptAtName = "tarn_kept_at"

var callKeptAt = unsafe.Pointer(C.tarn_kept_at)

// keptAtWords is the most words of 64 bits that the copies for tarn_kept_at may take, over the files of a scan: beyond it
// the positions stay where they are.
const keptAtWords = 8 << 20

// byPosition says whether positions alone decide which rows of the file are left out.
func (f *FileDeletes) byPosition() bool { return f.Only == nil && len(f.Deleted.Equality) == 0 }

// layoutInC returns how the positions of a file lie in C memory, in the shorter of two ways, and how many words they take.
func (f *FileDeletes) layoutInC() (dense bool, words int64) {
	p := f.Deleted.Positions
	if p == nil || !f.byPosition() {
		return false, 0
	}
	count, bits := p.Count(), p.Words()
	return bits < count, min(bits, count)
}

// registerInC makes those files of a spec that byPosition is true of known to tarn_kept_at. It is false when there is none,
// or they would take too much memory.
func registerInC(id int64, files []FileDeletes) (bool, error) {
	var words int64
	some := false
	for i := range files {
		_, n := files[i].layoutInC()
		if words += n; n > keptAtWords || words > keptAtWords {
			return false, nil
		}
		some = some || files[i].byPosition()
	}
	if !some {
		return false, nil
	}
	d := C.tarn_deletes_new(C.uint64_t(len(files)), C.uint64_t(words))
	if d == nil {
		return false, errs.New(errs.Internal, "register deletes", "", "no memory for the positions of %d files", len(files))
	}
	known, left := unsafe.Slice(d.file, len(files)), unsafe.Slice((*uint64)(d.words), words)
	for i := range files {
		n := files[i].fillInC(&known[i], left)
		left = left[n:]
	}
	C.tarn_deletes_register(d, C.int64_t(id))
	return true, nil
}

// fillInC writes the positions of a file to words, and returns how many it took.
func (f *FileDeletes) fillInC(file *C.tarn_file, words []uint64) int64 {
	dense, n := f.layoutInC()
	switch {
	case !f.byPosition():
		file.absent = 1
	case dense:
		file.dense = 1
		f.Deleted.Positions.WriteWords(words[:n])
	case n > 0:
		i := 0
		for at := range f.Deleted.Positions.All() {
			words[i] = uint64(at)
			i++
		}
	}
	if n > 0 {
		file.count, file.data = C.uint64_t(n), (*C.uint64_t)(unsafe.Pointer(&words[0]))
	}
	return n
}

func forgetInC(id int64) { C.tarn_deletes_forget(C.int64_t(id)) }

// heldInC returns how many specs are in C memory.
func heldInC() int { return int(C.tarn_deletes_held()) }
