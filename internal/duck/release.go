package duck

/*
#include <stdlib.h>
#include <sys/types.h>
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

// Settings of arenas hold for those to come: threads have theirs made when they first allocate. The first one's is there.
static void tarn_no_muzzy(void) {
	ssize_t at_once = 0;
	if (!duckdb_je_mallctl) return;
	duckdb_je_mallctl("arenas.muzzy_decay_ms", NULL, NULL, &at_once, sizeof(at_once));
	duckdb_je_mallctl("arena.0.muzzy_decay_ms", NULL, NULL, &at_once, sizeof(at_once));
}
*/
import "C"

import "sync"

// ReleaseMemory gives memory that DuckDB has freed back to the system at once. DuckDB's allocator keeps it for a second otherwise,
// and for good in an arena that no thread allocates from any more: over many statements an instance was seen to hold four times
// what it used. It costs a page fault for each page that is needed again, about 10 ms after a statement of 25 MiB, so it is for
// when memory is short.
func ReleaseMemory() { C.tarn_purge() }

// letGo has pages that weren't needed for a second leave the process, once and for all. DuckDB's allocator would else first mark
// them as free to be taken by a system that is short of memory, for another second, in which they count as the process's.
var letGo = sync.OnceFunc(func() { C.tarn_no_muzzy() })
