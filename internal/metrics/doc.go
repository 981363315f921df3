// Package metrics makes the column metrics of data files, by which readers leave files out: sizes, value, null and NaN counts
// and bounds, as the table's properties want them. It takes them from a file's footer where that says enough, and tells what
// is left to be computed from the rows.
//
// It knows files only by their footers; package write computes what is missing, and package lake puts the metrics into
// manifest entries.
package metrics
