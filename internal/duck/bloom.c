#include "bloom.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

// As in duckdb.h, where handles are pointers: void* is the same to the linker.
extern uint64_t duckdb_data_chunk_get_size(void *chunk);
extern void *duckdb_data_chunk_get_vector(void *chunk, uint64_t column);
extern void *duckdb_vector_get_data(void *vector);
extern void duckdb_scalar_function_set_error(void *info, const char *message);

// The lock guards what follows and the users of all filters. It is held for moments only.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tarn_bloom *registered;
static int64_t held;

tarn_bloom *tarn_bloom_new(uint64_t words) {
	tarn_bloom *b = calloc(1, sizeof *b + words * sizeof *b->words);
	if (b) b->count = words;
	return b;
}

void tarn_bloom_register(tarn_bloom *b, int64_t id) {
	pthread_mutex_lock(&lock);
	b->id = id;
	b->users = 1;
	b->next = registered;
	registered = b;
	held++;
	pthread_mutex_unlock(&lock);
}

// leave ends a use of b, which may be the last. The lock is held.
static tarn_bloom *leave(tarn_bloom *b) {
	if (--b->users) return NULL;
	held--;
	return b;
}

void tarn_bloom_forget(int64_t id) {
	tarn_bloom *unused = NULL;
	pthread_mutex_lock(&lock);
	for (tarn_bloom **at = &registered; *at; at = &(*at)->next) {
		if ((*at)->id != id) continue;
		tarn_bloom *b = *at;
		*at = b->next;
		unused = leave(b);
		break;
	}
	pthread_mutex_unlock(&lock);
	free(unused);
}

int64_t tarn_bloom_held(void) {
	pthread_mutex_lock(&lock);
	int64_t n = held;
	pthread_mutex_unlock(&lock);
	return n;
}

// take returns the filter of an id, for use until give, or NULL. Few are registered at a time.
static tarn_bloom *take(int64_t id) {
	pthread_mutex_lock(&lock);
	tarn_bloom *b = registered;
	while (b && b->id != id) b = b->next;
	if (b) b->users++;
	pthread_mutex_unlock(&lock);
	return b;
}

static void give(tarn_bloom *b) {
	pthread_mutex_lock(&lock);
	tarn_bloom *unused = leave(b);
	pthread_mutex_unlock(&lock);
	free(unused);
}

// FAST has the compiler use vectors of the machine that the program runs on, where it can choose at run time.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define FAST __attribute__((optimize("O3"), target_clones("avx2", "default")))
#else
#define FAST
#endif

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
	FAST static void match_##BITS(const uint64_t *restrict words, uint64_t count, const TYPE *restrict keys, uint64_t n,  \
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
		tarn_bloom *b = take(id);                                                                                      \
		if (!b) {                                                                                                      \
			char message[80]; /* begins as bugMark does */                                                             \
			snprintf(message, sizeof message, "internal: Bloom filter %" PRId64 " is not registered", id);             \
			duckdb_scalar_function_set_error(info, message);                                                           \
			return;                                                                                                    \
		}                                                                                                              \
		match_##BITS(b->words, b->count, duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 1)), n,            \
		             duckdb_vector_get_data(output));                                                                  \
		give(b);                                                                                                       \
	}

FUNCTIONS(int32_t, 32)
FUNCTIONS(int64_t, 64)
