// Package arrowfile reads Arrow IPC files, batch by batch: of the file format, which Feather V2 is too, and of the stream
// format. What a file is in is told by its first bytes, not by its name.
//
//	f, err := arrowfile.Open(path, limit)
//	...
//	for {
//		batch, err := f.Next() // io.EOF after the last
//	}
//
// Apache Arrow's own library decodes schemas and batches. It trusts what it reads, so that this package looks at each message
// first: a length or count is compared with what is there before anything is allocated by it, and a batch that would take more
// than the limit is refused before it is read. A file that isn't whole is Corrupt, and so is a stream that doesn't end with the
// mark that ends streams: where it was cut, rows are missing.
//
// Values aren't looked at: offsets, indexes and texts may be anything. Who takes them out sees to it that they are within bounds;
// Arrow's accessors panic where they are not. Package duck stands after it.
package arrowfile
