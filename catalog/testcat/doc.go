// Package testcat makes a catalog from text, for tests of what plans queries: tables with their specs, and files with
// their partition tuples, without a disk.
//
//	create table shop.orders (id bigint not null, customer bigint, ts timestamp)
//	  partitioned by (bucket(4, customer), days(ts))
//	alter table shop.orders set partitioning (bucket(8, customer))
//	alter table shop.orders alter column id type long
//	alter table shop.orders add column note string
//	alter table shop.orders rename column ts to at
//	alter table shop.orders drop column at
//	files shop.orders
//	  (0..3, 2024-01-01) spec=0 rows=100 bytes=4096
//	  (null, null) spec=0
//	  (5) contradicts=0
//
// A statement begins at the start of a line, and lines that start with a blank go on with it; # begins a comment line.
// Types are Iceberg's, or SQL's names of them. The first spec has the number 0, each "set partitioning" adds the next one
// and makes it the current one. Columns get field IDs from 1 on, in the order of their making.
//
// Each line below "files" is a file, or one for each value where the tuple has ranges. A value is null, a number, a date,
// or a string in single quotes when it has blanks or commas; values of years, months and hours are numbers. spec is the
// current one unless it is given, rows 1, bytes 1000; contradicts lists, with commas, the places in the tuple that the
// file's bounds contradict. local names the real file that holds the rows, for tests that read some.
//
// nulls.c, lower.c and upper.c are what a file says of the column c, for SurveySums alone; deletes=1 gives it a file of
// position deletes. "alter table shop.orders set version 3" gives a table another format version than 2.
//
// It refuses what it doesn't know, and reads no files. Survey leaves out files by their tuples alone.
package testcat
