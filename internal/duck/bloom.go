package duck

/*
#include "bloom.h"
*/
import "C"

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/internal/quote"
)

// mayMatchName is the function tarn_may_match(filter, key): false where no key of a Bloom filter equals the key.
const mayMatchName = "tarn_may_match"

var (
	callMayMatch32 = unsafe.Pointer(C.tarn_may_match_32)
	callMayMatch64 = unsafe.Pointer(C.tarn_may_match_64)

	lastBloom atomic.Int64
)

// mayMatch returns the overloads of that function.
func mayMatch(integer, long, truth bindings.LogicalType) []function {
	return []function{
		{params: []bindings.LogicalType{long, integer}, result: truth, call: callMayMatch32},
		{params: []bindings.LogicalType{long, long}, result: truth, call: callMayMatch64},
	}
}

const (
	// bloomKeyBits are the bits of a Bloom filter for each key. With them about one key of a hundred that isn't there is let by.
	bloomKeyBits = 16
	wordBits     = 64
)

// Bloom is a Bloom filter of integers, over all instances. It must be closed. One goroutine adds keys, before the first
// Condition is run.
type Bloom struct {
	words *C.tarn_bloom
	id    int64
}

// BloomBytes returns how much memory a filter of so many keys takes.
func BloomBytes(keys int64) int64 { return (keys*bloomKeyBits/wordBits + 1) * wordBits / 8 }

// NewBloom returns a filter for about so many keys.
func NewBloom(keys int64) (*Bloom, error) {
	b := &Bloom{words: C.tarn_bloom_new(C.uint64_t(BloomBytes(keys) * 8 / wordBits)), id: lastBloom.Add(1)}
	if b.words == nil {
		return nil, errs.New(errs.Resource, "filter keys", "", "no memory for a Bloom filter of %d", keys)
	}
	C.tarn_bloom_register(b.words, C.int64_t(b.id))
	return b, nil
}

// Add adds keys.
func (b *Bloom) Add(keys []int64) {
	if len(keys) > 0 {
		C.tarn_bloom_add_64(b.words, (*C.int64_t)(unsafe.Pointer(&keys[0])), C.uint64_t(len(keys)))
	}
}

// AddInts adds keys of 32 bits.
func (b *Bloom) AddInts(keys []int32) {
	if len(keys) > 0 {
		C.tarn_bloom_add_32(b.words, (*C.int32_t)(unsafe.Pointer(&keys[0])), C.uint64_t(len(keys)))
	}
}

// Condition writes the test that an INTEGER or BIGINT column may equal one of the keys as SQL. It may let NULL by.
func (b *Bloom) Condition(column string) string {
	return fmt.Sprintf("%s(%d, %s)", mayMatchName, b.id, quote.Name(column))
}

// Close forgets the filter, once no statement with its Condition runs.
func (b *Bloom) Close() { C.tarn_bloom_forget(C.int64_t(b.id)) }

// bloomsInC returns how many filters are in C memory.
func bloomsInC() int { return int(C.tarn_bloom_held()) }
