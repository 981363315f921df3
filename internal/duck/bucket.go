package duck

import (
	"fmt"

	"github.com/tarndb/tarn/transform"
)

// bucket is system.bucket(N, x).
func bucket(c call) error {
	counts, x := c.column(0), c.column(1)
	out, n := results[int32](c), values[int32](counts)
	c.passNulls(counts, x)
	for from := 0; from < c.rows; {
		to := runEnd(n, from)
		switch {
		case !counts.isValid(from): // its result is NULL already
		case n[from] <= 0:
			return fmt.Errorf("bucket needs a count above 0, not %d", n[from])
		default:
			fillBuckets(out[from:to], x, from, n[from])
		}
		from = to
	}
	return nil
}

// runEnd returns where the run of equal values that starts at from ends. Arguments that don't vary come as one run.
func runEnd[T comparable](v []T, from int) int {
	to := from + 1
	for to < len(v) && v[to] == v[from] {
		to++
	}
	return to
}

// fillBuckets writes to out the buckets of x's rows that start at from. Those of NULLs are arbitrary.
func fillBuckets(out []int32, x column, from int, n int32) {
	to := from + len(out)
	switch {
	case x.typ.Kind == transform.Decimal:
		fillDecimalBuckets(out, x, from, int(n))
	case x.layout == text:
		v := values[textBytes](x)
		for i := range out {
			if x.isValid(from + i) {
				out[i] = transform.BucketOf(transform.HashBytes(v[from+i].bytes()), int(n))
			}
		}
	case x.layout == bits128:
		for i, v := range values[words128](x)[from:to] {
			b := v.uuidBytes()
			out[i] = transform.BucketOf(transform.HashBytes(b[:]), int(n))
		}
	case x.typ.Kind == transform.TimestampNS:
		fillNanoBuckets(out, values[int64](x)[from:to], n)
	case x.layout == bits64:
		transform.BucketInt64s(out, values[int64](x)[from:to], n)
	case x.layout == bits32:
		transform.BucketInt32s(out, values[int32](x)[from:to], n)
	default:
		for i := range out {
			out[i] = transform.BucketOf(transform.HashInt64(x.integer(from+i)), int(n))
		}
	}
}

func fillDecimalBuckets(out []int32, x column, from, n int) {
	if x.layout == bits128 {
		for i, v := range values[words128](x)[from : from+len(out)] {
			out[i] = transform.BucketOf(transform.HashDecimal128(v.high, v.low), n)
		}
		return
	}
	for i := range out {
		out[i] = transform.BucketOf(transform.HashDecimal64(x.integer(from+i)), n)
	}
}

// fillNanoBuckets hashes nanoseconds as the microsecond that they fall in.
func fillNanoBuckets(out []int32, nanos []int64, n int32) {
	const nanosPerMicro = 1000
	for i, v := range nanos {
		micros := v / nanosPerMicro
		if v%nanosPerMicro < 0 {
			micros--
		}
		out[i] = transform.BucketOf(transform.HashInt64(micros), int(n))
	}
}
