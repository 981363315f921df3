package duck

import (
	"encoding/binary"
	"math/big"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// Bins says to which bin each group of rows goes: the rows whose keys have certain values.
type Bins struct {
	count int
	keys  int
	byKey map[string]int32
	byInt map[int64]int32 // likewise, when there is one key and its values are integers
}

// NewBins makes an empty one, of count bins for groups of so many keys. Once all groups are put it serves any number of
// goroutines.
func NewBins(count, keys int) *Bins {
	return &Bins{count: count, keys: keys, byKey: map[string]int32{}, byInt: map[int64]int32{}}
}

// Put sends the group of the values, one for each key, to a bin. Nil is NULL.
func (b *Bins) Put(values []transform.Value, bin int) {
	var key []byte
	for _, v := range values {
		key = appendGroupValue(key, v)
	}
	b.byKey[string(key)] = int32(bin)
	if len(key) == ordinalBytes && key[0] == ordinalTag && b.keys == 1 {
		b.byInt[int64(binary.LittleEndian.Uint64(key[1:]))] = int32(bin)
	}
}

// The tags of group values in a key. All types whose values may be equal write them alike: integers of any width, decimals
// of any precision at one scale, fixed and binary.
const (
	nullTag     = iota
	ordinalTag  // eight bytes
	bytesTag    // a length and bytes
	overflowTag // a source value whose transform leaves all types
)

const ordinalBytes = 1 + 8

func appendOrdinal(key []byte, n int64) []byte {
	return binary.LittleEndian.AppendUint64(append(key, ordinalTag), uint64(n))
}

func appendTagged(key []byte, tag byte, b []byte) []byte {
	return append(binary.AppendUvarint(append(key, tag), uint64(len(b))), b...)
}

// appendGroupValue appends a value of a transform.
func appendGroupValue(key []byte, v transform.Value) []byte {
	switch x := v.(type) {
	case nil:
		return append(key, nullTag)
	case bool:
		if x {
			return appendOrdinal(key, 1)
		}
		return appendOrdinal(key, 0)
	case int32:
		return appendOrdinal(key, int64(x))
	case int64:
		return appendOrdinal(key, x)
	case *big.Int:
		if x.IsInt64() {
			return appendOrdinal(key, x.Int64())
		}
		return appendTagged(key, bytesTag, transform.DecimalBytes(x))
	case string:
		return append(binary.AppendUvarint(append(key, bytesTag), uint64(len(x))), x...)
	case [16]byte:
		return appendTagged(key, bytesTag, x[:])
	}
	return appendTagged(key, bytesTag, v.([]byte))
}

// RouteKey is what a table's rows are told apart by.
type RouteKey struct {
	Column    int // of the chunks
	Transform transform.Transform
}

// Router finds the bins of rows of one table. It serves one goroutine.
type Router struct {
	bins   *Bins
	strays []bool
	keys   []routeKey
	out    []int32
	key    []byte
}

// Router returns a router. A row of no group goes where a hash of its keys' values says, or nowhere: strays tells which, at
// the place that has bit k set when the column of key k is NULL.
func (b *Bins) Router(keys []RouteKey, strays []bool) (*Router, error) {
	if len(keys) != b.keys || len(strays) != 0 && len(strays) != 1<<len(keys) {
		return nil, errs.New(errs.Internal, "route rows", "", "%d keys and %d kinds of strays, of groups of %d keys", len(keys), len(strays), b.keys)
	}
	r := &Router{bins: b, strays: strays, keys: make([]routeKey, len(keys))}
	for i := range keys {
		r.keys[i].RouteKey = keys[i]
	}
	return r, nil
}

// Route returns the bin of each of a chunk's rows, -1 for those that go nowhere. The slice is the caller's until the next call.
func (r *Router) Route(ch *Chunk) ([]int32, error) {
	rows := ch.Rows()
	if cap(r.out) < rows {
		r.out = make([]int32, rows)
	}
	r.out = r.out[:rows]
	for i := range r.keys {
		if err := r.keys[i].load(columnOf(ch.handle, r.keys[i].Column, rows)); err != nil {
			return nil, err
		}
	}
	if only := &r.keys[0]; len(r.keys) == 1 && only.isOrdinal && only.overflow == nil && len(r.bins.byInt) > 0 {
		r.routeInts(only)
	} else {
		for i := range r.out {
			r.out[i] = r.route(i)
		}
	}
	return r.out, nil
}

// routeInts is route of all rows, by one key of integers.
func (r *Router) routeInts(k *routeKey) {
	for i := range r.out {
		bin, ok := r.bins.byInt[k.ordinals[i]]
		if !ok || !k.x.isValid(i) {
			bin = r.route(i)
		}
		r.out[i] = bin
	}
}

func (r *Router) route(row int) int32 {
	key, nulls := r.key[:0], 0
	for i := range r.keys {
		if !r.keys[i].x.isValid(row) {
			nulls |= 1 << i
		}
		key = r.keys[i].append(key, row)
	}
	r.key = key
	if bin, ok := r.bins.byKey[string(key)]; ok {
		return bin
	}
	if nulls >= len(r.strays) || !r.strays[nulls] {
		return -1
	}
	return transform.BucketOf(transform.HashBytes(key), r.bins.count)
}
