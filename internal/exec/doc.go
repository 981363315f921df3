// Package exec runs task graphs: packs on a few DuckDB instances of one thread each, within a memory budget, then the
// final step on one instance with all threads. Rows stream out as Arrow batches.
//
// Before the packs of a core, the rows of files that lie in no group, or in one of another layout, are routed: each is sent
// to the bin of its group, in files of a folder of the run's own, which are removed as soon as the last pack of their bin has
// run. What no worker alone can hold, a pack for all threads and all memory, runs after the others.
//
// It decides nothing about what is joined with what: package task did. Every graph passes task.Check first.
package exec
