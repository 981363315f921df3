// Command duckdb runs statements, read from standard input and ended by a semicolon at the end of a line, on a DuckDB instance of
// its own with DuckDB's own settings, and writes the rows of the last as CSV: what the other benchmarks compare Tarn with. It links nothing of Tarn but the way to DuckDB, so
// that a process of it is no dearer than one of DuckDB.
package main
