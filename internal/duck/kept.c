#include "kept.h"
#include "vector.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tarn_registry registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

tarn_deletes *tarn_deletes_new(uint64_t files, uint64_t words) {
	tarn_deletes *d = calloc(1, sizeof *d + files * sizeof *d->file + words * sizeof *d->words);
	if (!d) return NULL;
	d->files = files;
	d->file = (tarn_file *)(d + 1);
	d->words = (uint64_t *)(d->file + files);
	return d;
}

void tarn_deletes_register(tarn_deletes *d, int64_t id) { tarn_register(&registry, &d->entry, id); }
void tarn_deletes_forget(int64_t id) { tarn_forget(&registry, id); }
int64_t tarn_deletes_held(void) { return tarn_held(&registry); }

// is_gapless says whether rows follow each other from a row that isn't negative.
static bool is_gapless(const int64_t *rows, uint64_t n) {
	uint64_t differs = 0, first = (uint64_t)rows[0];
	for (uint64_t i = 0; i < n; i++) differs |= (uint64_t)rows[i] ^ (first + i);
	return differs == 0 && rows[0] >= 0 && rows[n - 1] >= rows[0];
}

static void mark_words_gapless(const tarn_file *f, uint64_t first, uint64_t n, bool *kept) {
	memset(kept, true, n);
	uint64_t end = first + n;
	for (uint64_t at = first / 64; at < f->count && at * 64 < end; at++) {
		uint64_t word = f->data[at];
		if (at == first / 64) word &= ~UINT64_C(0) << first % 64;
		for (; word; word &= word - 1) {
			uint64_t row = at * 64 + (uint64_t)__builtin_ctzll(word);
			if (row >= end) return;
			kept[row - first] = false;
		}
	}
}

// A negative row, which no file has, is beyond all words.
static void mark_words(const tarn_file *f, const int64_t *rows, uint64_t n, bool *kept) {
	for (uint64_t i = 0; i < n; i++) {
		uint64_t row = (uint64_t)rows[i];
		kept[i] = row / 64 >= f->count || !(f->data[row / 64] >> row % 64 & 1);
	}
}

// seek returns the place of the first position that isn't below row.
static uint64_t seek(const tarn_file *f, uint64_t row) {
	uint64_t low = 0, high = f->count;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (f->data[middle] < row) low = middle + 1;
		else high = middle;
	}
	return low;
}

static void mark_positions_gapless(const tarn_file *f, uint64_t first, uint64_t n, bool *kept) {
	memset(kept, true, n);
	for (uint64_t at = seek(f, first); at < f->count && f->data[at] - first < n; at++) kept[f->data[at] - first] = false;
}

// Rows mostly ascend, by steps that skip few positions. It seeks when they don't.
static void mark_positions(const tarn_file *f, const int64_t *rows, uint64_t n, bool *kept) {
	enum { near = 8 };
	uint64_t at = 0;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t row = (uint64_t)rows[i], steps = 0;
		if (i == 0 || row < (uint64_t)rows[i - 1]) at = seek(f, row);
		for (; at < f->count && f->data[at] < row && steps < near; steps++) at++;
		if (steps == near) at = seek(f, row);
		kept[i] = at == f->count || f->data[at] != row;
	}
}

// mark sets kept for rows of one file, of which there is at least one.
static void mark(const tarn_file *f, const int64_t *rows, uint64_t n, bool *kept) {
	if (f->count == 0) {
		memset(kept, true, n);
	} else if (is_gapless(rows, n)) {
		(f->dense ? mark_words_gapless : mark_positions_gapless)(f, (uint64_t)rows[0], n, kept);
	} else {
		(f->dense ? mark_words : mark_positions)(f, rows, n, kept);
	}
}

// same returns how many of n values are as the first is: all of them but for the vector in which the next file begins, for
// which it is fast.
static uint64_t same(const uint64_t *values, uint64_t n) {
	uint64_t differs = 0, i = 1;
	for (uint64_t j = 0; j < n; j++) differs |= values[j] ^ values[0];
	if (differs == 0) return n;
	while (values[i] == values[0]) i++;
	return i;
}

static void *argument(void *input, uint64_t i) {
	return duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, i));
}

void tarn_kept_at(void *info, void *input, void *output) {
	uint64_t n = duckdb_data_chunk_get_size(input);
	if (n == 0) return;
	int64_t id = *(const int64_t *)argument(input, 0);
	const uint64_t *files = argument(input, 1);
	const int64_t *rows = argument(input, 2);
	bool *kept = duckdb_vector_get_data(output);
	char message[160]; // begins as bugMark does
	tarn_deletes *d = tarn_take(&registry, id);
	if (!d) {
		snprintf(message, sizeof message, "internal: deletes %" PRId64 " are not registered", id);
		duckdb_scalar_function_set_error(info, message);
		return;
	}
	for (uint64_t from = 0, run; from < n; from += run) {
		uint64_t file = files[from];
		run = same(files + from, n - from);
		if (file >= d->files || d->file[file].absent) {
			snprintf(message, sizeof message, "internal: deletes %" PRId64 " of %" PRIu64 " files don't know the positions of file %" PRIu64,
			         id, d->files, file);
			duckdb_scalar_function_set_error(info, message);
			break;
		}
		mark(&d->file[file], rows + from, run, kept + from);
	}
	tarn_give(&registry, &d->entry);
}
