// Package write puts the rows of a query into a table by its layout: one Parquet file per partition tuple, its tuple
// computed by Tarn's own transform functions, committed as one append.
//
// Packages duck and lake stand below it, the demo and tests above. It changes no rows: a query whose columns aren't the
// table's is refused.
package write
