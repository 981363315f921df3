#ifndef TARN_PLACED_H
#define TARN_PLACED_H

#include <stdint.h>

#include "registry.h"

// tarn_place says which keys a file has.
typedef struct {
	int8_t unknown;    // not 0: it isn't known here
	int64_t low, high; // of buckets: the bucket, twice; else the least and the greatest key
} tarn_place;

// tarn_places say it for the files of a scan, in one block of memory.
typedef struct {
	tarn_entry entry;
	uint32_t width;   // of a key, in bytes: 4 or 8
	uint32_t buckets; // 0: files have ranges of keys
	uint64_t files;
	tarn_place *file;
} tarn_places;

// tarn_places_new returns places of so many files, all of them known and of key 0; NULL without memory.
tarn_places *tarn_places_new(uint64_t files);

// Those of a registry: see registry.h.
void tarn_places_register(tarn_places *places, int64_t id);
void tarn_places_forget(int64_t id);
int64_t tarn_places_held(void);

// tarn_verify_32 and tarn_verify_64 are the functions that check columns of keys so wide, as DuckDB calls them.
void tarn_verify_32(void *info, void *input, void *output);
void tarn_verify_64(void *info, void *input, void *output);

#endif
