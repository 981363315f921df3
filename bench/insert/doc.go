// Command insert measures INSERT: of rows from Parquet into a bucketed table, beside DuckDB's COPY with PARTITION_BY of the same
// rows; of the join of two bucketed tables into one of the same layout, beside the join and the encoding by themselves; and of
// rows of ten thousand partitions within little memory. Every run is a process of its own, and the runs of what is compared are
// interleaved. It compares what was written with what was read, prints each figure beside its bar, and exits with 1 when one is
// missed.
package main
