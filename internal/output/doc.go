// Package output writes results, given as Arrow record batches with DuckDB's type names, in the formats that people and
// scripts read: table, CSV, JSON, JSON lines, Markdown, Parquet and Arrow.
//
// Every format streams: memory is bounded by a batch, plus the rows that a table measures its columns by. How a value
// is spelled is decided once, for all the text formats, by the cell binders here. It refuses to reorder rows, to cut
// values other than on a terminal, and to write a value as something that it isn't. The root's Rows come before it; it
// stands last.
package output
