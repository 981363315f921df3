#ifndef TARN_BLOOM_H
#define TARN_BLOOM_H

#include <stdint.h>

#include "registry.h"

// tarn_bloom is a Bloom filter of keys, in one block of memory: it may say of a key that it is there which isn't, never the
// other way. All bits of a key are in one word, so that it takes one look into memory.
typedef struct {
	tarn_entry entry;
	uint64_t count; // of words, at least one
	uint64_t words[];
} tarn_bloom;

// tarn_bloom_new returns a filter without keys; NULL without memory.
tarn_bloom *tarn_bloom_new(uint64_t words);

// tarn_bloom_add_32 and tarn_bloom_add_64 add n keys. A key of 32 bits is that of 64 with the same value.
void tarn_bloom_add_32(tarn_bloom *bloom, const int32_t *keys, uint64_t n);
void tarn_bloom_add_64(tarn_bloom *bloom, const int64_t *keys, uint64_t n);

// Those of a registry: see registry.h.
void tarn_bloom_register(tarn_bloom *bloom, int64_t id);
void tarn_bloom_forget(int64_t id);
int64_t tarn_bloom_held(void);

// tarn_may_match_32 and tarn_may_match_64 are the function tarn_may_match of keys so wide, as DuckDB calls it.
void tarn_may_match_32(void *info, void *input, void *output);
void tarn_may_match_64(void *info, void *input, void *output);

#endif
