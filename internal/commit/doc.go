// Package commit makes one snapshot of one change of a table's rows, beside other writers: Apply validates the change against
// what came since it was decided on, writes the manifests and the manifest list, has the table's catalog publish them, and
// tries again when another writer came first. It ends in one of three ways: done, failed, or not known; after the last nothing
// is removed and nothing tried again.
//
// A Change says which files are added and removed and how the rows are meant to be seen by others (Kind, Isolation, Reads);
// the rules of conflicts are those of Iceberg's Java library. Manifests that nothing is removed from stay as they are, new
// ones are sorted by partition, and small ones are merged in time, so that a reader who wants one partition reads few.
//
// It refuses changes that make no sense on the table, files of partition transforms that aren't known, and encrypted
// manifests. It writes no data files, removes none, and doesn't know which catalog a table is in: lake, which stands before
// it, does, and publishes metadata. After it stand survey, for filters and the scope of deletes, manifest and fileio.
package commit
