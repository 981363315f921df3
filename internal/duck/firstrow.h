#ifndef TARN_FIRSTROW_H
#define TARN_FIRSTROW_H

#include <stdbool.h>
#include <stdint.h>

enum { tarn_first_columns = 64 }; // the most that there may be

// tarn_first_register makes an aggregate known to a connection's instance: of a number and the columns of the given types, whose
// values take width bytes each (0: text), it gives the struct of the columns of the row with the least number. Long texts of the rows
// so far may take limit bytes; 0: any number. False: DuckDB refuses it, or there is no memory.
bool tarn_first_register(void *connection, const char *name, void **types, const uint8_t *widths, uint32_t columns, int64_t limit);

#endif
