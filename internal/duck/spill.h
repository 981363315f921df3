#ifndef TARN_SPILL_H
#define TARN_SPILL_H

#include <stdbool.h>
#include <stdint.h>

// tarn_assign_texts puts texts into the rows of a vector, from row on. Lengths are numbers of four bytes, the lowest first; the
// texts follow each other. It is false where memory doesn't suffice.
bool tarn_assign_texts(void *vector, uint64_t row, uint64_t rows, const uint8_t *lengths, const char *texts);

// tarn_number returns memory with a number in it, for tarn_free; NULL without memory.
int64_t *tarn_number(int64_t number);

void tarn_free(void *memory);

#endif
