package duck

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

// DuckDB's own copy of jemalloc, on the systems where it has one. Weak: elsewhere the symbol is missing and stays null.
extern int duckdb_je_mallctl(const char *name, void *oldp, size_t *oldlenp, void *newp, size_t newlen) __attribute__((weak));

// 4096 is MALLCTL_ARENAS_ALL.
static void tarn_purge(void) {
	if (duckdb_je_mallctl) duckdb_je_mallctl("arena.4096.purge", NULL, NULL, NULL, 0);
#ifdef __GLIBC__
	malloc_trim(0); // DuckDB's record batches and its small objects don't come from jemalloc
#endif
}
*/
import "C"

// ReleaseMemory gives memory that DuckDB has freed back to the system at once. DuckDB's allocator keeps it for ten seconds
// otherwise: over many statements an instance was seen to hold four times what it used. It costs a page fault for each page
// that is needed again, about 10 ms after a statement of 25 MiB, so it is for when memory is short.
func ReleaseMemory() { C.tarn_purge() }
