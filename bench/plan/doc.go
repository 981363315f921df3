// Command plan measures how a table's scan is planned, Survey and one pass over the files that it leaves, against
// iceberg-go's PlanFiles on the same table, the runs interleaved: in full and with an equality on the column that the
// table is bucketed by, with manifests of all buckets and with manifests clustered by bucket. It prints time and
// allocated bytes per file beside their bars and exits with 1 when one is missed.
package main
