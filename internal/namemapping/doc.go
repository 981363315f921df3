// Package namemapping reads and writes the table property by which files without field IDs are read: a name mapping gives columns
// their IDs by their names (spec, "Column Projection", and "Name Mapping Serialization").
package namemapping
