// Command join measures joins and groupings of laid-out tables on three paths: Tarn as it plans them, Tarn's whole-query
// plan, and DuckDB reading the same Parquet files by its own SQL. Every run is a process of its own, and the runs of the
// paths are interleaved. It compares the rows of all paths before it measures, prints what each query ran with and each
// figure beside its bar, and exits with 1 when one is missed.
package main
