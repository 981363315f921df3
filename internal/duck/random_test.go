package duck

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tarndb/tarn/internal/quote"
	"github.com/tarndb/tarn/internal/seed"
	"github.com/tarndb/tarn/transform"
)

// keyTypes are the types that a layout key may have.
var keyTypes = []transform.Type{
	{Kind: transform.Boolean}, {Kind: transform.Int}, longType, {Kind: transform.Date}, {Kind: transform.Time},
	{Kind: transform.Timestamp}, {Kind: transform.TimestampTZ}, {Kind: transform.TimestampNS}, stringType,
	{Kind: transform.UUID}, {Kind: transform.Binary}, {Kind: transform.Fixed, Length: 20},
	{Kind: transform.Decimal, Precision: 4, Scale: 1}, {Kind: transform.Decimal, Precision: 9, Scale: 2},
	{Kind: transform.Decimal, Precision: 18, Scale: 0}, {Kind: transform.Decimal, Precision: 20, Scale: 5},
	{Kind: transform.Decimal, Precision: 38, Scale: 10},
}

var allTransforms = []transform.Transform{
	{Op: transform.Identity}, {Op: transform.Bucket, N: 1}, {Op: transform.Bucket, N: 7}, {Op: transform.Bucket, N: 64},
	{Op: transform.Truncate, N: 1}, {Op: transform.Truncate, N: 10}, {Op: transform.Truncate, N: 1000},
	{Op: transform.Year}, {Op: transform.Month}, {Op: transform.Day}, {Op: transform.Hour}, {Op: transform.Void},
}

// source makes random values from a seed that it logs.
type source struct{ *rand.Rand }

func newSource(t *testing.T) source {
	return source{seed.Rand(t)}
}

// integer returns numbers of all magnitudes up to limit, of either sign.
func (s source) integer(limit int64) int64 {
	n := s.Int64() >> s.IntN(63) % max(limit, 1)
	if s.IntN(2) == 0 {
		return -n
	}
	return n
}

// day returns days that DuckDB's dates and timestamps have, near 1970 more often than not.
func (s source) day() int64 {
	if s.IntN(2) == 0 {
		return s.integer(400)
	}
	return s.integer(100_000)
}

func (s source) value(t transform.Type) transform.Value {
	switch t.Kind {
	case transform.Boolean:
		return s.IntN(2) == 0
	case transform.Int:
		return int32(s.integer(math.MaxInt32))
	case transform.Long:
		return s.integer(math.MaxInt64)
	case transform.Date:
		return int32(s.day())
	case transform.Time:
		return s.Int64N(86_400_000_000)
	case transform.Timestamp, transform.TimestampTZ:
		return s.day()*86_400_000_000 + s.Int64N(86_400_000_000)
	case transform.TimestampNS:
		return s.day()*86_400_000_000_000 + s.Int64N(86_400_000_000_000)
	case transform.String:
		return s.text()
	case transform.UUID:
		var u [16]byte
		copy(u[:], s.bytes(16))
		return u
	case transform.Fixed:
		return s.bytes(t.Length)
	case transform.Binary:
		return s.bytes(s.IntN(30))
	}
	digits := 1 + s.IntN(t.Precision)
	v := new(big.Int).SetBytes(s.bytes(17))
	v.Mod(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil))
	if s.IntN(2) == 0 {
		v.Neg(v)
	}
	return v
}

func (s source) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(s.Uint32())
	}
	return b
}

// text returns strings short and long, of one to four bytes a sign.
func (s source) text() string {
	var b strings.Builder
	for range s.IntN(16) {
		b.WriteRune([]rune("ab'\"é日😀 ")[s.IntN(8)])
	}
	return b.String()
}

// literal returns v as SQL text of type t.
func literal(t testing.TB, typ transform.Type, v transform.Value) string {
	name, err := typeSQL(typ)
	if err != nil {
		t.Fatal(err)
	}
	switch v := v.(type) {
	case nil:
		return "CAST(NULL AS " + name + ")"
	case []byte:
		return "CAST(" + quote.Text(blobText(v)) + " AS BLOB)"
	default:
		return fmt.Sprintf("CAST(%s AS %s)", quote.Text(transform.FormatValue(typ, v)), name)
	}
}

// fill makes a table of (i INTEGER, v TYPE) from values.
func fill(t testing.TB, c *Conn, table string, typ transform.Type, values []transform.Value) {
	t.Helper()
	rows := make([]string, len(values))
	for i, v := range values {
		rows[i] = fmt.Sprintf("(%d, %s)", i, literal(t, typ, v))
	}
	mustExec(t, c, fmt.Sprintf("CREATE OR REPLACE TEMP TABLE %s AS SELECT * FROM (VALUES %s) v(i, v)", table, strings.Join(rows, ", ")))
}
