// Package exec runs task graphs: packs on a few DuckDB instances of one thread each, within a memory budget, then the
// final step on one instance with all threads. Rows stream out as Arrow batches.
//
// It decides nothing about what is joined with what: package task did. Every graph passes task.Check first.
package exec
