// Package deletes holds which rows of data files are deleted: sets of positions, from position deletes and deletion
// vectors, and sets of column values, from equality deletes. It decodes deletion vectors and answers for vectors of rows.
//
// It reads no files and knows no scope or sequence rules: package lake says which delete files apply to which data file,
// package exec reads them once per statement, and package duck asks this package during a scan.
package deletes
