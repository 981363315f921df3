package survey

import (
	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/manifest"
	"github.com/tarndb/tarn/transform"
)

// claim is what a partition field says of every row in a file: that its transform maps the row to the file's partition
// value. A file's own counts and bounds can contradict it, and then the field is no key for that file.
type claim struct {
	bit      uint64
	at       int
	source   catalog.FieldID
	typ      transform.Type // the source's
	fn       transform.Transform
	topLevel bool
}

// claimsOf returns the claims that can be checked. Fields beyond the 64th have no bit to be marked by; nobody has them.
func claimsOf(spec catalog.PartitionSpec, types []transform.Type, schema *catalog.Schema) []claim {
	var claims []claim
	for i, f := range spec.Fields {
		if i >= 64 || len(f.Sources) != 1 || types[i].Kind == transform.None || f.Transform.Op == transform.Void || isFloat(f.SourceType) {
			continue
		}
		_, topLevel := schema.Field(f.Sources[0])
		claims = append(claims, claim{
			bit: 1 << i, at: i, source: f.Sources[0], typ: f.SourceType, fn: f.Transform, topLevel: topLevel,
		})
	}
	return claims
}

// Contradictions returns the bits of the fields of a spec whose values in tuple the counts and bounds of the file of an entry
// disprove: bit i is that of field i.
func Contradictions(spec catalog.PartitionSpec, schema *catalog.Schema, tuple []transform.Value, e *manifest.Entry) uint64 {
	return contradictions(claimsOf(spec, manifest.TupleTypes(spec), schema), tuple, statsOf(e))
}

// contradictions returns the bits of the fields whose claims the file's own numbers disprove.
func contradictions(claims []claim, tuple []transform.Value, stats *columnStats) uint64 {
	var bits uint64
	for _, c := range claims {
		if c.isContradicted(tuple[c.at], stats) {
			bits |= c.bit
		}
	}
	return bits
}

func (c claim) isContradicted(v transform.Value, stats *columnStats) bool {
	f := stats.bounds(c.source, c.typ)
	if c.topLevel {
		f = stats.facts(c.source, c.typ)
	}
	switch {
	case v == nil:
		// Every transform maps NULL to NULL and nothing else to it.
		return f.lower != nil && f.upper != nil
	case f.someNulls, c.fn.IsWrapped(c.typ, v):
		return true
	case f.lower == nil || f.upper == nil || !c.isExact():
		return false
	case c.fn.Op == transform.Bucket:
		return !c.mayHashTo(v, f.lower, f.upper)
	}
	return !c.maps(f.lower, v) || !c.maps(f.upper, v)
}

// maxProbes is up to how many values between two bounds are hashed to find one that belongs in the file's bucket. An
// honest file's lower bound is such a value already; only a liar costs all the probes, some microseconds.
const maxProbes = 256

// mayHashTo says whether a value between the bounds can belong in the bucket. A hash says nothing of the values between
// two others, so they are all tried if they are few.
func (c claim) mayHashTo(bucket, lower, upper transform.Value) bool {
	if transform.Compare(c.typ, lower, upper) == 0 {
		return c.maps(lower, bucket)
	}
	first, last, ok := countable(lower, upper)
	if !ok || last < first || uint64(last-first) >= maxProbes {
		return true
	}
	for n := first; ; n++ {
		var value transform.Value = n
		if _, isInt := lower.(int32); isInt {
			value = int32(n)
		}
		if c.maps(value, bucket) {
			return true
		}
		if n == last {
			return false
		}
	}
}

// countable returns bounds as integers, where there are only integers between them.
func countable(lower, upper transform.Value) (first, last int64, ok bool) {
	switch lo := lower.(type) {
	case int32:
		hi, ok := upper.(int32)
		return int64(lo), int64(hi), ok
	case int64:
		hi, ok := upper.(int64)
		return lo, hi, ok
	}
	return 0, 0, false
}

// isExact says whether the bounds are values of the column, or at least values that any value lies between. Those of
// strings and bytes may be cut, and those of uuids may be in another order.
func (c claim) isExact() bool {
	switch c.typ.Kind {
	case transform.String, transform.Binary, transform.Fixed, transform.UUID:
		return false
	}
	return true
}

func (c claim) maps(value, to transform.Value) bool {
	got, err := c.fn.Apply(c.typ, value)
	return err == nil && got != nil && transform.Compare(c.fn.ResultType(c.typ), got, to) == 0
}
