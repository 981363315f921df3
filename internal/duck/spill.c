#include "spill.h"
#include "thrown.h"
#include "vector.h"

#include <stdlib.h>
#include <string.h>

bool tarn_assign_texts(void *vector, uint64_t row, uint64_t rows, const uint8_t *lengths, const char *texts) {
	tarn_text *values = duckdb_vector_get_data(vector);
	for (uint64_t i = 0; i < rows; i++, lengths += 4) {
		uint32_t length =
		    (uint32_t)lengths[0] | (uint32_t)lengths[1] << 8 | (uint32_t)lengths[2] << 16 | (uint32_t)lengths[3] << 24;
		if (length <= sizeof values->inlined) {
			// Short texts lie in the vector itself, with zeros after them.
			values[row + i].length = length;
			memset(values[row + i].inlined, 0, sizeof values->inlined);
			memcpy(values[row + i].inlined, texts, length);
		} else if (!tarn_assign_text(vector, row + i, texts, length)) {
			return false;
		}
		texts += length;
	}
	return true;
}

int64_t *tarn_number(int64_t number) {
	int64_t *memory = malloc(sizeof number);
	if (memory) {
		*memory = number;
	}
	return memory;
}

void tarn_free(void *memory) { free(memory); }
