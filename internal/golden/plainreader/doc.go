// Package plainreader reads whole Iceberg tables in the plainest way: every live Parquet file, every row, columns by field
// ID. It shares no code with the engine, no decoder of manifests and none of rows, so that the two check each other.
//
// It refuses what it doesn't know: delete files, other formats, files without field IDs. Only tests import it.
package plainreader
