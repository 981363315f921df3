// Package datafile finds out how data and delete files are to be read so that a scan by DuckDB gives the rows that the table
// means. A Reader looks at files' footers and compares their columns with those that are wanted: by field ID or, in files
// without IDs, by the table's name mapping. It tells what shape files have whose columns aren't as the schema has them, what
// values a file's partition gives, and which columns equality deletes compare. What DuckDB can't read or would misread (Avro,
// some Parquet) it rewrites as Parquet for the time of a scan. It also reads positions out of delete files one by one, and
// checks the footers of files that were just written.
//
// It refuses what it can't read rightly, before the first row: ORC, encrypted files, columns of types that aren't read yet
// (Unsupported), and files that are cut, that aren't the ones that were committed, or whose columns are no values of the
// table's types (Corrupt). The bytes of a footer are checked before a parser sees them. It reads no data pages of files that
// DuckDB reads well, and knows no snapshots and no filters.
//
// Before it stands lake, which knows what files a scan is over; after it stand fileio, manifest, avro, deletes
// and the Parquet library of Arrow.
package datafile
