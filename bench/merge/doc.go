// Command merge measures statements that change rows, copy on write and merge on read, on two paths: Tarn as it plans them and
// Tarn's whole-query plan. Beside them stands what no way can do without: DuckDB's plain rewrite of the files that have rows to
// change, or its scan of the key column. Every run is a process of its own on a table that is put back before, and the runs of
// the paths are interleaved. It compares the rows that come out with those that DuckDB finds in the files, prints each figure
// beside its bar, and exits with 1 when one is missed.
package main
