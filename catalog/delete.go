package catalog

import "github.com/tarndb/tarn/transform"

// DeleteKind is what a delete file holds.
type DeleteKind uint8

// The kinds of the spec, "Delete Formats".
const (
	PositionDeletes DeleteKind = iota // rows of (data file, position)
	DeletionVector                    // one bitmap of positions of one data file, a blob of a Puffin file
	EqualityDeletes                   // rows of column values
)

// String names the kind as the spec does.
func (k DeleteKind) String() string {
	return [...]string{"position deletes", "deletion vector", "equality deletes"}[k]
}

// DeleteFile is one live entry of a delete manifest of the pinned snapshot. A deletion vector is told from another of the
// same Puffin file by Offset.
type DeleteFile struct {
	Ref       FileRef
	Format    FileFormat
	Kind      DeleteKind
	Spec      SpecID
	Partition []transform.Value // as in DataFile
	Sequence  int64             // data sequence number
	Rows      int64             // its record count: for a deletion vector, the positions in it
	// Target is the only data file that a file-scoped delete applies to, as metadata spells it; "" when it isn't file-scoped.
	Target string
	// Offset and Length, in bytes, are where a deletion vector's blob lies in its Puffin file.
	Offset, Length int64
	// Equality has the field IDs of the columns that equality deletes compare, ascending.
	Equality []FieldID
	// Shape is as in DataFile. Delete files have field IDs, by which they are read.
	Shape *Schema
}

// EqualityColumn is a column that equality deletes compare: a top-level column or a field within structs. It may be one
// that the table has dropped.
type EqualityColumn struct {
	Root Field     // the top-level column that it is or lies in, as the newest schema that has it says
	Path []FieldID // from Root's field down to it; empty when it is Root itself
}
