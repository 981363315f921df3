// Command bucket measures system.bucket over a BIGINT and a VARCHAR column against DuckDB's own hash over the same
// columns, and the key check of a storage-partitioned scan's column, on one thread, the runs interleaved. It exits with 1
// when bucket costs more than three times hash.
package main
