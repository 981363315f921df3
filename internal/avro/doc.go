// Package avro reads and writes Avro object container files: Iceberg's manifest lists and manifests, and data and delete files
// in Avro, which it only reads. It decodes values one after the other from the bytes of a block and leaves it to its caller what to make of them,
// so that a reader who wants few fields pays for few.
//
// Open reads a file's header, and Reader.Next stands before one object after the other:
//
//	r, err := avro.Open(file, size)
//	...
//	schema, err := r.Schema()
//	...
//	for r.Next() {
//		d := r.Decoder() // reads exactly one value of the schema, or skips it: d.Skip(schema)
//	}
//	err = r.Err()
//
// The bytes may be anything. A length or count in them is checked against what is there before anything is allocated by
// it, every block must end where its objects do, and a file that is cut within a block is an error. A file that is cut
// between two blocks is a whole file to Avro: who knows how many objects there should be has to count them.
//
// NewWriter makes a file of objects that its caller encodes.
//
// It resolves no reader's schema and knows nothing of Iceberg but its IDs. Recursive schemas, which no
// Iceberg table has, are refused. Errors have no kind, but for a codec that isn't known, which is Unsupported: the caller
// knows which file they are of and that its bytes are Corrupt.
//
// Before it stand fileio, which opens files for it, manifest, which decodes metadata, and datafile, which copies data files.
package avro
