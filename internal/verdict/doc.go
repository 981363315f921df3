// Package verdict says of each join of a planned query whether it would run without a shuffle in Tarn, in Spark and in
// Trino, which settings that takes, and what stands against it with the statement that mends it.
//
// What Tarn does is read off explain.Report: there is no second opinion of it here. What another engine would do is
// computed by a small model of how that engine carries a table's layout from its scans up to its joins. The rules of the
// models stand in one table, rules.go, each with the version and the source that it was read from; make interop-spark
// compares those of Spark with Spark's own plans.
//
// It is pure: it reads a bound query, the layouts of its tables and a report, and asks nobody. The root package stands
// before it, the command line and programs after.
package verdict
