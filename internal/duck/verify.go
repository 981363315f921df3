package duck

import (
	"errors"
	"fmt"
	"sync"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/transform"
)

// verify is tarn_verify_TYPE(check, x, file_index): it gives x, or the error that a row isn't in the file that its key
// says.
//
// It stands for x itself, as its only source, so that whatever DuckDB does with the key (a join's filter pushed into the
// scan, statistics, late materialisation) happens to a value that was checked. As a
// WHERE beside the join it would be skipped: the join's filter drops the lying rows before they are looked at.
func verify(c call) error {
	ids, x, indexes := c.column(0), c.column(1), c.column(2)
	if ids.valid != nil || indexes.valid != nil {
		return errors.New(bugMark + "a key check needs its number and the file's, not NULL")
	}
	id, file := values[int64](ids), values[uint64](indexes)
	for from := 0; from < c.rows; {
		to := min(runEnd(id, from), runEnd(file, from))
		if err := verifyRun(id[from], x, from, to, file[from]); err != nil {
			return err
		}
		from = to
	}
	bindings.VectorReferenceVector(c.output, x.handle)
	return nil
}

// verifyRun checks rows of one file.
func verifyRun(id int64, x column, from, to int, file uint64) error {
	registered, ok := checks.Load(id)
	if !ok {
		return fmt.Errorf("%skey check %d is not registered", bugMark, id)
	}
	k := registered.(*keyCheck)
	if isFixed := k.Type.Kind == transform.Fixed && x.typ.Kind == transform.Binary; x.typ != k.Type && !isFixed {
		return fmt.Errorf("%skey check %d is of %s, not %s", bugMark, id, k.Type, x.typ)
	}
	if file >= uint64(len(k.files)) {
		return fmt.Errorf("%skey check %d knows %d files, not file %d", bugMark, id, len(k.files), file)
	}
	if bad := k.firstBad(x, from, to, int(file)); bad >= 0 {
		return k.fail(id, x, bad, int(file))
	}
	return nil
}

// expectation is what each key of one file must be like, in the form that its matcher wants.
type expectation struct {
	once      sync.Once
	low, high int64 // the keys that the partition value stands for; high < low when there are none
	key       []byte
}

// matcher returns the first of x's rows from..to-1, none of them NULL, whose key is not in the file, or -1.
type matcher func(k *keyCheck, x column, from, to, file int) int

// firstBad returns the first of x's rows from..to-1 that doesn't belong into the file, or -1.
func (k *keyCheck) firstBad(x column, from, to, file int) int {
	if k.Transform.Op == transform.Void {
		return -1 // its partition value is NULL, whatever the key
	}
	isNull := k.Expected[file] == nil
	if isNull || x.valid != nil {
		for i := from; i < to; i++ {
			if x.isValid(i) == isNull {
				return i
			}
		}
	}
	if isNull {
		return -1
	}
	return k.match(k, x, from, to, file)
}

func matcherOf(k KeyCheck) matcher {
	switch {
	case k.Transform.Op == transform.Bucket:
		return matchBucket
	case isOrdinal(k.Type):
		return matchRange
	}
	return matchAny
}

// isOrdinal says whether the values of t are integers of at most 64 bits. All transforms but bucket keep their order.
func isOrdinal(t transform.Type) bool {
	switch t.Kind {
	case transform.Boolean, transform.Int, transform.Long, transform.Date, transform.Time,
		transform.Timestamp, transform.TimestampTZ, transform.TimestampNS:
		return true
	case transform.Decimal:
		return t.Precision <= maxDigits64
	}
	return false
}

// maxDigits64 is how many decimal digits DuckDB keeps in 64 bits.
const maxDigits64 = 18

func matchBucket(k *keyCheck, x column, from, to, file int) int {
	want := bucketOf(k.Expected[file])
	var space [vectorRows]int32
	for from < to {
		got := space[:min(to-from, vectorRows)]
		fillBuckets(got, x, from, int32(k.Transform.N))
		var differs int32
		for _, b := range got {
			differs |= b ^ want
		}
		for i := 0; differs != 0; i++ {
			if got[i] != want {
				return from + i
			}
		}
		from += len(got)
	}
	return -1
}

// bucketOf returns a partition value that counts buckets, or -1, which none is.
func bucketOf(v transform.Value) int32 {
	switch v := v.(type) {
	case int32:
		return v
	case int64:
		if v == int64(int32(v)) {
			return int32(v)
		}
	}
	return -1
}

// matchAny applies the transform to each key, but for those that repeat.
func matchAny(k *keyCheck, x column, from, to, file int) int {
	e := &k.files[file]
	result := k.Transform.ResultType(k.Type)
	e.once.Do(func() { e.key = transform.AppendKey(nil, result, k.Expected[file]) })
	var space [64]byte
	for i := from; i < to; i++ {
		if i > from && x.repeats(i) {
			continue
		}
		got, err := k.Transform.Apply(k.Type, x.value(k.Type, i))
		if err != nil || string(transform.AppendKey(space[:0], result, got)) != string(e.key) {
			return i
		}
	}
	return -1
}

// repeats says whether row i, which like the row before it isn't NULL, has the same value as that.
func (c column) repeats(i int) bool {
	switch c.layout {
	case text:
		v := values[textBytes](c)
		return string(v[i].bytes()) == string(v[i-1].bytes())
	case bits128:
		v := values[words128](c)
		return v[i] == v[i-1]
	}
	return c.integer(i) == c.integer(i-1)
}
