// Package survey says what files of a table a filter leaves: Layout streams over the manifests of a state, of a run of appends,
// or of a run of snapshots whose changes are asked for, and returns the files that may hold wanted rows, the delete files that
// apply to them, and sums per partition. A file is left out only where its partition, its counts or its bounds prove that it
// holds no wanted row. Memory grows with partitions and delete files, not with data files: the files are listed again by
// whoever wants them.
//
// It refuses wanted files that are encrypted or hold no rows, delete files that can't be read or don't say what they delete,
// and changes whose parent snapshot has expired. It never looks into a data file, it knows a table's metadata only as
// catalog.Table and Snapshot tell it, and it decides nothing about joins.
//
// Before it stands lake, which knows a table's snapshots; after it stand manifest, and package datafile, to which lake gives the
// layout of the files that will be read.
package survey
