// Package plainreader reads whole Iceberg tables in the plainest way: by the letter of the spec, every live file, every row,
// one at a time. It shares no code with the engine, no decoder of manifests, of deletes or of rows, so that the two check
// each other.
//
// A file becomes records by field ID, whatever its format. Deletes take records away, and projection turns the rest into
// rows of the schema that is asked for. Slow is fine, clever isn't.
//
// It refuses what it doesn't know: ORC, variants, versions after 3. Only tests import it.
package plainreader
