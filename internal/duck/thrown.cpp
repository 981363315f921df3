#include "thrown.h"

// As in duckdb.h, where handles are pointers: void* is the same to the linker.
extern "C" void duckdb_unsafe_vector_assign_string_element_len(void *vector, uint64_t row, const char *text, uint64_t length);
extern "C" int duckdb_list_vector_reserve(void *vector, uint64_t elements);

bool tarn_assign_text(void *vector, uint64_t row, const char *text, uint64_t length) {
	try {
		duckdb_unsafe_vector_assign_string_element_len(vector, row, text, length);
		return true;
	} catch (...) {
		return false;
	}
}

bool tarn_reserve_list(void *vector, uint64_t elements) {
	try {
		return duckdb_list_vector_reserve(vector, elements) == 0;
	} catch (...) {
		return false;
	}
}
