#ifndef TARN_THROWN_H
#define TARN_THROWN_H

#include <stdbool.h>
#include <stdint.h>

// DuckDB's calls that allocate throw where the memory limit is reached. What Go calls may not be left by an exception, which would
// have to pass through Go's frames and ends the process: these calls catch it, and are false.

#ifdef __cplusplus
extern "C" {
#endif

// tarn_assign_text puts a text of any length and bytes into a row of a vector.
bool tarn_assign_text(void *vector, uint64_t row, const char *text, uint64_t length);

// tarn_reserve_list makes room for so many elements in a vector of lists.
bool tarn_reserve_list(void *vector, uint64_t elements);

#ifdef __cplusplus
}
#endif

#endif
