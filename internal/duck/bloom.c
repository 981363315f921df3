#include "bloom.h"
#include "vector.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static tarn_registry registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

tarn_bloom *tarn_bloom_new(uint64_t words) {
	tarn_bloom *b = calloc(1, sizeof *b + words * sizeof *b->words);
	if (b) b->count = words;
	return b;
}

void tarn_bloom_register(tarn_bloom *b, int64_t id) { tarn_register(&registry, &b->entry, id); }
void tarn_bloom_forget(int64_t id) { tarn_forget(&registry, id); }
int64_t tarn_bloom_held(void) { return tarn_held(&registry); }

// spread makes of a key a number whose upper half depends on all bits of the key.
static inline uint64_t spread(int64_t key) {
	uint64_t h = (uint64_t)key;
	return (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
}

// place returns the word of a key by its number, and mask the three bits: those that say more of the word are the uppermost.
static inline uint64_t place(uint64_t h, uint64_t words) { return (h >> 32) * words >> 32; }

static inline uint64_t mask(uint64_t h) {
	return UINT64_C(1) << (h >> 26 & 63) | UINT64_C(1) << (h >> 32 & 63) | UINT64_C(1) << (h >> 38 & 63);
}

#define FUNCTIONS(TYPE, BITS)                                                                                          \
	void tarn_bloom_add_##BITS(tarn_bloom *b, const TYPE *keys, uint64_t n) {                                          \
		for (uint64_t i = 0; i < n; i++) {                                                                             \
			uint64_t h = spread(keys[i]);                                                                              \
			b->words[place(h, b->count)] |= mask(h);                                                                   \
		}                                                                                                              \
	}                                                                                                                  \
	TARN_FAST static void match_##BITS(const uint64_t *restrict words, uint64_t count, const TYPE *restrict keys, uint64_t n, \
	                              bool *restrict may) {                                                                \
		for (uint64_t i = 0; i < n; i++) {                                                                             \
			uint64_t h = spread(keys[i]), bits = mask(h);                                                              \
			may[i] = (words[place(h, count)] & bits) == bits;                                                          \
		}                                                                                                              \
	}                                                                                                                  \
	void tarn_may_match_##BITS(void *info, void *input, void *output) {                                                \
		uint64_t n = duckdb_data_chunk_get_size(input);                                                                \
		if (n == 0) return;                                                                                            \
		int64_t id = *(const int64_t *)duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 0));                 \
		tarn_bloom *b = tarn_take(&registry, id);                                                                      \
		if (!b) {                                                                                                      \
			char message[80]; /* begins as bugMark does */                                                             \
			snprintf(message, sizeof message, "internal: Bloom filter %" PRId64 " is not registered", id);             \
			duckdb_scalar_function_set_error(info, message);                                                           \
			return;                                                                                                    \
		}                                                                                                              \
		match_##BITS(b->words, b->count, duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 1)), n,            \
		             duckdb_vector_get_data(output));                                                                  \
		tarn_give(&registry, &b->entry);                                                                               \
	}

FUNCTIONS(int32_t, 32)
FUNCTIONS(int64_t, 64)
