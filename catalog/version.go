package catalog

import (
	"math"
	"strconv"
	"strings"

	"github.com/tarndb/tarn/transform"
)

// RefKind tells branches from tags.
type RefKind string

// The kinds of the spec, "Snapshot References".
const (
	AnyRef RefKind = ""
	Branch RefKind = "branch"
	Tag    RefKind = "tag"
)

// Point names a snapshot of a table by one of its fields; the zero Point is the current snapshot.
type Point struct {
	Snapshot *SnapshotID
	// Ref is the name of a branch or tag, or, when there is none of that name, a snapshot's ID in digits.
	Ref         string
	Kind        RefKind // of Ref
	TimestampMs *int64  // what was current then, in milliseconds since 1970 UTC
}

// IsCurrent says whether the point names nothing and so is the current snapshot.
func (p Point) IsCurrent() bool { return p.Snapshot == nil && p.Ref == "" && p.TimestampMs == nil }

// String tells the point to people: snapshot 3, tag "2024", 2024-01-01 00:00:00+00.
func (p Point) String() string {
	switch {
	case p.Snapshot != nil:
		return "snapshot " + strconv.FormatInt(int64(*p.Snapshot), 10)
	case p.Ref != "":
		return strings.TrimSpace(string(p.Kind) + " " + ShownName(p.Ref))
	case p.TimestampMs != nil:
		return momentText(*p.TimestampMs)
	}
	return "the current snapshot"
}

// momentText writes a time as SQL does, and as a number one that is beyond its years.
func momentText(ms int64) string {
	if ms > math.MaxInt64/1000 || ms < math.MinInt64/1000 {
		return strconv.FormatInt(ms, 10) + " milliseconds since 1970"
	}
	return transform.FormatValue(transform.Type{Kind: transform.TimestampTZ}, ms*1000)
}

// Reading says what of a table is read.
type Reading uint8

// What is read: the rows of one snapshot; the rows that a run of snapshots appended; or the rows that one added and took
// away, with the three columns of the change log.
const (
	ReadState Reading = iota
	ReadAppends
	ReadChanges
)

// Version says which state of a table is meant, or which of its history. The zero Version is the current state.
type Version struct {
	At      Point
	Reading Reading
	// Since bounds appends and changes: those of its snapshot and of older ones don't count. Nil: all that the table still
	// has.
	Since *Point
}

// Key is a text that tells versions apart.
func (v Version) Key() string {
	if v.Since == nil {
		return strconv.Itoa(int(v.Reading)) + " " + v.At.String()
	}
	return strconv.Itoa(int(v.Reading)) + " " + v.Since.String() + " to " + v.At.String()
}
