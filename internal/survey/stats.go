package survey

import (
	"math"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

// Facts is what metadata says for certain of the values of one column, or one partition field, in a set of rows. The zero
// value says nothing but that there is no NaN.
type Facts struct {
	noNulls   bool
	someNulls bool
	onlyNulls bool
	mayNaN    bool
	lower     transform.Value // nil: not known
	upper     transform.Value
}

var nanProbe = transform.Type{Kind: transform.Double}

// MayHold says whether p can hold for one of the values. In our SQL NaN is above all numbers, so that a file that may
// hold NaN may match "d > 5" whatever its bounds.
func (f Facts) MayHold(t transform.Type, p transform.Predicate) bool {
	switch {
	case f.onlyNulls:
		return p.Op == transform.IsNull
	case p.Op == transform.IsNull:
		return !f.noNulls
	case f.mayNaN && p.Eval(nanProbe, math.NaN()):
		return true
	case t.Kind == transform.UUID && (f.lower == nil || f.upper == nil):
		return p.MayHold(t, nil, nil) // a bound of Java's order says nothing of ours without the other
	case t.Kind == transform.UUID:
		return p.MayHold(t, f.lower, f.upper) || signedUUIDs(p).MayHold(t, signedUUID(f.lower), signedUUID(f.upper))
	}
	return p.MayHold(t, f.lower, f.upper)
}

// signedUUID maps a UUID so that the order of the results is the order of Java's UUID.compareTo, which compares both
// halves as signed numbers. Java's writers made bounds by that order until it was fixed, and a file doesn't say by which
// one its bounds were made: only what both rule out is out.
func signedUUID(v transform.Value) transform.Value {
	u, ok := v.([16]byte)
	if !ok {
		return nil
	}
	u[0] ^= 0x80
	u[8] ^= 0x80
	return u
}

func signedUUIDs(p transform.Predicate) transform.Predicate {
	mapped := transform.Predicate{Op: p.Op}
	for _, v := range p.Values {
		mapped.Values = append(mapped.Values, signedUUID(v))
	}
	return mapped
}

// isOrdered says whether bounds of the type mean anything to us.
func isOrdered(t transform.Type) bool {
	switch t.Kind {
	case transform.None, transform.Unknown, transform.Variant, transform.Geometry, transform.Geography:
		return false
	}
	return true
}

func isFloat(t transform.Type) bool { return t.Kind == transform.Float || t.Kind == transform.Double }

// Bound decodes a bound of a manifest, nil for none. One that doesn't decode is no bound: it can't rule anything out.
func Bound(t transform.Type, b []byte) transform.Value {
	if !isOrdered(t) {
		return nil
	}
	v, err := transform.DecodeBound(t, b)
	if err != nil {
		return nil
	}
	return v
}

// columnStats is what a manifest entry says of a data file's columns.
type columnStats struct {
	rows   int64
	nulls  map[int]int64
	nans   map[int]int64
	lowers map[int][]byte
	uppers map[int][]byte
}

func statsOf(e *manifest.Entry) *columnStats {
	return &columnStats{rows: e.Rows, nulls: e.NullCounts, nans: e.NaNCounts, lowers: e.Lower, uppers: e.Upper}
}

// facts returns what is known of a top-level column. The rows of a top-level column are the file's rows, so its null
// count is held against them and not against value_counts, which some writers fill without the NULLs.
func (s *columnStats) facts(id catalog.FieldID, t transform.Type) Facts {
	f := s.bounds(id, t)
	if nulls, ok := s.nulls[int(id)]; ok && nulls >= 0 {
		f.noNulls = nulls == 0
		f.someNulls = nulls > 0
		f.onlyNulls = nulls >= s.rows && f.lower == nil && f.upper == nil
	}
	return f
}

// bounds returns what is known of a column's values that aren't NULL. It also holds for a nested one.
func (s *columnStats) bounds(id catalog.FieldID, t transform.Type) Facts {
	var f Facts
	if b, ok := s.lowers[int(id)]; ok {
		f.lower = Bound(t, b)
	}
	if b, ok := s.uppers[int(id)]; ok {
		f.upper = Bound(t, b)
	}
	if f.lower != nil && f.upper != nil && transform.Compare(t, f.lower, f.upper) > 0 {
		f.lower, f.upper = nil, nil // they contradict each other and say nothing
	}
	if isFloat(t) {
		nans, ok := s.nans[int(id)]
		f.mayNaN = !ok || nans != 0
	}
	return f
}

// SummaryFacts returns what a manifest list says of one partition field over all files of a manifest. A null bound says
// nothing: writers that encode the empty string as null leave one where there are values. Only of types that have no
// empty value does it mean that all values are NULL or NaN.
func SummaryFacts(s manifest.FieldSummary, t transform.Type) Facts {
	f := Facts{noNulls: !s.ContainsNull}
	if s.Lower != nil {
		f.lower = Bound(t, s.Lower)
	}
	if s.Upper != nil {
		f.upper = Bound(t, s.Upper)
	}
	if isFloat(t) {
		f.mayNaN = s.ContainsNaN == nil || *s.ContainsNaN
	}
	f.onlyNulls = s.ContainsNull && !f.mayNaN && s.Lower == nil && s.Upper == nil && !mayBeEmpty(t)
	return f
}

func mayBeEmpty(t transform.Type) bool {
	switch t.Kind {
	case transform.String, transform.Binary, transform.Fixed:
		return true
	}
	return !isOrdered(t)
}
