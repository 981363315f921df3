// Package write puts rows into a table by its layout: it says how values of each type are assigned and carried, routes rows to
// bins by their partition tuples, which Tarn's own transform functions compute, writes each bin to Parquet files as the table's
// properties want them, and makes their manifest entries.
//
// It also makes files that lie elsewhere part of a table, or a table of them, once their rows are checked.
//
// It changes rows that are in the table, too, by what package dml says of each: by rewriting files, or by files of deletes.
//
// It runs no queries of its own but over the rows and files that it was given. The root package gives it the rows of statements;
// duck and lake stand below it.
package write
