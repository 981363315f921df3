#ifndef TARN_KEPT_H
#define TARN_KEPT_H

#include <stdint.h>

#include "registry.h"

// tarn_file says which rows of a file are deleted.
typedef struct {
	int8_t absent;       // not 0: it isn't known here, and asking for it is an error
	int8_t dense;        // not 0: data are the words of a bit set; else the positions themselves, ascending
	uint64_t count;      // of data
	const uint64_t *data; // in the words of the deletes
} tarn_file;

// tarn_deletes say it for the files of a scan, in one block of memory.
typedef struct {
	tarn_entry entry;
	uint64_t files;
	tarn_file *file;
	uint64_t *words; // of all files
} tarn_deletes;

// tarn_deletes_new returns deletes of so many files with so many words, all zero; NULL without memory.
tarn_deletes *tarn_deletes_new(uint64_t files, uint64_t words);

// Those of a registry: see registry.h.
void tarn_deletes_register(tarn_deletes *deletes, int64_t id);
void tarn_deletes_forget(int64_t id);
int64_t tarn_deletes_held(void);

// tarn_kept_at is the function of that name, as DuckDB calls it.
void tarn_kept_at(void *info, void *input, void *output);

#endif
