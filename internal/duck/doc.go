// Package duck is the only importer of DuckDB. It opens in-memory instances, streams results as chunks and Arrow records,
// writes the SQL that scans and writes Parquet by Iceberg field ID, and teaches DuckDB our functions: the partition
// transforms, the check that a row lies in the file that its key says, and whether a row is deleted. It spills rows to files
// by bins and reads them back, and reads Arrow files.
//
// It refuses what DuckDB or Arrow would do silently wrong: types that no DuckDB type holds (variant, geometry,
// timestamptz_ns), results that Arrow would cut (TIMETZ, UHUGEINT, BIGNUM, TIME_NS), rows whose types aren't the file's.
// It decides nothing: which files, columns and checks a scan has is said by package task, and package exec runs it.
// Package sql parses with SerializeSQL, and replaces system.bucket and the like by the names of SystemFunction.
//
// Memory: a Result holds a few chunks at a time. A Chunk is the caller's, and may be appended to a table of another
// instance, but must be closed before the instance that made it. A record batch has a lifetime of its own.
//
// How types arrive in Arrow, where it isn't plain; Column.Type is always DuckDB's own name:
//
//	HUGEINT      decimal128(38, 0) with all 128 bits, so that values of 39 digits arrive too
//	UUID, JSON   utf8
//	TIMESTAMPTZ  timestamp[us, UTC]
//	INTERVAL     month_day_nano_interval
//	ENUM         dictionary of utf8
//	BIT          binary, for BitText
//	UNION        sparse_union
//
// Functions run as vectorised callbacks from DuckDB's threads. Neither an error nor a panic of theirs crosses into C++.
package duck
