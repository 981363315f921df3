// Package dynamic finds dynamic filters: the values of a column that the rows of one table leave in another, because a join
// says that they are equal, looked up before the other table's files are listed. The filter then leaves out files, and the
// manifests that list them, as a condition with constants would.
//
// It decides where that is legal and where it pays, and leaves reading to who calls it. Package bind comes before, which has
// moved conditions with constants over the same equalities; the surveys of package lake come after. It changes nothing of a
// query but the filters of scans, and what packs may filter them by.
package dynamic
