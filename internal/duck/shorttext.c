#include "shorttext.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// As in duckdb.h, where handles are pointers: void* is the same to the linker.
extern uint64_t duckdb_data_chunk_get_size(void *chunk);
extern void *duckdb_data_chunk_get_vector(void *chunk, uint64_t column);
extern void *duckdb_vector_get_data(void *vector);
extern uint64_t *duckdb_vector_get_validity(void *vector);
extern void duckdb_vector_ensure_validity_writable(void *vector);
extern void duckdb_scalar_function_set_error(void *info, const char *message);

// text is a VARCHAR as it lies in a vector. DuckDB compares texts of up to inline_bytes by all of these bytes: those beyond the
// text's own are zero.
typedef struct {
	uint32_t length;
	char bytes[12];
} text;

enum { inline_bytes = 12 };

void tarn_short(void *info, void *input, void *output) {
	uint64_t n = duckdb_data_chunk_get_size(input);
	void *vector = duckdb_data_chunk_get_vector(input, 0);
	const text *texts = duckdb_vector_get_data(vector);
	const uint64_t *valid = duckdb_vector_get_validity(vector);
	bool is_long = false;
	if (valid) { // of the rows that are NULL nothing may be looked at
		duckdb_vector_ensure_validity_writable(output);
		memcpy(duckdb_vector_get_validity(output), valid, (n + 63) / 64 * sizeof *valid);
		for (uint64_t i = 0; i < n; i++) is_long |= (valid[i / 64] >> i % 64 & 1) && texts[i].length > inline_bytes;
	} else {
		for (uint64_t i = 0; i < n; i++) is_long |= texts[i].length > inline_bytes;
	}
	memcpy(duckdb_vector_get_data(output), texts, n * sizeof *texts);
	if (is_long) duckdb_scalar_function_set_error(info, "a text is longer than 12 bytes"); // begins as tooLong does
}
