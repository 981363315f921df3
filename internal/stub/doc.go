// Package stub lets DuckDB bind queries before any file is read: empty temporary tables stand for the statement's, so that
// types, stars and a user's errors come from DuckDB itself. It is the Engine that package bind asks for, over package
// duck.
//
// It reads no data and decides nothing.
package stub
