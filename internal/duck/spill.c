#include "spill.h"
#include "vector.h"

#include <stdlib.h>
#include <string.h>

// As in duckdb.h, where handles are pointers: void* is the same to the linker.
extern void duckdb_unsafe_vector_assign_string_element_len(void *vector, uint64_t row, const char *text, uint64_t length);

void tarn_assign_texts(void *vector, uint64_t row, uint64_t rows, const uint8_t *lengths, const char *texts) {
	tarn_text *values = duckdb_vector_get_data(vector);
	for (uint64_t i = 0; i < rows; i++, lengths += 4) {
		uint32_t length =
		    (uint32_t)lengths[0] | (uint32_t)lengths[1] << 8 | (uint32_t)lengths[2] << 16 | (uint32_t)lengths[3] << 24;
		if (length <= sizeof values->inlined) {
			// Short texts lie in the vector itself, with zeros after them.
			values[row + i].length = length;
			memset(values[row + i].inlined, 0, sizeof values->inlined);
			memcpy(values[row + i].inlined, texts, length);
		} else {
			duckdb_unsafe_vector_assign_string_element_len(vector, row + i, texts, length);
		}
		texts += length;
	}
}

int64_t *tarn_number(int64_t number) {
	int64_t *memory = malloc(sizeof number);
	if (memory) {
		*memory = number;
	}
	return memory;
}

void tarn_free(void *memory) { free(memory); }
