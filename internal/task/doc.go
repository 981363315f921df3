// Package task turns a physical plan into a graph of work: the files of each group of each core, paired across tables,
// groups that can't give rows dropped, the rest packed into statements of a fair size, the largest first.
//
// A Graph is plain data: it prints, it serialises, and whoever runs it needs neither the planner nor a catalog. Check
// proves a graph whole without the planner's help. Package exec runs it.
package task
