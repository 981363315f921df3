package datafile

import (
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/extensions"

	"github.com/tarndb/tarn/catalog"
	"github.com/tarndb/tarn/internal/avro"
	"github.com/tarndb/tarn/internal/errs"
	"github.com/tarndb/tarn/transform"
)

// avroLeaf plans how values of a primitive type are read, by the spec's Avro mapping and Avro's own logical types.
func avroLeaf(s *avro.Schema, want *catalog.Field) (arrow.DataType, avroRead, error) {
	switch s.Kind {
	case avro.Boolean:
		return arrow.FixedWidthTypes.Boolean, func(d *avro.Decoder, b array.Builder) { b.(*array.BooleanBuilder).Append(d.Boolean()) }, nil
	case avro.Int:
		return avroInt(s)
	case avro.Long:
		return avroLong(s, want)
	case avro.Float:
		return arrow.PrimitiveTypes.Float32, func(d *avro.Decoder, b array.Builder) { b.(*array.Float32Builder).Append(d.Float()) }, nil
	case avro.Double:
		return arrow.PrimitiveTypes.Float64, func(d *avro.Decoder, b array.Builder) { b.(*array.Float64Builder).Append(d.Double()) }, nil
	case avro.String:
		return arrow.BinaryTypes.String, readText, nil
	case avro.Bytes:
		if s.Logical == "decimal" {
			return avroDecimal(s, (*avro.Decoder).Bytes)
		}
		return arrow.BinaryTypes.Binary, func(d *avro.Decoder, b array.Builder) { b.(*array.BinaryBuilder).Append(d.Bytes()) }, nil
	case avro.Fixed:
		return avroFixed(s)
	case avro.Enum:
		return arrow.BinaryTypes.String, func(d *avro.Decoder, b array.Builder) {
			n := d.Long()
			if n < 0 || n >= int64(len(s.Symbols)) {
				d.Fail("an enum of %d symbols has the symbol %d", len(s.Symbols), n)
				n = 0
			}
			text := ""
			if d.Err() == nil {
				text = s.Symbols[n]
			}
			b.(*array.StringBuilder).Append(text)
		}, nil
	}
	return nil, nil, errs.New(errs.Unsupported, "", "", "values of the Avro type %s can't be read", s.Kind)
}

func avroInt(s *avro.Schema) (arrow.DataType, avroRead, error) {
	switch s.Logical {
	case "date":
		return arrow.FixedWidthTypes.Date32, func(d *avro.Decoder, b array.Builder) { b.(*array.Date32Builder).Append(arrow.Date32(d.Int())) }, nil
	case "time-millis":
		return arrow.FixedWidthTypes.Time64us, func(d *avro.Decoder, b array.Builder) {
			b.(*array.Time64Builder).Append(arrow.Time64(int64(d.Int()) * 1000))
		}, nil
	}
	return arrow.PrimitiveTypes.Int32, func(d *avro.Decoder, b array.Builder) { b.(*array.Int32Builder).Append(d.Int()) }, nil
}

// avroLong reads timestamps as the table has them, with or without a zone, where the file doesn't say that there is one:
// the numbers are the same.
func avroLong(s *avro.Schema, want *catalog.Field) (arrow.DataType, avroRead, error) {
	if s.Logical == "time-micros" {
		return arrow.FixedWidthTypes.Time64us, func(d *avro.Decoder, b array.Builder) { b.(*array.Time64Builder).Append(arrow.Time64(d.Long())) }, nil
	}
	zoned := s.AdjustToUTC || want != nil && (want.Type.Primitive.Kind == transform.TimestampTZ || want.Type.Primitive.Kind == transform.TimestampTZNS)
	typ, factor := &arrow.TimestampType{Unit: arrow.Microsecond}, int64(1)
	if zoned {
		typ.TimeZone = "UTC"
	}
	switch s.Logical {
	case "timestamp-micros", "local-timestamp-micros":
	case "timestamp-millis", "local-timestamp-millis":
		factor = 1000
	case "timestamp-nanos", "local-timestamp-nanos":
		typ.Unit = arrow.Nanosecond
	default:
		return arrow.PrimitiveTypes.Int64, func(d *avro.Decoder, b array.Builder) { b.(*array.Int64Builder).Append(d.Long()) }, nil
	}
	return typ, func(d *avro.Decoder, b array.Builder) {
		n := d.Long()
		if n*factor/factor != n {
			d.Fail("a timestamp of %d milliseconds is out of range", n)
		}
		b.(*array.TimestampBuilder).Append(arrow.Timestamp(n * factor))
	}, nil
}

func avroFixed(s *avro.Schema) (arrow.DataType, avroRead, error) {
	bytes := func(d *avro.Decoder) []byte { return d.Fixed(s.Size) }
	switch {
	case s.Logical == "decimal":
		return avroDecimal(s, bytes)
	case s.Logical == "uuid" && s.Size == 16:
		return extensions.NewUUIDType(), func(d *avro.Decoder, b array.Builder) {
			var id [16]byte
			copy(id[:], bytes(d))
			b.(*extensions.UUIDBuilder).AppendBytes(id)
		}, nil
	}
	return &arrow.FixedSizeBinaryType{ByteWidth: s.Size}, func(d *avro.Decoder, b array.Builder) {
		value := bytes(d)
		if value == nil { // it has failed
			b.AppendNull()
			return
		}
		b.(*array.FixedSizeBinaryBuilder).Append(value)
	}, nil
}

func avroDecimal(s *avro.Schema, bytes func(*avro.Decoder) []byte) (arrow.DataType, avroRead, error) {
	if s.Precision < 1 || s.Precision > transform.MaxPrecision || s.Scale < 0 || s.Scale > s.Precision {
		return nil, nil, errs.New(errs.Unsupported, "", "", "a decimal of %d digits, %d of them after the point, can't be read", s.Precision, s.Scale)
	}
	typ := &arrow.Decimal128Type{Precision: int32(s.Precision), Scale: int32(s.Scale)}
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(s.Precision)), nil)
	return typ, func(d *avro.Decoder, b array.Builder) {
		v := avro.SignedInt(bytes(d))
		if v.CmpAbs(limit) >= 0 {
			d.Fail("a decimal has more than %d digits", s.Precision)
			v.SetInt64(0)
		}
		b.(*array.Decimal128Builder).Append(decimal128.FromBigInt(v))
	}, nil
}
