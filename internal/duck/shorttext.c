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

// text is a VARCHAR as it lies in a vector. Those of up to inline_bytes lie in bytes, where what is beyond their length is zero.
typedef struct {
	uint32_t length;
	char bytes[12];
} text;

enum { word_bytes = 8, inline_bytes = 12 };

// copy_validity gives the output the NULLs of the input, and returns its bits; NULL: no row is NULL.
static const uint64_t *copy_validity(void *vector, uint64_t rows, void *output) {
	const uint64_t *valid = duckdb_vector_get_validity(vector);
	if (valid) {
		duckdb_vector_ensure_validity_writable(output);
		memcpy(duckdb_vector_get_validity(output), valid, (rows + 63) / 64 * sizeof *valid);
	}
	return valid;
}

static bool is_valid(const uint64_t *valid, uint64_t row) { return !valid || (valid[row / 64] >> row % 64 & 1); }

// refuse ends the statement: the message is read in Go.
static void refuse(void *info, uint32_t longest) {
	duckdb_scalar_function_set_error(info, longest > inline_bytes ? "a text is longer than 12 bytes" : "a text is longer than 8 bytes");
}

// beyond has the bits of a word that lie beyond a text's length.
static uint64_t beyond(uint32_t length) { return length < word_bytes ? ~UINT64_C(0) << 8 * length : 0; }

// has_ff says whether any byte of a word is 0xFF.
static bool has_ff(uint64_t word) {
	uint64_t x = ~word;
	return (x - UINT64_C(0x0101010101010101)) & ~x & UINT64_C(0x8080808080808080);
}

// The number is the text's bytes, and 0xFF where there are none: no byte of UTF-8 is 0xFF.
void tarn_short_8(void *info, void *input, void *output) {
	uint64_t n = duckdb_data_chunk_get_size(input);
	void *vector = duckdb_data_chunk_get_vector(input, 0);
	const text *texts = duckdb_vector_get_data(vector);
	const uint64_t *valid = copy_validity(vector, n, output);
	uint64_t *numbers = duckdb_vector_get_data(output);
	uint32_t longest = 0;
	for (uint64_t i = 0; i < n; i++) {
		if (!is_valid(valid, i)) continue; // nothing may be looked at
		uint32_t length = texts[i].length;
		uint64_t word;
		memcpy(&word, texts[i].bytes, sizeof word);
		if (length > word_bytes || has_ff(word)) {
			if (length <= word_bytes) length = word_bytes + 1; // no UTF-8
			if (length > longest) longest = length;
		}
		numbers[i] = word | beyond(length);
	}
	if (longest) refuse(info, longest);
}

void tarn_short_text_8(void *info, void *input, void *output) {
	(void)info;
	uint64_t n = duckdb_data_chunk_get_size(input);
	void *vector = duckdb_data_chunk_get_vector(input, 0);
	const uint64_t *numbers = duckdb_vector_get_data(vector);
	const uint64_t *valid = copy_validity(vector, n, output);
	text *texts = duckdb_vector_get_data(output);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t word = is_valid(valid, i) ? numbers[i] : ~UINT64_C(0);
		uint32_t length = ~word ? word_bytes - __builtin_clzll(~word) / 8 : 0;
		word &= ~beyond(length);
		texts[i] = (text){.length = length};
		memcpy(texts[i].bytes, &word, sizeof word);
	}
}

// The number is the text as it lies there.
void tarn_short_12(void *info, void *input, void *output) {
	uint64_t n = duckdb_data_chunk_get_size(input);
	void *vector = duckdb_data_chunk_get_vector(input, 0);
	const text *texts = duckdb_vector_get_data(vector);
	const uint64_t *valid = copy_validity(vector, n, output);
	uint32_t longest = 0;
	for (uint64_t i = 0; i < n; i++) {
		if (is_valid(valid, i) && texts[i].length > longest) longest = texts[i].length;
	}
	memcpy(duckdb_vector_get_data(output), texts, n * sizeof *texts);
	if (longest > inline_bytes) refuse(info, longest);
}

void tarn_short_text_12(void *info, void *input, void *output) {
	uint64_t n = duckdb_data_chunk_get_size(input);
	void *vector = duckdb_data_chunk_get_vector(input, 0);
	const text *numbers = duckdb_vector_get_data(vector);
	const uint64_t *valid = copy_validity(vector, n, output);
	text *texts = duckdb_vector_get_data(output);
	for (uint64_t i = 0; i < n; i++) {
		texts[i] = is_valid(valid, i) ? numbers[i] : (text){0};
		if (texts[i].length <= inline_bytes) continue;
		texts[i] = (text){0}; // it would be a pointer
		duckdb_scalar_function_set_error(info, "internal: no short text has this number");
	}
}
