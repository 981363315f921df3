// Package plan holds the logical plan of a query: its scans, its blocks and their relations, each with the SQL text that
// DuckDB runs. Package bind makes it; plan/layout finds how the rows of each relation are partitioned, plan/spj decides
// what runs group by group, and package task turns that into work.
//
// Everything under plan is a pure function: no I/O, no clock, no engine.
package plan
