#ifndef TARN_VECTOR_H
#define TARN_VECTOR_H

#include <stdbool.h>
#include <stdint.h>

// DuckDB's calls that several files use, as in duckdb.h, where handles are pointers: void* is the same to the linker.
extern uint64_t duckdb_data_chunk_get_size(void *chunk);
extern void *duckdb_data_chunk_get_vector(void *chunk, uint64_t column);
extern void *duckdb_vector_get_data(void *vector);
extern uint64_t *duckdb_vector_get_validity(void *vector);
extern void duckdb_vector_ensure_validity_writable(void *vector);
extern void duckdb_scalar_function_set_error(void *info, const char *message);

// tarn_text is a VARCHAR or BLOB as it lies in a vector. Those of up to tarn_inline_bytes lie in inlined, where what is beyond their
// length is zero; of longer ones bytes are all.
typedef union {
	struct {
		uint32_t length;
		char inlined[12];
	};
	struct {
		char length_and_prefix[8];
		const char *bytes;
	};
} tarn_text;

_Static_assert(sizeof(tarn_text) == 16, "a text takes 16 bytes of a vector");

enum { tarn_inline_bytes = 12 };

// tarn_is_valid says whether a row isn't NULL by a vector's bits, of which there are none where no row is NULL.
static inline bool tarn_is_valid(const uint64_t *valid, uint64_t row) { return !valid || (valid[row / 64] >> row % 64 & 1); }

// TARN_FAST has the compiler use vectors of the machine that the program runs on, where it can choose at run time.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define TARN_FAST __attribute__((optimize("O3"), target_clones("avx2", "default")))
#else
#define TARN_FAST
#endif

#endif
