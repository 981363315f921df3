#include "firstrow.h"
#include "vector.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// As in duckdb.h, where handles are pointers: void* is the same to the linker.
typedef uint64_t (*size_callback)(void *info);
typedef void (*init_callback)(void *info, void *state);
typedef void (*update_callback)(void *info, void *input, void **states);
typedef void (*combine_callback)(void *info, void **source, void **target, uint64_t count);
typedef void (*finalize_callback)(void *info, void **source, void *result, uint64_t count, uint64_t offset);
typedef void (*destroy_callback)(void **states, uint64_t count);
extern void *duckdb_create_aggregate_function(void);
extern void duckdb_destroy_aggregate_function(void **function);
extern void duckdb_aggregate_function_set_name(void *function, const char *name);
extern void duckdb_aggregate_function_add_parameter(void *function, void *type);
extern void duckdb_aggregate_function_set_return_type(void *function, void *type);
extern void duckdb_aggregate_function_set_functions(void *function, size_callback, init_callback, update_callback, combine_callback,
	finalize_callback);
extern void duckdb_aggregate_function_set_destructor(void *function, destroy_callback);
extern void duckdb_aggregate_function_set_special_handling(void *function);
extern void duckdb_aggregate_function_set_extra_info(void *function, void *extra, void (*release)(void *));
extern void *duckdb_aggregate_function_get_extra_info(void *info);
extern void duckdb_aggregate_function_set_error(void *info, const char *message);
extern int duckdb_register_aggregate_function(void *connection, void *function);
extern void *duckdb_create_logical_type(int type);
extern void *duckdb_create_struct_type(void **types, const char **names, uint64_t count);
extern void duckdb_destroy_logical_type(void **type);
extern void duckdb_vector_assign_string_element_len(void *vector, uint64_t index, const char *bytes, uint64_t length);
extern void *duckdb_struct_vector_get_child(void *vector, uint64_t index);
enum { type_hugeint = 16 }; // DUCKDB_TYPE_HUGEINT

// row_type is the shape of an aggregate's states.
typedef struct {
	uint32_t columns;
	uint32_t size;
	uint32_t flags; // where a state's bits are: the first says whether it has a row, and one for each column that it is NULL there
	uint8_t width[tarn_first_columns];
	uint32_t at[tarn_first_columns]; // where a column's value is in a state
	_Atomic int64_t used;            // by the texts of all states, of which DuckDB doesn't know
	int64_t limit;                   // of used; 0: none
} row_type;

// texts are the long texts of a state's row, which point into it.
typedef struct {
	row_type *row;
	uint64_t room;
	char bytes[];
} texts;

// number is a HUGEINT.
typedef struct {
	uint64_t low;
	int64_t high;
} number;

// state is the first row so far: this, the values of its columns, and its flags. There is one for each group, so that each byte
// counts.
typedef struct {
	number order;
	texts *texts; // NULL: no text of the row is long
} state;

static bool less(number a, number b) { return a.high < b.high || (a.high == b.high && a.low < b.low); }
static uint8_t *flags_of(const row_type *row, const state *s) { return (uint8_t *)s + row->flags; }
static bool is_set(const row_type *row, const state *s) { return *flags_of(row, s) & 1; }
static bool is_null(const row_type *row, const state *s, uint32_t column) { return flags_of(row, s)[(column + 1) / 8] >> (column + 1) % 8 & 1; }

static uint64_t state_size(void *info) {
	const row_type *row = duckdb_aggregate_function_get_extra_info(info);
	return row->size;
}

static void init(void *info, void *s) {
	const row_type *row = duckdb_aggregate_function_get_extra_info(info);
	memset(s, 0, row->size);
}

static void free_texts(texts *t) {
	if (t) atomic_fetch_sub(&t->row->used, (int64_t)t->room);
	free(t);
}

// new_texts returns NULL where there is no memory, or none that may be used.
static texts *new_texts(row_type *row, uint64_t room) {
	int64_t used = atomic_fetch_add(&row->used, (int64_t)room) + (int64_t)room;
	texts *t = row->limit && used > row->limit ? NULL : malloc(sizeof *t + room);
	if (t) *t = (texts){row, room};
	else atomic_fetch_sub(&row->used, (int64_t)room);
	return t;
}

