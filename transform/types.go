package transform

// Kind is the kind of a primitive Iceberg type.
type Kind uint8

// The primitive kinds. None is not a type: it marks a nested or a missing one.
const (
	None Kind = iota
	Boolean
	Int
	Long
	Float
	Double
	Decimal
	Date
	Time
	Timestamp
	TimestampTZ
	TimestampNS
	TimestampTZNS
	String
	UUID
	Fixed
	Binary
	Unknown // the v3 type whose only value is NULL
	Variant
	Geometry
	Geography
)

// Type is a primitive Iceberg type. It is comparable.
type Type struct {
	Kind      Kind
	Precision int // of a decimal
	Scale     int // of a decimal
	Length    int // of a fixed, in bytes
}

// Value is a value of a primitive type, or nil for NULL:
//
//	boolean                     bool
//	int                         int32
//	date                        int32, days since 1970-01-01
//	long                        int64
//	time                        int64, microseconds since midnight
//	timestamp, timestamptz      int64, microseconds since 1970-01-01 (UTC)
//	timestamp_ns, timestamptz_ns int64, nanoseconds since 1970-01-01 (UTC)
//	float, double               float32, float64
//	decimal                     *big.Int, unscaled
//	string                      string, valid UTF-8
//	uuid                        [16]byte, in the order of its text
//	fixed, binary               []byte
//
// A Value is never changed after it was made: big.Int and byte slices are shared.
type Value = any

// Op is the operation of a transform.
type Op uint8

// The operations. OpUnknown keeps the text of a transform that this version doesn't know.
const (
	Identity Op = iota
	Bucket
	Truncate
	Year
	Month
	Day
	Hour
	Void
	OpUnknown
)

// Transform is a partition transform: its operation and its parameter. It is comparable.
type Transform struct {
	Op   Op
	N    int    // bucket: the count; truncate: the width; else 0
	Text string // OpUnknown: the transform as the metadata spells it; else ""
}

// PredicateOp is the operation of a Predicate.
type PredicateOp uint8

// The operations, with SQL's meaning for a value that isn't NULL.
const (
	IsNull PredicateOp = iota
	NotNull
	IsNaN
	NotNaN
	LT
	LE
	EQ
	NE
	GE
	GT
	In
	NotIn
	StartsWith
	NotStartsWith
)

// Predicate is a test of one value. Values holds no NULL and no NaN: one for a comparison or a prefix, any number for In
// and NotIn, none otherwise. A NULL satisfies only IsNull (SQL: an unknown test doesn't hold).
type Predicate struct {
	Op     PredicateOp
	Values []Value
	Also   []Value // satisfy the test whatever Op says; only Project sets it, for values that foreign writers let wrap around

	sorted bool // Values ascend
}
