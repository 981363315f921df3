// Package lake is Tarn's door to Iceberg catalogs, metadata and files, and the only importer of iceberg-go. It finds
// tables (Hadoop-style warehouses, SQL catalogs in SQLite and PostgreSQL, a metadata file or a table folder by its path), pins their
// snapshots, has package survey say what files a filter leaves of them (Survey) and package datafile how the files of a query
// are to be read (Prepare), and publishes new versions of tables: of their metadata alone (Create, Evolve, Update), and the
// snapshots that package commit makes of changes of their rows (Commit). What a statement makes of the metadata is for package
// evolve to say.
//
// What it can't read rightly it refuses before the first row: encrypted tables, format versions that it doesn't know, REST,
// Glue and Hive catalogs. Bytes that contradict themselves or each other are Corrupt, and the error names the file. It never
// guesses, and it reads no data pages, which is for packages duck and datafile.
//
// Of iceberg-go it uses the metadata format. Manifests are read and written by package manifest, scan planning is package
// survey's, and conflict checks are package commit's, because they decide what rows a query returns.
//
// Metadata tables are tables of one file: Survey chooses the manifests to be read for one, and Prepare writes the columns
// and rows that are wanted of it to a Parquet file, with memory for one row group.
//
// Before it stands bind, which asks for tables through catalog.Catalog; after it stand plan and task, which read the
// catalog.TableLayout that Survey returns.
package lake