static void destroy(void **states, uint64_t count) {
	for (uint64_t i = 0; i < count; i++) {
		state *s = states[i];
		free_texts(s->texts);
		s->texts = NULL;
	}
}

static tarn_text *text_of(const row_type *row, state *s, uint32_t column) { return (tarn_text *)((char *)s + row->at[column]); }

// own_texts copies the long texts that a state was just given, which aren't its own, into old, or into new memory where old has
// no room. False: there is no memory, and the row has none of them.
static bool own_texts(row_type *row, state *s, texts *old) {
	uint64_t need = 0;
	for (uint32_t c = 0; c < row->columns; c++) {
		if (row->width[c] || is_null(row, s, c)) continue;
		const tarn_text *t = text_of(row, s, c);
		if (t->length > tarn_inline_bytes) need += t->length;
	}
	if (need && (!old || need > old->room)) {
		free_texts(old);
		old = new_texts(row, need);
	}
	s->texts = old;
	char *to = old ? old->bytes : NULL;
	for (uint32_t c = 0; need && c < row->columns; c++) {
		if (row->width[c] || is_null(row, s, c)) continue;
		tarn_text *t = text_of(row, s, c);
		if (t->length <= tarn_inline_bytes) continue;
		if (!old) {
			*t = (tarn_text){0};
			continue;
		}
		memcpy(to, t->bytes, t->length);
		t->bytes = to;
		to += t->length;
	}
	return !need || old;
}

// no_memory ends the statement: the message is read in Go.
static void no_memory(void *info) { duckdb_aggregate_function_set_error(info, "no memory for the long texts of first rows"); }

// column is one of a chunk.
typedef struct {
	const char *data;
	const uint64_t *valid;
} column;

// copy copies a value: of a width that the compiler knows it is one instruction.
static void copy(char *to, const char *from, uint8_t width) {
	switch (width) {
	case 1: *to = *from; break;
	case 2: memcpy(to, from, 2); break;
	case 4: memcpy(to, from, 4); break;
	case 8: memcpy(to, from, 8); break;
	default: memcpy(to, from, 16);
	}
}

// take makes row i of the columns the state's.
static bool take(row_type *row, state *s, const column *columns, uint64_t i, number order) {
	bool has_long = false;
	uint8_t *flags = flags_of(row, s);
	memset(flags, 0, row->columns / 8 + 1);
	*flags = 1;
	s->order = order;
	for (uint32_t c = 0; c < row->columns; c++) {
		if (!tarn_is_valid(columns[c].valid, i)) {
			flags[(c + 1) / 8] |= 1 << (c + 1) % 8;
			continue;
		}
		uint8_t width = row->width[c];
		copy((char *)s + row->at[c], columns[c].data + i * (width ? width : sizeof(tarn_text)), width);
		has_long |= !width && text_of(row, s, c)->length > tarn_inline_bytes;
	}
	return !has_long || own_texts(row, s, s->texts);
}

// ahead is for how many rows memory is asked for before it is needed.
enum { ahead = 8 };

static void update(void *info, void *chunk, void **states) {
	row_type *row = duckdb_aggregate_function_get_extra_info(info);
	uint64_t n = duckdb_data_chunk_get_size(chunk);
	void *vector = duckdb_data_chunk_get_vector(chunk, 0);
	const number *orders = duckdb_vector_get_data(vector);
	const uint64_t *ordered = duckdb_vector_get_validity(vector);
	column columns[tarn_first_columns];
	for (uint32_t c = 0; c < row->columns; c++) {
		vector = duckdb_data_chunk_get_vector(chunk, c + 1);
		columns[c] = (column){duckdb_vector_get_data(vector), duckdb_vector_get_validity(vector)};
	}
	for (uint64_t i = 0; i < n; i++) {
		if (i + ahead < n) { // of many groups each state is a miss of the cache, twice where its flags lie in another line
			__builtin_prefetch(states[i + ahead], 1);
			__builtin_prefetch(flags_of(row, states[i + ahead]), 1);
		}
		state *s = states[i];
		if (!tarn_is_valid(ordered, i) || (is_set(row, s) && !less(orders[i], s->order))) continue;
		if (!take(row, s, columns, i, orders[i])) no_memory(info);
	}
}

