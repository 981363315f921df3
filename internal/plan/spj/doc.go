// Package spj decides what of a query runs group by group: it cuts a bound query into cores, each run pack by pack over
// the files of whole groups, and a final step over their results. It writes the reason on every join that it leaves to
// the whole-query path.
//
// It decides by the properties of package layout alone and never claims one itself. Package task turns a Physical plan
// into packs.
package spj
