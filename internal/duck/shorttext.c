#include "shorttext.h"
#include "vector.h"

#include <string.h>

enum { word_bytes = 8 };

// copy_validity gives the output the NULLs of the input, and returns its bits; NULL: no row is NULL.
static const uint64_t *copy_validity(void *vector, uint64_t rows, void *output) {
	const uint64_t *valid = duckdb_vector_get_validity(vector);
	if (valid) {
		duckdb_vector_ensure_validity_writable(output);
		memcpy(duckdb_vector_get_validity(output), valid, (rows + 63) / 64 * sizeof *valid);
	}
	return valid;
}

// refuse ends the statement: the message is read in Go.
static void refuse(void *info, uint32_t longest) {
	duckdb_scalar_function_set_error(info, longest > tarn_inline_bytes ? "a text is longer than 12 bytes" : "a text is longer than 8 bytes");
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
	const tarn_text *texts = duckdb_vector_get_data(vector);
	const uint64_t *valid = copy_validity(vector, n, output);
	uint64_t *numbers = duckdb_vector_get_data(output);
	uint32_t longest = 0;
	for (uint64_t i = 0; i < n; i++) {
		if (!tarn_is_valid(valid, i)) continue; // nothing may be looked at
		uint32_t length = texts[i].length;
		uint64_t word;
		memcpy(&word, texts[i].inlined, sizeof word);
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
	tarn_text *texts = duckdb_vector_get_data(output);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t word = tarn_is_valid(valid, i) ? numbers[i] : ~UINT64_C(0);
		uint32_t length = ~word ? word_bytes - __builtin_clzll(~word) / 8 : 0;
		word &= ~beyond(length);
		texts[i] = (tarn_text){.length = length};
		memcpy(texts[i].inlined, &word, sizeof word);
	}
}

// The number is the text as it lies there.
void tarn_short_12(void *info, void *input, void *output) {
	uint64_t n = duckdb_data_chunk_get_size(input);
	void *vector = duckdb_data_chunk_get_vector(input, 0);
	const tarn_text *texts = duckdb_vector_get_data(vector);
	const uint64_t *valid = copy_validity(vector, n, output);
	uint32_t longest = 0;
	for (uint64_t i = 0; i < n; i++) {
		if (tarn_is_valid(valid, i) && texts[i].length > longest) longest = texts[i].length;
	}
	memcpy(duckdb_vector_get_data(output), texts, n * sizeof *texts);
	if (longest > tarn_inline_bytes) refuse(info, longest);
}

void tarn_short_text_12(void *info, void *input, void *output) {
	uint64_t n = duckdb_data_chunk_get_size(input);
	void *vector = duckdb_data_chunk_get_vector(input, 0);
	const tarn_text *numbers = duckdb_vector_get_data(vector);
	const uint64_t *valid = copy_validity(vector, n, output);
	tarn_text *texts = duckdb_vector_get_data(output);
	for (uint64_t i = 0; i < n; i++) {
		texts[i] = tarn_is_valid(valid, i) ? numbers[i] : (tarn_text){0};
		if (texts[i].length <= tarn_inline_bytes) continue;
		texts[i] = (tarn_text){0}; // it would be a pointer
		duckdb_scalar_function_set_error(info, "internal: no short text has this number");
	}
}
