package datafile

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
	switch {
	case s.physical == parquet.Types.Int96 && nanos: // DuckDB drops what it holds below a microsecond
		return unread
	case s.physical == parquet.Types.Int96:
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

// typeFor returns the narrowest Iceberg type that the column's values are of, its Kind None for none. Where Parquet leaves
// it open, such as the zone of a timestamp in an old form, it is the type wanted.
func (s storedType) typeFor(want transform.Type) transform.Type {
	switch s.physical {
	case parquet.Types.Boolean:
		return transform.Type{Kind: transform.Boolean}
	case parquet.Types.Float:
		return transform.Type{Kind: transform.Float}
	case parquet.Types.Double:
		return transform.Type{Kind: transform.Double}
	case parquet.Types.Int96:
		return timestampFor(want, transform.Timestamp)
	}
	switch l := s.logical.(type) {
	case schema.DecimalLogicalType:
		return transform.Type{Kind: transform.Decimal, Precision: int(l.Precision()), Scale: int(l.Scale())}
	case schema.DateLogicalType:
		return transform.Type{Kind: transform.Date}
	case schema.TimeLogicalType:
		return transform.Type{Kind: transform.Time}
	case schema.TimestampLogicalType:
		return s.timestampType(l, want)
	case schema.IntLogicalType:
		if !l.IsSigned() {
			return transform.Type{}
		}
		return s.plainType()
	case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
		return transform.Type{Kind: transform.String}
	case schema.UUIDLogicalType:
		return transform.Type{Kind: transform.UUID}
	}
	if s.isPlain() {
		return s.plainType()
	}
	return transform.Type{}
}

// timestampFor returns the type wanted if it is one of timestamps, or else a timestamp of the kind.
func timestampFor(want transform.Type, kind transform.Kind) transform.Type {
	if want.IsTimestamp() {
		return want
	}
	return transform.Type{Kind: kind}
}

func (s storedType) timestampType(l schema.TimestampLogicalType, want transform.Type) transform.Type {
	isNanos := l.TimeUnit() == schema.TimeUnitNanos
	switch {
	case isNanos && l.IsAdjustedToUTC():
		return transform.Type{Kind: transform.TimestampTZNS}
	case isNanos:
		return transform.Type{Kind: transform.TimestampNS}
	case l.IsAdjustedToUTC():
		return timestampFor(want, transform.TimestampTZ)
	}
	return timestampFor(want, transform.Timestamp)
}

func (s storedType) plainType() transform.Type {
	switch s.physical {
	case parquet.Types.Int32:
		return transform.Type{Kind: transform.Int}
	case parquet.Types.Int64:
		return transform.Type{Kind: transform.Long}
	case parquet.Types.ByteArray:
		return transform.Type{Kind: transform.Binary}
	case parquet.Types.FixedLenByteArray:
		return transform.Type{Kind: transform.Fixed, Length: s.length}
	}
	return transform.Type{}
}

// relabels says whether the column's bytes are values of t and only the file calls them something else: text that isn't
// marked as such, or bytes that are marked as text.
func (s storedType) relabels(t transform.Type) bool {
	isArray, isFixed := s.physical == parquet.Types.ByteArray, s.physical == parquet.Types.FixedLenByteArray
	switch t.Kind {
	case transform.String:
		return isArray && s.isPlain()
	case transform.Binary:
		_, isText := s.logical.(schema.StringLogicalType)
		return isArray && isText
	case transform.UUID:
		return isFixed && s.length == 16 && s.isPlain()
	}
	return false
}
