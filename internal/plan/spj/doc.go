// Package spj decides what of a query runs group by group: it cuts a bound query into cores, each run pack by pack over
// the rows of whole groups, and a final step over their results. It chooses the keys of each core by cost, says which files'
// rows must be sent to their groups and which tables each pack reads whole, and writes the reason on every join that it
// leaves to the whole-query path.
//
// It decides by the properties of package layout alone and never claims one itself. Package task turns a Physical plan
// into packs.
package spj
