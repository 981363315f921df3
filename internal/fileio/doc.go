// Package fileio is the one door to the bytes of a table's files, metadata and data alike: Files opens and makes them by the
// paths that metadata spells, Disk is the Files of this machine, and a Relocation says that a copied table's files lie
// elsewhere. It also holds what every reader of untrusted bytes needs: Parse makes errors and panics of a parser Corrupt,
// and ReadAvro opens an Avro file by it.
//
// It refuses object stores, encrypted files and paths of other schemes: Unsupported. It knows nothing of Iceberg, and what is
// in a file is its caller's business. Every error has a kind and names the path as metadata spells it.
//
// Before it stand lake, survey, manifest and datafile, which read tables; after it stand the operating system and avro.
package fileio
