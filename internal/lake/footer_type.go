package lake

import (
	"fmt"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/tarndb/tarn/transform"
)

// storedType is how a Parquet file stores a primitive column.
type storedType struct {
	physical parquet.Type
	logical  schema.LogicalType
	length   int
}

// String names the type as Parquet's own tools do: INT32 (Date).
func (s storedType) String() string {
	name := s.physical.String()
	if s.physical == parquet.Types.FixedLenByteArray {
		name = fmt.Sprintf("%s(%d)", name, s.length)
	}
	if s.isPlain() {
		return name
	}
	return fmt.Sprintf("%s (%s)", name, s.logical)
}

// fitness says whether a stored type can be read as a table's type.
type fitness uint8

const (
	unfit  fitness = iota // it is another type
	unread                // it could be read rightly, but isn't yet
	fits
)

func fitIf(ok bool) fitness {
	if ok {
		return fits
	}
	return unfit
}

// fit follows the spec's Parquet mapping and its promotions: int to long, float to double, decimals of more digits, and
// in format version 3 date to timestamp.
func (s storedType) fit(t transform.Type) fitness {
	switch t.Kind {
	case transform.Boolean:
		return fitIf(s.physical == parquet.Types.Boolean)
	case transform.Int:
		return s.integer(parquet.Types.Int32)
	case transform.Long:
		return max(s.integer(parquet.Types.Int32), s.integer(parquet.Types.Int64))
	case transform.Float:
		return fitIf(s.physical == parquet.Types.Float)
	case transform.Double:
		return fitIf(s.physical == parquet.Types.Double || s.physical == parquet.Types.Float)
	case transform.Decimal:
		d, ok := s.logical.(schema.DecimalLogicalType)
		return fitDecimal(d, ok, t)
	case transform.Date:
		return fitIf(s.isDate())
	case transform.Time:
		return s.timeOfDay()
	case transform.Timestamp, transform.TimestampTZ, transform.TimestampNS, transform.TimestampTZNS:
		return s.timestamp(t.Kind)
	}
	return s.bytes(t)
}

// integer accepts signed integers only. An unsigned one holds values that the table's type doesn't.
func (s storedType) integer(physical parquet.Type) fitness {
	if i, ok := s.logical.(schema.IntLogicalType); ok {
		return fitIf(s.physical == physical && i.IsSigned())
	}
	return fitIf(s.physical == physical && s.isPlain())
}

func fitDecimal(stored schema.DecimalLogicalType, isDecimal bool, t transform.Type) fitness {
	return fitIf(isDecimal && int(stored.Scale()) == t.Scale && int(stored.Precision()) <= t.Precision)
}

// isPlain says whether nothing but the physical type is known.
func (s storedType) isPlain() bool { return s.logical == nil || s.logical.IsNone() }

func (s storedType) isDate() bool {
	_, ok := s.logical.(schema.DateLogicalType)
	return ok && s.physical == parquet.Types.Int32
}

func (s storedType) timeOfDay() fitness {
	t, ok := s.logical.(schema.TimeLogicalType)
	switch {
	case !ok:
		return unfit
	case t.TimeUnit() == schema.TimeUnitNanos:
		return unread
	}
	return fits
}

// timestamp accepts INT96, which has no zone and is read as an instant. A column whose zone is known must have the
// table's: read as the other kind, its values would depend on the session's time zone.
func (s storedType) timestamp(kind transform.Kind) fitness {
	zoned := kind == transform.TimestampTZ || kind == transform.TimestampTZNS
	nanos := kind == transform.TimestampNS || kind == transform.TimestampTZNS
	if s.physical == parquet.Types.Int96 {
		return fits
	}
	if s.isDate() && !zoned {
		return fits
	}
	ts, ok := s.logical.(schema.TimestampLogicalType)
	switch {
	case !ok:
		return unfit
	case !ts.IsFromConvertedType() && ts.IsAdjustedToUTC() != zoned, ts.TimeUnit() == schema.TimeUnitNanos && !nanos:
		return unread
	}
	return fits
}

// bytes accepts text where text is wanted and bytes where bytes are. The engine reads the one as the other by escaping,
// which changes values.
func (s storedType) bytes(t transform.Type) fitness {
	isText := false
	switch s.logical.(type) {
	case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
		isText = true
	}
	_, isUUID := s.logical.(schema.UUIDLogicalType)
	isArray, isFixed := s.physical == parquet.Types.ByteArray, s.physical == parquet.Types.FixedLenByteArray
	switch {
	case !isArray && !isFixed:
		return unfit
	case t.Kind == transform.UUID && isUUID,
		t.Kind == transform.String && isText,
		t.Kind == transform.Fixed && isFixed && s.length == t.Length && s.isPlain(),
		t.Kind == transform.Binary && s.isPlain():
		return fits
	case t.Kind == transform.Fixed && isFixed && s.length != t.Length:
		return unfit
	}
	return unread
}
