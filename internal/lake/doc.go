// Package lake is Tarn's door to Iceberg catalogs, metadata and files, and the only importer of iceberg-go. It finds
// tables (Hadoop-style warehouses, SQL catalogs in SQLite, a metadata file or a table folder by its path), pins their
// snapshots, surveys their manifests for what a filter leaves, checks the footers of the files that a query will read,
// and appends files as new snapshots.
//
// What it can't read rightly it refuses before the first row: delete files, data files that aren't Parquet, encrypted
// tables, format versions that it doesn't know, object stores, REST, Glue and Hive catalogs. Bytes that contradict
// themselves or each other are Corrupt, and the error names the file. It never guesses, and it reads no data pages:
// package duck does.
//
// Of iceberg-go it uses the metadata and manifest formats only. Scan planning, conflict checks and the commit protocol
// are here, because they decide what rows a query returns.
//
// Before it stands bind, which asks for tables through catalog.Catalog; after it stand plan and task, which read the
// catalog.TableLayout that Survey returns.
package lake
