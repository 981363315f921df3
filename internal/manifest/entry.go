package manifest

import (
	"bytes"
	"fmt"
	"maps"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/transform"
)

// Status is what a manifest entry says of its file.
type Status int32

// The statuses of the spec, "Manifests".
const (
	Existing Status = 0
	Added    Status = 1
	Deleted  Status = 2
)

// Content is what a manifest's or an entry's file holds, in the spec's numbers.
type Content int32

// The contents of files. A delete manifest's content has the number of position deletes.
const (
	Data            Content = 0
	PositionDeletes Content = 1
	EqualityDeletes Content = 2
)

// NoSequence stands for a sequence number that is neither written nor inherited.
const NoSequence = -1

// File is what a manifest says of one data or delete file: the spec's data_file.
type File struct {
	Content   Content
	Path      string
	Format    catalog.FileFormat
	Spec      catalog.SpecID
	Partition []transform.Value // in the order of its spec's fields
	Rows      int64
	Bytes     int64

	// Statistics by field ID. Of a file that is read they are decoded only when asked for; they are empty then, and never
	// nil, when the file has none. Of a file that is written nil is none.
	ColumnSizes map[int]int64
	ValueCounts map[int]int64
	NullCounts  map[int]int64
	NaNCounts   map[int]int64
	Lower       map[int][]byte
	Upper       map[int][]byte

	KeyMetadata  []byte
	SplitOffsets []int64
	EqualityIDs  []int
	SortOrderID  *int
	FirstRowID   *int64
	Referenced   string // referenced_data_file; "" for none
	Offset       *int64 // content_offset
	Length       *int64 // content_size_in_bytes
}

// Entry is one manifest entry with all that is inherited from its manifest filled in. The reader reuses it, and its
// pointers, maps, slices and bytes with it: what is kept beyond the visit must be cloned. Only Path, Referenced, Format
// and Partition may be kept as they are; Partition is shared and must not be changed.
type Entry struct {
	Status       Status
	SnapshotID   *int64
	Sequence     int64 // data sequence number; of a deleted entry it may be NoSequence
	FileSequence int64 // of an existing or deleted entry it may be NoSequence
	File

	// What the pointers point to.
	snapshotID, firstRowID, offset, length int64
	sortOrderID                            int
	given                                  uint64 // bits of the file's fields that have a value
	path, tuple                            []byte // Path and Partition as they are written
	numbers                                []int64
}

// Clone returns an entry that shares nothing with the reader's. Statistics and lists that the file doesn't give are nil, and
// all of them are if they weren't asked for.
func (e *Entry) Clone() *Entry {
	c := &Entry{Status: e.Status, SnapshotID: copied(e.SnapshotID), Sequence: e.Sequence, FileSequence: e.FileSequence, File: e.File}
	c.SortOrderID, c.FirstRowID, c.Offset, c.Length = copied(e.SortOrderID), copied(e.FirstRowID), copied(e.Offset), copied(e.Length)
	for id, m := range map[int]*map[int]int64{108: &c.ColumnSizes, 109: &c.ValueCounts, 110: &c.NullCounts, 137: &c.NaNCounts} {
		*m = givenOr(e.Gives(id), maps.Clone(*m))
	}
	for id, m := range map[int]*map[int][]byte{125: &c.Lower, 128: &c.Upper} {
		own := make(map[int][]byte, len(*m))
		for column, bound := range *m {
			own[column] = bytes.Clone(bound)
		}
		*m = givenOr(e.Gives(id), own)
	}
	c.KeyMetadata = bytes.Clone(e.KeyMetadata)
	c.SplitOffsets = givenOr(e.Gives(132), append([]int64{}, e.SplitOffsets...))
	c.EqualityIDs = givenOr(e.Gives(135), append([]int{}, e.EqualityIDs...))
	return c
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// givenOr returns v, or its zero value where the file doesn't give it.
func givenOr[T any](given bool, v T) T {
	if !given {
		var none T
		return none
	}
	return v
}

func newEntry() *Entry {
	return &Entry{File: File{
		ColumnSizes: map[int]int64{}, ValueCounts: map[int]int64{}, NullCounts: map[int]int64{}, NaNCounts: map[int]int64{},
		Lower: map[int][]byte{}, Upper: map[int][]byte{},
	}}
}

// reset makes the entry one of which nothing is known.
func (e *Entry) reset() {
	for _, m := range []map[int]int64{e.ColumnSizes, e.ValueCounts, e.NullCounts, e.NaNCounts} {
		clear(m)
	}
	clear(e.Lower)
	clear(e.Upper)
	*e = Entry{Sequence: NoSequence, FileSequence: NoSequence, numbers: e.numbers[:0], File: File{
		ColumnSizes: e.ColumnSizes, ValueCounts: e.ValueCounts, NullCounts: e.NullCounts, NaNCounts: e.NaNCounts,
		Lower: e.Lower, Upper: e.Upper, SplitOffsets: e.SplitOffsets[:0], EqualityIDs: e.EqualityIDs[:0],
	}}
}

// Gives says whether the entry has a value of the data file's field, such as 132 for split_offsets: an empty list isn't
// null. Of statistics that weren't asked for it says no.
func (e *Entry) Gives(id int) bool { return e.given&fileFieldBit(id) != 0 }

// fileFieldBit returns the bit of a field of data files, whose IDs are from 100 to 145.
func fileFieldBit(id int) uint64 { return 1 << uint(id-100) }

// IsLive says whether the entry's file is part of the table.
func (e *Entry) IsLive() bool { return e.Status != Deleted }

// inherit fills in what an entry has from its manifest, by the spec's "Sequence Number Inheritance". rowID is the row ID
// of the next file that has none of its own, and is moved on, by "First Row ID Inheritance".
func (e *Entry) inherit(m *Info, hasSequences bool, rowID *int64) error {
	if e.SnapshotID == nil && m.SnapshotID != nil {
		e.snapshotID = *m.SnapshotID
		e.SnapshotID = &e.snapshotID
	}
	switch {
	case !hasSequences:
		e.Sequence, e.FileSequence = 0, 0
	case m.Sequence == 0 || e.Status == Added:
		if e.Sequence == NoSequence {
			e.Sequence = m.Sequence
		}
		if e.FileSequence == NoSequence {
			e.FileSequence = m.Sequence
		}
	case e.Sequence == NoSequence && e.IsLive():
		return fmt.Errorf("the entry of %s has no sequence number, though its file wasn't added with the manifest", e.path)
	}
	if m.FirstRowID != nil && e.FirstRowID == nil && e.Content == Data && e.IsLive() {
		e.firstRowID = *rowID
		e.FirstRowID = &e.firstRowID
		*rowID += e.Rows
	}
	return nil
}

// check refuses entries that nothing downstream could make sense of.
func (e *Entry) check(m *Info) error {
	switch {
	case len(e.path) == 0:
		return fmt.Errorf("an entry has no file path")
	case e.Status < Existing || e.Status > Deleted:
		return fmt.Errorf("the entry of %s has the status %d", e.path, e.Status)
	case e.Rows < 0 || e.Bytes < 0:
		return fmt.Errorf("the entry of %s has %d rows and %d bytes", e.path, e.Rows, e.Bytes)
	case e.Content < Data || e.Content > EqualityDeletes:
		return fmt.Errorf("the entry of %s has the content %d", e.path, e.Content)
	case (e.Content == Data) != (m.Content == Data):
		return fmt.Errorf("the entry of %s has the content %d in a manifest of content %d", e.path, e.Content, m.Content)
	}
	return nil
}
