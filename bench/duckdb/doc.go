// Command duckdb runs one query, read from standard input, on a DuckDB instance of its own with DuckDB's own settings, and
// writes its rows as CSV: what the other benchmarks compare Tarn with. It links nothing of Tarn but the way to DuckDB, so
// that a process of it is no dearer than one of DuckDB.
package main
