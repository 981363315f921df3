package catalog

import "github.com/tarndb/tarn/transform"

// ColumnSum is what the statistics of files say together of all values of one column in them.
type ColumnSum struct {
	NonNull int64 // rows in which the column isn't NULL
	// Lower and Upper are the least and the greatest of the files' bounds; nil when no row has a value. Whether bounds are
	// values is for the reader to know: those of strings may be cut.
	Lower, Upper transform.Value
	// NoCount is the path of a file that doesn't say how many of its rows are NULL, NoBounds of one that has values and
	// doesn't give both bounds: NonNull, or the bounds, are then not those of all files. "" when there is none.
	NoCount, NoBounds string
}

// Add makes the sum that of the files of both. t is the column's type. Of two paths the lesser one stays, so that the order
// of files makes no difference.
func (s *ColumnSum) Add(t transform.Type, other ColumnSum) {
	s.NonNull += other.NonNull
	if s.Lower == nil || other.Lower != nil && transform.Compare(t, other.Lower, s.Lower) < 0 {
		s.Lower = other.Lower
	}
	if s.Upper == nil || other.Upper != nil && transform.Compare(t, other.Upper, s.Upper) > 0 {
		s.Upper = other.Upper
	}
	s.NoCount, s.NoBounds = lesserPath(s.NoCount, other.NoCount), lesserPath(s.NoBounds, other.NoBounds)
}

func lesserPath(a, b string) string {
	if a == "" || b != "" && b < a {
		return b
	}
	return a
}