// combine leaves the sources as they are: DuckDB may combine them again.
static void combine(void *info, void **source, void **target, uint64_t count) {
	row_type *row = duckdb_aggregate_function_get_extra_info(info);
	for (uint64_t i = 0; i < count; i++) {
		const state *from = source[i];
		state *to = target[i];
		if (!is_set(row, from) || (is_set(row, to) && !less(from->order, to->order))) continue;
		texts *own = to->texts;
		memcpy(to, from, row->size);
		if (!own_texts(row, to, own)) no_memory(info);
	}
}

static void set_null(void *vector, uint64_t i) {
	duckdb_vector_ensure_validity_writable(vector);
	duckdb_vector_get_validity(vector)[i / 64] &= ~(UINT64_C(1) << i % 64);
}

// finalize writes one column after the other, since a vector's memory is asked for by a call.
static void finalize(void *info, void **source, void *result, uint64_t count, uint64_t offset) {
	const row_type *row = duckdb_aggregate_function_get_extra_info(info);
	for (uint64_t i = 0; i < count; i++) {
		if (!is_set(row, source[i])) set_null(result, offset + i);
	}
	for (uint32_t c = 0; c < row->columns; c++) {
		void *vector = duckdb_struct_vector_get_child(result, c);
		char *data = duckdb_vector_get_data(vector);
		uint8_t width = row->width[c];
		for (uint64_t i = 0; i < count; i++) {
			state *s = source[i];
			uint64_t to = offset + i;
			if (!is_set(row, s) || is_null(row, s, c)) {
				set_null(vector, to);
			} else if (width) {
				copy(data + to * width, (char *)s + row->at[c], width);
			} else {
				const tarn_text *t = text_of(row, s, c);
				if (t->length <= tarn_inline_bytes) ((tarn_text *)data)[to] = *t;
				else duckdb_vector_assign_string_element_len(vector, to, t->bytes, t->length);
			}
		}
	}
}

// shape lays out the states: wide values first, so that each lies where its width wants it.
static row_type *shape(const uint8_t *widths, uint32_t columns, int64_t limit) {
	row_type *row = calloc(1, sizeof *row);
	if (!row) return NULL;
	row->columns = columns;
	row->limit = limit;
	uint32_t end = sizeof(state);
	for (uint32_t width = sizeof(tarn_text); width; width /= 2) {
		for (uint32_t c = 0; c < columns; c++) {
			if ((widths[c] ? widths[c] : sizeof(tarn_text)) != width) continue;
			row->width[c] = widths[c];
			row->at[c] = end;
			end += width;
		}
	}
	row->flags = end;
	row->size = (end + columns / 8 + 1 + 7) / 8 * 8;
	return row;
}

static void *result_type(void **types, uint32_t columns) {
	char names[tarn_first_columns][8];
	const char *pointers[tarn_first_columns];
	for (uint32_t c = 0; c < columns; c++) {
		snprintf(names[c], sizeof names[c], "c%u", c);
		pointers[c] = names[c];
	}
	return duckdb_create_struct_type(types, pointers, columns);
}

bool tarn_first_register(void *connection, const char *name, void **types, const uint8_t *widths, uint32_t columns, int64_t limit) {
	row_type *row = shape(widths, columns, limit);
	void *f = duckdb_create_aggregate_function(), *order = duckdb_create_logical_type(type_hugeint), *result = result_type(types, columns);
	bool ok = row && f && order && result;
	if (ok) {
		duckdb_aggregate_function_set_name(f, name);
		duckdb_aggregate_function_add_parameter(f, order);
		for (uint32_t c = 0; c < columns; c++) duckdb_aggregate_function_add_parameter(f, types[c]);
		duckdb_aggregate_function_set_return_type(f, result);
		duckdb_aggregate_function_set_functions(f, state_size, init, update, combine, finalize);
		duckdb_aggregate_function_set_destructor(f, destroy);
		duckdb_aggregate_function_set_special_handling(f);
		duckdb_aggregate_function_set_extra_info(f, row, free);
		row = NULL; // the function's
		ok = duckdb_register_aggregate_function(connection, f) == 0;
	}
	free(row);
	if (f) duckdb_destroy_aggregate_function(&f);
	if (order) duckdb_destroy_logical_type(&order);
	if (result) duckdb_destroy_logical_type(&result);
	return ok;
}
