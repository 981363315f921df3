package catalog

import "github.com/tarndb/tarn/transform"

// The IDs that the spec, "Reserved Field IDs", has for metadata columns.
const (
	PathID           FieldID = 2147483646 // _file: the path of the row's data file, as the metadata spells it
	PosID            FieldID = 2147483645 // _pos: the row's position in its data file, from 0
	SpecFieldID      FieldID = 2147483643 // _spec_id: the spec of the row's data file
	PartitionID      FieldID = 2147483642 // _partition: the partition tuple of the row's data file
	ChangeTypeID     FieldID = 2147483543 // _change_type, of scans of changes
	ChangeOrdinalID  FieldID = 2147483542 // _change_ordinal, of scans of changes
	CommitSnapshotID FieldID = 2147483541 // _commit_snapshot_id, of scans of changes
	RowID            FieldID = 2147483540 // _row_id
	LastUpdatedID    FieldID = 2147483539 // _last_updated_sequence_number
)

// PlaceID is the ID of the column =place, which is the engine's own, and of no file: where a row lies, as one number. Statements that
// change rows carry it from the table to what notes the rows, past joins and copies, where the path of the file would cost more than all
// the rest of a row. It isn't among the spec's IDs, but in their range, so that no schema has it.
const PlaceID = leastReserved

// positionBits are the bits of a place that are the row's position in its file; those above are the file's number.
const positionBits = 40

// The most that a place can tell.
const (
	MostFiles = int64(1) << (63 - positionBits)
	MostRows  = int64(1) << positionBits // of a file
)

// PlaceOf returns the place of a row, by the number of its file, which is below MostFiles, and its position, which is below MostRows.
func PlaceOf(file, position int64) int64 { return file<<positionBits | position }

// FileOf takes a place apart.
func FileOf(place int64) (file, position int64) { return place >> positionBits, place & (MostRows - 1) }

// leastReserved is the least ID that the spec reserves: no schema has a column with it or one above.
const leastReserved FieldID = 2147483447

// IsReserved says whether the spec keeps the ID from the columns of schemas.
func IsReserved(id FieldID) bool { return id >= leastReserved }

// metadataColumns are the metadata columns in the order of their IDs, the highest first. The type of _partition is the
// table's.
var metadataColumns = []Field{
	metadataColumn(PathID, "_file", transform.String, true),
	metadataColumn(PosID, "_pos", transform.Long, true),
	metadataColumn(SpecFieldID, "_spec_id", transform.Int, true),
	{ID: PartitionID, Name: "_partition", Type: Type{Nested: Struct}, Required: true},
	metadataColumn(ChangeTypeID, "_change_type", transform.String, true),
	metadataColumn(ChangeOrdinalID, "_change_ordinal", transform.Int, true),
	metadataColumn(CommitSnapshotID, "_commit_snapshot_id", transform.Long, true),
	metadataColumn(RowID, "_row_id", transform.Long, false),
	metadataColumn(LastUpdatedID, "_last_updated_sequence_number", transform.Long, false),
	metadataColumn(PlaceID, "=place", transform.Long, true),
}

func metadataColumn(id FieldID, name string, kind transform.Kind, required bool) Field {
	return Field{ID: id, Name: name, Type: Type{Primitive: transform.Type{Kind: kind}}, Required: required}
}

// MetadataColumn returns the metadata column of that ID for the table, or false when it isn't one that Tarn offers.
func MetadataColumn(t *Table, id FieldID) (Field, bool) {
	for _, f := range metadataColumns {
		if f.ID != id {
			continue
		}
		if id == PartitionID {
			f.Type = PartitionType(t)
		}
		return f, true
	}
	return Field{}, false
}

// MetadataColumns returns the metadata columns that the table has for people, but for those of scans of changes: rows have an ID
// from format version 3 on, and an unpartitioned table has no tuples.
func MetadataColumns(t *Table) []Field {
	var out []Field
	for _, f := range metadataColumns {
		f, _ = MetadataColumn(t, f.ID)
		switch f.ID {
		case ChangeTypeID, ChangeOrdinalID, CommitSnapshotID, PlaceID:
			continue
		case RowID, LastUpdatedID:
			if t.FormatVersion < 3 {
				continue
			}
		case PartitionID:
			if len(f.Type.Fields) == 0 {
				continue
			}
		}
		out = append(out, f)
	}
	return out
}

// The IDs of the columns of position delete files.
const (
	DeletePathID FieldID = 2147483546 // file_path
	DeletePosID  FieldID = 2147483545 // pos
)

// PositionDeleteColumns returns the columns that files of position deletes have (spec, "Position Delete Files").
func PositionDeleteColumns() []Field {
	return []Field{
		metadataColumn(DeletePathID, "file_path", transform.String, true), metadataColumn(DeletePosID, "pos", transform.Long, true),
	}
}
