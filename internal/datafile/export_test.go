package datafile

// RowsOf is for the tests that read whole tables.
var RowsOf = rowsOf
