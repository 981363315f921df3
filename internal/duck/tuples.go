package duck

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// Tuples gives each partition tuple of rows a bin of its own, as they come, until so many have one; the rest share some
// bins, by a hash. So a fixed number of bins takes any number of tuples, and the rows of one are always in one bin. It serves
// any number of goroutines.
type Tuples struct {
	types       []transform.Type
	own, shared int
	seed        byte // of the hash; sharers of a bin must be told apart by another

	mu     sync.RWMutex
	byKey  map[string]int32
	tuples [][]transform.Value // by bin
}

// NewTuples makes an empty one, for tuples of values of types. Bins below own are for one tuple each.
func NewTuples(types []transform.Type, own, shared int, seed byte) *Tuples {
	return &Tuples{types: types, own: own, shared: shared, seed: seed, byKey: map[string]int32{}}
}

// Own returns the tuples that have a bin of their own, by the bin. The slice isn't to be changed.
func (t *Tuples) Own() [][]transform.Value {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.tuples
}

// Bins returns how many bins there are: those of one tuple, then the shared ones.
func (t *Tuples) Bins() int { return t.own + t.shared }

// bin returns the bin of a tuple by its key; values is called for a new one.
func (t *Tuples) bin(key []byte, values func() []transform.Value) int32 {
	t.mu.RLock()
	bin, ok := t.byKey[string(key)]
	isFull := len(t.tuples) == t.own
	t.mu.RUnlock()
	switch {
	case ok:
		return bin
	case isFull:
		return t.sharedBin(key)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if bin, ok = t.byKey[string(key)]; ok {
		return bin
	}
	if len(t.tuples) == t.own {
		return t.sharedBin(key)
	}
	bin = int32(len(t.tuples))
	t.byKey[string(key)] = bin
	t.tuples = append(t.tuples, values())
	return bin
}

func (t *Tuples) sharedBin(key []byte) int32 {
	return int32(t.own) + transform.BucketOf(transform.HashBytes(append(slices.Clone(key), t.seed)), t.shared)
}

// TupleRouter finds the bins of chunks' rows by their tuples. It serves one goroutine.
type TupleRouter struct {
	tuples *Tuples
	first  int // column
	known  map[string]int32
	small  []int32 // by the value of a single column, such as a bucket's number: its bin and one, 0 where it isn't known
	out    []int32
	key    []byte
	last   []byte // the key of the row before
}

// Router returns a router of chunks whose columns from first on are the values of the tuples.
func (t *Tuples) Router(first int) *TupleRouter {
	return &TupleRouter{tuples: t, first: first, known: map[string]int32{}}
}

// Route returns the bin of each of a chunk's rows, and -1 of those that keep, if it isn't nil, says aren't wanted: their tuples
// get no bin. The slice is the caller's until the next call.
func (r *TupleRouter) Route(ch *Chunk, keep []bool) ([]int32, error) {
	rows := ch.Rows()
	columns := make([]column, len(r.tuples.types))
	for i := range columns {
		columns[i] = columnOf(ch.handle, r.first+i, rows)
		if columns[i].layout == otherLayout {
			return nil, errs.New(errs.Internal, "route rows", ch.result.columns[r.first+i].Name, "it is a %s", ch.result.columns[r.first+i].Type)
		}
	}
	r.out = slices.Grow(r.out[:0], rows)[:rows]
	if len(columns) == 1 && columns[0].layout == bits32 {
		r.routeInts(columns, keep)
		return r.out, nil
	}
	before := -1 // the row that the last key is of
	for i := range r.out {
		if keep != nil && !keep[i] {
			r.out[i] = -1
			continue
		}
		r.key = r.key[:0]
		for c := range columns {
			r.key = columns[c].appendTupleValue(r.key, i)
		}
		if before >= 0 && string(r.key) == string(r.last) {
			r.out[i] = r.out[before]
			continue
		}
		r.out[i], before = r.bin(columns, i), i
		r.key, r.last = r.last, r.key
	}
	return r.out, nil
}

// smallValues is below which values of a single column are looked up without their key.
const smallValues = 4096

// routeInts is Route by one column of 32 bits.
func (r *TupleRouter) routeInts(columns []column, keep []bool) {
	if r.small == nil {
		r.small = make([]int32, smallValues)
	}
	for i, v := range values[int32](columns[0]) {
		if keep != nil && !keep[i] {
			r.out[i] = -1
			continue
		}
		isSmall := uint32(v) < smallValues && columns[0].isValid(i)
		if isSmall && r.small[v] > 0 {
			r.out[i] = r.small[v] - 1
			continue
		}
		r.key = columns[0].appendTupleValue(r.key[:0], i)
		r.out[i] = r.bin(columns, i)
		if isSmall {
			r.small[v] = r.out[i] + 1
		}
	}
}

// bin returns the bin of a row, whose key is in r.key. Bins of one tuple are remembered: that takes no lock.
func (r *TupleRouter) bin(columns []column, row int) int32 {
	if bin, ok := r.known[string(r.key)]; ok {
		return bin
	}
	bin := r.tuples.bin(r.key, func() []transform.Value {
		tuple := make([]transform.Value, len(columns))
		for i := range columns {
			if columns[i].isValid(row) {
				tuple[i] = columns[i].value(r.tuples.types[i], row)
			}
		}
		return tuple
	})
	if int(bin) < r.tuples.own {
		r.known[string(r.key)] = bin
	}
	return bin
}

// appendTupleValue appends the value of a row to a key. Keys are equal exactly when tuples are the same: the zeros of a float
// are two values, and all NaN are one.
func (c column) appendTupleValue(key []byte, row int) []byte {
	if !c.isValid(row) {
		return append(key, nullTag)
	}
	switch c.layout {
	case text:
		return appendTagged(key, bytesTag, values[textBytes](c)[row].bytes())
	case bits128:
		w := values[words128](c)[row]
		key = binary.LittleEndian.AppendUint64(append(key, ordinalTag), w.low)
		return binary.LittleEndian.AppendUint64(key, uint64(w.high))
	case float32s, float64s:
		f := floatAt(c, row)
		if math.IsNaN(f) {
			f = math.NaN()
		}
		return binary.LittleEndian.AppendUint64(append(key, ordinalTag), math.Float64bits(f))
	}
	return appendOrdinal(key, c.integer(row))
}

func floatAt(c column, row int) float64 {
	if c.layout == float32s {
		return float64(values[float32](c)[row])
	}
	return values[float64](c)[row]
}
