package duck

import (
	"encoding/binary"
	"math/big"
	"unsafe"

	bindings "github.com/duckdb/duckdb-go-bindings"

	"github.com/tarndb/tarn/transform"
)

// vectorRows is the most rows that DuckDB passes at a time.
const vectorRows = 2048

// layout is how DuckDB lays out the values of a column in memory.
type layout uint8

const (
	otherLayout layout = iota
	bits8              // TINYINT, BOOLEAN
	bits16             // SMALLINT, DECIMAL to 4 digits
	bits32             // INTEGER, DATE, DECIMAL to 9 digits
	bits64             // BIGINT, TIME, the TIMESTAMPs, DECIMAL to 18 digits
	bits128            // DECIMAL to 38 digits, UUID
	text               // VARCHAR, BLOB
	float32s           // FLOAT
	float64s           // DOUBLE
)

// column is a flat vector of argument values, which DuckDB owns.
type column struct {
	handle bindings.Vector
	typ    transform.Type // its Kind is None for a type that isn't Iceberg's
	layout layout
	data   unsafe.Pointer
	valid  []uint64 // a bit a row, set when it isn't NULL; nil when none is
	rows   int
}

// column returns the i-th argument. One without a type of ours can only be NULL throughout, which bind saw to.
func (c call) column(i int) column { return columnOf(c.input, i, c.rows) }

// columnOf returns the i-th vector of a chunk of rows.
func columnOf(chunk bindings.DataChunk, i, rows int) column {
	v := bindings.DataChunkGetVector(chunk, bindings.IdxT(i))
	logical := bindings.VectorGetColumnType(v)
	defer bindings.DestroyLogicalType(&logical)
	x := column{handle: v, data: bindings.VectorGetData(v), rows: rows, layout: layoutOf(logical)}
	x.typ, _ = ownType(logical)
	if mask := bindings.VectorGetValidity(v); mask != nil {
		x.valid = unsafe.Slice((*uint64)(mask), maskWords(rows))
	}
	return x
}

func maskWords(rows int) int { return (rows + 63) / 64 }

func layoutOf(t bindings.LogicalType) layout {
	id := bindings.GetTypeId(t)
	if id == bindings.TypeDecimal {
		id = bindings.DecimalInternalType(t)
	}
	switch id {
	case bindings.TypeTinyInt, bindings.TypeBoolean:
		return bits8
	case bindings.TypeSmallInt:
		return bits16
	case bindings.TypeInteger, bindings.TypeDate:
		return bits32
	case bindings.TypeBigInt, bindings.TypeTime, bindings.TypeTimestamp, bindings.TypeTimestampTZ, bindings.TypeTimestampNS:
		return bits64
	case bindings.TypeHugeInt, bindings.TypeUUID:
		return bits128
	case bindings.TypeVarchar, bindings.TypeBlob:
		return text
	case bindings.TypeFloat:
		return float32s
	case bindings.TypeDouble:
		return float64s
	}
	return otherLayout
}

// ownTypes are the Iceberg types of DuckDB's. The narrow integers hash and truncate as int does. BLOB stands for fixed too.
var ownTypes = map[bindings.Type]transform.Kind{
	bindings.TypeBoolean: transform.Boolean, bindings.TypeTinyInt: transform.Int, bindings.TypeSmallInt: transform.Int,
	bindings.TypeInteger: transform.Int, bindings.TypeBigInt: transform.Long, bindings.TypeFloat: transform.Float,
	bindings.TypeDouble: transform.Double, bindings.TypeDate: transform.Date, bindings.TypeTime: transform.Time,
	bindings.TypeTimestamp: transform.Timestamp, bindings.TypeTimestampTZ: transform.TimestampTZ,
	bindings.TypeTimestampNS: transform.TimestampNS, bindings.TypeVarchar: transform.String,
	bindings.TypeBlob: transform.Binary, bindings.TypeUUID: transform.UUID,
}

