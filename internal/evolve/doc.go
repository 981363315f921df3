// Package evolve says what a statement makes of a table's metadata: it takes a State, what DDL may change of a table, and
// returns another one. The results are those of Iceberg's reference implementation and of Spark: names and IDs of partition
// fields, IDs of columns, numbers of schemas, specs and sort orders.
//
// It refuses what would leave a table that can't be read rightly, or that others can't read: dropping the source of a live
// partition field, sort order or identifier, types that narrow, promotions that change partition values, names that are
// taken, two time transforms of one column, IDs given twice.
//
// It is pure: no I/O, no catalog, no clock. Package sql, which parses the statements, comes before it; package lake, which
// commits what it returns, after it.
package evolve
