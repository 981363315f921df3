// Package manifest decodes and encodes manifest lists and manifests. ReadList returns what a list says of each manifest, and a
// Reader calls back for each entry, with all that it inherits and its partition in the order and the types of its spec. Planning
// reads little of each of many entries, so that one Entry is reused for all of a manifest, and statistics are decoded for the
// columns alone that are asked for. A Writer makes a manifest of entries, and List a manifest list. The package also has the
// rules of partition values as files spell them: their types, what fits a type, and the names of their fields.
//
// It refuses what contradicts itself or the list (Corrupt), encrypted manifests, codecs that aren't known, dates where the
// table's type is a timestamp by now, and writing partition values whose type can't be told (Unsupported). Whether an entry's
// file can be read it leaves to whoever wants the file. It decides nothing by a filter, nor what belongs into a manifest.
//
// Before it stand survey, commit and lake; after it stand fileio and avro.
package manifest
