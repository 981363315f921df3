// Package dml turns DELETE, UPDATE and MERGE into queries: each becomes one SELECT of what is done to which row, and of the new
// rows, which is bound, planned and run like any other, by groups where its joins allow. Its Sink parts what comes out: the
// new rows go to a write.Job, and the places of the rows that are changed or deleted, which are files and positions in them, to
// write.Edits. A row that a MERGE or an UPDATE would change twice is found there, whatever packs the pairs came from.
//
// It refuses what the statement must not do to the table. Package sql stands before it, and write, which knows how values are
// assigned and files made, behind. It neither plans nor commits; the root package does.
package dml
