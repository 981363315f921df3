package duck

import (
	"encoding/binary"
	"math/big"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// routeKey is a key of a chunk's rows.
type routeKey struct {
	RouteKey
	x         column
	wide      transform.Type // the widest type that x's values may be of in another table of the same keys
	isOrdinal bool           // all values are in ordinals
	ordinals  []int64
	overflow  map[int]bool // rows whose value is not in ordinals, because it leaves them; nil when there is none
	buckets   [vectorRows]int32
}

// load computes the values of x's rows.
func (k *routeKey) load(x column) error {
	k.x, k.wide, k.overflow = x, widest(x.typ), nil
	if !k.Transform.CanApply(k.wide) {
		return errs.New(errs.Internal, "route rows", "", "%s is not defined on %s", k.Transform, x.typ)
	}
	if cap(k.ordinals) < x.rows {
		k.ordinals = make([]int64, max(x.rows, vectorRows))
	}
	k.ordinals = k.ordinals[:x.rows]
	k.isOrdinal = true
	isSmall := x.layout >= bits8 && x.layout <= bits64
	switch op := k.Transform.Op; {
	case op == transform.Bucket:
		k.loadBuckets()
	case isSmall && op == transform.Identity:
		k.loadIntegers()
	case isSmall && op == transform.Truncate:
		k.loadIntegers()
		k.truncate(int64(k.Transform.N))
	case isSmall:
		k.loadTimes()
	default:
		k.isOrdinal = false
	}
	return nil
}

// widest returns the type in which the values of t are transformed, whatever a table has them in.
func widest(t transform.Type) transform.Type {
	switch t.Kind {
	case transform.Int:
		t.Kind = transform.Long
	case transform.Decimal:
		t.Precision = 38
	}
	return t
}

func (k *routeKey) loadBuckets() {
	for from := 0; from < k.x.rows; from += vectorRows {
		buckets := k.buckets[:min(k.x.rows-from, vectorRows)]
		fillBuckets(buckets, k.x, from, int32(k.Transform.N))
		for i, b := range buckets {
			k.ordinals[from+i] = int64(b)
		}
	}
}

func (k *routeKey) loadIntegers() {
	switch k.x.layout {
	case bits8:
		widen(k.ordinals, values[int8](k.x))
	case bits16:
		widen(k.ordinals, values[int16](k.x))
	case bits32:
		widen(k.ordinals, values[int32](k.x))
	default:
		copy(k.ordinals, values[int64](k.x))
	}
}

func widen[T int8 | int16 | int32](out []int64, v []T) {
	for i, n := range v {
		out[i] = int64(n)
	}
}

// truncate rounds the ordinals down to multiples of width.
func (k *routeKey) truncate(width int64) {
	for i, n := range k.ordinals {
		rest := n % width
		if rest < 0 {
			rest += width
		}
		if k.ordinals[i] = n - rest; k.ordinals[i] > n {
			k.leave(i)
		}
	}
}

func (k *routeKey) loadTimes() {
	k.loadIntegers()
	for i, v := range k.ordinals {
		k.ordinals[i] = transform.TimeOrdinal(k.Transform.Op, k.wide, v)
	}
}

// leave says that row i has no ordinal. What an invalid row has means nothing.
func (k *routeKey) leave(i int) {
	if !k.x.isValid(i) {
		return
	}
	if k.overflow == nil {
		k.overflow = map[int]bool{}
	}
	k.overflow[i] = true
}

// append appends the value of a row. One that leaves all types is told apart by its source: where it goes doesn't matter, but
// that equal ones of all tables go there.
func (k *routeKey) append(key []byte, row int) []byte {
	switch {
	case !k.x.isValid(row):
		return append(key, nullTag)
	case k.isOrdinal && !k.overflow[row]:
		return appendOrdinal(key, k.ordinals[row])
	case k.isOrdinal:
		return binary.LittleEndian.AppendUint64(append(key, overflowTag), uint64(k.x.integer(row)))
	case k.x.layout == text && k.Transform.Op == transform.Identity:
		return appendTagged(key, bytesTag, values[textBytes](k.x)[row].bytes())
	}
	source := k.x.value(k.wide, row)
	v, err := k.Transform.Apply(k.wide, source)
	if err == nil {
		return appendGroupValue(key, v)
	}
	if n, ok := source.(*big.Int); ok {
		return appendTagged(key, overflowTag, transform.DecimalBytes(n))
	}
	return appendTagged(key, overflowTag, values[textBytes](k.x)[row].bytes())
}