// ownType returns the Iceberg type of a DuckDB type.
func ownType(t bindings.LogicalType) (transform.Type, bool) {
	id := bindings.GetTypeId(t)
	if id == bindings.TypeDecimal {
		return transform.Type{
			Kind: transform.Decimal, Precision: int(bindings.DecimalWidth(t)), Scale: int(bindings.DecimalScale(t)),
		}, true
	}
	kind, ok := ownTypes[id]
	return transform.Type{Kind: kind}, ok
}

// values returns the column's values, as DuckDB lays them out. Those of NULLs are arbitrary.
func values[T any](c column) []T { return unsafe.Slice((*T)(c.data), c.rows) }

// results returns the output's values, to be written.
func results[T any](c call) []T { return unsafe.Slice((*T)(bindings.VectorGetData(c.output)), c.rows) }

// isValid says whether the value of row i isn't NULL.
func (c column) isValid(i int) bool { return c.valid == nil || c.valid[i>>6]>>(i&63)&1 != 0 }

// passNulls makes the output NULL where one of the arguments is.
func (c call) passNulls(args ...column) {
	for _, x := range args {
		if x.valid == nil {
			continue
		}
		bindings.VectorEnsureValidityWritable(c.output)
		mask := unsafe.Slice((*uint64)(bindings.VectorGetValidity(c.output)), maskWords(c.rows))
		for i, w := range x.valid {
			mask[i] &= w
		}
	}
}

// words128 is a 128-bit value: DuckDB keeps the low word first.
type words128 struct {
	low  uint64
	high int64
}

// uuidBytes returns the bytes of a uuid in the order of its text. DuckDB flips the first bit so that uuids compare as
// signed numbers.
func (w words128) uuidBytes() (b [16]byte) {
	binary.BigEndian.PutUint64(b[:8], uint64(w.high)^1<<63)
	binary.BigEndian.PutUint64(b[8:], w.low)
	return b
}

// uuidWords is uuidBytes the other way round.
func uuidWords(b [16]byte) words128 {
	return words128{low: binary.BigEndian.Uint64(b[8:]), high: int64(binary.BigEndian.Uint64(b[:8]) ^ 1<<63)}
}

func (w words128) big() *big.Int {
	b := new(big.Int).Lsh(big.NewInt(w.high), 64)
	return b.Or(b, new(big.Int).SetUint64(w.low))
}

// textBytes is DuckDB's string: a length, then up to 12 bytes in place, or 4 bytes and a pointer to them all.
type textBytes struct {
	length uint32
	inline [12]byte
}

const (
	inlineBytes   = 12
	pointerOffset = 8
)

// bytes returns the string's bytes, which stay DuckDB's. They may not be looked at when the row is NULL.
func (t *textBytes) bytes() []byte {
	if t.length <= inlineBytes {
		return t.inline[:t.length]
	}
	return unsafe.Slice(*(**byte)(unsafe.Add(unsafe.Pointer(t), pointerOffset)), t.length)
}

// integer returns the value of row i of a column of 8 to 64 bits.
func (c column) integer(i int) int64 {
	switch c.layout {
	case bits8:
		return int64(values[int8](c)[i])
	case bits16:
		return int64(values[int16](c)[i])
	case bits32:
		return int64(values[int32](c)[i])
	}
	return values[int64](c)[i]
}

// value returns the value of row i, which isn't NULL, as a value of t.
func (c column) value(t transform.Type, i int) transform.Value {
	switch c.layout {
	case text:
		return textValue(t, values[textBytes](c)[i].bytes())
	case bits128:
		w := values[words128](c)[i]
		if t.Kind == transform.UUID {
			return w.uuidBytes()
		}
		return w.big()
	case float32s:
		return values[float32](c)[i]
	case float64s:
		return values[float64](c)[i]
	}
	return integerValue(t, c.integer(i))
}

func textValue(t transform.Type, b []byte) transform.Value {
	if t.Kind == transform.String {
		return string(b)
	}
	return append([]byte{}, b...)
}

func integerValue(t transform.Type, v int64) transform.Value {
	switch t.Kind {
	case transform.Boolean:
		return v != 0
	case transform.Int, transform.Date:
		return int32(v)
	case transform.Decimal:
		return big.NewInt(v)
	}
	return v
}
