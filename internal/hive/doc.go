// Package hive reads folders of Parquet files as Hive lays tables out: folders called name=value say a value of a column for all files
// below them. Walk visits the files with what their folders say, and Look tells what table they would be: its columns, which are those
// of the files, and the columns that folders say values of.
//
// It takes nothing of a file but its footer, makes no table, and trusts no folder: whether rows are of the partition that a folder says
// is checked where the files are added to a table. Trees that aren't one table are refused, naming the file or folder.
//
// Before it stands lake, which adds files to tables; after it stand datafile, which reads footers, evolve, which says what types columns may take, and fileio.
package hive
