#include "placed.h"
#include "vector.h"

#include <stdlib.h>

// As in duckdb.h, where handles are pointers: void* is the same to the linker.
extern void duckdb_vector_reference_vector(void *to, void *from);

// The function in Go, which decides on all that isn't plainly right.
extern void tarnDuckVerify(void *info, void *input, void *output);

static tarn_registry registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

tarn_places *tarn_places_new(uint64_t files) {
	tarn_places *p = calloc(1, sizeof *p + files * sizeof *p->file);
	if (!p) return NULL;
	p->files = files;
	p->file = (tarn_place *)(p + 1);
	return p;
}

void tarn_places_register(tarn_places *p, int64_t id) { tarn_register(&registry, &p->entry, id); }
void tarn_places_forget(int64_t id) { tarn_forget(&registry, id); }
int64_t tarn_places_held(void) { return tarn_held(&registry); }

static inline uint32_t rotate(uint32_t h, int by) { return h << by | h >> (32 - by); }

static inline uint32_t mix(uint32_t h, uint32_t word) {
	h ^= rotate(word * 0xcc9e2d51u, 15) * 0x1b873593u;
	return rotate(h, 13) * 5 + 0xe6546b64u;
}

// hash is what Iceberg hashes a long by, murmur3 of its eight bytes, without the sign; package transform has the rule. An int
// hashes as the long of the same value.
static inline uint32_t hash(int64_t key) {
	uint32_t h = mix(mix(0, (uint32_t)key), (uint32_t)((uint64_t)key >> 32)) ^ 8;
	h = (h ^ h >> 16) * 0x85ebca6bu;
	h = (h ^ h >> 13) * 0xc2b2ae35u;
	return (h ^ h >> 16) & INT32_MAX;
}

// The functions that follow say whether n keys are all in one place. They come for each width, and for buckets whose
// count is a power of two, which needs no division.
#define FUNCTIONS(TYPE, BITS)                                                                                          \
	TARN_FAST static bool in_masked_##BITS(const TYPE *keys, uint64_t n, uint32_t mask, uint32_t bucket) {             \
		uint32_t differs = 0;                                                                                          \
		for (uint64_t i = 0; i < n; i++) differs |= (hash(keys[i]) & mask) ^ bucket;                                   \
		return differs == 0;                                                                                           \
	}                                                                                                                  \
	static bool in_bucket_##BITS(const TYPE *keys, uint64_t n, uint32_t buckets, uint32_t bucket) {                    \
		if ((buckets & (buckets - 1)) == 0) return in_masked_##BITS(keys, n, buckets - 1, bucket);                     \
		uint32_t differs = 0;                                                                                          \
		for (uint64_t i = 0; i < n; i++) differs |= hash(keys[i]) % buckets ^ bucket;                                  \
		return differs == 0;                                                                                           \
	}                                                                                                                  \
	TARN_FAST static bool in_range_##BITS(const TYPE *keys, uint64_t n, TYPE low, TYPE high) {                         \
		bool outside = false;                                                                                          \
		for (uint64_t i = 0; i < n; i++) outside |= (keys[i] < low) | (keys[i] > high);                                \
		return !outside;                                                                                               \
	}                                                                                                                  \
	static bool in_place_##BITS(const TYPE *keys, uint64_t n, uint32_t buckets, const tarn_place *at) {                \
		if (buckets) return in_bucket_##BITS(keys, n, buckets, (uint32_t)at->low);                                     \
		return in_range_##BITS(keys, n, (TYPE)at->low, (TYPE)at->high);                                                \
	}

FUNCTIONS(int32_t, 32)
FUNCTIONS(int64_t, 64)

// are_same says whether all of n values are as the first is.
TARN_FAST static bool are_same(const uint64_t *values, uint64_t n) {
	uint64_t differs = 0;
	for (uint64_t i = 0; i < n; i++) differs |= values[i] ^ values[0];
	return differs == 0;
}

// has_nulls says whether a mask has an unset bit for one of n rows. There is no mask where none is.
static bool has_nulls(const uint64_t *mask, uint64_t n) {
	if (!mask) return false;
	for (uint64_t i = 0; i < n / 64; i++)
		if (~mask[i]) return true;
	return n % 64 && ~mask[n / 64] << (64 - n % 64);
}

// are_placed says whether the rows of a call are of one file that is known here, none of them NULL, and all where they belong.
static bool are_placed(void *input, uint32_t width) {
	uint64_t n = duckdb_data_chunk_get_size(input);
	if (n == 0) return false;
	const void *data[3]; // the check's id, the keys, the files
	for (uint64_t i = 0; i < 3; i++) {
		void *v = duckdb_data_chunk_get_vector(input, i);
		if (has_nulls(duckdb_vector_get_validity(v), n)) return false;
		data[i] = duckdb_vector_get_data(v);
	}
	const uint64_t *files = data[2];
	if (!are_same(files, n)) return false;
	tarn_places *p = tarn_take(&registry, *(const int64_t *)data[0]);
	if (!p) return false;
	bool placed = false;
	if (p->width == width && files[0] < p->files && !p->file[files[0]].unknown) {
		const tarn_place *at = &p->file[files[0]];
		placed = width == 8 ? in_place_64(data[1], n, p->buckets, at) : in_place_32(data[1], n, p->buckets, at);
	}
	tarn_give(&registry, &p->entry);
	return placed;
}

static void verify(void *info, void *input, void *output, uint32_t width) {
	if (are_placed(input, width)) {
		duckdb_vector_reference_vector(output, duckdb_data_chunk_get_vector(input, 1));
	} else {
		tarnDuckVerify(info, input, output);
	}
}

void tarn_verify_32(void *info, void *input, void *output) { verify(info, input, output, 4); }
void tarn_verify_64(void *info, void *input, void *output) { verify(info, input, output, 8); }
