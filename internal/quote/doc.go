// Package quote writes names and texts as SQL that DuckDB's parser reads, whatever signs are in them. For names that people read,
// which get quotes only where they need them, there is catalog.ShownName.
package quote
